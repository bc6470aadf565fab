import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../../src/base/errors.ts';
import {
  createDelimitedTextSplitter,
} from '../../../../src/books/transfer/grammars/delimited-text.ts';
import type {
  BrokenRecord, FieldRecord,
} from '../../../../src/books/transfer/mapping/format-table.ts';

test('a row is a record of the texts that stand in it, under the names of the header', () => {
  const records = read(' Id ,Name,,Name\r\n7," A ",b,c\r\n8,,,d\r\n ,,,\r\n9\r\n');
  assert.deepEqual(records.map((record) => 'fields' in record
    ? [record.line, record.key, Object.fromEntries(record.fields)] : record), [
    [2, '7', { 'Id': '7', 'Name': ' A ', 'column 3': 'b', 'Name (column 4)': 'c' }],
    [3, '8', { Id: '8', Name: 'd' }],
    [5, '9', { Id: '9' }],
  ]);
});

test('no text is lost of columns that have one name, whatever the others are called', () => {
  const [record] = read('Name (column 3),Name,Name\na,b,c\n');
  assert.deepEqual(record !== undefined && 'fields' in record ? [...record.fields] : record,
    [['Name (column 3)', 'a'], ['Name', 'b'], ['Name (column 3) (column 3)', 'c']]);
});

test('rows of blanks before the header are blank lines, and show no separator', () => {
  for (const blanks of [' \n', '\t \r\n', ' , \n', ',\n\n', '""\n', '" "\n']) {
    for (const separator of [',', ';', '\t']) {
      const records = read(`${blanks}Id${separator}Name\n7${separator}A\n`);
      assert.deepEqual(records.map(({ key }) => key), ['7'], JSON.stringify([blanks, separator]));
    }
  }
});

test('text beyond the last column breaks a record, empty cells there do not', () => {
  assert.deepEqual(read('Id,Name\n7,A,,\n8,B,,x\n').map((record) =>
    [record.key, 'problem' in record ? record.problem : null]),
  [['7', null], ['8', '4 cells, but the header names 2']]);
});

test('a last row without all cells and without a line end was cut', () => {
  const problem = 'the file ends within this record: export it again';
  for (const [file, expected] of [
    ['Id,Name,X\n7,A,b\n8,Solitud', [null, problem]], ['Id,Name,X\n7,A,b\n8,B\n', [null, null]],
    ['Id,Name,X\n7,A,b\n8,B,', [null, null]], ['Id,Name,X\n7,A,b', [null]],
    ['Id,Name,X\n7,"A', ['a quoted cell is not closed']],
  ] as const) {
    assert.deepEqual(read(file).map((record) => 'problem' in record ? record.problem : null),
      expected, file);
  }
});

test('a text that stands for none is no field, nor is it a key', () => {
  const [record] = read('Id,Name\n-,A\n');
  assert.equal(record?.key, null);
  assert.deepEqual(record !== undefined && 'fields' in record ? [...record.fields] : record,
    [['Name', 'A']]);
});

test('a header without the columns that tell of a record is refused', () => {
  for (const [file, problem] of [
    ['Id,Title\n7,A\n', /^line 1, the header of a test: there is no column `Name`; import/],
    ['"Id,Name', /^line 1, the header of a test: a quoted cell is not closed$/],
    ['Id,"Name"x\n', /^line 1, the header of a test: cell 2: text follows its closing quote$/],
    ['sep=;\n\n', /^line 1, the header of a test: it is missing; import/],
    ['', /^line 1, the header of a test: it is missing; import/],
  ] as const) {
    assert.throws(() => read(file), (thrown) => thrown instanceof AppError
      && thrown.code === 'invalid' && problem.test(thrown.message));
  }
});

function read(file: string): readonly (FieldRecord | BrokenRecord)[] {
  const splitter = createDelimitedTextSplitter({ name: 'a test', ownIdFields: ['Id'], rows: [] }, {
    requiredColumns: [['Name']], isEmpty: (_column, text) => text === '-',
  });
  return [...splitter.push(Buffer.from(file)), ...splitter.end()];
}

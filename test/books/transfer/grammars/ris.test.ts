/** RIS is read as programs write it, wherever a chunk ends, and broken records are named. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RisSplitter } from '../../../../src/books/transfer/grammars/ris.ts';
import type {
  BrokenRecord, FieldRecord,
} from '../../../../src/books/transfer/mapping/format-table.ts';
import { TOO_LONG } from '../../../../src/books/transfer/record-splitter.ts';
import { longTest } from '../../../support/long.ts';

const MEGABYTE = 1024 * 1024;

function split(
  text: string | Buffer, chunkLength = Infinity,
): readonly (FieldRecord | BrokenRecord)[] {
  const splitter = new RisSplitter();
  const bytes = Buffer.from(text);
  const records: (FieldRecord | BrokenRecord)[] = [];
  for (let start = 0; start < bytes.length; start += chunkLength) {
    records.push(...splitter.push(bytes.subarray(start, start + chunkLength)));
  }
  return [...records, ...splitter.end()];
}

function describe(record: FieldRecord | BrokenRecord | undefined): unknown {
  if (record === undefined || 'problem' in record) return record;
  const { line, key, type, fields } = record;
  return { line, key, type, ...Object.fromEntries(fields) };
}

const TWO = [
  '\ufeffProvider: a site', '', 'TY  - BOOK', 'ID  - b1', 'TI  - The Left Hand', 'of Darkness',
  'KW  - snow', 'ice', 'AU  -Le Guin, Ursula K.', 'PY - 1969', 'AB  - ', 'ER  -', '', '2.',
  'TY  - JOUR', 'AU  - Å', 'AU  - B', 'ER  - ', '',
];
const TWO_RECORDS = [
  {
    line: 3, key: 'b1', type: 'BOOK', ID: 'b1', TI: 'The Left Hand of Darkness',
    KW: ['snow', 'ice'], AU: 'Le Guin, Ursula K.', PY: '1969',
  },
  { line: 15, key: null, type: 'JOUR', TY: 'JOUR', AU: ['Å', 'B'] },
];

test('lines end with LF, CR or CRLF, wherever chunks end', () => {
  for (const lineEnd of ['\n', '\r', '\r\n']) {
    for (const chunkLength of [Infinity, 1, 2, 3, 7]) {
      const records = split(TWO.join(lineEnd), chunkLength);
      assert.deepEqual(records.map(describe), TWO_RECORDS, JSON.stringify([lineEnd, chunkLength]));
    }
  }
});

test('a record ends at the next TY, but not at the end of the file', () => {
  const [first, second, ...others] = split('TY  - BOOK\nTI  - A\nTY  - BOOK\nID  - b\nTI  - B');
  assert.deepEqual(describe(first), { line: 1, key: null, type: 'BOOK', TI: 'A' });
  assert.deepEqual(second, {
    line: 3, key: 'b',
    problem: 'the file ends within this record: its last line, `ER  - `, is missing',
  });
  assert.deepEqual(others, []);
});

test('fields without a TY are told once, and so is a file without any record', () => {
  const problem = 'expected `TY  - `, the first line of a RIS record, such as `TY  - BOOK`';
  const stray = split('TI  - A\nAU  - B\nER  - \nTY  - BOOK\nER  - \nnotes\n');
  assert.deepEqual(stray.map(describe), [
    { line: 1, key: null, problem }, { line: 4, key: null, type: 'BOOK' },
  ]);
  assert.deepEqual(split('\n\n{"title":"A"}'), [{ line: 3, key: null, problem }]);
  assert.deepEqual(split(Buffer.alloc(3 * MEGABYTE, 'x')), [{ line: 1, key: null, problem }]);
  assert.deepEqual(split('\n \n'), []);
});

test('a line that begins like a word with a dash continues the field', () => {
  const [record] = split('TY  - BOOK\nAB  - dangers of\nUV-light and\nT1-weighted\nER  - \n');
  assert.deepEqual(describe(record),
    { line: 1, key: null, type: 'BOOK', AB: 'dangers of UV-light and T1-weighted' });
});

test('tags without a blank before their dash are read where they can mean nothing else', () => {
  const tight = 'TY-BOOK\nID-a\nTI- A\nAU-B, C\nER-\nTY- EBOOK \nT1-D\nER- \n';
  const records = [
    { line: 1, key: 'a', type: 'BOOK', ID: 'a', TI: 'A', AU: 'B, C' },
    { line: 6, key: null, type: 'EBOOK', TY: 'EBOOK', T1: 'D' },
  ];
  assert.deepEqual(split(tight).map(describe), records);
  const first = 'TY  - BOOK\nTI  - UV-light\nTY-\nER-x\nTY-rays\nER-\n';
  assert.deepEqual(split(first + tight).map(describe), [
    { line: 1, key: null, type: 'BOOK', TI: 'UV-light TY- ER-x TY-rays' },
    ...records.map((record) => ({ ...record, line: record.line + 6 })),
  ]);
  assert.deepEqual(split(`TY  - BOOK\nTI  - Open\n${tight}`).map(describe)[1],
    { ...records[0], line: 3 });
  assert.deepEqual(split('TY - BOOK\nTI -A\nER -\n').map(describe),
    [{ line: 1, key: null, type: 'BOOK', TI: 'A' }]);
});

test('an ER without a dash ends a record, unless the text goes on behind it', () => {
  for (const end of ['', '\n', '\r\n\r\n']) {
    assert.deepEqual(split(`TY  - BOOK\nTI  - A\nER\n\nTY  - BOOK\nTI  - B\nER${end}`)
      .map(describe), [
      { line: 1, key: null, type: 'BOOK', TI: 'A' }, { line: 5, key: null, type: 'BOOK', TI: 'B' },
    ]);
  }
  for (const [text, value] of [
    ['of the\nER\n\nand', 'of the ER and'], ['ER\nER\nER\nx', 'ER ER ER x'], ['a\nER', 'a ER'],
  ] as const) {
    assert.deepEqual(describe(split(`TY  - BOOK\nAB  - ${text}\nER  - \n`)[0]),
      { line: 1, key: null, type: 'BOOK', AB: value }, text);
  }
  assert.deepEqual(describe(split('TY  - BOOK\nAB  - a\nER\nTI  - B\nER  - \n')[0]),
    { line: 1, key: null, type: 'BOOK', AB: 'a ER', TI: 'B' });
});

test('a record that is not UTF-8 is bad, and the next is read', () => {
  const lines = ['TY  - BOOK', 'ID  - a', 'TI  - caf\xe9', 'ER  - ', 'TY  - BOOK', 'ER  - '];
  const text = Buffer.from(lines.join('\n'), 'latin1');
  assert.deepEqual(split(text).map(describe), [
    { line: 1, key: 'a', problem: 'not valid UTF-8' }, { line: 5, key: null, type: 'BOOK' },
  ]);
});

longTest('a record too long by one line or by many is bad, and the next is read', () => {
  const next = 'ER  - \nTY  - BOOK\nTI  - B\nER  - \n';
  for (const text of ['x'.repeat(3 * MEGABYTE), 'KW  - x\n'.repeat(MEGABYTE / 2)]) {
    const records = split(`TY  - BOOK\nAB  - ${text}\n${next}`, 65_536);
    assert.deepEqual(records.map((record) => 'problem' in record ? record.problem : record.type),
      [TOO_LONG, 'BOOK']);
  }
});

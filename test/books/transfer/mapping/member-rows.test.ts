import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeBook } from '../../../../src/books/book.ts';
import { listTrimmedTexts } from '../../../../src/books/transfer/mapping/field-text.ts';
import { createRowMaker } from '../../../../src/books/transfer/mapping/member-rows.ts';

for (const member of ['authors', 'series', 'reading.owned'] as const) {
  test(`a format that is written says itself how ${member} are written`, () => {
    const written = createRowMaker(listTrimmedTexts, (name, value) => [[name, value]]);
    const told = { message: new RegExp(`\`${member}\``) };
    assert.throws(() => written.textRows(member, 'field'), told);
    assert.throws(() => written.listRow(member, ['field'], () => undefined), told);
    const write = (): [] => [];
    assert.equal(written.listRow(member, ['field'], () => undefined, write).write, write);
    const [row] = createRowMaker(listTrimmedTexts).textRows(member, 'field');
    assert.equal(row?.write, undefined);
  });
}

test('a row of a member of reading writes it where the book has it', () => {
  const { textRows } = createRowMaker(listTrimmedTexts, (name, value) => [[name, String(value)]]);
  const [row] = textRows('reading.rating', ['stars', 'points']);
  const book = decodeBook(Buffer.from('{"title":"A","authors":[],"reading":{"rating":4.5}}'));
  assert.deepEqual(row?.write?.(book), [['stars', '4.5']]);
  assert.deepEqual(row?.write?.({ ...book, reading: { status: 'read' } }), []);
});

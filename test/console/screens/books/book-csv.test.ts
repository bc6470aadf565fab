import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { csvHeader, encodeCsvBook } from '../../../../src/books/transfer/csv.ts';
import { formatBooksCsv, parseCsvBooks } from '../../../../src/console/screens/books/book-csv.ts';

const COLUMNS = csvHeader.trim().split(',');
const DATES = { createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' };
const SAMPLES = JSON.parse(
  readFileSync(resolve(import.meta.dirname, '../../../../data/samples/books.json'), 'utf8'));

test('books are written as the command writes them', () => {
  const awkward = [
    { title: 'a "quoted", one', authors: [{ name: 'A; B' }], description: '' },
    { title: ' spaced ', authors: [{ name: 'A' }, { name: 'B' }], keywords: ['x;y', 'z'] },
    { title: 'two\nlines', authors: [], numberOfPages: 1, metadata: { a: [1, null] } },
    { title: '{"json"}', authors: [{ name: '[a' }] },
  ].map((book, index) => ({ id: `id-${index}`, ...DATES, ...book }));
  const books = [...SAMPLES, ...awkward];
  assert.ok(books.length > 100);
  const rows = books.map((book) => encodeCsvBook(book));
  assert.equal(formatBooksCsv(COLUMNS, books), csvHeader + rows.join(''));
});

test('what was written is read back', () => {
  const read = parseCsvBooks(formatBooksCsv(COLUMNS, SAMPLES)).map(({ json }) => JSON.parse(json));
  assert.deepEqual(read, SAMPLES);
});

test('rows may end either way, and a cell that begins like quoted must end so', () => {
  const titles = (text: string): unknown[] =>
    parseCsvBooks(text).map(({ line, json }) => [line, JSON.parse(json)]);
  assert.deepEqual(titles('isbn,title\r\n1,a "b"\r\n\r\n,"c\r\nd"\r\n2,e'),
    [[2, { isbn: '1', title: 'a "b"' }], [4, { title: 'c\r\nd' }], [6, { isbn: '2', title: 'e' }]]);
  for (const text of ['title\n"a', 'title\n"a"b\n', 'title,isbn\n"a,b\n']) {
    assert.throws(() => parseCsvBooks(text), /^Error: Line 2: a quoted cell does not end/);
  }
});

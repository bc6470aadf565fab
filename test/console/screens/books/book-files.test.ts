import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  FILE_ENDINGS, FORMATS, parseFile,
} from '../../../../src/console/screens/books/book-files.ts';
import { BOOK_FILE_FORMATS } from '../../../books/transfer/book-file-formats.ts';

const BOOKS = [
  { id: 'a', title: 'Emma', authors: [{ name: 'Jane Austen' }] },
  { id: 'b', title: 'two\nlines, "quoted"', numberOfPages: 7 },
];

test('the console exports every format of the catalog', () => {
  assert.deepEqual(Object.keys(FORMATS), BOOK_FILE_FORMATS.map((format) => `books.${format}`));
});

test('the console imports every format of the catalog, as it has exported it', async () => {
  const loadColumns = async () => ['id', 'title', 'authors', 'numberOfPages'];
  for (const format of BOOK_FILE_FORMATS) {
    const name = `books.${format}`;
    const text = await FORMATS[name]?.(BOOKS, loadColumns) ?? JSON.stringify(BOOKS);
    assert.deepEqual(parseFile(name, text).map(({ json }) => JSON.parse(json)), BOOKS, format);
    assert.ok(FILE_ENDINGS.includes(`.${format}`), format);
  }
});

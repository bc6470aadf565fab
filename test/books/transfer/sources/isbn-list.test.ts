import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isbnCodec } from '../../../../src/books/transfer/sources/isbn-list.ts';
import { readText } from '../../../support/format-round-trip.ts';

test('a line of a list of ISBNs is a book of that ISBN', () => {
  const file = '9780439023481\r\n\r\n# the second shelf\n978-0-441-47812-5\n  0441478123 \n'
    + 'ISBN 080442957X\nISBN-13: 9780394752846\nISBN:9780394752846\n978‐0‐394‐75284‐6';
  const books = readText(isbnCodec, file)
    .map((record) => [record.line, 'body' in record ? record.body : record.problem]);
  assert.deepEqual(books, [
    [1, '9780439023481'], [4, '9780441478125'], [5, '9780441478125'], [6, '9780804429573'],
    [7, '9780394752846'], [8, '9780394752846'], [9, '9780394752846'],
  ].map(([line, isbn]) => [line, { title: `ISBN ${String(isbn)}`, isbn }]));
});

test('a heading before the first ISBN of a list is passed over, and later it is no ISBN', () => {
  for (const heading of [
    'ISBN', 'isbn', 'ISBNs', '"ISBN"', 'ISBN:', 'ISBN13', 'ISBN-13', 'ISBN 10', 'isbn_13', 'EAN',
    'EAN13', 'ean-13', '\n# scanned in May\n  ISBN\t',
  ]) {
    const records = readText(isbnCodec, `${heading}\r\n9780439023481\r\n${heading.trim()}\r\n`);
    assert.deepEqual(records.map(({ problem }) => problem === undefined), [true, false], heading);
  }
  assert.deepEqual(readText(isbnCodec, 'ISBN\nISBN\n').map(({ line }) => line), [2]);
});

test('a line that is no ISBN is told, and the next ones go on', () => {
  const file = '9780439023482\nHunger Games\n12345\n9780439023481\n\xff\n9780439023481';
  const bytes = Buffer.from(file, 'latin1');
  assert.deepEqual(readText(isbnCodec, bytes).map(({ line, problem }) => [line, problem]), [
    [1, 'must be an ISBN, not "9780439023482": its check digit is 2, but the other digits give 1'],
    [2, 'must be an ISBN-10 or ISBN-13 of digits, hyphens and spaces, not "Hunger Games"'],
    [3, 'must be an ISBN of 10 or 13 digits; "12345" has 5'],
    [4, undefined], [5, 'not valid UTF-8'], [6, undefined],
  ]);
});

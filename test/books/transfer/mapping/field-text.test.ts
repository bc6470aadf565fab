import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readBookFormat } from '../../../../src/books/transfer/mapping/book-format.ts';
import {
  readNumericDate, readKeywords, readPages,
} from '../../../../src/books/transfer/mapping/field-text.ts';
import { part, whole } from '../../../../src/books/transfer/mapping/format-table.ts';
import { readIsbn } from '../../../../src/books/transfer/mapping/isbn-text.ts';
import { splitNames } from '../../../../src/books/transfer/mapping/name-list.ts';

test('a date is read in the forms that programs write', () => {
  const cases: readonly (readonly [text: string, date: ReturnType<typeof readNumericDate>])[] = [
    ['1969', whole('1969')], ['2023/01/05', whole('2023-01-05')], ['2023-1-5', whole('2023-01-05')],
    ['1969-05', whole('1969-05')], ['2019-03-05T00:00:00+00:00', whole('2019-03-05')],
    ['800', whole('0800')], ['-750', whole('-750')], ['c1969', part('1969')],
    ['[1969?]', part('1969')], ['©1969', part('1969')], ['spring 1969', undefined],
    ['', undefined], ['05/01/2023', undefined],
    ['12/05/19', undefined], ['12-05', undefined], ['8', whole('0008')],
    ['800-05', whole('0800-05')],
  ];
  for (const [text, date] of cases) assert.deepEqual(readNumericDate(text), date, text);
});

test('an ISBN is found in a formula, in brackets and alone, and none where there is none', () => {
  for (const [text, isbn] of [
    ['="0439023483"', '9780439023481'], ['[0439023483]', '9780439023481'],
    [' 978-0-439-02348-1 ', '9780439023481'], ['9.78E+12', null], ['=""', null], ['', null],
  ] as const) {
    assert.deepEqual(readIsbn([text]), isbn === null ? undefined : whole(isbn), text);
  }
  assert.deepEqual(readIsbn(['', '0439023483', 'B00X']), part('9780439023481'));
  assert.deepEqual(readIsbn(['', '0439023483']), whole('9780439023481'));
  assert.equal(readIsbn(['', 'B00X']), undefined);
});

test('pages and keywords are read out of their texts', () => {
  assert.deepEqual(['374', '374 p.', '12 pages', 'xii, 374', '-3', ''].map(readPages),
    [whole(374), whole(374), whole(12), undefined, undefined, undefined]);
  assert.deepEqual(readKeywords(' a, b c ,,d'), whole(['a', 'b c', 'd']));
  assert.equal(readKeywords(' , '), undefined);
});

test('a format of books is read whatever its case and accents', () => {
  assert.deepEqual(['HARDCOVER', 'Broché', 'E-book', 'Vellum'].map(readBookFormat),
    [whole('Hardcover'), part('Paperback'), whole('EBook'), undefined]);
});

test('a comma within a name does not end it', () => {
  for (const [text, names] of [
    ['A B, C D', ['A B', 'C D']], ['A B, Jr., C D', ['A B, Jr.', 'C D']],
    ['A B, Ph.D., M.D., C', ['A B, Ph.D., M.D.', 'C']], ['Jr., A', ['Jr.', 'A']], ['', []],
    ['Walt Disney Company, Inc., A  B', ['Walt Disney Company, Inc.', 'A B']],
  ] as const) assert.deepEqual(splitNames(text), names);
});

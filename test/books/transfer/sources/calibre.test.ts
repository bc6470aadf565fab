import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, JsonValue } from '../../../../src/base/schema.ts';
import { calibreCodec } from '../../../../src/books/transfer/sources/calibre.ts';
import { readText } from '../../../support/format-round-trip.ts';
import { makeRow, readBook } from './read-export.ts';

const UUID = '3051ed45-8943-4900-a22a-d2704e3583df';

test('a record of a Calibre catalog is a book, and all else that it says is kept', () => {
  const file = 'authors,author_sort,rating,library_name,timestamp,formats,size,isbn,'
    + 'identifiers,comments,tags,series,series_index,languages,title,cover,title_sort,publisher,'
    + 'pubdate,id,uuid,#read\n"Ursula K. Le Guin & Todd Barton","Le Guin, Ursula K. & Barton, Todd"'
    + ',"5","Books","2021-01-19T22:41:16+01:00","epub, original_epub","1433809","9780520227354",'
    + '"goodreads:201882,isbn:9780520227354","<p>A <i>people</i> who might be.</p>",'
    + '"Utopia, Fantasy","","1.0","eng","Always Coming Home","/books/cover.jpg",'
    + `"Always Coming Home","University of California","2001-02-01T01:00:00+01:00","864","${UUID}",`
    + '"Yes"\n';
  assert.deepEqual(readBook(calibreCodec, file), {
    title: 'Always Coming Home', authors: [
      { name: 'Ursula K. Le Guin', givenName: 'Ursula K.', familyName: 'Le Guin' },
      { name: 'Todd Barton', givenName: 'Todd', familyName: 'Barton' },
    ],
    isbn: '9780520227354', publisher: 'University of California', datePublished: '2001-02-01',
    inLanguage: 'en', bookFormat: 'EBook', keywords: ['Utopia', 'Fantasy'],
    description: 'A people who might be.', reading: { rating: 5 },
    metadata: {
      source: {
        calibre: {
          'author_sort': 'Le Guin, Ursula K. & Barton, Todd',
          'library_name': 'Books', 'timestamp': '2021-01-19T22:41:16+01:00',
          'formats': 'epub, original_epub', 'size': '1433809',
          'identifiers': 'goodreads:201882,isbn:9780520227354',
          'comments': '<p>A <i>people</i> who might be.</p>',
          'cover': '/books/cover.jpg', 'title_sort': 'Always Coming Home', 'id': '864',
          'uuid': UUID, '#read': 'Yes',
        },
      },
    },
  });
});

test('authors are counted by their sort names where commas are between them', () => {
  const cases: readonly (readonly [authors: string, sort: string, names: readonly string[]])[] = [
    ['A B & C D', 'B, A & D, C', ['A B', 'C D']],
    ['A B, C D', 'B, A & D, C', ['A B', 'C D']],
    ['Smith, John', 'Smith, John', ['Smith, John']],
    ['Sammy Davis, Jr.', 'Davis, Sammy, Jr.', ['Sammy Davis, Jr.']],
    ['A B, Jr., C D', 'B, A, Jr. & D, C', ['A B, Jr.', 'C D']],
    ['A B, C D', '', ['A B', 'C D']],
    ['Le Guin| Ursula K. & B', 'Le Guin, Ursula K. & B', ['Le Guin, Ursula K.', 'B']],
    ['King| Jr.', 'King, Jr.', ['King, Jr.']],
    ['Simon && Garfunkel & B', 'x & y', ['Simon & Garfunkel', 'B']],
    ['A B', 'B, A', ['A B']],
  ];
  for (const [authors, author_sort, names] of cases) {
    const book = readBook(calibreCodec, makeRow({ title: 'A', authors, author_sort }));
    const { authors: persons } = book;
    assert.ok(Array.isArray(persons));
    assert.deepEqual(persons.map(({ name }) => name), names, authors);
  }
});

test('an ISBN is found among the identifiers where its column has lost an X', () => {
  const cases: readonly (readonly [isbn: string, identifiers: string,
    read: JsonValue | undefined, kept: JsonObject])[] = [
    ['080442957', 'amazon:B00X,isbn:080442957X', '9780804429573',
      { isbn: '080442957', identifiers: 'amazon:B00X,isbn:080442957X' }],
    ['', 'isbn:9780520227354', '9780520227354', {}],
    ['9780520227354', '', '9780520227354', {}],
    ['', 'mobi-asin:B00X', undefined, { identifiers: 'mobi-asin:B00X' }],
    ['', 'isbn:B00X', undefined, { identifiers: 'isbn:B00X' }],
  ];
  for (const [isbn, identifiers, read, kept] of cases) {
    const book = readBook(calibreCodec, makeRow({ title: 'A', isbn, identifiers }));
    assert.equal(book['isbn'], read, identifiers);
    assert.deepEqual(sourceOf(book), kept);
  }
});

test('a publication date is the day of its time, and the year 101 is none', () => {
  const cases: readonly (readonly [pubdate: string, date: string | undefined, isKept: boolean])[] =
    [
      ['2019-03-05T01:00:00+01:00', '2019-03-05', false],
      ['2019-03-05T00:00:00-08:00', '2019-03-05', false],
      ['1968-12-31T19:00:00-05:00', '1969-01-01', false],
      ['1968-12-31 16:00:00-08:00', '1969-01-01', false],
      ['1968-12-31T19:00:00-04:00', '1968-12-31', true],
      ['2019-03-05T00:00:00+00:00', '2019-03-05', false],
      ['2019-03-05T13:30:00+00:00', '2019-03-05', true], ['2019-03-05', '2019-03-05', false],
      ['0101-01-01T00:00:00+00:00', undefined, false], ['0101-01-01', undefined, false],
      ['0101-01-01T01:00:00+01:00', undefined, false],
      ['0100-12-31T16:00:00-08:00', undefined, false], ['soon', undefined, true],
    ];
  for (const [pubdate, date, isKept] of cases) {
    const book = readBook(calibreCodec, makeRow({ title: 'A', pubdate }));
    assert.equal(book['datePublished'], date, pubdate);
    assert.equal(sourceOf(book)['pubdate'], isKept ? pubdate : undefined, pubdate);
  }
});

test('a language is read from its code, the first of several', () => {
  const cases: readonly (readonly [languages: string, language: string | undefined,
    isKept: boolean])[] = [
    ['eng', 'en', false], ['deu', 'de', false], ['grc', 'grc', false], ['eng, fra', 'en', true],
    ['und', undefined, true],
  ];
  for (const [languages, language, isKept] of cases) {
    const book = readBook(calibreCodec, makeRow({ title: 'A', languages }));
    assert.equal(book['inLanguage'], language, languages);
    assert.equal(sourceOf(book)['languages'], isKept ? languages : undefined);
  }
});

test('comments are read as text, and kept where marks are lost', () => {
  const cases: readonly (readonly [comments: string, description: string, isKept: boolean])[] = [
    ['<div>\n<p>One&nbsp;&amp; two.</p>\n<p class="x">Three</p></div>',
      'One & two.\n\nThree', false],
    ['Plain < text & more', 'Plain < text & more', false],
    ['<p>See <a href="http://a.test">here</a></p>', 'See here', true],
  ];
  for (const [comments, description, isKept] of cases) {
    const book = readBook(calibreCodec, makeRow({ title: 'A', comments }));
    assert.equal(book['description'], description);
    assert.equal(sourceOf(book)['comments'], isKept ? comments : undefined);
  }
});

test('a book with files is an e-book, one with audio files an audiobook', () => {
  for (const [formats, bookFormat] of [
    ['epub, pdf', 'EBook'], ['m4b', 'AudiobookFormat'], ['epub, mp3', undefined], ['', undefined],
  ]) {
    const book = readBook(calibreCodec, makeRow({ title: 'A', formats: formats ?? '' }));
    assert.equal(book['bookFormat'], bookFormat);
  }
});

test('a broken record of a catalog is named by its uuid', () => {
  const [record] = readText(calibreCodec, `uuid,title\n${UUID},A,B\n`);
  assert.deepEqual(record,
    { line: 2, key: UUID, problem: '3 cells, but the header names 2' });
});

function sourceOf(book: JsonObject): JsonObject {
  const metadata = book['metadata'] as { source?: { calibre?: JsonObject } } | undefined;
  return metadata?.source?.calibre ?? {};
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findFormatByMediaType } from '../../../../src/books/transfer/recognise-format.ts';
import {
  findMediaType, formatOutcome, formatSkipped, formatSource, listRemarks, parseOutcome,
  tabulateChecked,
} from '../../../../src/console/screens/books/import-outcome.ts';

const SOURCE = { format: 'goodreads', encoding: 'windows-1252' };
const SKIPPED = { line: 3, record: 2, key: '50', status: 'skipped', id: null, detail: 'bad' };
const COUNT = {
  imported: 3, updated: 1, unchanged: 1007, skipped: 5, replaced: 0, existing: 0, leftOut: {},
  dryRun: false,
};

test('a response is its first line, its records, and its last line', () => {
  const added = { line: 2, status: 'imported', id: 'a' };
  const text = [SOURCE, added, SKIPPED, COUNT].map((line) => `${JSON.stringify(line)}\n`).join('');
  assert.deepEqual(parseOutcome(text), {
    source: SOURCE, records: [added, SKIPPED], skippedRecords: [SKIPPED], addedIds: ['a'],
    count: COUNT,
  });
  assert.equal(parseOutcome(text.split('{"imported"')[0] ?? '').count, null, 'cut short');
  assert.equal(parseOutcome(JSON.stringify(SKIPPED)).source, null);
});

test('the encoding of a file is said where it is not UTF-8', () => {
  assert.equal(formatSource(SOURCE), 'reading a Goodreads export (Windows-1252)');
  assert.equal(formatSource({ format: 'csv', encoding: 'utf-8' }), 'reading CSV');
});

test('a record that was skipped is named by its line, number and key', () => {
  assert.equal(formatSkipped(SKIPPED), 'Line 3: bad (record 2, key 50)');
  const errors = [
    { pointer: '/authors/0/address/addressLocality', detail: 'is long' },
    { pointer: '', detail: 'is short' },
  ];
  assert.equal(formatSkipped({ line: 1, detail: 'invalid', errors }),
    'Line 1: Authors 1, address, city: is long; is short');
});

test('the count is told in the words of people', () => {
  assert.equal(formatOutcome(COUNT), 'added 3 books, changed 1, left 1007 as they are, skipped 5.');
  assert.match(formatOutcome({ ...COUNT, dryRun: true }),
    /^would add 3 books, .*; nothing is stored yet\.$/);
});

test('a record is named by its number where several stand on a line', () => {
  assert.equal(formatSkipped({ line: 1, record: 3, key: 'a', detail: 'no text' }),
    'Record 3: no text (key a)');
});

test('what else happened is told, and nothing where nothing did', () => {
  assert.deepEqual(listRemarks(COUNT, null), []);
  assert.deepEqual(listRemarks({
    ...COUNT, existing: 1, encoding: 'windows-1252', otherTypes: { book: 1, article: 4, '': 2 },
    leftOut: { 'My Review': 3, 'reading.startedOn': 1 },
    firstLeftOut: { 'My Review': { line: 7, record: 6, title: 'D' } },
    firstPutAside: { isbn: { line: 8, record: 7, title: 'E' } },
    replacedMembers: { 'reading.finishedOn': 1, 'keywords': 1 },
    firstReplaced: { 'reading.finishedOn': { line: 2, record: 1, title: 'Emma' } },
    keptMembers: { 'reading.review': 1 }, firstKept: {}, unmatchable: 2, merged: 1, lostLetters: 1,
    putAside: { isbn: 2, 'reading.rating': 1 }, withoutId: 1, sameIsbn: 2,
    sameTitle: 2, withoutStatus: 2, alike: {
      sameTitle: { line: 3, record: 2, title: 'Dune' }, merged: { line: 1, record: 4, title: 'C' },
    },
    error: 'the disk is full',
  }, { format: 'goodreads', encoding: 'utf-8' }), [
    'the import stopped: the disk is full', '1 book skipped: there already',
    'the file is no UTF-8: it was read as Windows-1252',
    'no books: 4 records of type article', 'no books: 2 records of type none',
    'no books: 1 record of type book',
    'replaced: Reading, finished in 1 book (first: line 2, “Emma”)',
    'replaced: Keywords in 1 book; “fill what is missing” adds instead',
    'kept: Reading, review in 1 book; there is no room to keep it beside what the file says, which '
      + 'is among the other data of the book',
    'left out: My Review in 3 records (first: line 7, “D”), too long',
    'left out: reading.startedOn in 1 record, contradicts the other date of the book',
    'put aside: ISBN in 2 records (first: line 8, “E”), not valid; what the file says is among the '
      + 'other data of the book',
    'put aside: Reading, rating in 1 record, not valid; what the file says is among the other data '
      + 'of the book',
    'without an id: 2 records; imported again, they are added once more unless matched by ISBN or '
      + 'title',
    'without an id of the source: 1 record; once changed there, they are added again unless '
      + 'matched by ISBN or title',
    'the ISBN of another book: 2 books; “Duplicates” by ISBN compares and merges them',
    'title and first author of another book: 2 new books (first: line 3, “Dune”); “Duplicates” '
      + 'by title compares and merges them',
    'merged into another book: 1 record (first: record 4, “C”); nothing of it was taken: what you '
      + 'want of it you write into that book',
    '? in the place of letters: 1 record; the books keep theirs. Save the file as UTF-8, which has '
      + 'all letters (in Excel “CSV UTF-8”)',
    'a finish date and no status: 2 new books; not counted as read until the status says so: '
      + 'choose books in the list to set it for many',
  ]);
  assert.deepEqual(listRemarks(
    { ...COUNT, dryRun: true, replacedMembers: { 'reading.rating': 2, 'keywords': 1 } }, null), [
    'the file says something else than the catalog: Reading, rating in 2 books; “fill what is '
      + 'missing” leaves it as it is',
    'the file says something else than the catalog: Keywords in 1 book; “fill what is missing” '
      + 'adds instead',
  ]);
  assert.deepEqual(
    listRemarks({ ...COUNT, leftOut: { custom: 1 } }, { format: 'csl', encoding: 'utf-8' }),
    ['left out: custom in 1 record, too long or nested too deep']);
});

test('a record that was checked is told with what would become of it', () => {
  const book = {
    title: 'Momo', authors: [{ name: 'Michael Ende' }, { name: 'B' }], isbn: '9783522202602',
    datePublished: '1973', reading: { status: 'to-read' },
  };
  const told = ['Momo', 'Michael Ende; B', '9783522202602', '1973', 'To read'];
  const errors = [{ pointer: '/title', detail: 'is required' }];
  const cases = [
    [{ line: 2, status: 'imported', book, values: {} }, [...told, 'add']],
    [{
      line: 2, status: 'updated', book, values: { 'reading.rating': '4 → 5', 'isbn': 'put aside' },
    }, [...told, 'change: Reading, rating 4 → 5; ISBN put aside']],
    [{ line: 2, status: 'updated', book }, [...told, 'note what the file says']],
    [{ line: 2, status: 'unchanged', book }, [...told, 'leave as it is']],
    [{ ...SKIPPED, line: 2, detail: 'the `id` is there', book },
      [...told, 'skip: the id is there']],
    [{ ...SKIPPED, line: 7, detail: '/title: is required', errors },
      ['Line 7', '–', '–', '–', '–', 'skip: Title: is required']],
    [{ line: 7, status: 'otherType', type: 'article' },
      ['Line 7', '–', '–', '–', '–', 'leave aside: no book, but article']],
  ] as const;
  assert.deepEqual(tabulateChecked(cases.map(([record]) => record)), {
    titles: ['Title', 'Authors', 'ISBN', 'Published', 'Status', 'What would happen'],
    rows: cases.map(([, cells]) => cells),
  });
});

test('the table of records that were checked has the columns that one of them has', () => {
  const reading = { rating: 4.5, finishedOn: '2024-05' };
  const table = tabulateChecked([
    { line: 2, status: 'imported', book: { title: 'Momo', inLanguage: 'de', reading } },
    { line: 3, status: 'imported', book: { title: 'Emma' } },
  ]);
  assert.deepEqual(table, {
    titles: ['Title', 'Language', 'Rating', 'Finished', 'What would happen'],
    rows: [['Momo', 'de', '4.5', '2024-05', 'add'], ['Emma', '–', '–', '–', 'add']],
  });
});

test('the name of a file tells its media type, the longest ending first', () => {
  for (const [name, mediaType] of [
    ['Library.CSV', 'text/csv'], ['export.tsv', 'text/csv'], ['a.json', 'application/json'],
    ['a.csl.json', 'application/vnd.citationstyles.csl+json'], ['a.ndjson', 'application/jsonl'],
    ['books.bib', 'application/x-bibtex'], ['isbns.txt', 'text/plain'], ['books.pdf', null],
    ['csv', null],
  ] as const) {
    assert.equal(findMediaType(name), mediaType, name);
    if (mediaType !== null) assert.notEqual(findFormatByMediaType(mediaType), null, name);
  }
});

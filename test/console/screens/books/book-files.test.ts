import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FORMATS } from '../../../../src/books/transfer/format-list.ts';
import { findFormatByMediaType } from '../../../../src/books/transfer/recognise-format.ts';
import { FILE_FORMATS, findMediaType } from '../../../../src/console/screens/books/book-files.ts';

test('the console has the formats of the server', () => {
  assert.deepEqual(
    FILE_FORMATS.map(({ name, title, mediaType, endings, isReadOnly = false }) =>
      ({ name, title, mediaType, endings, isWritten: !isReadOnly })),
    FORMATS.map(({ name, title, mediaTypes, endings, isWritten }) =>
      ({ name, title, mediaType: mediaTypes[0], endings, isWritten })));
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

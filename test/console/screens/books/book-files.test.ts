import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findFormatByMediaType } from '../../../../src/books/transfer/recognise-format.ts';
import { findMediaType } from '../../../../src/console/screens/books/book-files.ts';

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

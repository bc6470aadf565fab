import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../../src/base/schema.ts';
import { storygraphCodec } from '../../../../src/books/transfer/sources/storygraph.ts';
import { readText } from '../../../support/format-round-trip.ts';
import { makeRow, readBook } from './read-export.ts';

const COLUMNS = 'Title,Authors,Contributors,ISBN/UID,Format,Read Status,Date Added,Last Date Read,'
  + 'Dates Read,Read Count,Moods,Pace,Character- or Plot-Driven?,Strong Character Development?,'
  + 'Loveable Characters?,Diverse Characters?,Flawed Characters?,Star Rating,Review,'
  + 'Content Warnings,Content Warning Description,Tags,Owned?';

test('a record of a StoryGraph export is a book, and all else that it says is kept', () => {
  const file = `${COLUMNS}\nAlways Coming Home,"Ursula K. Le Guin, Todd Barton",`
    + '"Margaret Chodos-Irvine (Illustrator)",9780520227354,paperback,read,2021/05/10,2021/06/01,'
    + '2021/05/11-2021/06/01,1,"reflective, slow",slow,A mix,Yes,,,,4.75,<div>Good</div>,,,'
    + '"utopia, to keep",No\n';
  assert.deepEqual(readBook(storygraphCodec, file), {
    title: 'Always Coming Home', authors: [{ name: 'Ursula K. Le Guin' }, { name: 'Todd Barton' }],
    isbn: '9780520227354', bookFormat: 'Paperback', keywords: ['utopia', 'to keep'],
    reading: {
      status: 'read', rating: 4.75, startedOn: '2021-05-11', finishedOn: '2021-06-01',
      readCount: 1, review: 'Good',
    },
    metadata: {
      source: {
        storygraph: {
          'Contributors': 'Margaret Chodos-Irvine (Illustrator)', 'ISBN/UID': '9780520227354',
          'Date Added': '2021/05/10', 'Moods': 'reflective, slow', 'Pace': 'slow',
          'Character- or Plot-Driven?': 'A mix', 'Strong Character Development?': 'Yes',
        },
      },
    },
  });
});

test('an own id that is a UUID or an ASIN is kept, and is no ISBN', () => {
  for (const [id, isbn] of [
    ['5b0a7a10-3a4e-4d3c-9d5a-2c0b3f6f8a11', undefined], ['B07D23CFGR', undefined],
    ['0374538654', '9780374538651'], ['9780374538651', '9780374538651'],
  ]) {
    const fields = { 'Title': 'A', 'Authors': '', 'ISBN/UID': id ?? '' };
    const book = readBook(storygraphCodec, makeRow(fields));
    assert.equal(book['isbn'], isbn);
    assert.deepEqual(sourceOf(book), { 'ISBN/UID': id });
    assert.equal(readText(storygraphCodec, makeRow(fields))[0]?.line, 2);
  }
});

test('contributors are authors only by their role', () => {
  const book = readBook(storygraphCodec, makeRow({
    'Title': 'A', 'Authors': 'B C, Jr.',
    'Contributors': 'D E (Narrator), F G (Co-Author), B C, Jr. (Author)', 'ISBN/UID': 'B07D23CFGR',
  }));
  assert.deepEqual(book['authors'], [{ name: 'B C, Jr.' }, { name: 'F G' }]);
  assert.equal(sourceOf(book)['Contributors'],
    'D E (Narrator), F G (Co-Author), B C, Jr. (Author)');
});

test('an older export is read by its headings, and one that lacks a column says so', () => {
  const book = readBook(storygraphCodec,
    makeRow({ 'Title': 'A', 'Author': 'B C', 'ISBN': '9780374538651' }));
  assert.deepEqual(book['authors'], [{ name: 'B C' }]);
  assert.equal(book['isbn'], '9780374538651');
  assert.throws(() => readText(storygraphCodec, 'Title,Moods\nA,sad\n'),
    /the header of a StoryGraph export: there is no column `Authors`, `ISBN\/UID`; import/);
});

test('a digital or an audio book is known by its format', () => {
  for (const [format, bookFormat] of [
    ['digital', 'EBook'], ['audio', 'AudiobookFormat'], ['hardcover', 'Hardcover'],
  ]) {
    const book = readBook(storygraphCodec, 
      makeRow({ 'Title': 'A', 'Authors': '', 'ISBN/UID': '', 'Format': format ?? '' }));
    assert.equal(book['bookFormat'], bookFormat);
  }
});

function sourceOf(book: JsonObject): JsonObject {
  const metadata = book['metadata'] as { source?: { storygraph?: JsonObject } } | undefined;
  return metadata?.source?.storygraph ?? {};
}

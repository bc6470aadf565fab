import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeRecord } from '../../../../src/resources/record.ts';
import type { JsonObject } from '../../../../src/base/schema.ts';
import { putMergedIds } from '../../../../src/books/merged-ids.ts';
import { parseImportRecord } from '../../../../src/books/transfer/import-record.ts';
import type { ImportRecord } from '../../../../src/books/transfer/import-record.ts';
import {
  createMatchKeys, createMergedKeys,
} from '../../../../src/books/transfer/matching/match-key.ts';
import { GOODREADS } from '../../../support/import-mode.ts';
import { randomBook } from '../../../support/random-books.ts';
import { createRandom } from '../../../support/random.ts';

const ID = '018f2b7c-0000-7000-8000-00000000000a';
const OTHER_ID = '018f2b7c-0000-7000-8000-00000000000b';
const TIME = '2026-03-01T12:00:00.000Z';
const SOURCE = { ...GOODREADS, ownIdFields: ['Book Id', 'books_id'] };

test('a stored book has the key that a record of the same members has', () => {
  const random = createRandom(1);
  for (let count = 0; count < 2000; count += 1) {
    const fields = fieldsOf(JSON.parse(JSON.stringify(randomBook(random, ID))));
    for (const match of ['isbn', 'title', 'source'] as const) {
      const keys = createMatchKeys(match, SOURCE);
      assert.deepEqual(keys.readStored(store(fields)), keys.readRecord(recordOf(fields)), match);
    }
  }
});

test('title, first author and year are one key, whatever their case, accents and space', () => {
  const base = {
    title: 'Straße nach Łódź', authors: [{ name: 'José Río' }, { name: 'Other' }],
    datePublished: '1960-05-17',
  };
  const same: readonly JsonObject[] = [
    { ...base, title: 'STRASSE NACH LODZ' },
    { ...base, authors: [{ name: 'jose rio' }] },
    { ...base, authors: [{ name: 'Río, José' }] },
    { ...base, title: ' Straße\n nach  Łódź', authors: [{ name: 'José  Río ' }] },
    { ...base, datePublished: '1960' },
    { ...base, subtitle: 'a', isbn: '9780441172719', bookEdition: '2' },
  ];
  const others: readonly JsonObject[] = [
    { ...base, title: 'Straße' },
    { ...base, authors: [{ name: 'Other' }, { name: 'José Río' }] },
    { ...base, authors: [] },
    { ...base, datePublished: '1961' },
    { title: base.title, authors: base.authors },
  ];
  const { readRecord, readStored } = createMatchKeys('title', null);
  for (const book of same) {
    assert.deepEqual(readRecord(recordOf(fieldsOf(book))), readRecord(recordOf(base)));
    assert.deepEqual(readStored(store(fieldsOf(book))), readRecord(recordOf(base)));
  }
  for (const book of others) {
    assert.notDeepEqual(readRecord(recordOf(fieldsOf(book))), readRecord(recordOf(base)));
  }
  assert.deepEqual(readStored(store(fieldsOf({ title: 'A', datePublished: '0999-12' }))),
    readRecord(recordOf(fieldsOf({ title: 'a', datePublished: '0999' }))));
});

test('the own id of a source is read of its own format alone', () => {
  const cases: readonly (readonly [metadata: JsonObject, key: string | null])[] = [
    [{ source: { goodreads: { 'Book Id': '7', 'books_id': '8' } } }, '7'],
    [{ source: { calibre: { uuid: '1' }, goodreads: { 'books_id': 8 } } }, '8'],
    [{ source: { calibre: { 'Book Id': '7' } } }, null],
    [{ source: { goodreads: { 'Book Id': '' } } }, null],
    [{ source: { goodreads: '7' } }, null],
    [{ source: '"goodreads":{"Book Id":"7"}' }, null],
    [{ goodreads: { 'Book Id': '7' } }, null],
    [{ 'note': '"goodreads":{', 'source': { goodreads: { 'Book Id': 'a"b\\' } } }, 'a"b\\'],
    [{}, null],
  ];
  const { readRecord, readStored } = createMatchKeys('source', SOURCE);
  for (const [metadata, key] of cases) {
    const fields = fieldsOf({ title: 'A "metadata":{ B', metadata });
    const keys = key === null ? [] : [key];
    assert.deepEqual(readRecord(recordOf(fields)), keys, JSON.stringify(metadata));
    assert.deepEqual(readStored(store(fields)), keys, JSON.stringify(metadata));
  }
  assert.deepEqual(readStored(store(fieldsOf({ title: '"goodreads":{' }))), []);
});

test('a record has several ids by which the book of it may have been merged', () => {
  const { readRecord, readStored } = createMergedKeys(
    { ...SOURCE, bookIdFields: ['here'], bookIdPrefix: 'urn:uuid:' });
  const fields = fieldsOf({
    title: 'A', metadata: { source: { goodreads: { 'Book Id': '7', here: `urn:uuid:${ID}` } } },
  });
  assert.deepEqual(readRecord({ ...recordOf(fields), id: OTHER_ID }),
    [OTHER_ID, ID, 'goodreads:7']);
  assert.deepEqual(createMergedKeys(null).readRecord(recordOf(fields)), []);
  const stored = store(putMergedIds(fields, [OTHER_ID, 'calibre:a"b']));
  assert.deepEqual(readStored(stored), [OTHER_ID, 'calibre:a"b']);
  assert.deepEqual(readStored(store(fieldsOf({ title: '"mergedIds":["a"]' }))), []);
  assert.deepEqual(readStored(store(fieldsOf({ title: 'A', metadata: { mergedIds: ['a'] } }))), []);
});

function recordOf(fields: JsonObject): ImportRecord {
  return { id: null, createdAt: null, updatedAt: null, fields };
}

function fieldsOf(book: JsonObject): JsonObject {
  return parseImportRecord(book).fields;
}

function store(fields: JsonObject): Buffer {
  return Buffer.from(encodeRecord('id', ID, { createdAt: TIME, updatedAt: TIME }, fields));
}

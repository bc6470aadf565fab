import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ImportRecord } from '../../../../src/books/transfer/import-record.ts';
import { describeChanges } from '../../../../src/books/transfer/matching/describe-changes.ts';
import {
  storeRecord, type StoreDeps,
} from '../../../../src/books/transfer/matching/store-record.ts';

test('an ambiguous record names ten of its matches, whatever the number of its keys', () => {
  const deps = {
    mode: { source: null }, marks: null, nowMs: 0,
    keys: [{ readRecord: () => ['isbn-a', 'isbn-b', 'isbn-c'] }],
    books: {
      find: () => undefined,
      findMatches: (key: string) => Array.from({ length: 12 }, (_, index) => `${key}-${index}`),
    },
  } as unknown as StoreDeps;
  const record = { id: null, fields: {} } as unknown as ImportRecord;
  const outcome = storeRecord(deps, record, 'new');
  assert.equal(outcome.outcome, 'ambiguous');
  assert.equal('ids' in outcome ? outcome.ids.length : 0, 10);
});

test("the reader's own members are told first, sources last by their fields, digests never", () => {
  const digests = { goodreads: '0000000' };
  const changes = describeChanges(
    { 'title': 'A', 'metadata': { 'own': 1, 'x-hookshelf': digests,
      'source': { goodreads: { Id: '1', Shelf: 'a', Owned: '1' } } } },
    { title: 'B', metadata: { own: 2, source: { goodreads: { Id: '1', Shelf: 'b' } } },
      reading: { rating: 4 } });
  assert.deepEqual(Object.entries(changes), [
    ['reading.rating', 'none → 4'], ['title', '"A" → "B"'], ['metadata.own', '1 → 2'],
    ['metadata.source.goodreads', 'Shelf, Owned'],
  ]);
});

test('a change is told by values of at most forty characters', () => {
  assert.deepEqual(
    describeChanges({ title: 'A', keywords: ['a'], reading: { rating: 4, review: 'r'.repeat(50) } },
      { title: 'B', isbn: '1', reading: { rating: 4.5 } }),
    {
      'title': '"A" → "B"', 'keywords': '["a"] → none', 'isbn': 'none → "1"',
      'reading.rating': '4 → 4.5', 'reading.review': `"${'r'.repeat(39)}… → none`,
    });
});

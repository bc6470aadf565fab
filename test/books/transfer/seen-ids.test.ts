import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SeenIds } from '../../../src/books/transfer/seen-ids.ts';

test('every id is known again, however many went by', () => {
  const seen = new SeenIds();
  const ids = Array.from({ length: 5000 }, (_, index) =>
    `018f2b7c-0000-7000-8000-${index.toString(16).padStart(12, '0')}`);
  assert.equal(ids.filter((id) => seen.add(id)).length, 0);
  assert.equal(ids.filter((id) => seen.add(id)).length, ids.length);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LruCache } from '../../../src/store/records/collection.ts';

const record = (text: string) => ({ bytes: Buffer.from(text), representation: undefined });

function textIn(cache: LruCache, id: string): string | undefined {
  return cache.find(id)?.bytes.toString();
}

/** Of four records at most: `a` and `b` are the older half. */
function createCache(): LruCache {
  const cache = new LruCache(4);
  for (const id of ['a', 'b', 'c', 'd']) cache.set(id, record(`${id}1`));
  return cache;
}

test('a record that is asked for stays, the others go', () => {
  const cache = createCache();
  assert.equal(textIn(cache, 'a'), 'a1');
  cache.set('e', record('e1'));
  assert.deepEqual(['a', 'b', 'e'].map((id) => textIn(cache, id)), ['a1', undefined, 'e1']);
});

test('a cached record is replaced in both halves, and one that is not cached stays so', () => {
  const cache = createCache();
  for (const id of ['a', 'd', 'e']) cache.replace(id, record(`${id}2`));
  assert.deepEqual(['a', 'd', 'e'].map((id) => textIn(cache, id)), ['a2', 'd2', undefined]);
});

test('a record that is gone is not found', () => {
  const cache = createCache();
  cache.delete('a');
  cache.replace('c', null);
  assert.deepEqual(['a', 'b', 'c'].map((id) => textIn(cache, id)), [undefined, 'b1', undefined]);
  cache.clear();
  assert.equal(textIn(cache, 'b'), undefined);
});

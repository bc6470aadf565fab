import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LruCache } from '../../../src/store/records/collection.ts';
import { STANDARD_LIMITS, computeMemoryLimits } from '../../../src/store/records/memory-limits.ts';

test('keeps the standard limits without a cap, and shrinks them with one', () => {
  assert.deepEqual(computeMemoryLimits(Infinity), STANDARD_LIMITS);
  assert.deepEqual(computeMemoryLimits(64 << 20),
    { cachedRecordsMax: 4096, stagedBytesMax: 8 << 20 });
});

test('caches at most as many records as allowed, the latest among them', () => {
  const cache = new LruCache(10);
  const record = { bytes: Buffer.alloc(0), representation: undefined };
  for (let count = 0; count < 100; count += 1) cache.set(`id-${count}`, record);
  const kept = Array.from({ length: 100 }, (_, count) => `id-${count}`)
    .filter((id) => cache.find(id) !== undefined);
  assert.ok(kept.length > 0 && kept.length <= 10, kept.join());
  assert.ok(kept.includes('id-99'));
});

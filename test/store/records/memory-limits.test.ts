import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HotRecords } from '../../../src/store/records/lru-cache.ts';
import { STANDARD_LIMITS, limitsFor } from '../../../src/store/records/memory-limits.ts';

test('without a cap the limits are the standard ones, under one they shrink with it', () => {
  assert.deepEqual(limitsFor(Infinity), STANDARD_LIMITS);
  assert.deepEqual(limitsFor(64 << 20), { hotRecordsMax: 4096, stagedBytesMax: 8 << 20 });
});

test('hot records are at most as many as allowed, the latest among them', () => {
  const hot = new HotRecords(10);
  const record = { bytes: Buffer.alloc(0), derived: undefined };
  for (let count = 0; count < 100; count += 1) hot.set(`id-${count}`, record);
  const kept = Array.from({ length: 100 }, (_, count) => `id-${count}`)
    .filter((id) => hot.find(id) !== undefined);
  assert.ok(kept.length > 0 && kept.length <= 10, kept.join());
  assert.ok(kept.includes('id-99'));
});

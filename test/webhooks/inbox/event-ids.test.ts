/** The ids of events on disk: found until they expire, and removed after that. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../src/base/log.ts';
import { ExpiringRecords } from '../../../src/resources/expiring-records.ts';
import {
  readExpiryMs, eventIdCollection, hashEventId, findEventId, putEventId,
} from '../../../src/webhooks/inbox/event-ids.ts';
import { createMemoryStore, type MemoryStore } from '../../support/memory-store.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { until } from '../../support/until.ts';

const NOW = Date.parse('2026-01-01T00:00:00.000Z');
const HOUR = 3_600_000;
const REQUEST = '01890000-0000-7000-8000-000000000001';

const keyOf = (id: string, expiresAtMs: number, bodySha256: string | null = null): {
  identifier: string; bodySha256: string | null; expiresAtMs: number;
} => ({ identifier: hashEventId('hook', id), bodySha256, expiresAtMs });

async function storeWith(...keys: readonly ReturnType<typeof keyOf>[]): Promise<MemoryStore> {
  const store = createMemoryStore([eventIdCollection]);
  for (const key of keys) {
    await store.transact((transaction) => putEventId(transaction, key, REQUEST));
  }
  return store;
}

test('an id is found until it expires, with what is known of its body', async () => {
  const key = keyOf('a\n"\u00fc', NOW + HOUR, 'abc');
  const store = await storeWith(key);
  const find = (identifier: string): Buffer | undefined =>
    store.collection(eventIdCollection.name).findBytes(identifier);
  assert.deepEqual(findEventId(find, key, NOW + HOUR - 1), {
    request: REQUEST, bodySha256: 'abc',
  });
  assert.equal(findEventId(find, key, NOW + HOUR), undefined);
  assert.equal(findEventId(find, keyOf('b', NOW), NOW), undefined);
});

test('ids of two webhooks, and of two bodies, are apart', () => {
  const identifiers = [
    hashEventId('a', 'b\nc'), hashEventId('a\nb', 'c'), hashEventId('a', 'c', 'b'),
    hashEventId('b', 'c'), hashEventId('a', 'c'), hashEventId('a', '["c","b"]'),
  ];
  assert.equal(new Set(identifiers).size, identifiers.length);
});

for (const [title, nowMs, countMax] of [
  ['expired ids are removed, whatever the order in which they came', NOW + 3 * HOUR, 100],
  ['of too many those go first that expire first', NOW, 2],
] as const) {
  test(title, async () => {
    const keys = [10, 1, 5, 2].map((hours) => keyOf(`for ${hours}`, NOW + hours * HOUR));
    const store = await storeWith(...keys);
    const records = new ExpiringRecords({
      store, clock: new ManualClock({ startMs: nowMs }), log: silentLogger, noun: 'ids',
      collection: eventIdCollection.name, readExpiryMs, limits: { countMax, bytesMax: 1e9 },
    });
    records.start();
    const left = store.collection(eventIdCollection.name);
    await until('two have gone', () => left.size === 2);
    assert.ok(left.find(keys[0]?.identifier ?? '') && left.find(keys[2]?.identifier ?? ''));
    await records.close();
  });
}

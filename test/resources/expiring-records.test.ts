import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../src/base/log.ts';
import { ExpiringRecords } from '../../src/resources/expiring-records.ts';
import type { CollectionSpec, Store } from '../../src/store/store-port.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { createMemoryStore } from '../support/memory-store.ts';
import { until } from '../support/until.ts';

const MARKS: CollectionSpec = { name: 'marks', key: 'id' };

function encodeMark(id: string, expiresAtMs: number): string {
  return JSON.stringify({ id, expiresAtMs });
}

test('a record that is renewed while the expired ones are removed stays', async () => {
  const store = createMemoryStore([MARKS]);
  const clock = new ManualClock();
  const nowMs = clock.now();
  await store.transact((transaction) => {
    transaction.put('marks', 'old', encodeMark('old', nowMs - 1));
    transaction.put('marks', 'renewed', encodeMark('renewed', nowMs - 1));
  });
  // Another transaction comes first when the expired records are found and not removed yet.
  const renewing: Store = {
    ...store,
    collection: (name) => store.collection(name),
    async transact(run) {
      await store.transact((transaction) =>
        transaction.put('marks', 'renewed', encodeMark('renewed', nowMs + 1000)));
      return store.transact(run);
    },
  };
  const records = new ExpiringRecords({
    store: renewing, clock, log: silentLogger, collection: 'marks', noun: 'marks',
    readExpiryMs: (bytes) => JSON.parse(bytes.toString()).expiresAtMs,
    limits: { countMax: 100, bytesMax: 10_000 },
  });
  records.start();
  await until('the expired record is gone', () =>
    store.collection('marks').find('old') === undefined);
  await records.close();
  assert.notEqual(store.collection('marks').find('renewed'), undefined);
});

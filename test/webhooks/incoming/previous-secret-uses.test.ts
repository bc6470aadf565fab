import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../src/base/log.ts';
import { incomingCollection } from '../../../src/webhooks/incoming/incoming-webhook.ts';
import {
  createUseRecorder,
} from '../../../src/webhooks/incoming/receiving/previous-secret-uses.ts';
import { createMemoryStore } from '../../support/memory-store.ts';

const MINUTE_MS = 60_000;

test('the uses of a previous secret are written once a minute', async () => {
  const store = createMemoryStore([incomingCollection]);
  const { name } = incomingCollection;
  const webhook = {
    identifier: 'one', previousSecret: { secret: 's', validUntil: '2030-01-01T00:00:00.000Z' },
  };
  await store.transact((transaction) => {
    transaction.put(name, 'one', JSON.stringify(webhook));
  });
  const record = createUseRecorder(store, silentLogger);
  for (const atMs of [1, 2, MINUTE_MS - 1, MINUTE_MS, MINUTE_MS + 1]) {
    record({ identifier: 'one', labels: {} }, atMs);
  }
  await store.transact(() => {});
  assert.equal(store.lines.length, 3);
  const written = JSON.parse(String(store.collection(name).findBytes('one')));
  const lastUsedAt = '1970-01-01T00:01:00.000Z';
  const previousSecret = { ...webhook.previousSecret, lastUsedAt };
  assert.deepEqual(written, { ...webhook, previousSecret });
});

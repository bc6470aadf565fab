import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changeDeliveries } from '../../../src/webhooks/deliveries/delivery-changes.ts';
import { createDelivery, failIfPending } from '../../../src/webhooks/deliveries/delivery.ts';
import type { QueueLease } from '../../../src/webhooks/durable-queue/ownership.ts';
import { retireWebhook } from '../../../src/webhooks/sending/webhook-retirement.ts';
import { webhookCollections } from '../../../src/webhooks/webhooks.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { createMemoryStore } from '../../support/memory-store.ts';

test('a lease that has ended retires no webhook, and writes no result', async () => {
  const store = createMemoryStore(webhookCollections);
  const item = createDelivery({
    identifier: 'd1', hook: 'h1', event: 'a', eventId: 'e1',
  }, '2026-01-01T00:00:00.000Z');
  const webhook = JSON.stringify({ identifier: 'h1', targetUrl: 'http://a/', enabled: true });
  await store.transact((transaction) => {
    transaction.put('outgoing-webhooks', 'h1', webhook);
    changeDeliveries(transaction, (unit) => unit.accept(item));
  });
  const lease: QueueLease = {
    beginAttempt: () => true, endAttempt() {}, mayContinue: () => true, endSignal: null,
    isHeld: () => false,
  };
  const scheduler = {
    listTaskIds: () => ['d1'], suspend() {}, resume() {}, isSuspended: () => false,
  };
  const clock = new ManualClock();
  const result = await retireWebhook(
    { store, webhooks: { find: () => undefined }, scheduler, clock }, 'h1', {
      storedDelivery: { item, bytes: Buffer.alloc(0) }, lease, stageMore() {}, systemEvents: null,
      change: (before) => failIfPending(before, clock.now()) ?? before,
    });
  assert.deepEqual(result, { own: undefined, isDisabled: false });
  assert.equal(store.lines.length, 1);
});

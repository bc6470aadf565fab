import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stageDelivery } from '../../../../src/webhooks/deliveries/delivery-changes.ts';
import { createDelivery, endIfPending } from '../../../../src/webhooks/deliveries/delivery.ts';
import type { QueueLease } from '../../../../src/webhooks/work/ownership.ts';
import { Scheduler } from '../../../../src/webhooks/work/scheduler.ts';
import { retireWebhook } from '../../../../src/webhooks/deliveries/sending/webhook-retirement.ts';
import { webhookCollections } from '../../../../src/webhooks/webhooks.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { createMemoryStore } from '../../../support/memory-store.ts';
import { turnsUntil } from '../../../support/turns.ts';
import { DOWN, Simulation } from './simulation.ts';

const GONE = { kind: 'answer', status: 410 } as const;

test('a lease that has ended retires no webhook, and writes no result', async () => {
  const store = createMemoryStore(webhookCollections);
  const item = createDelivery({
    identifier: 'd1', hook: 'h1', event: 'a', eventId: 'e1',
  }, '2026-01-01T00:00:00.000Z');
  const webhook = JSON.stringify({ identifier: 'h1', targetUrl: 'http://a/', enabled: true });
  await store.transact((transaction) => {
    transaction.put('outgoing-webhooks', 'h1', webhook);
    stageDelivery(transaction, item);
  });
  const lease: QueueLease = {
    beginAttempt: () => true, endAttempt() {}, mayContinue: () => true, endSignal: null,
    isHeld: () => false,
  };
  const clock = new ManualClock();
  const scheduler = new Scheduler(clock, { runningMax: 1, runningPerQueueMax: 1 });
  scheduler.add('d1', { key: 'h1', target: 'a', mayStart: true }, 0);
  const result = await retireWebhook(
    { store, scheduler, clock, retiringIds: new Set() }, { updateQueue() {} }, 'h1', {
      storedItem: { item, bytes: Buffer.alloc(0) }, lease, targetUrl: 'http://a/',
      stageMore() {}, stageDisabled() {},
      change: (before) => endIfPending(before, 'failed', clock.now()) ?? before,
    });
  assert.deepEqual(result, { attemptedDelivery: undefined, wasDisabled: false });
  assert.equal(store.lines.length, 1);
});

test('a 410 from the former URL of a webhook fails the asked delivery alone', async () => {
  const simulation = new Simulation({ outgoing: { maxInFlightPerHook: 1 } });
  const webhookId = await simulation.addHook('former', {}, GONE);
  const ids = [...await simulation.emit(), ...await simulation.emit()];
  await simulation.clock.advance(0);
  assert.equal(simulation.underWay.length, 1);
  const { outgoing } = simulation.webhooks.resources;
  await simulation.run(outgoing.patch(webhookId, { targetUrl: 'http://present/' }));
  await simulation.clock.advance(1000);
  assert.deepEqual(ids.map((id) => simulation.delivery(id)?.status), ['failed', 'delivered']);
  assert.ok(simulation.isEnabled(webhookId));
  assert.deepEqual(simulation.logLines.filter((line) => line.includes('was disabled')), []);
});

test('a URL that changes while the deliveries fail saves those that have not', async () => {
  const simulation = new Simulation({ outgoing: { maxInFlightPerHook: 1 } });
  const webhookId = await simulation.addHook('former', {}, DOWN);
  for (let count = 0; count < 1100; count += 1) await simulation.emit();
  simulation.targets.set('former', GONE);
  const { deliveries, resources } = simulation.webhooks;
  const advancing = simulation.clock.advance(10_000);
  await turnsUntil(() => deliveries.totals().failed > 0);
  const patching = resources.outgoing.patch(webhookId, { targetUrl: 'http://present/' });
  await Promise.all([patching, advancing]);
  await simulation.clock.advance(60_000);
  const { failed, delivered, pending } = deliveries.totals();
  assert.ok(failed < 1000 && delivered > 100, `${failed} failed, ${delivered} were delivered`);
  assert.deepEqual([failed + delivered, pending], [1100, 0]);
  assert.ok(simulation.isEnabled(webhookId));
});

/** A durable send to one webhook, on a simulated clock, network and disk. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import { formatTimestamp } from '../../../src/base/clock.ts';
import { ALL_OWNED } from '../../../src/webhooks/work/ownership.ts';
import { ALL_OUTGOING } from '../../../src/webhooks/deliveries/delivery-fields.ts';
import { listEventDeliveries } from '../../../src/webhooks/events/public-event.ts';
import { DOWN, Simulation, UP, type SimulationOptions } from './sending/simulation.ts';

const HOUR_MS = 3_600_000;

type Sent = { readonly id: string; readonly eventId: string };

async function send(
  simulation: Simulation, webhook: string, payload: unknown,
  terms: { readonly delayMs?: number; readonly key?: string; readonly name?: string } = {},
): Promise<Sent> {
  const { delayMs, key, name = 'send' } = terms;
  const deliverAt = delayMs === undefined
    ? undefined : formatTimestamp(simulation.clock.now() + delayMs);
  const delivery = await simulation.run(simulation.webhooks.deliveries.sendDurably({
    webhook, name, payloadJson: JSON.stringify(payload), key, deliverAt, source: 'api', hops: 0,
  }, () => {}));
  return { id: delivery.identifier, eventId: delivery.eventId ?? '' };
}

async function open(options: SimulationOptions = {}): Promise<[Simulation, string]> {
  const simulation = new Simulation(options);
  return [simulation, await simulation.addHook('there', { triggerEvent: 'other' })];
}

test('it goes to this webhook alone, whatever that hears, and again until it arrives', async () => {
  const [simulation, webhook] = await open();
  await simulation.addHook('everywhere', { triggerEvent: '*' });
  simulation.targets.set('there', DOWN);
  const { id, eventId } = await send(simulation, webhook, { n: 1 }, { key: 'k', name: 'odd' });
  const event = simulation.store.collection('events').findBytes(eventId)?.toString() ?? '';
  const { name, source, key, to, hooks, payload } = JSON.parse(event);
  assert.deepEqual([name, source, key, to, hooks, payload],
    ['odd', 'api', 'k', webhook, [webhook], { n: 1 }]);
  await simulation.clock.advance(1000);
  await simulation.crash();
  simulation.targets.set('there', UP);
  await simulation.crash();
  await simulation.clock.advance(60_000);
  assert.deepEqual(simulation.requests.map(({ host, body }) => [host, body]),
    [['there', '{"n":1}'], ['there', '{"n":1}']]);
  assert.equal(simulation.delivery(id)?.status, 'delivered');
  await simulation.assertReconciled();
});

test('a disabled webhook gets it when it is enabled', async () => {
  let begun = 0;
  const lease = ALL_OWNED.findLease('');
  assert.ok(lease !== null);
  const countingLease = {
    ...lease, beginAttempt() {
      begun += 1;
      // Who asks again and again is put off, so that the test comes to its end.
      return begun < 10;
    },
  };
  const [simulation, webhook] =
    await open({ ownership: { ...ALL_OWNED, findLease: () => countingLease } });
  const { outgoing } = simulation.webhooks.resources;
  await simulation.run(outgoing.patch(webhook, { enabled: false }));
  const { id } = await send(simulation, webhook, {});
  await simulation.clock.advance(HOUR_MS);
  assert.equal(simulation.requests.length, 0);
  const delivery = simulation.delivery(id);
  assert.ok(delivery !== undefined);
  assert.equal(simulation.webhooks.deliveries.toPublic(delivery).waitsFor, 'webhook');
  assert.equal(begun, 0);
  await simulation.run(outgoing.patch(webhook, { enabled: true }));
  await simulation.clock.advance(1000);
  assert.equal(simulation.requests.length, 1);
});

test('a delayed one waits with its time, through a start, and holds back nobody', async () => {
  const [simulation] = await open({ outgoing: { maxInFlightPerHook: 1 } });
  const webhook = await simulation.addHook('strict', { maxInFlight: 1 });
  const startMs = simulation.clock.now();
  const { id } = await send(simulation, webhook, 'later', { delayMs: HOUR_MS });
  const { queuedAt, nextAttemptAt } = simulation.delivery(id) ?? {};
  const beginAt = formatTimestamp(startMs + HOUR_MS);
  assert.deepEqual([queuedAt, nextAttemptAt], [beginAt, beginAt]);
  assert.equal(simulation.store.collection('delayed-events').size, 0);
  await simulation.emit('now');
  await simulation.clock.advance(1000);
  assert.deepEqual(simulation.requests.map(({ body }) => body), ['"now"']);
  await simulation.crash();
  await simulation.emit('soon');
  await simulation.clock.advance(HOUR_MS);
  assert.deepEqual(simulation.requests.map(({ body }) => body), ['"now"', '"soon"', '"later"']);
  assert.equal(simulation.requests.at(-1)?.atMs, startMs + HOUR_MS);
  await simulation.assertReconciled();
});

test('a delayed one is cancelled with its event, until it begins', async () => {
  const [simulation, webhook] = await open();
  const { deliveries } = simulation.webhooks;
  const { id, eventId } = await send(simulation, webhook, {}, { delayMs: HOUR_MS });
  await simulation.run(deliveries.cancelEvent(eventId));
  assert.equal(simulation.store.collection('events').size, 0);
  assert.equal(simulation.delivery(id), undefined);
  await simulation.assertReconciled();
  const refused = (thrown: unknown): boolean =>
    thrown instanceof AppError && thrown.code === 'conflict';
  simulation.targets.set('there', DOWN);
  const retried = await send(simulation, webhook, {}, { delayMs: HOUR_MS });
  await simulation.run(deliveries.retry(retried.id));
  await assert.rejects(simulation.run(deliveries.cancelEvent(retried.eventId)), refused);
  const begun = await send(simulation, webhook, {}, { delayMs: HOUR_MS });
  await simulation.clock.advance(HOUR_MS);
  await assert.rejects(simulation.run(deliveries.cancelEvent(begun.eventId)), refused);
  // One whose time has come has begun, also where nothing was attempted yet.
  const { outgoing } = simulation.webhooks.resources;
  await simulation.run(outgoing.patch(webhook, { enabled: false }));
  const waiting = await send(simulation, webhook, {}, { delayMs: HOUR_MS });
  await simulation.clock.advance(HOUR_MS);
  assert.deepEqual(simulation.delivery(waiting.id)?.attempts, []);
  await assert.rejects(simulation.run(deliveries.cancelEvent(waiting.eventId)), refused);
  await simulation.run(outgoing.patch(webhook, { enabled: true }));
  const cancelled = await send(simulation, webhook, {}, { delayMs: HOUR_MS });
  await simulation.run(deliveries.cancel(cancelled.id));
  await assert.rejects(simulation.run(deliveries.cancelEvent(cancelled.eventId)), refused);
  await simulation.assertReconciled();
});

test('one whose cancellation is still being written at its time is not sent', async () => {
  const [simulation, webhook] = await open();
  const { id, eventId } = await send(simulation, webhook, {}, { delayMs: HOUR_MS });
  await simulation.clock.advance(HOUR_MS - 1);
  const release = simulation.store.holdBatches();
  const cancelling = simulation.webhooks.deliveries.cancelEvent(eventId);
  await simulation.clock.advance(1000);
  release();
  await simulation.run(cancelling);
  await simulation.clock.advance(HOUR_MS);
  assert.equal(simulation.requests.length, 0);
  assert.equal(simulation.delivery(id), undefined);
  await simulation.assertReconciled();
});

test('a delayed one of a webhook that is removed is cancelled', async () => {
  const [simulation, webhook] = await open();
  const { id } = await send(simulation, webhook, {}, { delayMs: HOUR_MS });
  await simulation.run(simulation.webhooks.resources.outgoing.remove(webhook));
  await simulation.clock.advance(2 * HOUR_MS);
  assert.equal(simulation.delivery(id)?.status, 'cancelled');
  assert.equal(simulation.requests.length, 0);
});

test('a webhook that there is not, and a name that is none, are refused', async () => {
  const [simulation, webhook] = await open();
  await assert.rejects(async () => send(simulation, 'nobody', {}), { code: 'not_found' });
  for (const name of ['a,b', '', 'delivery.failed']) {
    await assert.rejects(async () => send(simulation, webhook, {}, { name }), { code: 'invalid' });
  }
  const listed = simulation.webhooks.deliveries.list(ALL_OUTGOING, null, 10);
  assert.deepEqual(await simulation.run(listed), []);
});

test('a delayed one is no old pending delivery before its time, and counts from then', async () => {
  const [simulation, webhook] = await open();
  simulation.targets.set('there', DOWN);
  const oldestMs = (): number => simulation.webhooks.statistics().oldestPendingMs;
  await send(simulation, webhook, {}, { delayMs: 2 * HOUR_MS });
  await simulation.clock.advance(HOUR_MS);
  assert.equal(oldestMs(), 0);
  await simulation.emit({}, 'other');
  await simulation.clock.advance(HOUR_MS);
  assert.equal(oldestMs(), HOUR_MS);
  await simulation.clock.advance(10 * 60_000);
  assert.equal(oldestMs(), HOUR_MS + 10 * 60_000);
});

test('a delayed one that is due counts as pending since its time', async () => {
  const [simulation, webhook] = await open();
  simulation.targets.set('there', DOWN);
  await send(simulation, webhook, {}, { delayMs: HOUR_MS });
  await simulation.clock.advance(HOUR_MS + 60_000);
  assert.equal(simulation.webhooks.statistics().oldestPendingMs, 60_000);
});

test('an event whose delayed delivery was cancelled says so', async () => {
  const [simulation, webhook] = await open();
  const { id, eventId } = await send(simulation, webhook, {}, { delayMs: HOUR_MS });
  await simulation.run(simulation.webhooks.deliveries.cancel(id));
  const record = simulation.store.collection('events').findBytes(eventId);
  assert.ok(record !== undefined);
  assert.deepEqual(listEventDeliveries(
    simulation.store, { find: () => undefined }, eventId, record, null),
    [{ identifier: id, hook: webhook, hookName: null, status: 'cancelled' }]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTurns } from '../../../../src/base/turns.ts';
import { formatUuidTime } from '../../../../src/base/uuid.ts';
import { deleteHold, putHold } from '../../../../src/webhooks/deliveries/backfill-hold.ts';
import { Simulation, UP, type Behaviour, type SimulationOptions } from './simulation.ts';

// Only signed requests name their delivery.
const secret = 's';
const FAILING: Behaviour = { kind: 'answer', status: 500 };
const BY_KEY = { order: { key: 'payload.key' } };
/** The wait before the first retry. */
const RETRY_MS = 5000;

/** A webhook of that order whose first delivery, with the key `first`, waits for its retry. */
async function withWaiting(
  members: object, first: unknown = 1, options: SimulationOptions = {},
): Promise<{ simulation: Simulation; hook: string; waiting: string }> {
  const simulation = new Simulation(options);
  const hook = await simulation.addHook('target', { secret, ...members }, FAILING);
  const waiting = await emit(simulation, first);
  await simulation.clock.advance(100);
  simulation.targets.set('target', UP);
  return { simulation, hook, waiting };
}

async function emit(simulation: Simulation, key?: unknown, n?: number): Promise<string> {
  const [id = ''] = await simulation.emit({ key, n });
  return id;
}

function sentOf(simulation: Simulation): string[] {
  return simulation.requests.map(({ id }) => id);
}

test('a delivery that waits for its retry holds back its own key alone', async () => {
  const { simulation, waiting } = await withWaiting(BY_KEY);
  const same = await emit(simulation, 1);
  const others = [
    await emit(simulation, '1'), await emit(simulation, true), await emit(simulation, 2),
    await emit(simulation), await emit(simulation, null), await emit(simulation, { a: 1 }),
    await emit(simulation, [1]),
  ];
  await simulation.clock.advance(1000);
  assert.deepEqual(sentOf(simulation), [waiting, ...others]);
  await simulation.clock.advance(RETRY_MS);
  assert.deepEqual(sentOf(simulation), [waiting, ...others, waiting, same]);
});

test('the order by key is the same after a crash', async () => {
  const { simulation, waiting } = await withWaiting(BY_KEY);
  const same = await emit(simulation, 1);
  const before = simulation.requests.length;
  await simulation.crash();
  const other = await emit(simulation, 2);
  await simulation.clock.advance(RETRY_MS * 2);
  assert.deepEqual(sentOf(simulation).slice(before), [other, waiting, same]);
});

for (const members of [{ order: 'strict' }, { order: 'strict', maxInFlight: 8 }]) {
  test(`nothing overtakes in ${JSON.stringify(members)}`, async () => {
    const { simulation, waiting } = await withWaiting(members);
    const later = [await emit(simulation, 2), await emit(simulation, 3)];
    await simulation.clock.advance(1000);
    assert.deepEqual(sentOf(simulation), [waiting]);
    await simulation.clock.advance(RETRY_MS);
    assert.deepEqual(sentOf(simulation), [waiting, waiting, ...later]);
  });
}

test('with the order none a delivery that is retried is overtaken', async () => {
  const { simulation, waiting } = await withWaiting({ order: 'none' });
  const later = await emit(simulation, 1);
  await simulation.clock.advance(1000);
  assert.deepEqual(sentOf(simulation), [waiting, later]);
});

test('the pending deliveries of a webhook follow its order when that changes', async () => {
  const { simulation, hook, waiting } = await withWaiting({ order: { key: 'payload.n' } });
  const patch = (order: unknown): Promise<unknown> =>
    simulation.run(simulation.webhooks.resources.outgoing.patch(hook, { order } as object));
  await patch('strict');
  const held = await emit(simulation, 2, 1);
  const sameKey = await emit(simulation, 1, 2);
  await simulation.clock.advance(1000);
  assert.deepEqual(sentOf(simulation), [waiting]);
  await patch({ key: 'payload.key' });
  await simulation.clock.advance(1000);
  assert.deepEqual(sentOf(simulation), [waiting, held]);
  await patch(null);
  await simulation.clock.advance(1000);
  assert.deepEqual(sentOf(simulation), [waiting, held, sameKey]);
});

for (const members of [BY_KEY, { order: 'strict' }, { maxInFlight: 1 }]) {
  test(`what a cancelled delivery held back goes on in ${JSON.stringify(members)}`, async () => {
    const { simulation, waiting } = await withWaiting({ ...members, retrySchedule: [600] });
    const [second, third] = [await emit(simulation, 1), await emit(simulation, 1)];
    await simulation.run(simulation.webhooks.deliveries.cancel(waiting));
    await simulation.clock.advance(1000);
    assert.deepEqual(sentOf(simulation), [waiting, second, third]);
  });

  test(`what failed for good holds back none in ${JSON.stringify(members)}`, async () => {
    const { simulation, waiting } = await withWaiting({ ...members, retrySchedule: [600] });
    const [second, third] = [await emit(simulation, 1), await emit(simulation, 1)];
    await simulation.clock.advance(599_000);
    assert.deepEqual(sentOf(simulation), [waiting]);
    simulation.targets.set('target', { kind: 'answer', status: 500 });
    await simulation.clock.advance(1200);
    assert.equal(simulation.delivery(waiting)?.status, 'failed');
    assert.deepEqual(sentOf(simulation).slice(0, 3), [waiting, waiting, second]);
    simulation.targets.set('target', UP);
    await simulation.clock.advance(1_300_000);
    assert.deepEqual(sentOf(simulation).slice(3), [second, third]);
  });
}

test('a failed delivery retried by hand goes to the end, one that waits stays', async () => {
  const { simulation, hook, waiting: failed } = await withWaiting({ ...BY_KEY, retrySchedule: [] });
  await simulation.run(simulation.webhooks.resources.outgoing.patch(hook, {
    retrySchedule: [600],
  }));
  simulation.targets.set('target', FAILING);
  const first = await emit(simulation, 1);
  await simulation.clock.advance(100);
  const second = await emit(simulation, 1);
  await simulation.clock.advance(100);
  const { deliveries } = simulation.webhooks;
  await simulation.run(deliveries.retry(failed));
  await simulation.run(deliveries.retry(second));
  await simulation.clock.advance(100);
  assert.deepEqual(sentOf(simulation), [failed, first]);
  simulation.targets.set('target', UP);
  await simulation.run(deliveries.retry(first));
  await simulation.clock.advance(1000);
  assert.deepEqual(sentOf(simulation).slice(2), [first, second, failed]);
});

test('what a backfill holds back waits after a crash, too, until it is let go', async () => {
  const simulation = new Simulation();
  const hook = await simulation.addHook('target', { secret });
  const early = await emit(simulation, 1);
  await simulation.clock.advance(1000);
  const { store } = simulation;
  const job = `${formatUuidTime(simulation.clock.now())}-7000-8000-000000000000`;
  await simulation.run(store.transact((transaction) => putHold(transaction, hook, job)));
  await simulation.clock.advance(1000);
  const before = await emit(simulation, 2);
  await simulation.crash();
  const after = await emit(simulation, 3);
  await simulation.clock.advance(60_000);
  assert.deepEqual(sentOf(simulation), [early]);
  await simulation.run(simulation.store.transact((transaction) =>
    deleteHold(transaction, hook, job)));
  await simulation.clock.advance(1000);
  assert.deepEqual(sentOf(simulation), [early, before, after]);
});

test('what was retried by hand has its place after a crash, too', async () => {
  const { simulation, waiting } = await withWaiting({ ...BY_KEY, retrySchedule: [600] });
  const second = await emit(simulation, 1);
  await simulation.clock.advance(100);
  simulation.targets.set('target', FAILING);
  await simulation.run(simulation.webhooks.deliveries.retry(waiting));
  await simulation.clock.advance(100);
  await simulation.crash();
  simulation.targets.set('target', UP);
  await simulation.clock.advance(700_000);
  assert.deepEqual(sentOf(simulation).slice(1), [waiting, waiting, second]);
});

test('a resend goes to the end of its key', async () => {
  const { simulation, hook, waiting: failed } = await withWaiting({ ...BY_KEY, retrySchedule: [] });
  await simulation.run(simulation.webhooks.resources.outgoing.patch(hook, { enabled: false }));
  const pending = await emit(simulation, 1).catch(() => '');
  assert.equal(pending, '');
  await simulation.run(simulation.webhooks.resources.outgoing.patch(hook, { enabled: true }));
  simulation.targets.set('target', { kind: 'slow', ms: 1000 });
  const first = await emit(simulation, 1);
  const second = await emit(simulation, 1);
  const { identifier } = await simulation.run(simulation.webhooks.deliveries.resend(failed, 'new'));
  await simulation.clock.advance(10_000);
  assert.deepEqual(sentOf(simulation).slice(1), [first, second, identifier]);
});

test('a key that holds back more than a hundred deliveries is told, by webhook', async () => {
  const { simulation, hook } = await withWaiting({ ...BY_KEY, retrySchedule: [600] });
  for (let count = 0; count < 100; count += 1) await emit(simulation, 1);
  assert.deepEqual(simulation.webhooks.listLongLanes(10), []);
  await emit(simulation, 1);
  const heldBack = [{ queueKey: hook, key: 1, waiting: 101 }];
  assert.deepEqual(simulation.webhooks.listLongLanes(10), heldBack);
  await simulation.crash();
  assert.deepEqual(simulation.webhooks.listLongLanes(10), heldBack);
});

test('no delivery of a key starts beside another while a webhook gets its order', async () => {
  // Each step takes a millisecond, so that the new order is not there within one turn.
  let nowMs = 0;
  const turns = createTurns({ monotonicMs: () => nowMs++ });
  const { simulation, hook } = await withWaiting({ order: 'strict' }, 1, { turns });
  const keys = new Map<string, number>();
  for (let n = 0; n < 60; n += 1) keys.set(await emit(simulation, n % 2), n % 2);
  simulation.targets.set('target', { kind: 'slow', ms: 1000 });
  await simulation.run(simulation.webhooks.resources.outgoing.patch(hook, BY_KEY));
  for (let second = 0; second < 100; second += 1) {
    const underWay = simulation.underWay.map(({ id }) => keys.get(id) ?? 1);
    assert.equal(new Set(underWay).size, underWay.length, `${underWay} are under way`);
    await simulation.clock.advance(1000);
  }
  assert.deepEqual(sentOf(simulation).filter((id) => keys.get(id) === 0),
    [...keys.keys()].filter((id) => keys.get(id) === 0));
});

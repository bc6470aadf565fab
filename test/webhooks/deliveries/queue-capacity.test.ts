import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTimestamp } from '../../../src/base/clock.ts';
import { AppError } from '../../../src/base/errors.ts';
import { ALL_OUTGOING } from '../../../src/webhooks/deliveries/delivery-fields.ts';
import { ALL_OWNED } from '../../../src/webhooks/work/ownership.ts';
import { DOWN, Simulation, UP } from './sending/simulation.ts';

const HOUR_MS = 3_600_000;
const FAILED = { ...ALL_OUTGOING, status: 'failed' } as const;
const PAYLOAD = 'x'.repeat(10_000);
const FORWARD = { url: 'http://there/', method: 'POST', headers: {}, body: Buffer.from(PAYLOAD) };

function isFull(thrown: unknown): boolean {
  return thrown instanceof AppError && thrown.code === 'unavailable'
    && Number(thrown.details.retryAfterS) > 0 && /outgoing\.maxPendingBytes/.test(thrown.message);
}

async function acceptedOf(works: readonly Promise<unknown>[]): Promise<number> {
  const results = await Promise.allSettled(works);
  for (const result of results) assert.ok(result.status === 'fulfilled' || isFull(result.reason));
  return results.filter(({ status }) => status === 'fulfilled').length;
}

function keptBytes(simulation: Simulation): number {
  return ['deliveries', 'events', 'delivery-bodies']
    .map((name) => simulation.store.collection(name).bytesTotal)
    .reduce((sum, bytes) => sum + bytes, 0);
}

test('beyond its bytes the queue takes nothing, and changes nothing', async () => {
  const simulation = new Simulation({ outgoing: { maxPendingBytes: 35_000 } });
  const { webhooks } = simulation;
  await simulation.addHook('there', {}, DOWN);
  await simulation.emit(PAYLOAD);
  await simulation.run(webhooks.deliveries.queueForward(FORWARD));
  await simulation.emit(PAYLOAD);
  await simulation.clock.advance(0);
  const lines = simulation.store.lines.length;
  await assert.rejects(simulation.run(webhooks.emit('thing.x', PAYLOAD)), isFull);
  await assert.rejects(simulation.run(webhooks.deliveries.queueForward(FORWARD)), isFull);
  assert.equal(simulation.store.lines.length, lines);
  assert.deepEqual(await simulation.emit(PAYLOAD, 'unheard'), []);
  assert.equal((await simulation.emit('small')).length, 1);
});

test('the bytes of a payload count, not its characters', async () => {
  const simulation = new Simulation({ outgoing: { maxPendingBytes: 35_000 } });
  const { webhooks } = simulation;
  const hook = await simulation.addHook('there');
  const payload = '書'.repeat(12_000);
  const origin = { source: 'api', hops: 0 } as const;
  const send = { ...origin, webhook: hook, name: 'thing.x', payloadJson: JSON.stringify(payload) };
  const deliverAt = formatTimestamp(simulation.clock.now() + HOUR_MS);
  const ways: readonly (() => Promise<unknown>)[] = [
    () => webhooks.emit('thing.x', payload),
    () => webhooks.events.emitJson('thing.x', send.payloadJson, { ...origin, deliverAt }),
    () => webhooks.events.emitJson('thing.x', send.payloadJson, origin, () => {}),
    () => webhooks.deliveries.queueForward({ ...FORWARD, body: Buffer.from(payload) }),
    () => webhooks.deliveries.sendDurably(send, () => {}),
  ];
  for (const accept of ways) {
    await assert.rejects(simulation.run(accept()), isFull, String(accept));
  }
  assert.equal(keptBytes(simulation), 0);
});

test('the statistics say why the queue is full, until it takes what it refused', async () => {
  const simulation = new Simulation({ outgoing: { maxPendingBytes: 35_000 } });
  const { webhooks } = simulation;
  await simulation.addHook('there', {}, DOWN);
  for (let count = 0; count < 3; count += 1) await simulation.emit(PAYLOAD);
  assert.equal(webhooks.statistics().room.fullReason, null);
  await assert.rejects(simulation.run(webhooks.emit('thing.x', PAYLOAD)), isFull);
  const { fullReason, bytes, bytesMax } = webhooks.statistics().room;
  assert.equal(fullReason, `${bytes} bytes wait or have failed and are kept `
    + '(outgoing.maxPendingBytes: 35000)');
  assert.ok(bytes > 30_000 && bytes <= bytesMax, `${bytes}`);
  simulation.targets.set('there', UP);
  await simulation.clock.advance(HOUR_MS);
  assert.equal(webhooks.statistics().room.fullReason, null);
});

test('the statistics say that as many wait as may, before one more is refused', async () => {
  const simulation = new Simulation({ outgoing: { maxPending: 2 } });
  await simulation.addHook('there', {}, DOWN);
  await simulation.emitMany(2);
  assert.equal(simulation.webhooks.statistics().room.fullReason, '2 wait (outgoing.maxPending)');
});

test('what is refused of one event of a turn is not of the others', async () => {
  const simulation = new Simulation({ outgoing: { maxPending: 2 } });
  await simulation.addHook('there', {}, DOWN);
  const { webhooks } = simulation;
  const names = ['thing.a', '', 'unheard', 'thing.b', 'thing.c'];
  const results = await simulation.run(
    Promise.allSettled(names.map((name) => webhooks.emit(name, {}))));
  assert.deepEqual(results.map((result) => result.status === 'fulfilled'
    ? result.value.length : result.reason.code), [1, 'invalid', 0, 1, 'unavailable']);
  assert.equal(webhooks.deliveries.totals().pending, 2);
});

test('callers at the same time do not all find the same room', async () => {
  const simulation = new Simulation({ outgoing: { maxPendingBytes: 55_000 } });
  await simulation.addHook('there', {}, DOWN);
  const works = Array.from({ length: 20 }, (_, index) => index % 2 === 0
    ? simulation.webhooks.emit('thing.x', PAYLOAD)
    : simulation.webhooks.deliveries.queueForward(FORWARD));
  const [accepted] = await Promise.all([acceptedOf(works), simulation.clock.advance(0)]);
  assert.ok(accepted > 0 && keptBytes(simulation) <= 55_000, `${accepted} accepted`);
});

test('records of callers at the same time count, however small the payloads are', async () => {
  const simulation = new Simulation({ outgoing: { maxPendingBytes: 35_000 } });
  simulation.targets.set('there', DOWN);
  for (let count = 0; count < 20; count += 1) await simulation.addHook('there');
  const works = Array.from({ length: 20 }, () => simulation.webhooks.emit('thing.x', 1));
  const [accepted] = await Promise.all([acceptedOf(works), simulation.clock.advance(0)]);
  assert.ok(accepted > 0 && accepted <= 35_000 / 20 / 256, `${accepted} accepted`);
});

test('transactions at the same time do not all find the same place', async () => {
  const simulation = new Simulation({ outgoing: { maxPending: 2 } });
  simulation.targets.set('there', DOWN);
  const { webhooks } = simulation;
  const results = await simulation.run(Promise.allSettled(
    [1, 2, 3, 4].map(() => webhooks.deliveries.queueForward(FORWARD))));
  assert.deepEqual(results.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'rejected']);
  assert.equal(webhooks.deliveries.totals().accepted, 2);
});

test('a delivery that ends gives its place to the event that tells of it', async () => {
  const simulation = new Simulation({ outgoing: { maxPending: 1, retrySchedule: [] } });
  await simulation.addHook('there', {}, DOWN);
  await simulation.addHook('listener', { triggerEvent: 'delivery.failed' });
  await simulation.emit();
  await simulation.clock.advance(1000);
  assert.deepEqual(simulation.requests.map(({ host }) => host), ['there', 'listener']);
});

test('events of one transaction do not all find the same bytes', async () => {
  const simulation = new Simulation({ outgoing: { maxPendingBytes: 35_000 } });
  await simulation.addHook('there', {}, DOWN);
  const { store, clock, webhooks: { events } } = simulation;
  const stages = [0, 1, 2, 3, 4].map((digit) => ({
    nowMs: clock.now(), hops: 0, seed: `019b76da-a800-7e30-b965-6d04b800000${digit}`,
  }));
  const work = store.transact((transaction) => {
    for (const inputs of stages) {
      const json = JSON.stringify(PAYLOAD);
      events.stageEvent(transaction, inputs, 'thing.x', json, { source: 'api' });
    }
  });
  await assert.rejects(simulation.run(work), isFull);
});

test('an event that begins takes its places before it is on disk', async () => {
  const simulation = new Simulation({ outgoing: { maxPending: 7 } });
  for (const host of ['a', 'b', 'c']) {
    await simulation.addHook(host, {}, DOWN);
  }
  const { clock, store, webhooks } = simulation;
  const deliverAt = formatTimestamp(clock.now() + HOUR_MS);
  const origin = { source: 'api', hops: 0, deliverAt } as const;
  await simulation.run(webhooks.events.emitJson('thing.x', '{}', origin));
  const commit = store.holdBatches();
  await clock.advance(HOUR_MS);
  const emitting = Promise.allSettled([webhooks.emit('thing.x', {}), webhooks.emit('thing.x', {})]);
  await clock.advance(0);
  commit();
  const results = await simulation.run(emitting);
  assert.deepEqual(results.map(({ status }) => status), ['fulfilled', 'rejected']);
  assert.equal(webhooks.deliveries.totals().pending, 6);
});

test('what failed and is kept counts, after a restart too; the delivered does not', async () => {
  const outgoing = { maxPendingBytes: 35_000, retrySchedule: [] };
  const simulation = new Simulation({ outgoing });
  await simulation.addHook('there', {}, UP);
  for (let count = 0; count < 10; count += 1) {
    await simulation.emit(PAYLOAD);
    await simulation.clock.advance(1000);
  }
  simulation.targets.set('there', DOWN);
  for (let count = 0; count < 3; count += 1) {
    await simulation.emit(PAYLOAD);
    await simulation.clock.advance(1000);
  }
  await simulation.crash();
  assert.equal(simulation.webhooks.deliveries.totals().failed, 3);
  await assert.rejects(simulation.run(simulation.webhooks.emit('thing.x', PAYLOAD)), isFull);
});

/** A simulation with failed deliveries of large payloads, and their ids. */
async function withFailed(
  count: number, members: object = {}, maxPendingBytes = 35_000,
): Promise<{ readonly simulation: Simulation; readonly ids: readonly string[] }> {
  const simulation = new Simulation({ outgoing: { maxPendingBytes, retrySchedule: [] } });
  await simulation.addHook('there', members, DOWN);
  const ids: string[] = [];
  for (let emitted = 0; emitted < count; emitted += 1) {
    ids.push(...await simulation.emit(PAYLOAD));
    await simulation.clock.advance(1000);
  }
  assert.equal(simulation.webhooks.deliveries.totals().failed, count);
  return { simulation, ids };
}

test('failed deliveries give way, the oldest first, to a large one without room', async () => {
  const { simulation, ids } = await withFailed(3, {}, 40_000);
  await assert.rejects(simulation.run(simulation.webhooks.emit('thing.x', PAYLOAD)), isFull);
  await simulation.clock.advance(1000);
  assert.deepEqual(ids.map((id) => simulation.delivery(id)?.status),
    [undefined, 'failed', 'failed']);
  assert.equal((await simulation.emit(PAYLOAD)).length, 1);
  assert.equal(simulation.logLines.filter((line) => /needed their room/.test(line)).length, 1);
  assert.equal(simulation.webhooks.deliveries.totals().accepted, 4);
});

test('failed deliveries give way before the room ends, so that no call is refused', async () => {
  const { simulation, ids } = await withFailed(20, {}, 250_000);
  for (let count = 0; count < 100; count += 1) {
    await simulation.emit(PAYLOAD);
    await simulation.clock.advance(1000);
  }
  const { failed, accepted } = simulation.webhooks.deliveries.totals();
  assert.equal(accepted, 120);
  assert.ok(failed > 15 && failed < 25, String(failed));
  assert.equal(simulation.delivery(ids[0] ?? ''), undefined);
});

test('failed deliveries give way on a node that is not the maintainer, too', async () => {
  const simulation = new Simulation({
    outgoing: { maxPendingBytes: 35_000, retrySchedule: [] },
    ownership: { ...ALL_OWNED, isMaintainer: () => false },
  });
  await simulation.addHook('there', {}, DOWN);
  for (let count = 0; count < 3; count += 1) {
    await simulation.emit(PAYLOAD);
    await simulation.clock.advance(1000);
  }
  await assert.rejects(simulation.run(simulation.webhooks.emit('thing.x', PAYLOAD)), isFull);
  await simulation.clock.advance(1000);
  assert.equal((await simulation.emit(PAYLOAD)).length, 1);
});

test('failed deliveries give way to nothing that a token bound to webhooks asks for', async () => {
  const { simulation, ids } = await withFailed(3);
  const { webhooks: { deliveries } } = simulation;
  const [id = ''] = ids;
  await assert.rejects(
    simulation.run(deliveries.resend(id, 'new', { isBound: true })), isFull);
  await simulation.clock.advance(1000);
  assert.deepEqual(ids.map((failedId) => simulation.delivery(failedId)?.status),
    ['failed', 'failed', 'failed']);
});

test('failed deliveries give way to a body that waits for room', async () => {
  const { simulation, ids } = await withFailed(4, {}, 46_000);
  await simulation.addHook('elsewhere', {
    triggerEvent: 'other', payloadTemplate: JSON.stringify({ much: '{{ payload }}'.repeat(3000) }),
  }, UP);
  await simulation.emit('0123456789', 'other');
  await simulation.clock.advance(HOUR_MS);
  assert.equal(simulation.requests.at(-1)?.host, 'elsewhere');
  assert.equal(simulation.delivery(ids[0] ?? ''), undefined);
});

test('a failed delivery that is cancelled takes no room, and can be resent', async () => {
  const { simulation, ids: [id = ''] } = await withFailed(3);
  const { webhooks: { deliveries } } = simulation;
  assert.equal((await simulation.run(deliveries.cancel(id))).status, 'cancelled');
  assert.equal((await simulation.emit(PAYLOAD)).length, 1);
  await simulation.clock.advance(1000);
  assert.equal(deliveries.totals().failed, 3);
  simulation.targets.set('there', UP);
  for (const { identifier } of await deliveries.list(FAILED, null, 3)) {
    await simulation.run(deliveries.cancel(identifier));
  }
  assert.equal((await simulation.run(deliveries.resend(id, 'retry'))).status, 'pending');
});

test('a payload that many hooks share counts once', async () => {
  const simulation = new Simulation({ outgoing: { maxPendingBytes: 35_000 } });
  simulation.targets.set('there', DOWN);
  for (let count = 0; count < 20; count += 1) await simulation.addHook('there');
  assert.equal((await simulation.emit(PAYLOAD)).length, 20);
  await assert.rejects(simulation.run((async () => {
    for (let count = 0; count < 5; count += 1) {
      await simulation.webhooks.emit('thing.x', PAYLOAD);
    }
  })()), isFull);
});

test('a payload that all of its hooks have got counts no longer', async () => {
  const simulation = new Simulation({ outgoing: { maxPendingBytes: 35_000 } });
  for (let count = 0; count < 2; count += 1) await simulation.addHook('there');
  for (let count = 0; count < 5; count += 1) {
    assert.equal((await simulation.emit(PAYLOAD)).length, 2);
    await simulation.clock.advance(1000);
  }
});

test('bodies that templates make of little are bounded as well', async () => {
  const simulation = new Simulation({ outgoing: { maxPendingBytes: 40_000 } });
  await simulation.addHook('there', {
    payloadTemplate: JSON.stringify({ much: '{{ payload }}'.repeat(1000) }),
  }, DOWN);
  // All at once: none of the bodies is made before the last is accepted.
  const works = Array.from({ length: 30 }, () => simulation.webhooks.emit('thing.x', '0123456789'));
  const ids = (await simulation.run(Promise.all(works))).flat();
  await simulation.clock.advance(1000);
  assert.ok(keptBytes(simulation) < 1.5 * 40_000, `${keptBytes(simulation)}`);
  await assert.rejects(simulation.run(simulation.webhooks.emit('thing.x', 'one more')), isFull);
  // The others wait for room as they are: none of their attempts is spent.
  const attempts = ids.map((id) => simulation.delivery(id)?.attempts ?? []);
  assert.ok(attempts.filter(({ length }) => length === 0).length > 20);
  assert.doesNotMatch(JSON.stringify(attempts), /room/);
  assert.equal(simulation.logLines.filter((line) => /wait until there is room/.test(line)).length,
    1);
  simulation.targets.set('there', UP);
  await simulation.clock.advance(24 * HOUR_MS);
  assert.equal(simulation.webhooks.deliveries.totals().delivered, 30);
});

test('a body that can never have room fails its attempt and says so', async () => {
  const simulation = new Simulation({ outgoing: { maxPendingBytes: 40_000, retrySchedule: [] } });
  await simulation.addHook('there', {
    payloadTemplate: JSON.stringify({ much: '{{ payload }}'.repeat(7000) }),
  }, UP);
  const [id = ''] = await simulation.emit('0123456789');
  await simulation.clock.advance(1000);
  assert.match(String(simulation.delivery(id)?.attempts[0]?.error), /no room to keep its body/);
});

/** A simulation with delivered deliveries of large payloads. */
async function withDelivered(
  count: number, options: Readonly<Record<string, unknown>> = {},
): Promise<{ readonly simulation: Simulation; readonly ids: readonly string[] }> {
  const simulation = new Simulation({ outgoing: { maxPendingBytes: 35_000 } });
  await simulation.addHook('there', options, UP);
  const ids: string[] = [];
  for (let emitted = 0; emitted < count; emitted += 1) {
    ids.push(...await simulation.emit(PAYLOAD));
    await simulation.clock.advance(1000);
  }
  assert.equal(simulation.webhooks.deliveries.totals().delivered, count);
  simulation.targets.set('there', DOWN);
  return { simulation, ids };
}

for (const mode of ['retry', 'new'] as const) {
  test(`resends at the same time do not all find the same room (${mode})`, async () => {
    const { simulation, ids } = await withDelivered(10);
    const works = ids.map((id) => simulation.webhooks.deliveries.resend(id, mode));
    const [accepted] = await Promise.all([acceptedOf(works), simulation.clock.advance(0)]);
    assert.equal(accepted, 3);
  });
}

test('the body that was made counts when its delivery is resent', async () => {
  const { simulation, ids: [id = ''] } = await withDelivered(1, {
    payloadTemplate: JSON.stringify({ much: '{{ payload }}'.repeat(3) }),
  });
  assert.ok(keptBytes(simulation) > 40_000);
  await assert.rejects(simulation.run(simulation.webhooks.deliveries.resend(id, 'retry')), isFull);
});

test('an event that waits for another webhook does not count again for a resend', async () => {
  const simulation = new Simulation({ outgoing: { maxPendingBytes: 15_000 } });
  simulation.targets.set('there', UP);
  simulation.targets.set('elsewhere', DOWN);
  await simulation.addHook('there');
  await simulation.addHook('elsewhere');
  const ids = await simulation.emit(PAYLOAD);
  await simulation.clock.advance(1000);
  const delivered = ids.find((id) => simulation.delivery(id)?.status === 'delivered') ?? '';
  for (const mode of ['new', 'retry'] as const) {
    await simulation.run(simulation.webhooks.deliveries.resend(delivered, mode));
  }
  assert.equal(simulation.webhooks.deliveries.totals().accepted, 3);
});

test('failed deliveries of removed webhooks need no room when the others are retried', async () => {
  const simulation = new Simulation({ outgoing: { maxPending: 4, retrySchedule: [] } });
  for (const host of ['gone', 'there']) {
    const hook = await simulation.addHook(host, {}, DOWN);
    for (let count = 0; count < 3; count += 1) {
      await simulation.emit('small');
      await simulation.clock.advance(1000);
    }
    if (host === 'gone') await simulation.run(simulation.webhooks.resources.outgoing.remove(hook));
  }
  assert.equal(simulation.webhooks.deliveries.totals().failed, 6);
  assert.equal(await simulation.run(simulation.webhooks.deliveries.retryFailed()), 3);
});

test('an event that several resends of one transaction share is reserved once', async () => {
  const simulation = new Simulation({ outgoing: { maxPendingBytes: 15_000 } });
  await simulation.addHook('there', {}, UP);
  await simulation.addHook('there');
  const ids = await simulation.emit(PAYLOAD);
  await simulation.clock.advance(1000);
  const { webhooks, clock } = simulation;
  const inputs = { nowMs: clock.now(), seed: '019b76da-a800-7e30-b965-6d04b8000000' };
  await simulation.run(simulation.store.transact((transaction) => {
    for (const id of ids) webhooks.deliveries.stageResend(transaction, id, 'retry', inputs);
  }));
  assert.equal(webhooks.deliveries.totals().pending, 2);
});

/** Webhooks of three customers, of which the last answers. */
async function placeCustomers(outgoing: object): Promise<Simulation> {
  const simulation = new Simulation({ outgoing: { retrySchedule: [3600], ...outgoing } });
  for (const [name, target] of [['acme', DOWN], ['bolt', DOWN], ['core', UP]] as const) {
    const triggerEvents = [`${name}.*`, 'all.*'];
    await simulation.addHook(name, { name, triggerEvent: undefined, triggerEvents }, target);
  }
  return simulation;
}

async function countAccepted(
  { webhooks, clock }: Simulation, name: string, count: number, payload: unknown = {},
): Promise<number> {
  const works = Array.from({ length: count }, () => webhooks.emit(name, payload));
  const results = (await Promise.all([Promise.allSettled(works), clock.advance(1000)]))[0];
  return results.filter(({ status }) => status === 'fulfilled').length;
}

test('a webhook whose target is down leaves room to the others, and so do two', async () => {
  const simulation = await placeCustomers({ maxPending: 60 });
  const { webhooks } = simulation;
  const fullWebhooks = (): readonly unknown[] => webhooks.statistics().room.fullWebhooks
    .map(({ webhook, pending }) => [webhook, pending]);
  assert.equal(await countAccepted(simulation, 'acme.x', 29), 29);
  assert.deepEqual(fullWebhooks(), []);
  assert.equal(await countAccepted(simulation, 'acme.x', 60), 1);
  assert.deepEqual(fullWebhooks(), [['acme', 30]]);
  await assert.rejects(simulation.run(webhooks.emit('acme.x', {})), {
    code: 'unavailable',
    message: 'the queue of deliveries is full: 30 wait for webhook acme, and no more are left to '
      + 'all others (outgoing.maxPending, outgoing.maxPendingBytes)',
  });
  assert.equal(await countAccepted(simulation, 'core.x', 10), 10);
  await assert.rejects(simulation.run(webhooks.emit('all.x', {})), /wait for webhook acme/);
  assert.equal(await countAccepted(simulation, 'bolt.x', 60), 15);
  assert.deepEqual(fullWebhooks(), [['acme', 30], ['bolt', 15]]);
  assert.equal(await countAccepted(simulation, 'core.x', 5), 5);
  await simulation.crash();
  assert.equal(await countAccepted(simulation, 'bolt.x', 5), 0);
  assert.equal(await countAccepted(simulation, 'core.x', 5), 5);
  simulation.targets.set('acme', UP);
  await simulation.clock.advance(HOUR_MS + 60_000);
  assert.equal(await countAccepted(simulation, 'acme.x', 1), 1);
  assert.equal(await countAccepted(simulation, 'all.x', 1), 1);
});

test('an event of our own is not refused for a webhook with its part of the queue', async () => {
  const simulation = new Simulation({ outgoing: { retrySchedule: [], maxPending: 20 } });
  for (const [name, triggerEvents, target, rate] of [
    ['acme', ['acme.*', 'delivery.failed'], UP, { limit: 1, seconds: 3600 }],
    ['core', ['delivery.failed'], UP, null], ['bolt', ['bolt.*'], DOWN, null],
  ] as const) {
    await simulation.addHook(name, { name, triggerEvent: undefined, triggerEvents, rate }, target);
  }
  assert.ok(await countAccepted(simulation, 'acme.x', 20) < 20);
  assert.equal(await countAccepted(simulation, 'bolt.x', 4), 4);
  assert.deepEqual(simulation.webhooks.statistics().room.fullWebhooks.map(({ webhook }) => webhook),
    ['acme']);
  const delivered = await simulation.webhooks.deliveries.list(
    { ...ALL_OUTGOING, event: 'delivery.failed', status: 'delivered' }, null, 10);
  assert.equal(delivered.length, 4);
});

test('a webhook whose target is down leaves bytes to the others, also those that have failed',
  async () => {
    const simulation = await placeCustomers({ maxPendingBytes: 120_000, retrySchedule: [] });
    assert.equal(await countAccepted(simulation, 'bolt.x', 8, PAYLOAD), 6);
    assert.equal(simulation.webhooks.deliveries.totals().failed, 6);
    const hook = simulation.webhooks.directories.outgoing.findNamed('acme')?.identifier ?? '';
    await simulation.run(
      simulation.webhooks.resources.outgoing.patch(hook, { retrySchedule: [3600] }));
    // Those that have failed give way a moment later.
    assert.equal(await countAccepted(simulation, 'acme.x', 9, PAYLOAD), 5);
    assert.equal(await countAccepted(simulation, 'acme.x', 9, PAYLOAD), 1);
    assert.equal(await countAccepted(simulation, 'acme.x', 1, PAYLOAD), 0);
    assert.equal(await countAccepted(simulation, 'core.x', 2, PAYLOAD), 2);
    assert.equal(simulation.webhooks.deliveries.totals().delivered, 2);
  });

test('a webhook without others has all of the queue, and what is sent by hand is limited as events',
  async () => {
    const alone = new Simulation({ outgoing: { maxPending: 10, retrySchedule: [3600] } });
    await alone.addHook('there', {}, DOWN);
    assert.equal(await countAccepted(alone, 'thing.x', 12), 10);
    const simulation = await placeCustomers({ maxPending: 10 });
    simulation.targets.set('acme', UP);
    const [first = ''] = await simulation.emit({}, 'acme.x');
    await simulation.clock.advance(1000);
    simulation.targets.set('acme', DOWN);
    assert.equal(await countAccepted(simulation, 'acme.x', 12), 5);
    const send = { source: 'api', hops: 0, name: 'x', payloadJson: '{}' } as const;
    const sendTo = (webhook: string): Promise<unknown> => simulation.run(
      simulation.webhooks.deliveries.sendDurably({ ...send, webhook }, () => {}));
    await assert.rejects(sendTo('acme'), /wait for webhook acme/);
    await sendTo('core');
    await simulation.run(simulation.webhooks.deliveries.resend(first, 'new'));
  });

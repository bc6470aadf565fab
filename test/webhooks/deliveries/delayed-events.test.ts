/** Events that begin later, on a simulated clock and disk. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import { formatTimestamp } from '../../../src/base/clock.ts';
import { ALL_OUTGOING } from '../../../src/webhooks/deliveries/delivery-fields.ts';
import type { Delivery } from '../../../src/webhooks/deliveries/delivery.ts';
import { ALL_OWNED, type Ownership } from '../../../src/webhooks/work/ownership.ts';
import { Disk } from '../../support/simulated-disk.ts';
import { numberIn, openRelayOn } from '../relay-on-disk.ts';
import { DOWN, Simulation, UP, type SimulationOptions } from './sending/simulation.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WRITE_MS = 500;

/** Emits an event that begins after `delayMs`, and returns its id. */
async function delay(
  simulation: Simulation, delayMs: number, payload: unknown = {}, name = 'thing.happened',
): Promise<string> {
  const deliverAt = formatTimestamp(simulation.clock.now() + delayMs);
  const { eventId, deliveries } = await simulation.run(simulation.webhooks.events.emitJson(
    name, JSON.stringify(payload), { source: 'api', hops: 0, deliverAt }));
  assert.deepEqual(deliveries, []);
  return String(eventId);
}

const count = ({ store }: Simulation, collection: string): number =>
  store.collection(collection).size;

function listIds({ store }: Simulation, name: string): readonly string[] {
  const collection = store.collection(name);
  return Array.from({ length: collection.slotBound }, (_, slot) => collection.idAt(slot))
    .filter((id) => id !== undefined);
}

/** How many records there are of what may be left of an event. */
const countRecords = (simulation: Simulation): readonly number[] =>
  ['events', 'delayed-events', 'deliveries', 'event-receivers', 'fan-outs']
    .map((collection) => count(simulation, collection));

async function listDeliveries(simulation: Simulation): Promise<Delivery[]> {
  const listed =
    await simulation.run(simulation.webhooks.deliveries.list(ALL_OUTGOING, null, 5000));
  return listed.map(({ identifier }) => simulation.delivery(identifier))
    .filter((delivery) => delivery !== undefined);
}

async function open(options: SimulationOptions = {}): Promise<Simulation> {
  const simulation = new Simulation(options);
  await simulation.addHook('there');
  return simulation;
}

for (const delayMs of [1, 1000, HOUR_MS, 365 * DAY_MS]) {
  test(`an event that begins after ${delayMs} ms is sent then, not earlier, and once`, async () => {
    const simulation = await open();
    const startMs = simulation.clock.now();
    const id = await delay(simulation, delayMs, { n: 1 });
    assert.deepEqual(countRecords(simulation), [1, 1, 0, 0, 0]);
    simulation.clock.standStill(Math.max(0, delayMs - HOUR_MS));
    await simulation.clock.advance(Math.min(delayMs, HOUR_MS) - 1);
    assert.equal(simulation.requests.length, 0);
    await simulation.clock.advance(1000);
    const [{ atMs = 0, body = '' } = {}, ...others] = simulation.requests;
    assert.deepEqual([atMs - startMs, body, others], [delayMs, '{"n":1}', []]);
    assert.deepEqual(countRecords(simulation), [1, 0, 1, 1, 0]);
    const [delivery] = await listDeliveries(simulation);
    const { eventId, createdAt, queuedAt, status } = delivery ?? {};
    const beginAt = formatTimestamp(startMs + delayMs);
    assert.deepEqual([eventId, createdAt, queuedAt, status], [id, beginAt, beginAt, 'delivered']);
    await simulation.assertReconciled();
  });
}

test('who hears it is decided when it begins, by triggers, conditions and switches', async () => {
  const simulation = await open();
  const { outgoing } = simulation.webhooks.resources;
  const addHook = (host: string, members: object = {}): Promise<string> =>
    simulation.addHook(host, members);
  const changed = await addHook('changed', { triggerEvent: 'other' });
  const disabled = await addHook('disabled');
  const removed = await addHook('removed');
  const picky = await addHook('picky', { when: { path: 'payload.n', op: 'eq', value: 2 } });
  await addHook('refusing', { when: { path: 'payload.n', op: 'eq', value: 2 } });
  await delay(simulation, HOUR_MS, { n: 1 });
  await addHook('late');
  const patch = (id: string, members: object): Promise<unknown> =>
    simulation.run(outgoing.patch(id, members));
  await patch(changed, { triggerEvent: 'thing.*' });
  await patch(disabled, { enabled: false });
  await patch(picky, { when: { path: 'payload.n', op: 'eq', value: 1 } });
  await simulation.run(outgoing.remove(removed));
  await simulation.clock.advance(HOUR_MS + 1000);
  assert.deepEqual(simulation.requests.map(({ host }) => host).sort(),
    ['changed', 'late', 'picky', 'there']);
  await simulation.assertReconciled();
});

for (const [keep, left] of [['heard', 0], ['all', 1]] as const) {
  test(`unheard, it ${left === 0 ? 'goes' : 'stays'} with events.keep: ${keep}`, async () => {
    const simulation = new Simulation({ events: { keep } });
    await delay(simulation, HOUR_MS);
    assert.deepEqual(countRecords(simulation), [1, 1, 0, 0, 0]);
    await simulation.clock.advance(HOUR_MS);
    assert.deepEqual(countRecords(simulation), [left, 0, 0, 0, 0]);
  });
}

test('it is kept until it begins, however old it gets and whatever the limits are', async () => {
  const simulation = await open({ events: { bytesMax: 0, retentionMs: HOUR_MS } });
  await delay(simulation, 30 * DAY_MS);
  simulation.clock.standStill(30 * DAY_MS - 2 * HOUR_MS);
  await simulation.clock.advance(HOUR_MS);
  assert.deepEqual(countRecords(simulation), [1, 1, 0, 0, 0]);
  await simulation.clock.advance(2 * HOUR_MS);
  assert.equal(simulation.requests.length, 1);
});

test('very many webhooks get it in steps, with its time as their place', async () => {
  const simulation = new Simulation();
  const { resources } = simulation.webhooks;
  await simulation.run(Promise.all(Array.from({ length: 301 }, (_, index) =>
    resources.outgoing.add({ targetUrl: `http://h${index}/`, triggerEvent: 'thing.*' }))));
  const id = await delay(simulation, HOUR_MS);
  const beginAt = formatTimestamp(simulation.clock.now() + HOUR_MS);
  simulation.clock.standStill(HOUR_MS + 500);
  await simulation.crash();
  for (let second = 0; second < 60; second += 1) await simulation.clock.advance(1000);
  assert.deepEqual(countRecords(simulation), [1, 0, 301, 1, 0]);
  const deliveries = await listDeliveries(simulation);
  assert.ok(deliveries.every(({ eventId, queuedAt }) => eventId === id && queuedAt === beginAt));
  const receivers = simulation.store.collection('event-receivers').findBytes(id)?.toString() ?? '';
  assert.deepEqual(JSON.parse(receivers).deliveries, deliveries.map((made) => made.identifier));
  assert.equal(new Set(simulation.requests.map(({ host }) => host)).size, 301);
  await simulation.assertReconciled();
});

test('one whose time passes while no process is there begins at the next start', async () => {
  const simulation = await open();
  await delay(simulation, HOUR_MS, 'first');
  await delay(simulation, 2 * HOUR_MS, 'second');
  await simulation.crash();
  simulation.clock.standStill(HOUR_MS + 60_000);
  await simulation.crash();
  await simulation.clock.advance(1000);
  assert.deepEqual(simulation.requests.map(({ body }) => body), ['"first"']);
  await simulation.clock.advance(HOUR_MS);
  assert.deepEqual(simulation.requests.map(({ body }) => body), ['"first"', '"second"']);
  await simulation.assertReconciled();
});

test('a clock that is set back lengthens no wait, and one that is set on ends it', async () => {
  const simulation = await open();
  const { clock } = simulation;
  await delay(simulation, HOUR_MS);
  clock.setBack(DAY_MS);
  await clock.advance(HOUR_MS - 1000);
  assert.equal(simulation.requests.length, 0);
  await clock.advance(62_000);
  assert.equal(simulation.requests.length, 1);
  await delay(simulation, 10 * HOUR_MS);
  clock.setBack(-11 * HOUR_MS);
  await clock.advance(62_000);
  assert.equal(simulation.requests.length, 2);
});

test('a clock that was set back before a start does not lengthen the wait', async () => {
  const simulation = await open();
  await delay(simulation, HOUR_MS);
  simulation.clock.setBack(DAY_MS);
  await simulation.crash();
  await simulation.clock.advance(HOUR_MS + 1000);
  assert.equal(simulation.requests.length, 1);
});

test('a cancelled one leaves nothing, and is not sent', async () => {
  const simulation = await open();
  const id = await delay(simulation, HOUR_MS);
  await simulation.run(simulation.webhooks.deliveries.cancelEvent(id));
  assert.deepEqual(countRecords(simulation), [0, 0, 0, 0, 0]);
  await simulation.clock.advance(2 * HOUR_MS);
  assert.equal(simulation.requests.length, 0);
  const cancelling = simulation.run(simulation.webhooks.deliveries.cancelEvent(id));
  await assert.rejects(cancelling, { code: 'not_found' });
});

for (const isBeginFirst of [true, false]) {
  test(`of begin and cancel the first wins: ${isBeginFirst ? 'begin' : 'cancel'}`, async () => {
    const simulation = await open();
    const id = await delay(simulation, HOUR_MS);
    const { store } = simulation;
    const { transact } = store;
    let cancelling: Promise<unknown> | null = null;
    const cancel = (): void => {
      cancelling = simulation.webhooks.deliveries.cancelEvent(id).then(() => 'gone',
        (thrown: unknown) => thrown instanceof AppError ? thrown.code : thrown);
    };
    // In one batch: neither is applied when the other is staged.
    store.transact = (run) => {
      store.transact = transact;
      if (!isBeginFirst) cancel();
      const beginning = transact.call(store, run);
      if (isBeginFirst) cancel();
      return beginning as never;
    };
    await simulation.clock.advance(HOUR_MS + 1000);
    assert.equal(await cancelling, isBeginFirst ? 'conflict' : 'gone');
    assert.equal(simulation.requests.length, isBeginFirst ? 1 : 0);
    assert.deepEqual(countRecords(simulation), isBeginFirst ? [1, 0, 1, 1, 0] : [0, 0, 0, 0, 0]);
  });
}

test('one that has begun cannot be cancelled; its deliveries can', async () => {
  const simulation = await open();
  simulation.targets.set('there', DOWN);
  const id = await delay(simulation, HOUR_MS);
  await simulation.clock.advance(HOUR_MS + 1000);
  await assert.rejects(simulation.run(simulation.webhooks.deliveries.cancelEvent(id)),
    (thrown) => thrown instanceof AppError && thrown.code === 'conflict'
      && /delivery:cancel/.test(thrown.message));
  const [{ identifier = '' } = {}] = await listDeliveries(simulation);
  await simulation.run(simulation.webhooks.deliveries.cancel(identifier));
  simulation.targets.set('there', UP);
  await simulation.clock.advance(DAY_MS);
  assert.equal(simulation.requests.length, 1);
});

test('delayed events count in the queue, and begin although it is full', async () => {
  const simulation = await open({ outgoing: { maxPending: 2 } });
  simulation.targets.set('there', DOWN);
  const isFull = (thrown: unknown): boolean => thrown instanceof AppError
    && thrown.code === 'unavailable' && thrown.message.includes('outgoing.maxPending)');
  await delay(simulation, HOUR_MS);
  await delay(simulation, HOUR_MS);
  await assert.rejects(delay(simulation, HOUR_MS), isFull);
  await assert.rejects(simulation.emit(), isFull);
  await simulation.addHook('there', { triggerEvent: '*' });
  await simulation.clock.advance(HOUR_MS + 1000);
  assert.deepEqual(countRecords(simulation), [2, 0, 4, 2, 0]);
  await simulation.assertReconciled();
});

for (const [title, isApart] of [
  ['in a transaction', false], ['in transactions of their own', true],
] as const) {
  test(`events that are accepted at the same time count, ${title}`, async () => {
    const simulation = await open({ outgoing: { maxPending: 3 } });
    simulation.targets.set('there', DOWN);
    const deliverAt = formatTimestamp(simulation.clock.now() + HOUR_MS);
    const emit = (terms: { readonly deliverAt?: string }): Promise<unknown> =>
      simulation.webhooks.events.emitJson('thing.happened', '{}',
        { source: 'api', hops: 0, ...terms }, isApart ? () => {} : undefined);
    const countAccepted = async (events: Parameters<typeof emit>[0][]): Promise<number> => {
      const results = await simulation.run(Promise.allSettled(events.map(emit)));
      return results.filter(({ status }) => status === 'fulfilled').length;
    };
    const delayed = Array.from({ length: 5 }, () => ({ deliverAt }));
    assert.equal(await countAccepted([{}, ...delayed, {}]), 3);
    assert.deepEqual(countRecords(simulation), [3, 2, 1, 0, 0]);
    assert.equal(await countAccepted([{ deliverAt }, {}]), 0);
  });
}

test('the bytes of delayed events count in the queue', async () => {
  const simulation = await open({ outgoing: { maxPendingBytes: 25_000 } });
  const isFull = (thrown: unknown): boolean => thrown instanceof AppError
    && thrown.code === 'unavailable' && thrown.message.includes('outgoing.maxPendingBytes');
  const payload = 'x'.repeat(10_000);
  const id = await delay(simulation, HOUR_MS, payload);
  await delay(simulation, HOUR_MS, payload);
  await assert.rejects(delay(simulation, HOUR_MS, payload), isFull);
  await simulation.crash();
  await assert.rejects(delay(simulation, HOUR_MS, payload), isFull);
  await simulation.run(simulation.webhooks.deliveries.cancelEvent(id));
  await delay(simulation, HOUR_MS, payload);
});

test('while the store takes no writes it waits, and is sent once after that', async () => {
  const simulation = await open();
  for (let n = 0; n < 100; n += 1) await delay(simulation, HOUR_MS, n);
  await simulation.clock.advance(HOUR_MS - 1000);
  simulation.store.setFailure(new AppError('storage_full', 'full'));
  await simulation.clock.advance(60_000);
  assert.deepEqual(countRecords(simulation), [100, 100, 0, 0, 0]);
  simulation.store.setFailure(null);
  await simulation.clock.advance(2 * 60_000);
  assert.equal(new Set(simulation.requests.map(({ body }) => body)).size, 100);
  assert.equal(simulation.requests.length, 100);
});

/** Puts an event that begins after an hour. */
function putDelayed(simulation: Simulation, id: string, payload: string): Promise<unknown> {
  const deliverAt = formatTimestamp(simulation.clock.now() + HOUR_MS);
  return simulation.run(simulation.store.transact((transaction) => {
    transaction.put('events', id, `{"identifier":"${id}","createdAt":"2026-01-01T00:00:00.000Z",`
      + `"name":"thing.odd","source":"api","depth":1,"deliverAt":"${deliverAt}","hooks":[],`
      + `"deliveries":[],"payload":${payload}}`);
    transaction.put('delayed-events', id, `{"identifier":"${id}","deliverAt":"${deliverAt}"}`);
  }));
}

test('one that cannot begin holds back no other, and is tried again', async () => {
  const simulation = await open();
  await putDelayed(simulation, 'e1', '{');
  await putDelayed(simulation, 'e2', '{}');
  await simulation.addHook('picky', { when: { path: 'payload.n', op: 'eq', value: 1 } });
  await simulation.clock.advance(HOUR_MS + 1000);
  assert.deepEqual(simulation.requests.map(({ body }) => body), ['{}']);
  await simulation.clock.advance(HOUR_MS);
  const lines = simulation.logLines.filter((line) => line.includes('"event":"e1"'));
  assert.ok(lines.length > 5 && lines.length < 80, String(lines.length));
});

/** Delays events by these times, each an event of its number. */
async function delayInTurn(simulation: Simulation, delaysMs: readonly number[]): Promise<void> {
  for (const [n, delayMs] of delaysMs.entries()) await delay(simulation, delayMs, n);
}

/** A node among several, which has no lease at first, and is not the maintainer. */
function createNode() {
  const node = { isMaintainer: false };
  const listeners = new Set<() => void>();
  const ownership: Ownership = {
    ...ALL_OWNED, isMaintainer: () => node.isMaintainer,
    findLease: (key) => node.isMaintainer ? ALL_OWNED.findLease(key) : null,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  return {
    ownership,
    /** Gives it all leases, with which it becomes the maintainer. */
    ownAll() {
      node.isMaintainer = true;
      for (const listener of listeners) listener();
    },
  };
}

test('the maintainer of several nodes begins them; its successor does so in order', async () => {
  const { ownership, ownAll } = createNode();
  const simulation = await open({ ownership, outgoing: { maxInFlightPerHook: 1 } });
  await delayInTurn(simulation, [900, 300, 700, 1300, 100]);
  await simulation.clock.advance(2 * HOUR_MS + 50);
  assert.deepEqual(countRecords(simulation), [5, 5, 0, 0, 0]);
  ownAll();
  await simulation.clock.advance(100);
  assert.deepEqual(simulation.requests.map(({ body }) => body), ['4', '1', '2', '0', '3']);
  const deliveries = await listDeliveries(simulation);
  deliveries.sort((left, right) => left.identifier < right.identifier ? -1 : 1);
  const places = deliveries.map(({ queuedAt }) => String(queuedAt));
  assert.deepEqual(places, [...places].sort(), 'they have begun in the order of their times');
});

/** From now on a write takes longer than it takes to send. */
function slowDown({ store, clock }: Simulation): void {
  const { transact } = store;
  store.transact = async (run) => {
    await new Promise<void>((resolve) => void clock.startTimer(WRITE_MS, resolve));
    return transact.call(store, run) as never;
  };
}

test('a new maintainer begins all that is overdue before it sends anything', async () => {
  const { ownership, ownAll } = createNode();
  const simulation = new Simulation({ ownership });
  await simulation.addHook('there', { order: { key: 'payload.key' } });
  await delay(simulation, 1000, { key: 1, n: 1 });
  await simulation.clock.advance(HOUR_MS);
  await simulation.emit({ key: 1, n: 2 });
  slowDown(simulation);
  ownAll();
  await simulation.clock.advance(10_000);
  assert.deepEqual(simulation.requests.map(({ body }) => JSON.parse(body).n), [1, 2]);
});

test('those without room hold back no delivery at a start, and say so once', async () => {
  const simulation = await open();
  // More than begin at the same time.
  for (let n = 0; n < 100; n += 1) await delay(simulation, HOUR_MS, n);
  simulation.targets.set('there', DOWN);
  await simulation.emit('before');
  await simulation.clock.advance(1000);
  await simulation.crash();
  simulation.clock.standStill(2 * HOUR_MS);
  await simulation.crash();
  simulation.targets.set('there', UP);
  // Some transactions are refused, but the store takes others.
  const { store } = simulation;
  const { transact } = store;
  const eventIds = listIds(simulation, 'delayed-events');
  store.transact = (run) => transact.call(store, (transaction) => {
    const result = run(transaction);
    if (eventIds.every((id) => transaction.find('delayed-events', id) !== undefined)) return result;
    throw new AppError('storage_full', 'full');
  }) as never;
  await simulation.clock.advance(60_000);
  assert.equal(count(simulation, 'delayed-events'), 100);
  const lines = simulation.logLines.filter((line) => line.includes('delayed events wait'));
  assert.equal(lines.length, 1);
  assert.deepEqual(simulation.requests.map(({ body, result }) => [body, result]).at(-1),
    ['"before"', 200]);
  store.transact = transact;
  await simulation.clock.advance(60_000);
  assert.equal(count(simulation, 'delayed-events'), 0);
});

test('that one has no room is said once, although others begin meanwhile', async () => {
  const simulation = await open();
  await delay(simulation, 1000);
  // Nobody hears these: they begin without a delivery, and so need no room.
  for (let n = 1; n <= 30; n += 1) await delay(simulation, n * 1000 + 500, {}, 'other');
  const { store } = simulation;
  const { transact } = store;
  store.transact = (run) => transact.call(store, (transaction) => {
    const result = run(transaction);
    if (Array.from(transaction.listStaged('deliveries')).length === 0) return result;
    throw new AppError('storage_full', 'full');
  }) as never;
  await simulation.clock.advance(40_000);
  assert.equal(count(simulation, 'delayed-events'), 1);
  const lines = simulation.logLines.filter((line) => line.includes('delayed events wait'));
  assert.equal(lines.length, 1);
});

test('those that had to wait for the store begin in order, whenever they came due', async () => {
  const simulation = await open({ outgoing: { maxInFlightPerHook: 1 } });
  await delayInTurn(simulation, [50_000, 10_000, 170_000, 179_500]);
  simulation.store.setFailure(new AppError('storage_full', 'full'));
  await simulation.clock.advance(180_000);
  simulation.store.setFailure(null);
  await simulation.clock.advance(2000);
  assert.deepEqual(simulation.requests.map(({ body }) => body), ['1', '0', '2', '3']);
});

test('what begins at once begins in the order of its times, then of its making', async () => {
  const simulation = await open({ outgoing: { maxInFlightPerHook: 1 } });
  await delay(simulation, 2000, 'second');
  await delay(simulation, 1000, 'first');
  await simulation.crash();
  simulation.clock.standStill(HOUR_MS);
  await simulation.crash();
  await simulation.clock.advance(10_000);
  assert.deepEqual(simulation.requests.map(({ body }) => body), ['"first"', '"second"']);
});

test('those of one time begin in the order of their making, at that moment or later', async () => {
  const simulation = await open({ outgoing: { maxInFlightPerHook: 1 } });
  await delayInTurn(simulation, [HOUR_MS, HOUR_MS, HOUR_MS]);
  const { store, clock } = simulation;
  const { transact } = store;
  store.transact = (run) => {
    clock.standStill(1);
    return transact.call(store, run) as never;
  };
  await clock.advance(HOUR_MS + 1000);
  assert.deepEqual(simulation.requests.map(({ body }) => body), ['0', '1', '2']);
});

for (const order of ['strict', { key: 'payload.key' }]) {
  test(`with order ${JSON.stringify(order)}, what was due while no process was there is sent in `
    + 'order of its times, a delayed event and a delayed send', async () => {
    const simulation = new Simulation();
    const webhook = await simulation.addHook('there', { order });
    await delay(simulation, 1000, { key: 1, n: 1 });
    await simulation.run(simulation.webhooks.deliveries.sendDurably({
      webhook, name: 'thing.sent', payloadJson: '{"key":1,"n":2}', source: 'api', hops: 0,
      deliverAt: formatTimestamp(simulation.clock.now() + 2000),
    }, () => {}));
    await delay(simulation, 3000, { key: 1, n: 3 });
    await simulation.crash();
    simulation.clock.standStill(HOUR_MS);
    await simulation.crash();
    await simulation.clock.advance(10_000);
    assert.deepEqual(simulation.requests.map(({ body }) => JSON.parse(body).n), [1, 2, 3]);
  });
}

for (const isMaintainer of [true, false]) {
  const why = isMaintainer ? 'that cannot begin' : 'that another node begins';
  test(`one ${why} holds back no delivery at a start when it is overdue`, async () => {
    const ownership: Ownership = { ...ALL_OWNED, isMaintainer: () => isMaintainer };
    const simulation = await open({ ownership });
    await simulation.addHook('picky', { when: { path: 'payload.n', op: 'eq', value: 1 } });
    await putDelayed(simulation, 'e1', '{');
    simulation.targets.set('there', DOWN);
    await simulation.emit({ n: 2 });
    await simulation.crash();
    simulation.clock.standStill(2 * HOUR_MS);
    await simulation.crash();
    simulation.targets.set('there', UP);
    await simulation.clock.advance(1000);
    assert.equal(simulation.requests.at(-1)?.result, 200);
  });
}

test('one that waited for the store begins once that writes, before what came later', async () => {
  const simulation = new Simulation();
  await simulation.addHook('there', { order: { key: 'payload.key' } });
  // More than begin at the same time stand before it, which nobody hears.
  for (let count = 0; count < 100; count += 1) await delay(simulation, 1000, {}, 'other');
  await delay(simulation, 1000, { key: 1, n: 1 });
  simulation.store.setFailure(new AppError('storage_full', 'full'));
  await simulation.clock.advance(60_000);
  slowDown(simulation);
  simulation.store.setFailure(null);
  const emitting = simulation.webhooks.emit('thing.happened', { key: 1, n: 2 });
  await simulation.clock.advance(10_000);
  await emitting;
  assert.deepEqual(simulation.requests.map(({ body }) => JSON.parse(body).n), [1, 2]);
});

test('one that waited for a disk full twice in a second begins before what is later', async () => {
  const relay = await openRelayOn(new Disk());
  const { clock, files, store } = relay;
  await relay.addHook('there', { order: { key: 'payload.key' } });
  relay.webhooks.start();
  const emit = async (n: number, delayMs = 0): Promise<number> => {
    const deliverAt = delayMs === 0 ? undefined : formatTimestamp(clock.now() + delayMs);
    const asking = relay.ask('POST', '/api/events',
      { name: 'thing.happened', payload: { n, key: 1 }, deliverAt });
    await clock.advance(1);
    return (await asking).status;
  };
  const fill = async (): Promise<void> => {
    files.bytesMax = files.disk.bytesUsed;
    assert.equal(await emit(0), 507);
    files.bytesMax = Infinity;
  };
  assert.equal(await emit(1, 1500), 202);
  await fill();
  await relay.finish(() => store.failure === null);
  // What the failure log has to say now it says a second later.
  await fill();
  await relay.finish(() => store.failure === null);
  assert.equal(await emit(2), 202);
  await clock.advance(5000);
  assert.deepEqual(relay.sent.map(numberIn), [1, 2]);
  await relay.close();
});

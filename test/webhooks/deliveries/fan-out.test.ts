import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import { isUuid } from '../../../src/base/uuid.ts';
import type { Store } from '../../../src/store/store-port.ts';
import { deliveryCollection } from '../../../src/webhooks/deliveries/delivery.ts';
import { fanOutCollection } from '../../../src/webhooks/deliveries/delivery-changes.ts';
import { ALL_OUTGOING } from '../../../src/webhooks/deliveries/delivery-fields.ts';
import { FanOuts } from '../../../src/webhooks/deliveries/fan-out.ts';
import { IS_LONG, someOf, longTest } from '../../support/long.ts';
import type { ManualClock } from '../../support/manual-clock.ts';
import { createMemoryStore, type MemoryStore } from '../../support/memory-store.ts';
import {
  DOWN, createSimulatedClock, Simulation, UP, type SimulationOptions,
} from './sending/simulation.ts';
import { createContext } from '../context.ts';

// More than two steps make deliveries for: they take 250 each, and the last one a single one.
const HOOKS = IS_LONG ? 1001 : 501;
const CRASH_STEPS = IS_LONG ? [0, 1, 3] : [1];
/** Deliveries, and what goes with them, in one transaction: a few milliseconds of work. */
const OPERATIONS_MAX = 260;

/** A simulation with very many webhooks, all for one event, and their hosts in order. */
async function crowd(options: SimulationOptions = {}): Promise<Simulation> {
  const simulation = new Simulation(options);
  const { resources } = simulation.webhooks;
  await simulation.run(Promise.all(Array.from({ length: HOOKS }, (_, index) =>
    resources.outgoing.add({
      targetUrl: `http://h${index}/`, triggerEvent: 'thing.happened', secret: 's',
    }))));
  return simulation;
}

/** Two minutes, with turns of the loop between the seconds. */
async function pass(simulation: Simulation): Promise<void> {
  for (let second = 0; second < 120; second += 1) await simulation.clock.advance(1000);
}

async function everyDelivered(simulation: Simulation, events: number): Promise<void> {
  const { deliveries } = simulation.webhooks;
  const { isReconciled, problems, delivered } = await simulation.run(deliveries.reconcile());
  assert.deepEqual([problems, isReconciled, delivered], [[], true, HOOKS * events]);
  const ids = simulation.requests.map(({ id }) => id);
  assert.equal(new Set(ids).size, HOOKS * events);
  assert.equal(simulation.store.collection('fan-outs').size, 0);
  assert.equal(simulation.store.collection('events').size, events);
}

test('an event for very many is one line with its cause; deliveries follow in steps', async () => {
  const simulation = await crowd();
  const { lines } = simulation.store;
  const before = lines.length;
  const ids = await simulation.run(simulation.webhooks.emit('thing.happened', { n: 1 }));
  assert.equal(ids.length, HOOKS);
  assert.ok(ids.every((id) => isUuid(id) && simulation.delivery(id) !== undefined));
  const [first = [], ...later] = lines.slice(before);
  assert.deepEqual(first.map(({ collection }) => collection), ['events', 'fan-outs']);
  for (const id of ids) {
    assert.ok(first[0]?.json?.includes(simulation.delivery(id)?.hook ?? 'none'));
  }
  assert.ok(later.length >= HOOKS / OPERATIONS_MAX);
  assert.ok(lines.slice(before).every(({ length }) => length <= OPERATIONS_MAX));
  await pass(simulation);
  assert.ok(simulation.requests.every(({ body }) => body === '{"n":1}'));
  await everyDelivered(simulation, 1);
});

for (const steps of CRASH_STEPS) {
  test(`a crash after ${steps} steps loses none of them, and makes none twice`, async () => {
    const simulation = await crowd();
    const { lines } = simulation.store;
    const before = lines.length;
    void simulation.webhooks.emit('thing.happened', {});
    for (let turn = 0; turn < 100 && lines.length < before + 1 + steps; turn += 1) {
      await new Promise(setImmediate);
    }
    assert.equal(lines.length, before + 1 + steps);
    assert.equal(simulation.requests.length, 0);
    await simulation.crash();
    assert.ok(simulation.store.collection('deliveries').size < HOOKS);
    await pass(simulation);
    await everyDelivered(simulation, 1);
  });
}

for (const maxInFlightPerHook of someOf([8, 1], 2)) {
  test(`a later event overtakes nothing, ${maxInFlightPerHook} at once for a webhook`, async () => {
    const simulation = await crowd({ outgoing: { maxInFlightPerHook } });
    const { webhooks } = simulation;
    await simulation.addHook('last', { triggerEvent: 'thing.*' });
    await simulation.addHook('other', { triggerEvent: 'other' });
    await simulation.run(Promise.all([
      webhooks.emit('thing.happened', 1), webhooks.emit('thing.small', 2),
      webhooks.emit('thing.happened', 3), webhooks.emit('other', 0),
    ]));
    await pass(simulation);
    const bodies = (host: string): string[] =>
      simulation.requests.filter((request) => request.host === host).map(({ body }) => body);
    assert.deepEqual(bodies('last'), ['1', '2', '3']);
    assert.deepEqual(bodies('h7'), ['1', '3']);
    assert.deepEqual(bodies('other'), ['0']);
  });
}

test('what is asked meanwhile waits, and finds every delivery', async () => {
  const simulation = await crowd();
  const { deliveries } = simulation.webhooks;
  simulation.targets.set('h0', DOWN);
  const emitting = simulation.webhooks.emit('thing.happened', {});
  for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
  const none = ALL_OUTGOING;
  const [listed, count, pending, { problems }] = await simulation.run(Promise.all([
    deliveries.list(none, null, 5000), deliveries.count(none),
    deliveries.count({ ...none, status: 'pending' }), deliveries.reconcile(),
  ]));
  assert.deepEqual([listed.length, count, pending, problems], [HOOKS, HOOKS, HOOKS, []]);
  assert.deepEqual(listed.map(({ identifier }) => identifier), await emitting);
});

longTest('while the store takes no writes they wait, and the event is accepted', async () => {
  const simulation = await crowd();
  const { lines } = simulation.store;
  const before = lines.length;
  const emitting = simulation.webhooks.emit('thing.happened', {});
  for (let turn = 0; turn < 100 && lines.length < before + 2; turn += 1) {
    await new Promise(setImmediate);
  }
  simulation.store.failNextBatch(new AppError('storage_full', 'full'));
  assert.equal((await emitting).length, HOOKS);
  assert.ok(simulation.logLines.some((line) => line.includes('wait to be written')));
  const { problems, pending } = await simulation.run(simulation.webhooks.deliveries.reconcile());
  assert.deepEqual([problems, pending], [[], HOOKS]);
  await pass(simulation);
  await everyDelivered(simulation, 1);
});

for (const isRemovedFirst of [false, true]) {
  const order = isRemovedFirst ? 'just before' : 'meanwhile';
  test(`deliveries of a webhook that is removed ${order} are cancelled`, async () => {
    const simulation = await crowd();
    const { webhooks } = simulation;
    const hook = await simulation.addHook('removed', { triggerEvent: 'thing.happened' }, UP);
    const emitting = webhooks.emit('thing.happened', {});
    // An event is staged at the end of its turn of the loop.
    if (!isRemovedFirst) await new Promise(setImmediate);
    const removing = webhooks.resources.outgoing.remove(hook);
    await simulation.run(Promise.all([emitting, removing]));
    await pass(simulation);
    const { delivered, cancelled } = webhooks.deliveries.totals();
    assert.deepEqual([delivered, cancelled], [HOOKS, 1]);
    assert.ok(!simulation.requests.some(({ host }) => host === 'removed'));
  });
}

type FanOutPlace = {
  readonly clock: ManualClock;
  readonly store: MemoryStore;
  readonly logLines: string[];
  readonly fanOuts: FanOuts;
  /** Commits the fan-out of an event to `count` webhooks. */
  put(eventId: string, count: number): Promise<void>;
};

/** Fan-outs alone. Writing the one of the event `brokenId` throws what is no error of the store. */
function openFanOuts(brokenId: string | null = null): FanOutPlace {
  const clock = createSimulatedClock();
  const store = createMemoryStore([fanOutCollection, deliveryCollection]);
  const logLines: string[] = [];
  const failing: Store = {
    ...store,
    transact: (prepare) => store.transact((transaction) => {
      const find = transaction.find.bind(transaction);
      return prepare(Object.assign(transaction, {
        find(collection: string, id: string) {
          if (id === brokenId) throw new TypeError('a bug');
          return find(collection, id);
        },
      }));
    }),
  };
  const context = createContext({ store: failing, clock, writeLog: (line) => logLines.push(line) });
  return {
    clock, store, logLines, fanOuts: new FanOuts(context),
    async put(eventId, count) {
      const record = JSON.stringify({
        identifier: eventId, seed: eventId, createdAt: '2026-01-01T00:00:00.000Z', event: 'thing',
        hooks: Array.from({ length: count }, (_, index) => `hook-${index}`),
      });
      await store.transact((transaction) =>
        transaction.put(fanOutCollection.name, eventId, record));
    },
  };
}

const EVENT_IDS = [
  '01890000-0000-7000-8000-000000000001', '01890000-0000-7001-8000-000000000002',
] as const;

test('nobody waits for a fan-out that the end of the program has cut off', async () => {
  const { clock, fanOuts, put } = openFanOuts();
  await put(EVENT_IDS[0], 5001);
  const closing = fanOuts.close(0);
  await clock.advance(0);
  await closing;
  assert.notEqual(fanOuts.unwrittenCount, 0);
  assert.equal(await endsInTurns(fanOuts.whenWritten()), true);
});

test('the end of the program does not wait for the next try of a write', async () => {
  const { clock, store, fanOuts, logLines, put } = openFanOuts();
  await put(EVENT_IDS[0], 1);
  store.setFailure(new AppError('storage_full', 'full'));
  await clock.advance(0);
  assert.equal(logLines.length, 1);
  assert.equal(await endsInTurns(fanOuts.close(5000)), true);
});

test('a fan-out that fails through a bug is left, and those behind it are written', async () => {
  const { clock, store, fanOuts, logLines, put } = openFanOuts(EVENT_IDS[0]);
  for (const eventId of EVENT_IDS) await put(eventId, 2);
  const written = fanOuts.whenWritten();
  await clock.advance(0);
  assert.equal(await endsInTurns(written), true);
  assert.equal(store.collection('deliveries').size, 2);
  assert.deepEqual([store.collection('fan-outs').findBytes(EVENT_IDS[0]) !== undefined,
    store.collection('fan-outs').size], [true, 1]);
  assert.match(logLines.join('\n'), /cannot be written until the next start.*a bug/);
  await fanOuts.close(0);
});

/** Whether a promise ends within some turns of the loop, while no time passes. */
async function endsInTurns(promise: Promise<unknown>): Promise<boolean> {
  let hasEnded = false;
  void promise.then(() => {
    hasEnded = true;
  });
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  return hasEnded;
}

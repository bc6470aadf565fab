import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventRetention } from '../../../src/webhooks/events/event-retention.ts';
import { EventUse } from '../../../src/webhooks/deliveries/event-use.ts';
import { ALL_OWNED } from '../../../src/webhooks/work/ownership.ts';
import { webhookCollections } from '../../../src/webhooks/webhooks.ts';
import type { ManualClock } from '../../support/manual-clock.ts';
import { createMemoryStore, type MemoryStore } from '../../support/memory-store.ts';
import { createContext } from '../context.ts';
import { createSimulatedClock, Simulation } from '../deliveries/sending/simulation.ts';
import { encodeSampleEvent, encodeSampleDelivery } from '../deliveries/sample-records.ts';

const HOUR_MS = 3_600_000;

/** A retention of events alone, over records that a test has put. */
function openRetention(
  store: MemoryStore, limits: { readonly retentionMs?: number; readonly bytesMax?: number },
  isMaintainer = true,
): { readonly clock: ManualClock; readonly ids: () => string[] } {
  const clock = createSimulatedClock();
  const ownership = { ...ALL_OWNED, isMaintainer: () => isMaintainer };
  const retention = new EventRetention(createContext({ store, clock, ownership }),
    new EventUse(store), { retentionMs: HOUR_MS, bytesMax: 1 << 20, ...limits });
  retention.start();
  const events = store.collection('events');
  return {
    clock,
    ids: () => Array.from({ length: events.slotBound }, (_, slot) => events.idAt(slot))
      .filter((id) => id !== undefined).sort(),
  };
}

async function put(
  store: MemoryStore, ...records: readonly (readonly [string, string, string])[]
): Promise<void> {
  await store.transact((transaction) => {
    for (const [collection, id, json] of records) transaction.put(collection, id, json);
  });
}

const event = (id: string, deliveries: readonly string[] = []): readonly [string, string, string] =>
  ['events', id, encodeSampleEvent(id, deliveries)];

test('an event goes when it is old and none of its deliveries is kept', async () => {
  const store = createMemoryStore(webhookCollections);
  await put(store, event('e1'), event('e2', ['d2']), event('e3', ['d3']),
    ['deliveries', 'd2', encodeSampleDelivery('d2', 'h1', 'e2', 'delivered')],
    // A delivery that was made later than its event.
    ['deliveries', 'd9', encodeSampleDelivery('d9', 'h1', 'e3', 'delivered')],
    ['event-receivers', 'e3', '{"identifier":"e3","deliveries":["d9"],"hooks":["h1"]}'],
    ['event-receivers', 'e1', '{"identifier":"e1","deliveries":["d8"],"hooks":["h1"]}']);
  const { clock, ids } = openRetention(store, {});
  await clock.advance(HOUR_MS / 2);
  assert.deepEqual(ids(), ['e1', 'e2', 'e3']);
  await clock.advance(HOUR_MS);
  assert.deepEqual(ids(), ['e2', 'e3']);
  assert.equal(store.collection('event-receivers').findBytes('e1'), undefined);
  await store.transact((transaction) => transaction.delete('deliveries', 'd9'));
  await clock.advance(60_000);
  assert.deepEqual(ids(), ['e2']);
  assert.equal(store.collection('event-receivers').size, 0);
});

test('above the limit of bytes the oldest go at once, and no more than need be', async () => {
  const store = createMemoryStore(webhookCollections);
  const { length } = encodeSampleEvent('e1', []);
  const { clock, ids } = openRetention(store, { bytesMax: 3 * length });
  for (const id of ['e1', 'e2', 'e3']) await put(store, event(id));
  await clock.advance(0);
  assert.deepEqual(ids(), ['e1', 'e2', 'e3']);
  await put(store, event('e4'), event('e5'));
  await clock.advance(0);
  assert.deepEqual(ids(), ['e3', 'e4', 'e5']);
});

test('an event in use takes no room from the others, and none goes in its place', async () => {
  const store = createMemoryStore(webhookCollections);
  await put(store, event('e1', ['d1']),
    ['deliveries', 'd1', encodeSampleDelivery('d1', 'h1', 'e1', 'delivered')]);
  const { length } = encodeSampleEvent('e2', []);
  const { clock, ids } = openRetention(store, { bytesMax: 2 * length });
  for (const id of ['e2', 'e3', 'e4']) await put(store, event(id));
  await clock.advance(0);
  assert.deepEqual(ids(), ['e1', 'e3', 'e4']);
});

test('an event that was in use when others were looked at goes when it is not', async () => {
  const store = createMemoryStore(webhookCollections);
  for (const number of [1, 2, 3]) {
    await put(store, event(`e${number}`, [`d${number}`]), ['deliveries', `d${number}`,
      encodeSampleDelivery(`d${number}`, 'h1', `e${number}`, 'delivered')]);
  }
  const { clock, ids } = openRetention(store, {});
  await clock.advance(2 * HOUR_MS);
  assert.deepEqual(ids(), ['e1', 'e2', 'e3']);
  for (const [number, left] of [[3, ['e1', 'e2']], [1, ['e2']], [2, []]] as const) {
    await store.transact((transaction) => transaction.delete('deliveries', `d${number}`));
    await clock.advance(60_000);
    assert.deepEqual(ids(), left);
  }
});

test('an event that has not begun, or is not written yet for all, stays', async () => {
  const store = createMemoryStore(webhookCollections);
  await put(store, event('e1'), event('e2'), event('e3'),
    ['delayed-events', 'e1', '{"identifier":"e1","deliverAt":"2027-01-01T00:00:00.000Z"}'],
    ['fan-outs', 'e2', '{"identifier":"e2"}']);
  const { clock, ids } = openRetention(store, { bytesMax: 0 });
  await clock.advance(2 * HOUR_MS);
  assert.deepEqual(ids(), ['e1', 'e2']);
  await store.transact((transaction) => transaction.delete('delayed-events', 'e1'));
  await clock.advance(60_000);
  assert.deepEqual(ids(), ['e2']);
});

test('an event that lists a delivery of another stays, and is tried once a sweep', async () => {
  for (const isLate of [false, true]) {
    const store = createMemoryStore(webhookCollections);
    await put(store, event('e1', isLate ? [] : ['d1']),
      ['deliveries', 'd1', encodeSampleDelivery('d1', 'h1', 'e2', 'delivered')],
      ['event-receivers', 'e1', '{"identifier":"e1","deliveries":["d1"],"hooks":["h1"]}']);
    const { transact } = store;
    let tries = 0;
    store.transact = (run) => {
      tries += 1;
      assert.ok(tries < 9);
      return transact.call(store, run) as never;
    };
    const { clock, ids } = openRetention(store, { bytesMax: 0 });
    await clock.advance(1);
    assert.deepEqual([ids(), tries], [['e1'], 1]);
  }
});

test('a node that does not maintain the records removes none', async () => {
  const store = createMemoryStore(webhookCollections);
  await put(store, event('e1'));
  const { clock, ids } = openRetention(store, { bytesMax: 0 }, false);
  await clock.advance(2 * HOUR_MS);
  assert.deepEqual(ids(), ['e1']);
});

test('a delivery that is staged while its event is to go keeps the event', async () => {
  const store = createMemoryStore(webhookCollections);
  await put(store, event('e1', ['d1']));
  const { clock, ids } = openRetention(store, {});
  await clock.advance(0);
  // In one batch with the removal, and before it: it is not applied when that is staged.
  clock.standStill(2 * HOUR_MS);
  const advancing = clock.advance(60_000);
  const { transact } = store;
  let isStaged = false;
  store.transact = (run) => {
    if (!isStaged) {
      isStaged = true;
      void transact.call(store, (transaction) => {
        transaction.put('deliveries', 'd2', encodeSampleDelivery('d2', 'h1', 'e1'));
        transaction.put('event-receivers', 'e1',
          '{"identifier":"e1","deliveries":["d2"],"hooks":["h1"]}');
      });
    }
    return transact.call(store, run) as never;
  };
  await advancing;
  assert.ok(isStaged);
  assert.deepEqual(ids(), ['e1']);
});

test('what was resent as new keeps the event when the first delivery has gone', async () => {
  const simulation = new Simulation({ outgoing: { retentionCount: 1 }, events: { bytesMax: 0 } });
  await simulation.addHook('target');
  const [id = ''] = await simulation.emit({ n: 1 });
  await simulation.clock.advance(1000);
  const { deliveries } = simulation.webhooks;
  const again = await simulation.run(deliveries.resend(id, 'new'));
  await simulation.clock.advance(1000);
  assert.equal(simulation.delivery(id), undefined);
  assert.equal(deliveries.findSentRequest(again.identifier)?.sent?.body?.toString(), '{"n":1}');
  assert.equal(simulation.store.collection('events').size, 1);
  assert.deepEqual(simulation.requests.map(({ body }) => body), ['{"n":1}', '{"n":1}']);
});

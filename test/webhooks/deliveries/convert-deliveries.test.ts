/** What version 1.0 wrote is read, goes on, and is written in the present form. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { convertDeliveries } from '../../../src/webhooks/deliveries/convert-deliveries.ts';
import { reconcileDeliveries } from '../../../src/webhooks/deliveries/delivery-reconciliation.ts';
import { webhookCollections } from '../../../src/webhooks/webhooks.ts';
import { createMemoryStore, type MemoryStore } from '../../support/memory-store.ts';
import { DOWN, Simulation, UP } from '../sending/simulation.ts';
import {
  encodeFormerDelivery, encodeFormerEvent, encodeFormerMark, encodeFormerShare,
} from './former-records.ts';

const OPEN = new AbortController().signal;
const TOTALS = '{"identifier":"totals","accepted":6,"pending":3,"delivered":3}';
const FORWARD = '"depth":0,"deliveries":[],"forward":{"url":"http://there/","method":"POST",'
  + '"headers":{}},"text":"said"';
const SENT = ',"sent":["POST","http://target/"],"attempts":[{"at":"2026-01-01T00:00:00.000Z",'
  + '"durationMs":1,"statusCode":500,"error":null,"response":""}]';

const idOf = (number: number): string => `019ab000-0000-7000-8000-00000000000${number}`;
const [ALONE, FILLED, FORWARDED, FIRST, SECOND, LAST] =
  [idOf(1), idOf(2), idOf(3), idOf(4), idOf(5), idOf(6)] as const;
/** An event of which one delivery is gone. */
const PARTLY_GONE = idOf(0);

/** Puts records of all the forms that version 1.0 had. */
async function putFormerRecords(store: MemoryStore, hook: string): Promise<void> {
  const shared = encodeFormerEvent(FIRST, [FIRST, SECOND]);
  const records: readonly (readonly [string, string, string])[] = [
    ['events', FIRST, shared],
    ['events', `${FIRST}~`, encodeFormerMark(FIRST, shared.length)],
    ['events', PARTLY_GONE, encodeFormerEvent(PARTLY_GONE, [PARTLY_GONE, LAST])],
    ['deliveries', ALONE, encodeFormerDelivery(ALONE, hook, { event: 'book.created' })],
    ['deliveries', FILLED,
      encodeFormerDelivery(FILLED, hook, { more: `${SENT},"body":"made \\"once\\""` })],
    ['deliveries', FORWARDED,
      encodeFormerDelivery(FORWARDED, null, { event: null, eventMembers: FORWARD })],
    ['deliveries', FIRST, encodeFormerShare(FIRST, hook, FIRST, 'delivered')],
    ['deliveries', SECOND, encodeFormerShare(SECOND, hook, FIRST, 'delivered')],
    ['deliveries', LAST, encodeFormerShare(LAST, hook, PARTLY_GONE, 'delivered')],
    ['delivery-totals', 'totals', TOTALS],
  ];
  await store.transact((transaction) => {
    for (const [collection, id, json] of records) transaction.put(collection, id, json);
  });
}

async function withFormerRecords(): Promise<{
  readonly simulation: Simulation; readonly hook: string;
}> {
  const simulation = new Simulation();
  simulation.targets.set('target', DOWN);
  simulation.targets.set('there', DOWN);
  const hook = await simulation.addHook('target');
  await simulation.run(putFormerRecords(simulation.store, hook));
  return { simulation, hook };
}

function recordOf(store: MemoryStore, collection: string, id: string): Record<string, unknown> {
  const bytes = store.collection(collection).findBytes(id);
  assert.ok(bytes !== undefined, `${collection} has no ${id}`);
  return JSON.parse(bytes.toString()) as Record<string, unknown>;
}

/** All former records are gone, and nothing that they said. */
function assertConverted(store: MemoryStore, hook: string): void {
  const read = (collection: string, id: string): Record<string, unknown> =>
    recordOf(store, collection, id);
  const at = '2026-01-01T00:00:00.000Z';
  assert.deepEqual(read('events', ALONE), {
    identifier: ALONE, createdAt: at, name: 'book.created', source: 'catalog', hooks: [hook],
    converted: true, depth: 1, deliveries: [ALONE], payload: { n: 1 },
  });
  assert.equal(read('events', FILLED)['source'], 'api');
  const { name, source, deliveries, forward } = read('events', FORWARDED);
  assert.deepEqual([name, source, deliveries], [null, 'action', [FORWARDED]]);
  assert.equal((forward as { url: string }).url, 'http://there/');
  assert.deepEqual(read('events', FIRST)['hooks'], [hook, hook]);
  assert.deepEqual(read('events', FIRST)['payload'], { n: 1 });
  // Which webhooks had it is not known any more.
  assert.equal(read('events', PARTLY_GONE)['hooks'], undefined);
  assert.equal(read('events', PARTLY_GONE)['source'], 'api');
  assert.equal(store.collection('events').findBytes(`${FIRST}~`), undefined);
  assert.deepEqual(read('delivery-bodies', FILLED),
    { identifier: FILLED, bodyText: 'made "once"' });
  for (const id of [ALONE, FILLED, FORWARDED]) {
    const { payload, depth, body } = read('deliveries', id);
    assert.deepEqual([payload, depth, body], [undefined, undefined, undefined]);
  }
}

/** Each that was pending is sent once more, with the bytes of before. */
async function assertDelivered(simulation: Simulation): Promise<void> {
  simulation.targets.set('target', UP);
  simulation.targets.set('there', UP);
  await simulation.clock.advance(24 * 3_600_000);
  const bodies = simulation.requests.filter(({ result }) => result === 200)
    .map(({ body }) => body).sort();
  assert.deepEqual(bodies, ['made "once"', 'said', '{"n":1}']);
  const { problems, delivered } =
    await simulation.run(simulation.webhooks.deliveries.reconcile());
  assert.deepEqual([problems, delivered], [[], 6]);
}

test('the conversion writes every former record once, and loses nothing of it', async () => {
  const store = createMemoryStore(webhookCollections);
  await putFormerRecords(store, 'h1');
  assert.equal((await convertDeliveries(store, OPEN)).count, 5);
  assertConverted(store, 'h1');
  const { length } = store.lines;
  assert.equal((await convertDeliveries(store, OPEN)).count, 0);
  assert.equal(store.lines.length, length);
});

test('what was converted is attempted as it would have been', async () => {
  const { simulation } = await withFormerRecords();
  await simulation.run(convertDeliveries(simulation.store, OPEN));
  await assertDelivered(simulation);
});

test('former records are attempted as they are, and an attempt writes the present form',
  async () => {
    const { simulation } = await withFormerRecords();
    await assertDelivered(simulation);
    const { body, payload } = recordOf(simulation.store, 'deliveries', FILLED);
    assert.deepEqual([body, payload], [undefined, undefined]);
    assert.deepEqual(recordOf(simulation.store, 'events', ALONE)['payload'], { n: 1 });
    const sent = simulation.webhooks.deliveries.findSentRequest(FILLED)?.sent;
    assert.equal(sent?.body?.toString(), 'made "once"');
  });

test('a conversion that ends between two transactions is gone on with by the next', async () => {
  const store = createMemoryStore(webhookCollections);
  await putFormerRecords(store, 'h1');
  await store.transact((transaction) => {
    // Hundreds more, which take several transactions.
    for (let number = 100; number < 700; number += 1) {
      const id = `019ab000-0000-7000-8000-000000000${number}`;
      transaction.put('deliveries', id, encodeFormerDelivery(id, 'h1', { status: 'delivered' }));
    }
    transaction.put('delivery-totals', 'totals',
      TOTALS.replace('6', '606').replace('"delivered":3', '"delivered":603'));
  });
  let count = 0;
  for (let round = 0; round < 3; round += 1) {
    const closing = new AbortController();
    const before = store.lines.length;
    const unfollow = store.collection('events').onChange(() => closing.abort());
    count += (await convertDeliveries(store, closing.signal)).count;
    unfollow();
    assert.equal(store.lines.length, before + 1);
    const { problems } = await reconcileDeliveries(store, { unwrittenCount: 0 }, 0);
    assert.deepEqual(problems, []);
  }
  assert.ok(count < 605, String(count));
  count += (await convertDeliveries(store, OPEN)).count;
  assert.equal(count, 605);
  assertConverted(store, 'h1');
});

test('an event whose deliveries are still being written is converted with all of their webhooks',
  async () => {
    const store = createMemoryStore(webhookCollections);
    await store.transact((transaction) => {
      transaction.put('events', FIRST, encodeFormerEvent(FIRST, [FIRST, SECOND]));
      transaction.put('fan-outs', FIRST, JSON.stringify({
        identifier: FIRST, seed: FIRST, createdAt: '', event: 'thing.happened', hooks: ['a', 'b'],
      }));
      transaction.put('deliveries', FIRST, encodeFormerShare(FIRST, 'a', FIRST));
    });
    assert.deepEqual(await convertDeliveries(store, OPEN), { count: 0, isComplete: false });
    await store.transact((transaction) => {
      transaction.put('deliveries', SECOND, encodeFormerShare(SECOND, 'b', FIRST));
      transaction.delete('fan-outs', FIRST);
    });
    assert.deepEqual(await convertDeliveries(store, OPEN), { count: 1, isComplete: true });
    assert.deepEqual(recordOf(store, 'events', FIRST)['hooks'], ['a', 'b']);
  });

test('a former delivery that is sent again as new shares its event with the new one', async () => {
  const { simulation, hook } = await withFormerRecords();
  const { deliveries } = simulation.webhooks;
  await simulation.run(deliveries.cancel(ALONE));
  const again = await simulation.run(deliveries.resend(ALONE, 'new'));
  assert.deepEqual([again.eventId, again.resendOf], [ALONE, ALONE]);
  assert.deepEqual(recordOf(simulation.store, 'event-receivers', ALONE),
    { identifier: ALONE, deliveries: [again.identifier], hooks: [hook] });
});

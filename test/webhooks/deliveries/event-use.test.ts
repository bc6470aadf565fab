import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventUse } from '../../../src/webhooks/deliveries/event-use.ts';
import { createRouteDeliveryId } from '../../../src/webhooks/deliveries/route-delivery-id.ts';
import { webhookCollections } from '../../../src/webhooks/webhooks.ts';
import { createMemoryStore, type MemoryStore } from '../../support/memory-store.ts';
import { encodeSampleDelivery, encodeSampleEvent } from './sample-records.ts';

const EVENT = encodeSampleEvent('e1', ['d1', 'd2']);
const BODY = '{"identifier":"d1","bodyText":"made"}';

const share = (id: string, status: string): string => encodeSampleDelivery(id, 'h1', 'e1', status);

type Write = readonly [collection: string, id: string, json: string | null];

/** Applies each step in a transaction of its own, or all of them in one. */
async function apply(store: MemoryStore, ...writes: readonly Write[]): Promise<void> {
  await store.transact((transaction) => {
    for (const [collection, id, json] of writes) {
      if (json === null) transaction.delete(collection, id);
      else transaction.put(collection, id, json);
    }
  });
}

function bytesOf({ queuedBytes, finishedBytes, unusedBytes }: EventUse): readonly number[] {
  return [queuedBytes, finishedBytes, unusedBytes];
}

test('an event counts once: queued, then finished, then unused', async () => {
  const store = createMemoryStore(webhookCollections);
  const use = new EventUse(store);
  const unused: string[] = [];
  use.onUnused((eventId) => unused.push(eventId));
  const { length } = EVENT;
  const steps: readonly (readonly [readonly Write[], readonly number[]])[] = [
    [[['events', 'e1', EVENT]], [0, 0, length]],
    [[['deliveries', 'd1', share('d1', 'pending')]], [length, 0, 0]],
    [[['deliveries', 'd2', share('d2', 'pending')]], [length, 0, 0]],
    [[['deliveries', 'd1', share('d1', 'delivered')]], [length, 0, 0]],
    [[['deliveries', 'd2', share('d2', 'failed')]], [length, 0, 0]],
    [[['deliveries', 'd2', share('d2', 'cancelled')]], [0, length, 0]],
    [[['deliveries', 'd1', null]], [0, length, 0]],
    [[['deliveries', 'd2', null]], [0, 0, length]],
    [[['events', 'e1', null]], [0, 0, 0]],
  ];
  for (const [writes, expected] of steps) {
    await apply(store, ...writes);
    assert.deepEqual(bytesOf(use), expected, JSON.stringify(writes));
    assert.deepEqual(bytesOf(new EventUse(store)), expected, 'as after a start');
  }
  assert.deepEqual(unused, ['e1']);
});

test('the order in which the records of a transaction are applied does not matter', async () => {
  const writes: readonly Write[] = [
    ['events', 'e1', EVENT], ['deliveries', 'd1', share('d1', 'pending')],
    ['deliveries', 'd2', share('d2', 'delivered')], ['delivery-bodies', 'd1', BODY],
  ];
  const removal: readonly Write[] = writes.map(([collection, id]) => [collection, id, null]);
  for (const [first, last] of [
    [writes, removal], [writes.toReversed(), removal], [writes, removal.toReversed()],
  ] as const) {
    const store = createMemoryStore(webhookCollections);
    const use = new EventUse(store);
    await apply(store, ...first);
    assert.deepEqual(bytesOf(use), [EVENT.length + BODY.length, 0, 0]);
    await apply(store, ['deliveries', 'd1', share('d1', 'delivered')]);
    assert.deepEqual(bytesOf(use), [0, EVENT.length + BODY.length, 0]);
    await apply(store, ...last);
    assert.deepEqual(bytesOf(use), [0, 0, 0]);
  }
});

test('a slot that another event gets holds nothing of the one before', async () => {
  const store = createMemoryStore(webhookCollections);
  const use = new EventUse(store);
  await apply(store, ['events', 'e1', EVENT], ['deliveries', 'd1', share('d1', 'pending')]);
  await apply(store, ['deliveries', 'd1', null], ['events', 'e1', null]);
  const other = encodeSampleEvent('e2', []);
  await apply(store, ['events', 'e2', other]);
  assert.deepEqual(bytesOf(use), [0, 0, other.length]);
  assert.ok(use.isUnused(store.collection('events').findSlot('e2')));
});

test('deliveries to routes count for no event', async () => {
  const store = createMemoryStore(webhookCollections);
  const use = new EventUse(store);
  const routeId = createRouteDeliveryId('019ab000-0000-7000-8000-000000000001', 0);
  await apply(store, ['events', 'e1', EVENT], ['deliveries', routeId, share(routeId, 'pending')]);
  assert.deepEqual(bytesOf(use), [0, 0, EVENT.length]);
});

test('a delivery takes its body and its part of the event with it', async () => {
  const store = createMemoryStore(webhookCollections);
  const use = new EventUse(store);
  await apply(store, ['events', 'e1', EVENT], ['delivery-bodies', 'd1', BODY],
    ['deliveries', 'd1', share('d1', 'delivered')], ['deliveries', 'd2', share('d2', 'delivered')]);
  const half = Math.ceil(EVENT.length / 2);
  const computeBytesBeside = (id: string): number =>
    use.computeBytesBeside(id, Buffer.from(share(id, 'delivered')));
  assert.equal(computeBytesBeside('d1'), half + BODY.length);
  assert.equal(computeBytesBeside('d2'), half);
});

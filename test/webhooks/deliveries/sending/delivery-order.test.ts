/** The lane of a delivery, by the key of its event. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTimestamp } from '../../../../src/base/clock.ts';
import { createMemoryStore } from '../../../support/memory-store.ts';
import { encodeDelivery } from '../../../../src/webhooks/deliveries/delivery-codec.ts';
import {
  createDelivery, deliveryCollection,
} from '../../../../src/webhooks/deliveries/delivery.ts';
import { encodeEvent, eventCollection } from '../../../../src/webhooks/deliveries/event-record.ts';
import { createKeyReader } from '../../../../src/webhooks/members/filters/order.ts';
import type { TaskOrder } from '../../../../src/webhooks/work/task.ts';
import {
  computeTaskOrder,
} from '../../../../src/webhooks/deliveries/sending/delivery-attempter.ts';

const NOW_MS = Date.UTC(2026, 0, 1);
const AT = formatTimestamp(NOW_MS);
const EVENT_ID = '019b0000-0000-7000-8000-000000000001';
const ID = '019b0000-0000-7000-8000-000000000002';

async function orderOf(path: string, payload: string, key?: string): Promise<TaskOrder> {
  const store = createMemoryStore([deliveryCollection, eventCollection]);
  const json = encodeEvent({
    identifier: EVENT_ID, createdAt: AT, name: 'a "key":"name"', source: 'api', hops: 0,
    ...key === undefined ? {} : { key }, webhookIds: ['hook'],
  }, payload);
  await store.transact((transaction) => transaction.put(eventCollection.name, EVENT_ID, json));
  const item =
    createDelivery({ identifier: ID, hook: 'hook', event: 'thing', eventId: EVENT_ID }, AT);
  const delivery = { item, bytes: Buffer.from(encodeDelivery(item)) };
  return computeTaskOrder(store, delivery, createKeyReader(path), NOW_MS);
}

const KEYS: readonly (readonly [string, string, string | undefined, unknown])[] = [
  ['payload.a', '{"a":42}', undefined, 42],
  ['payload.a', '{"a":"42"}', undefined, '42'],
  ['payload.a', '{"a":false}', undefined, false],
  ['payload.a', '{"a":""}', undefined, ''],
  ['payload.a.0.b', '{"a":[{"b":1}]}', undefined, 1],
  ['payload', '"text"', undefined, 'text'],
  ['payload.a', '{\n"a":1}', undefined, 1],
  ['payload.a', '{"a":null}', undefined, undefined],
  ['payload.a', '{"a":{}}', undefined, undefined],
  ['payload.a', '{}', undefined, undefined],
  ['payload.a', '[]', undefined, undefined],
  ['event', '{}', undefined, 'thing'],
  ['key', '{}', 'a "quoted" key', 'a "quoted" key'],
  ['key', '{"a":1,"key":"of the payload","depth":1}', undefined, undefined],
  ['payload.key', '{"a":1,"key":"of the payload"}', 'of the event', 'of the payload'],
];

for (const [path, payload, eventKey, expected] of KEYS) {
  const event = JSON.stringify({ payload, key: eventKey });
  test(`${path} of ${event} is ${JSON.stringify(expected)}`, async () => {
    const { lane } = await orderOf(path, payload, eventKey);
    assert.equal(lane?.key, expected);
    assert.equal(lane === null, expected === undefined);
  });
}

test('keys of different types have different lanes', async () => {
  const names = new Set<string | undefined>();
  for (const value of ['1', '"1"', 'true', '"true"']) {
    names.add((await orderOf('payload.a', `{"a":${value}}`)).lane?.name);
  }
  assert.equal(names.size, 4);
});

test('a long text is cut, and is another key than one with the same beginning', async () => {
  const keys = new Set<unknown>();
  for (const end of ['', '1', '2']) {
    const { lane } = await orderOf('payload', JSON.stringify('x'.repeat(100_000) + end));
    assert.ok(String(lane?.key).length < 200);
    keys.add(lane?.key);
  }
  assert.equal(keys.size, 3);
});

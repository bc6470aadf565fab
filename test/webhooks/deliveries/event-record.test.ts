import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDelivery } from '../../../src/webhooks/deliveries/delivery.ts';
import { encodeEvent, readReceivers } from '../../../src/webhooks/deliveries/event-record.ts';
import {
  addLateDeliveries, lateDeliveryCollection,
} from '../../../src/webhooks/deliveries/late-deliveries.ts';
import {
  encodeForward, findForwardHost, findForwardTarget,
} from '../../../src/webhooks/deliveries/queued-forward.ts';
import { createMemoryStore } from '../../support/memory-store.ts';
import { findCommitted } from '../../../src/store/find-record.ts';

const AT = '2026-01-01T00:00:00.000Z';
const [EVENT, DELIVERY] = ['event', 'delivery'];

test('host and target of a forward are read without parsing what follows its URL', async () => {
  const store = createMemoryStore([{ name: 'events', key: 'identifier' }]);
  const json = encodeForward({ identifier: EVENT, createdAt: AT },
    { url: 'http://there:81/a?b', method: 'POST', headers: {}, body: Buffer.from('x') });
  const unparseableJson = json.replace('"text":"x"', '"text":!');
  await store.transact((transaction) => transaction.put('events', EVENT, unparseableJson));
  const delivery =
    createDelivery({ identifier: DELIVERY, hook: null, event: null, eventId: EVENT }, AT);
  assert.equal(findForwardHost(findCommitted(store), delivery), 'there:81');
  assert.equal(findForwardTarget(findCommitted(store), delivery), 'there:81/a');
});

test('the receivers of an event are a list without brackets, whoever came first', async () => {
  for (const [webhookIds, lateIds, receivers] of [
    [[], [], ''], [['a', 'b'], [], '"a","b"'], [[], ['c'], '"c"'], [['a'], ['c'], '"a","c"'],
  ] as const) {
    const store = createMemoryStore([lateDeliveryCollection]);
    await store.transact((transaction) => {
      if (lateIds.length > 0) addLateDeliveries(transaction, EVENT, lateIds, lateIds);
    });
    const record = Buffer.from(encodeEvent({
      identifier: EVENT, createdAt: AT, name: 'x', source: 'api', hops: 0, webhookIds,
    }, '{}'));
    assert.equal(readReceivers(findCommitted(store), EVENT, record), receivers);
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  acceptDeliveries, changeDeliveries, fanOutCollection,
} from '../../../src/webhooks/deliveries/delivery-changes.ts';
import { cancelIfPending, createDelivery } from '../../../src/webhooks/deliveries/delivery.ts';
import {
  encodeEventMembers, encodeEventRecord, finishedMarkId,
} from '../../../src/webhooks/deliveries/event-record.ts';
import { webhookCollections } from '../../../src/webhooks/webhooks.ts';
import { createMemoryStore } from '../../support/memory-store.ts';

const AT = '2026-01-01T00:00:00.000Z';

for (const [title, isFanningOut, isFinished] of [
  ['is finished with the last of its deliveries', false, true],
  ['is not finished while some of its deliveries are not written', true, false],
] as const) {
  test(`an event ${title}`, async () => {
    const store = createMemoryStore(webhookCollections);
    const delivery = createDelivery(
      { identifier: 'd1', hook: 'h1', event: 'a', eventId: 'e1', embeddedEvent: null }, AT);
    const json = encodeEventRecord('e1', AT, 'a', encodeEventMembers(0, ['d1', 'd2'], '1'));
    await store.transact((transaction) => {
      changeDeliveries(transaction, (unit) =>
        acceptDeliveries(transaction, unit, [delivery], { identifier: 'e1', json }, 2));
      if (isFanningOut) transaction.put(fanOutCollection.name, 'e1', '{"identifier":"e1"}');
    });
    await store.transact((transaction) => changeDeliveries(transaction, (unit) =>
      unit.change('d1', (before) => cancelIfPending(before, Date.parse(AT)))));
    assert.equal(store.collection('events').find(finishedMarkId('e1')) !== undefined, isFinished);
  });
}

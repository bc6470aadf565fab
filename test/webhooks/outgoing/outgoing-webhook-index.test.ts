/** Which webhooks an event triggers, while they are added, changed and removed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OutgoingWebhookIndex } from
  '../../../src/webhooks/outgoing/outgoing-webhook-index.ts';
import { outgoingCollection } from '../../../src/webhooks/outgoing/outgoing-webhook.ts';
import { createMemoryStore } from '../../support/memory-store.ts';

type Fixture = {
  readonly index: OutgoingWebhookIndex;
  readonly put: (identifier: string, members: object) => Promise<unknown>;
  readonly remove: (identifier: string) => Promise<unknown>;
};

function open(): Fixture {
  const store = createMemoryStore([outgoingCollection]);
  const { name } = outgoingCollection;
  return {
    index: new OutgoingWebhookIndex(store),
    put: (identifier, members) => store.transact((transaction) =>
      transaction.put(name, identifier, JSON.stringify({
        identifier, targetUrl: 'http://127.0.0.1:1/', httpMethod: 'POST', enabled: true, ...members,
      }))),
    remove: (identifier) => store.transact((transaction) => transaction.delete(name, identifier)),
  };
}

test('a webhook is triggered by a name, a prefix and *, and once by several', async () => {
  const { index, put } = open();
  await put('d', { triggerEvents: ['order.paid', 'order.*', '*'] });
  await put('c', { triggerEvent: '*' });
  await put('b', { triggerEvent: 'order.*' });
  await put('a', { triggerEvent: 'order.paid' });
  await put('off', { triggerEvent: '*', enabled: false });
  assert.deepEqual(index.findTriggered('order.paid'), ['a', 'b', 'c', 'd']);
  assert.deepEqual(index.findTriggered('order.paid.late'), ['b', 'c', 'd']);
  for (const name of ['order', 'orders.paid']) {
    assert.deepEqual(index.findTriggered(name), ['c', 'd']);
  }
  assert.deepEqual(index.findTriggered('order.paid', { isSystem: true }), ['a', 'b', 'd'],
    'a system event');
});

test('a trigger counts until it is changed, or its webhook disabled or removed', async () => {
  const { index, put, remove } = open();
  await put('a', { triggerEvent: 'old' });
  await put('a', { triggerEvents: ['new', 'newer'] });
  assert.deepEqual(['old', 'new', 'newer'].map((name) => index.findTriggered(name).length),
    [0, 1, 1]);
  await put('a', { triggerEvents: ['new'], enabled: false });
  assert.deepEqual(index.findTriggered('new'), []);
  await put('a', { triggerEvents: ['new'] });
  await remove('a');
  assert.deepEqual([index.findTriggered('new'), index.find('a')], [[], undefined]);
});

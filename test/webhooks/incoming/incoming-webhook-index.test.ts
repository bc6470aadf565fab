import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  IncomingWebhookIndex,
} from '../../../src/webhooks/incoming/receiving/incoming-webhook-index.ts';
import { FakeCollection } from '../../support/fake-collection.ts';
import { createMemoryStore } from '../../support/memory-store.ts';
import { createContext } from '../context.ts';

test('two webhooks that swap their path segments are found at the new ones', (context) => {
  const collection = new FakeCollection();
  const put = (identifier: string, pathSegment: string): void => {
    collection.put({ id: identifier, identifier, pathSegment, enabled: true });
  };
  put('one', 'first');
  put('two', 'second');
  const store = { ...createMemoryStore([]), collection: () => collection };
  const index = new IncomingWebhookIndex(createContext({ store }), {
    defaultAllowedMethods: ['POST'], bodyBytesMax: 1 << 20, rateLimit: 0,
    onOutcome: () => {},
  });
  context.after(() => index.close());
  put('one', 'second');
  put('two', 'first');
  assert.equal(index.findByPath('second')?.identifier, 'one');
  assert.equal(index.findByPath('first')?.identifier, 'two');
  collection.delete('one');
  assert.equal(index.findByPath('second'), undefined);
  assert.equal(index.findByPath('first')?.identifier, 'two');
});

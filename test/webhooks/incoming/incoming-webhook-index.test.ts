import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/log.ts';
import {
  IncomingWebhookIndex,
} from '../../../src/webhooks/incoming/receiving/incoming-webhook-index.ts';
import { FakeCollection } from '../../support/fake-collection.ts';

test('two webhooks that swap their path segments are found at the new ones', (context) => {
  const collection = new FakeCollection();
  const put = (identifier: string, pathSegment: string): void => {
    collection.put({ id: identifier, identifier, pathSegment, enabled: true });
  };
  put('one', 'first');
  put('two', 'second');
  const index = new IncomingWebhookIndex({
    collection, defaultMethods: ['POST'], bodyBytesMax: 1 << 20, rateLimit: 0,
    clock: systemClock, log: silentLogger, onOutcome: () => {},
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

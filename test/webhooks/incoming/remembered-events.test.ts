/** Events that succeeded, and whose requests are not kept, are remembered for duplicates. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Duplicates } from '../../../src/webhooks/inbox/intake/duplicates.ts';
import { SenderEvent } from '../../../src/webhooks/inbox/intake/sender-event.ts';
import { webhookCollections } from '../../../src/webhooks/webhooks.ts';
import { createMemoryStore } from '../../support/memory-store.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const DATA = '{"a":1}';

function createMemory() {
  const clock = new ManualClock();
  const duplicates = new Duplicates(createMemoryStore(webhookCollections), clock);
  const makeEvent = (eventId: string): SenderEvent => new SenderEvent({
    webhookId: 'webhook', eventId, bodySha256: null, expiresAtMs: clock.now() + 1000,
  });
  return {
    clock,
    remember: (eventId: string, dataJson = DATA) =>
      duplicates.remember(makeEvent(eventId), dataJson),
    find: (eventId: string) => duplicates.findRemembered(makeEvent(eventId))?.dataJson,
  };
}

test('an event is remembered until it expires, and then forgotten', () => {
  const { clock, remember, find } = createMemory();
  remember('one');
  clock.standStill(999);
  assert.equal(find('one'), DATA);
  clock.standStill(1);
  assert.equal(find('one'), undefined);
});

test('the oldest event is forgotten when there are too many', () => {
  const { remember, find } = createMemory();
  for (let index = 0; index <= 50_000; index += 1) remember(`event ${index}`);
  assert.equal(find('event 0'), undefined);
  assert.equal(find('event 1'), DATA);
});

test('an event that is remembered anew takes the room of one', () => {
  const { remember, find } = createMemory();
  remember('one');
  for (let count = 0; count < 100_000; count += 1) remember('two');
  assert.equal(find('one'), DATA);
});

test('an event whose data is long is remembered without it', () => {
  const { remember, find } = createMemory();
  remember('long data', `["${'x'.repeat(2000)}"]`);
  assert.equal(find('long data'), '{}');
});

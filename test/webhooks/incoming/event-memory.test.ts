import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventMemory } from '../../../src/webhooks/inbox/intake/event-memory.ts';

const EVENT = { expiresAtMs: 1000, bodySha256: null, dataJson: '{"a":1}' };

test('an event is remembered until it expires, and then forgotten', () => {
  const memory = new EventMemory();
  memory.add('one', EVENT);
  assert.deepEqual(memory.find('one', 999), EVENT);
  assert.equal(memory.find('one', 1000), undefined);
  assert.equal(memory.find('one', 0), undefined, 'it is gone, not only hidden');
});

test('the oldest event is forgotten when there are too many', () => {
  const memory = new EventMemory();
  for (let index = 0; index <= 50_000; index += 1) memory.add(`event ${index}`, EVENT);
  assert.equal(memory.find('event 0', 0), undefined);
  assert.deepEqual(memory.find('event 1', 0), EVENT);
});

test('an event that is remembered anew takes the room of one', () => {
  const memory = new EventMemory();
  memory.add('one', EVENT);
  for (let count = 0; count < 100_000; count += 1) memory.add('two', EVENT);
  assert.deepEqual(memory.find('one', 0), EVENT);
});

test('an event whose data is long is remembered without it', () => {
  const memory = new EventMemory();
  memory.add('long data', { ...EVENT, dataJson: `["${'x'.repeat(2000)}"]` });
  assert.equal(memory.find('long data', 0)?.dataJson, '{}');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { systemClock } from '../../../../src/base/clock.ts';
import { createIdSource } from '../../../../src/base/uuid.ts';
import { encodeDelivery } from '../../../../src/webhooks/deliveries/delivery-codec.ts';
import { createDelivery } from '../../../../src/webhooks/deliveries/delivery.ts';
import { encodeEvent } from '../../../../src/webhooks/deliveries/event-record.ts';
import { createWebhooks, webhookCollections } from '../../../../src/webhooks/webhooks.ts';
import { createMemoryStore } from '../../../support/memory-store.ts';
import { createContext, createOptions } from '../../context.ts';

const COUNT = 20_000;
const PAYLOAD_BYTES = 1024;
const AT = '2026-01-01T00:00:00.000Z';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

test('what waits costs the queue a fraction of its bytes', async () => {
  const makeId = createIdSource(systemClock);
  const store = createMemoryStore(webhookCollections);
  const payload = JSON.stringify({ text: 'x'.repeat(PAYLOAD_BYTES - 11) });
  const ids = Array.from({ length: COUNT }, () => [makeId(), makeId()] as const);
  const recordBytes = await store.transact((transaction) => {
    let bytes = 0;
    for (const [count, [eventId, identifier]] of ids.entries()) {
      const hook = `hook-${count % 10}`;
      const event = encodeEvent({
        identifier: eventId, createdAt: AT, name: 'a.b', source: 'api', hops: 1,
        webhookIds: [hook],
      }, payload);
      transaction.put('events', eventId, event);
      const delivery = encodeDelivery(
        createDelivery({ identifier, hook, event: 'a.b', eventId }, AT));
      transaction.put('deliveries', identifier, delivery);
      bytes += event.length + delivery.length;
    }
    return bytes;
  });
  const before = heapBytes();
  const webhooks = createWebhooks(createContext({ store, makeId }), createOptions());
  const bytesEach = (heapBytes() - before) / COUNT;
  assert.equal(webhooks.statistics().pending, COUNT);
  await webhooks.close(0);
  assert.ok(bytesEach < 300, `${Math.round(bytesEach)} bytes of heap for each`);
  assert.ok(recordBytes / COUNT + bytesEach < 2 * PAYLOAD_BYTES);
});

/** Deliveries as they are stored: what is written is read back, and found without parsing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  decodeDelivery, deliveryHead, encodeDelivery, readEventId,
} from '../../../src/webhooks/deliveries/delivery-codec.ts';
import { createDelivery, type Delivery } from '../../../src/webhooks/deliveries/delivery.ts';
import { addAttempt, createPendingRoute } from '../../../src/webhooks/deliveries/route-delivery.ts';
import { encodeRoute } from '../../../src/webhooks/deliveries/route-record.ts';

const AT = '2026-11-22T12:00:00.000Z';
const LATER = '2026-11-22T12:00:05.000Z';
const IDENTIFIER = '019ab000-0000-7000-8000-000000000001';
const EVENT_ID = '019ab000-0000-7000-8000-000000000002';
const HOOK = '019ab000-0000-7000-8000-000000000003';

const fresh = createDelivery(
  { identifier: IDENTIFIER, hook: HOOK, event: 'made', eventId: IDENTIFIER }, AT);

const roundTrip = (delivery: Delivery): Delivery =>
  decodeDelivery(Buffer.from(encodeDelivery(delivery)));

test('what is stored of a delivery is read back', () => {
  const attempt = {
    at: AT, durationMs: 3, statusCode: 500, error: null, response: 'say "no"\n',
  };
  const sent = { method: 'POST', url: 'http://x/?a="b"', headers: ['status', '"pending"'] };
  const changes: readonly Partial<Delivery>[] = [
    {}, { hook: null, event: null }, { event: 'a "b" \\ ü' }, { eventId: EVENT_ID },
    { updatedAt: LATER, nextAttemptAt: LATER, failures: 2, proxyFailures: 1 },
    {
      status: 'delivered', updatedAt: LATER, nextAttemptAt: null, sent, isPayload: true,
      attempts: [attempt],
    },
    { resendOf: EVENT_ID, isPayload: true }, { sent, isPayload: false }, { queuedAt: LATER },
  ];
  for (const change of changes) {
    const delivery = { ...fresh, ...change };
    assert.deepEqual(roundTrip(delivery), delivery);
    assert.equal(deliveryHead.readStatus(Buffer.from(encodeDelivery(delivery))), delivery.status);
  }
});

test('the time of the last change is its own member, whatever an attempt holds', () => {
  const updatedMs = (record: string): number => deliveryHead.readUpdatedMs(Buffer.from(record));
  for (const updatedAt of [AT, LATER]) {
    assert.equal(updatedMs(encodeDelivery({ ...fresh, updatedAt })), Date.parse(updatedAt));
    const attempt = {
      at: AT, durationMs: 1, success: false, message: null, data: { updatedAt: 'never' },
    };
    const route = addAttempt({ ...createPendingRoute('default', AT), updatedAt }, attempt);
    const record = encodeRoute(EVENT_ID, 0, HOOK, route);
    assert.equal(updatedMs(record), Date.parse(updatedAt), record);
  }
});

test('the event of a delivery is read without parsing it', () => {
  for (const delivery of [
    fresh, { ...fresh, eventId: EVENT_ID },
    { ...fresh, hook: null, event: '"message":"e"', eventId: EVENT_ID },
  ]) assert.equal(readEventId(Buffer.from(encodeDelivery(delivery))), delivery.eventId);
});

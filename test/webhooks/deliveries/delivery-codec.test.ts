/** Deliveries as they are stored: what is written is read back, and found without parsing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  decodeDelivery, deliveryHead, encodeDelivery, readEventId, readWebhookId,
} from '../../../src/webhooks/deliveries/delivery-codec.ts';
import {
  DELIVERY_STATUSES, afterAttempt, createDelivery, createRouteDelivery, type Delivery,
} from '../../../src/webhooks/deliveries/delivery.ts';

const AT = '2026-11-22T12:00:00.000Z';
const LATER = '2026-11-22T12:00:05.000Z';
const IDENTIFIER = '019ab000-0000-7000-8000-000000000001';
const EVENT_ID = '019ab000-0000-7000-8000-000000000002';
const HOOK = '019ab000-0000-7000-8000-000000000003';

const fresh = createDelivery(
  { identifier: IDENTIFIER, hook: HOOK, event: 'made', eventId: IDENTIFIER }, AT);

const routed = createRouteDelivery({ id: EVENT_ID, hook: HOOK }, 2, 'default', AT);
const RUN = { at: AT, durationMs: 1, success: false, message: 'no', data: {} };

const roundTrip = (delivery: Delivery): Delivery =>
  decodeDelivery(Buffer.from(encodeDelivery(delivery)));

test('what is stored of a delivery is read back', () => {
  const attempt = { at: AT, durationMs: 3, statusCode: 500, error: null, response: 'say "no"\n' };
  const sent = { method: 'POST', url: 'http://x/?a="b"', headers: ['status', '"pending"'] };
  const changes: readonly Partial<Delivery>[] = [
    {}, { kind: 'forward', hook: null, event: null }, { event: 'a "b" \\ ü' },
    { eventId: EVENT_ID },
    { updatedAt: LATER, nextAttemptAt: LATER, failures: 2, notAskedCount: 1 },
    {
      status: 'delivered', updatedAt: LATER, nextAttemptAt: null, sent, isPayload: true,
      attempts: [attempt], attemptCount: 1,
    },
    { attempts: [attempt, attempt], attemptCount: 60 },
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
    const attempt = { ...RUN, data: { updatedAt: 'never' } };
    const record = encodeDelivery({ ...routed, updatedAt, attempts: [attempt], attemptCount: 1 });
    assert.equal(updatedMs(record), Date.parse(updatedAt), record);
  }
});

test('the event of a delivery is read without parsing it', () => {
  for (const delivery of [
    fresh, { ...fresh, eventId: EVENT_ID },
    { ...fresh, hook: null, event: '"message":"e"', eventId: EVENT_ID },
  ]) assert.equal(readEventId(Buffer.from(encodeDelivery(delivery))), delivery.eventId);
});

test('what is stored of a delivery to a route is read back', () => {
  const never = { schedule: [] };
  const retried = afterAttempt(
    routed, { end: 'failed', attempt: RUN }, { schedule: [5] }, Date.parse(AT), 0);
  const success = { ...RUN, success: true, message: null };
  const data = { coalesced: true };
  for (const delivery of [
    routed, retried, afterAttempt(routed, { end: 'failed', attempt: RUN }, never, 0, 0),
    afterAttempt(routed, { end: 'delivered', attempt: success }, never, 0, 0),
    afterAttempt(routed, { end: 'coalesced', attempt: { ...success, data } }, never, 0, 0),
    { ...routed, queuedAt: LATER, attemptCount: 9 },
    { ...routed, route: 'delivered","status":"coalesced', attempts: [{ ...RUN, data: null }],
      attemptCount: 1 },
  ]) {
    assert.deepEqual(roundTrip(delivery), delivery);
    assert.equal(deliveryHead.readStatus(Buffer.from(encodeDelivery(delivery))), delivery.status);
  }
});

test('a delivery to a route says its request by its id, and what is unusual of attempts', () => {
  const { kind, request, route } = roundTrip(routed);
  assert.deepEqual([kind, request, route], ['route', EVENT_ID, 'default']);
  assert.equal(encodeDelivery(routed), `{"identifier":"${EVENT_ID}.2","status":"pending",`
    + `"updatedAt":"${AT}","route":"default","hook":"${HOOK}"}`);
  const attempt = { ...RUN, message: null };
  assert.match(encodeDelivery({ ...routed, attempts: [attempt], attemptCount: 1 }),
    /"attempts":\[\{"at":"[^"]+","durationMs":1,"success":false\}\]\}$/);
});

test('a number in the data of a run keeps its digits', () => {
  const record = encodeDelivery({ ...routed, attempts: [RUN], attemptCount: 1 })
    .replace('"message":"no"', '"data":{"n":12345678901234567890.10}');
  assert.match(encodeDelivery(decodeDelivery(Buffer.from(record))), /12345678901234567890\.10/);
});

test('every status is told from the others without parsing', () => {
  for (const status of DELIVERY_STATUSES) {
    const bytes = Buffer.from(encodeDelivery({ ...fresh, status }));
    assert.equal(deliveryHead.readStatus(bytes), status);
  }
});

test('a record that lacks what is always there is refused', () => {
  for (const [delivery, members] of [
    [fresh, ['identifier', 'status', 'updatedAt', 'message']],
    [routed, ['identifier', 'status', 'updatedAt', 'route', 'hook']],
  ] as const) {
    for (const member of members) {
      const record = JSON.parse(encodeDelivery(delivery)) as object;
      const bytes = Buffer.from(JSON.stringify({ ...record, [member]: null }));
      assert.throws(() => decodeDelivery(bytes), { code: 'damaged' }, member);
    }
  }
});

test('the webhook of a delivery is read without parsing, whatever texts stand about it', () => {
  const text = ',"hook":"none"';
  const attempt = { at: AT, durationMs: 3, statusCode: 500, error: text, response: text };
  const sent = { method: 'POST', url: 'http://x/?hook', headers: ['hook', text] };
  for (const [changes, webhookId] of [
    [{}, HOOK], [{ event: text, sent, attempts: [attempt] }, HOOK],
    [{ updatedAt: LATER, event: '"hook":"x"' }, HOOK],
    [{ kind: 'forward', hook: null, event: null }, null],
    [{ kind: 'forward', hook: null, event: text, sent, attempts: [attempt] }, null],
  ] as const) {
    const bytes = Buffer.from(encodeDelivery({ ...fresh, ...changes }));
    assert.equal(readWebhookId(bytes), webhookId, bytes.toString());
  }
  const run = { ...RUN, data: { a: 1, hook: 'none' } };
  const bytes = Buffer.from(encodeDelivery({ ...routed, attempts: [run] }));
  assert.equal(readWebhookId(bytes), null);
});

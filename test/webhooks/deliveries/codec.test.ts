/** Deliveries as they are stored: what is written is read back, and found without parsing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  decodeDelivery, encodeDelivery, freshHookOf, statusOf,
} from '../../../src/webhooks/deliveries/codec.ts';
import { newDelivery, type Delivery } from '../../../src/webhooks/deliveries/delivery.ts';

const AT = '2026-11-22T12:00:00.000Z';
const LATER = '2026-11-22T12:00:05.000Z';
const IDENTIFIER = '019ab000-0000-7000-8000-000000000001';
const MESSAGE = '019ab000-0000-7000-8000-000000000002';
const HOOK = '019ab000-0000-7000-8000-000000000003';

const fresh = newDelivery(
  { identifier: IDENTIFIER, hook: HOOK, event: 'made', message: IDENTIFIER, carried: null }, AT);

const roundTrip = (delivery: Delivery): Delivery =>
  decodeDelivery(Buffer.from(encodeDelivery(delivery)));

test('what is stored of a delivery is read back', () => {
  const attempt = {
    at: AT, durationMs: 3, statusCode: 500, error: null, response: 'say "no"\n',
  };
  const sent = { method: 'POST', url: 'http://x/?a="b"', headers: ['status', '"pending"'] };
  const changes: readonly Partial<Delivery>[] = [
    {}, { hook: null, event: null }, { event: 'a "b" \\ ü' }, { message: MESSAGE },
    { updatedAt: LATER, nextAttemptAt: LATER, failures: 2, proxyFailures: 1 },
    {
      status: 'delivered', updatedAt: LATER, nextAttemptAt: null, sent, isPayload: true,
      attempts: [attempt],
    },
    { resendOf: MESSAGE, isPayload: true }, { body: '{"a":"ü\n"}' },
  ];
  for (const change of changes) {
    const delivery = { ...fresh, ...change };
    assert.deepEqual(roundTrip(delivery), delivery);
    assert.equal(statusOf(Buffer.from(encodeDelivery(delivery))), delivery.status);
  }
});

test('a delivery that was not written again is known by its webhook alone', () => {
  const hookOf = (change: Partial<Delivery>): string | null =>
    freshHookOf(Buffer.from(encodeDelivery({ ...fresh, ...change })));
  const carried = '"depth":1,"deliveries":[],"payload":{"nextAttemptAt":"never"}';
  for (const change of [
    {}, { carried }, { event: 'a "b" \\' }, { event: 'a\\', message: MESSAGE },
  ]) assert.equal(hookOf(change), HOOK);
  for (const change of [
    { hook: null }, { status: 'failed' as const }, { updatedAt: LATER },
    { nextAttemptAt: LATER }, { nextAttemptAt: LATER, event: 'a "b" \\', message: MESSAGE },
    { nextAttemptAt: LATER, event: null, carried },
  ]) assert.equal(hookOf(change), null);
});

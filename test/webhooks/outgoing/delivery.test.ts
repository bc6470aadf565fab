import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  afterAttempt, cancelled, DEFAULT_SCHEDULE_S, encodeDelivery, newDelivery, readDelivery, retried,
  statusOf, type Delivery, type Outcome,
} from '../../../src/webhooks/outgoing/delivery.ts';
import {
  depthOf, encodeEvent, encodeForward, hasDelivery, payloadOf, readForward,
} from '../../../src/webhooks/outgoing/message.ts';

const START_MS = Date.UTC(2026, 0, 1);
const fresh = newDelivery(
  { identifier: 'd1', hook: 'h1', event: 'a.b', message: 'd1' }, new Date(START_MS).toISOString());

function outcome(kind: Outcome['kind'], retryAfterMs = 0): Outcome {
  const attempt = {
    at: new Date(START_MS).toISOString(), durationMs: 3, statusCode: 500, error: null, response: '',
  };
  return { kind, attempt, retryAfterMs };
}

function waitMs(delivery: Delivery, nowMs: number): number {
  return Date.parse(delivery.nextAttemptAt ?? '') - nowMs;
}

test('failures follow the schedule to its end, then the delivery has failed', () => {
  let delivery = fresh;
  const waits: number[] = [];
  for (let nowMs = START_MS; delivery.status === 'pending';) {
    delivery = afterAttempt(delivery, outcome('failed'), DEFAULT_SCHEDULE_S, nowMs, 0);
    if (delivery.status === 'pending') waits.push(waitMs(delivery, nowMs) / 1000);
    nowMs = Date.parse(delivery.nextAttemptAt ?? '') || nowMs;
  }
  assert.deepEqual(waits, DEFAULT_SCHEDULE_S);
  assert.equal(delivery.status, 'failed');
  assert.equal(delivery.nextAttemptAt, null);
  assert.equal(delivery.attempts.length, DEFAULT_SCHEDULE_S.length + 1);
});

test('jitter lengthens a wait by up to a tenth, and never shortens it', () => {
  for (const random of [0, 0.5, 0.999]) {
    const wait = waitMs(afterAttempt(fresh, outcome('failed'), [100], START_MS, random), START_MS);
    assert.ok(wait >= 100_000 && wait <= 110_000, String(wait));
  }
});

test('a longer Retry-After is honoured, a shorter one is not, and a month is the most', () => {
  const wait = (retryAfterMs: number): number =>
    waitMs(afterAttempt(fresh, outcome('failed', retryAfterMs), [100], START_MS, 0), START_MS);
  assert.equal(wait(500_000), 500_000);
  assert.equal(wait(5000), 100_000);
  assert.equal(wait(1e15), 30 * 86_400_000);
});

test('a success ends it, and 410 fails it at once', () => {
  assert.equal(afterAttempt(fresh, outcome('delivered'), [5], START_MS, 0).status, 'delivered');
  assert.equal(afterAttempt(fresh, outcome('gone'), [5], START_MS, 0).status, 'failed');
});

test("a proxy's own failure uses up no attempt and backs off to five minutes", () => {
  let delivery = fresh;
  const waits = Array.from({ length: 9 }, () => {
    delivery = afterAttempt(delivery, outcome('proxy'), [5], START_MS, 0);
    return waitMs(delivery, START_MS) / 1000;
  });
  assert.deepEqual(waits, [5, 10, 20, 40, 80, 160, 300, 300, 300]);
  assert.deepEqual([delivery.failures, delivery.attempts.length], [0, 0]);
});

test('updatedAt rises though the clock steps back', () => {
  const first = afterAttempt(fresh, outcome('failed'), [5, 5], START_MS, 0);
  const second = afterAttempt(first, outcome('failed'), [5, 5], START_MS - 60_000, 0);
  assert.ok(second.updatedAt > first.updatedAt);
});

test('only a failed delivery keeps the body that was made for it', () => {
  const made = { ...fresh, body: '{}' };
  assert.equal(afterAttempt(made, outcome('gone'), [], START_MS, 0).body, '{}');
  assert.equal(afterAttempt(made, outcome('delivered'), [], START_MS, 0).body, undefined);
  assert.equal(cancelled(made, START_MS)?.body, undefined);
});

test('a manual retry starts the schedule anew and keeps what was tried', () => {
  const failed = afterAttempt(fresh, outcome('failed'), [], START_MS, 0);
  const again = retried(failed, START_MS + 1000);
  assert.deepEqual([again.status, again.failures, again.attempts.length], ['pending', 0, 1]);
  assert.equal(Date.parse(again.nextAttemptAt ?? ''), START_MS + 1000);
});

test('whatever a delivery holds, it is read back the same', () => {
  const failing = afterAttempt(fresh, outcome('failed'), [5], START_MS, 0);
  const cases: readonly Delivery[] = [
    fresh, failing, afterAttempt(failing, outcome('failed'), [5], START_MS, 0),
    afterAttempt(fresh, outcome('proxy'), [5], START_MS, 0),
    afterAttempt(fresh, outcome('delivered'), [5], START_MS, 0),
    { ...fresh, hook: null, event: null, message: 'm1', body: '"status":"failed"' },
    { ...fresh, isPayload: true, event: '"status":"failed"' },
  ];
  for (const delivery of cases) {
    const bytes = Buffer.from(encodeDelivery(delivery));
    assert.deepEqual(readDelivery(bytes), delivery);
    assert.equal(statusOf(bytes), delivery.status);
    assert.ok(bytes.toString().startsWith('{"identifier":"d1",'));
  }
});

test("a waiting delivery's record is small", () => {
  const id = '019aa000-0000-7000-8000-000000000000';
  const delivery = newDelivery(
    { identifier: id, hook: id, event: 'book.created', message: id }, fresh.createdAt);
  assert.ok(encodeDelivery(delivery).length < 200);
});

test("an event's payload and deliveries are found whatever its name says", () => {
  const name = '],"payload":"x","deliveries":["y"]';
  const payload = { a: '],"payload":', deliveries: ['z'] };
  const event = { identifier: 'e1', depth: 2, deliveries: ['d1', 'd2'] };
  const json = encodeEvent(event, fresh.createdAt, name, JSON.stringify(payload));
  const bytes = Buffer.from(json);
  assert.deepEqual(JSON.parse(String(payloadOf(bytes))), payload);
  assert.deepEqual(deliveriesOf(bytes), ['d2', 'd1']);
  assert.equal(depthOf(bytes), 2);
});

test('a queued forward keeps the received text as it came', () => {
  const body = '\ufeff{ "a":\n1.0 }';
  const forward = { url: 'http://x', method: 'PUT', headers: { deliveries: 'x' }, body };
  const bytes = Buffer.from(encodeForward('m', fresh.createdAt, 'd1', forward));
  assert.equal(payloadOf(bytes), null);
  assert.deepEqual(readForward(bytes), forward);
  assert.deepEqual(deliveriesOf(bytes), ['d1']);
});

test('the deliveries of a message are asked for from the newest until one is sought', () => {
  const event = { identifier: 'e1', depth: 1, deliveries: ['d1', 'd2', 'd3'] };
  const bytes = Buffer.from(encodeEvent(event, fresh.createdAt, 'a', '["d0"]'));
  const asked: string[] = [];
  assert.ok(hasDelivery(bytes, (id) => asked.push(id) === 2));
  assert.deepEqual(asked, ['d3', 'd2']);
  const none = encodeEvent({ ...event, deliveries: [] }, fresh.createdAt, 'a', '["d0"]');
  assert.ok(!hasDelivery(Buffer.from(none), () => true));
});

/** Newest first. */
function deliveriesOf(bytes: Buffer): string[] {
  const found: string[] = [];
  hasDelivery(bytes, (id) => found.push(id) === 0);
  return found;
}

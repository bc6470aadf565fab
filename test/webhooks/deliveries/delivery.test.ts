import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  decodeDelivery, encodeDelivery, readStatus, readUpdatedMs,
} from '../../../src/webhooks/deliveries/delivery-codec.ts';
import {
  afterAttempt, afterLateAttempt, cancelIfPending, createDelivery, resetForRetry, type Delivery,
  type AttemptOutcome,
} from '../../../src/webhooks/deliveries/delivery.ts';
import {
  decodeForward, readHops, encodeEventRecord, encodeEventMembers, encodeForwardMembers,
  someListedDelivery, readPayloadBytes,
} from '../../../src/webhooks/deliveries/event-record.ts';

const SCHEDULE_S = [5, 300, 1800, 7200, 18_000, 36_000, 36_000];

const START_MS = Date.UTC(2026, 0, 1);
const fresh = createDelivery(
  { identifier: 'd1', hook: 'h1', event: 'a.b', eventId: 'd1', embeddedEvent: null },
  new Date(START_MS).toISOString());

function outcome(kind: AttemptOutcome['kind'], retryAfterMs = 0): AttemptOutcome {
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
    delivery = afterAttempt(delivery, outcome('failed'), SCHEDULE_S, nowMs, 0);
    if (delivery.status === 'pending') waits.push(waitMs(delivery, nowMs) / 1000);
    nowMs = Date.parse(delivery.nextAttemptAt ?? '') || nowMs;
  }
  assert.deepEqual(waits, SCHEDULE_S);
  assert.equal(delivery.status, 'failed');
  assert.equal(delivery.nextAttemptAt, null);
  assert.equal(delivery.attempts.length, SCHEDULE_S.length + 1);
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

test('an attempt that ends after a cancel is kept, unless it was the proxy that failed', () => {
  const cancelled = cancelIfPending(fresh, START_MS) ?? fresh;
  for (const [kind, status, attempts] of [
    ['delivered', 'delivered', 1], ['failed', 'cancelled', 1], ['proxy', 'cancelled', 0],
  ] as const) {
    const after = afterLateAttempt(cancelled, outcome(kind), START_MS + 1000);
    assert.deepEqual([after.status, after.attempts.length, after.nextAttemptAt],
      [status, attempts, null]);
  }
});

test('fifty attempts are kept of a delivery, however often it is cancelled during one', () => {
  let delivery = fresh;
  for (let round = 0; round < 60; round += 1) {
    delivery = cancelIfPending(resetForRetry(delivery, START_MS), START_MS) ?? delivery;
    delivery = afterLateAttempt(delivery, outcome('failed'), START_MS);
  }
  assert.equal(delivery.attempts.length, 50);
});

test('updatedAt rises though the clock steps back', () => {
  const first = afterAttempt(fresh, outcome('failed'), [5, 5], START_MS, 0);
  const second = afterAttempt(first, outcome('failed'), [5, 5], START_MS - 60_000, 0);
  assert.ok(second.updatedAt > first.updatedAt);
});

test('a finished delivery keeps what was made for it and what it carries', () => {
  const made = { ...fresh, body: '{}', embeddedEvent: encodeEventMembers(1, [], '"p"') };
  const stored = (delivery: Delivery | null): unknown =>
    delivery !== null && JSON.parse(encodeDelivery(delivery));
  const failed = stored(afterAttempt(made, outcome('gone'), [], START_MS, 0));
  const delivered = stored(afterAttempt(made, outcome('delivered'), [], START_MS, 0));
  const dropped = stored(cancelIfPending(made, START_MS));
  const kept = ({ body, payload }: { body?: string; payload?: string }): unknown => [body, payload];
  assert.deepEqual(kept(failed as object), ['{}', 'p']);
  assert.deepEqual(kept(delivered as object), ['{}', 'p']);
  assert.deepEqual(kept(dropped as object), ['{}', 'p']);
});

test('a manual retry starts the schedule anew and keeps what was tried', () => {
  const failed = afterAttempt(fresh, outcome('failed'), [], START_MS, 0);
  const again = resetForRetry(failed, START_MS + 1000);
  assert.deepEqual([again.status, again.failures, again.attempts.length], ['pending', 0, 1]);
  assert.equal(Date.parse(again.nextAttemptAt ?? ''), START_MS + 1000);
});

test('whatever a delivery holds, it is read back the same', () => {
  const failing = afterAttempt(fresh, outcome('failed'), [5], START_MS, 0);
  const cases: readonly Delivery[] = [
    fresh, failing, afterAttempt(failing, outcome('failed'), [5], START_MS, 0),
    afterAttempt(fresh, outcome('proxy'), [5], START_MS, 0),
    afterAttempt(fresh, outcome('delivered'), [5], START_MS, 0),
    { ...fresh, hook: null, event: null, eventId: 'm1', body: '"status":"failed"' },
    { ...fresh, isPayload: true, event: '"status":"failed"' },
  ];
  for (const delivery of cases) {
    const bytes = Buffer.from(encodeDelivery(delivery));
    assert.deepEqual(decodeDelivery(bytes), delivery);
    assert.equal(readStatus(bytes), delivery.status);
    assert.ok(bytes.toString().startsWith('{"identifier":"d1",'));
  }
});

test("a waiting delivery's record is small", () => {
  const id = '019aa000-0000-7000-8000-000000000000';
  const delivery = createDelivery(
    { identifier: id, hook: id, event: 'book.created', eventId: id, embeddedEvent: null },
    fresh.createdAt);
  assert.ok(encodeDelivery(delivery).length < 200);
});

test('what a delivery carries is passed on byte for byte, whatever stands in it', () => {
  const payload = '{"status":"failed", "updatedAt":"1999","depth":9,"deliveries":["x"],"é":1.0}';
  const alone = { ...fresh, embeddedEvent: encodeEventMembers(2, [], payload) };
  const first = Buffer.from(encodeDelivery(alone));
  const failing = afterAttempt(decodeDelivery(first), outcome('failed'), [5], START_MS, 0);
  for (const bytes of [first, Buffer.from(encodeDelivery(failing))]) {
    assert.equal(readStatus(bytes), 'pending');
    assert.equal(String(readPayloadBytes(bytes)), payload);
    assert.equal(readHops(bytes), 2);
    assert.deepEqual(deliveriesOf(bytes), []);
  }
  assert.deepEqual({ ...decodeDelivery(first), embeddedEvent: null }, fresh);
  assert.equal(readUpdatedMs(Buffer.from(encodeDelivery(failing))), Date.parse(failing.updatedAt));
});

test("an event's payload and deliveries are found whatever its name says", () => {
  const name = '],"payload":"x","deliveries":["y"],"depth":7,';
  const payload = { a: '],"payload":', deliveries: ['z'] };
  const members = encodeEventMembers(2, ['d1', 'd2'], JSON.stringify(payload));
  const bytes = Buffer.from(encodeEventRecord('e1', fresh.createdAt, name, members));
  assert.deepEqual(JSON.parse(String(readPayloadBytes(bytes))), payload);
  assert.deepEqual(deliveriesOf(bytes), ['d2', 'd1']);
  assert.equal(readHops(bytes), 2);
});

test('a queued forward keeps the received bytes as they came', () => {
  for (const body of [Buffer.from('\ufeff{ "a":\n1.0 }'), Buffer.from([0, 0xff, 0x22]), null]) {
    const forward = { url: 'http://x', method: 'PUT', headers: { deliveries: ['x', 'y'] }, body };
    const embeddedEvent = encodeForwardMembers(forward);
    const bytes = Buffer.from(encodeDelivery({ ...fresh, embeddedEvent }));
    assert.equal(readPayloadBytes(bytes), null);
    assert.deepEqual(decodeForward(bytes), forward);
  }
});

test('the deliveries of a message are asked for from the newest until one is sought', () => {
  const message = (ids: readonly string[]): Buffer => Buffer.from(
    encodeEventRecord('e1', fresh.createdAt, 'a', encodeEventMembers(1, ids, '["d0"]')));
  const asked: string[] = [];
  assert.ok(someListedDelivery(message(['d1', 'd2', 'd3']), (id) => asked.push(id) === 2));
  assert.deepEqual(asked, ['d3', 'd2']);
  assert.ok(!someListedDelivery(message([]), () => true));
});

/** Newest first. */
function deliveriesOf(bytes: Buffer): string[] {
  const found: string[] = [];
  someListedDelivery(bytes, (id) => found.push(id) === 0);
  return found;
}

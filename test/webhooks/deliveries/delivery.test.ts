import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  decodeDelivery, encodeDelivery, statusOf, updatedMsOf,
} from '../../../src/webhooks/deliveries/codec.ts';
import {
  afterAttempt, cancelledIfPending, newDelivery, retried, type Delivery, type Outcome,
} from '../../../src/webhooks/deliveries/delivery.ts';
import {
  decodeForward, depthOf, encodeMessage, eventMembers, forwardMembers, hasDelivery, payloadOf,
} from '../../../src/webhooks/deliveries/message.ts';

const SCHEDULE_S = [5, 300, 1800, 7200, 18_000, 36_000, 36_000];

const START_MS = Date.UTC(2026, 0, 1);
const fresh = newDelivery(
  { identifier: 'd1', hook: 'h1', event: 'a.b', message: 'd1', carried: null },
  new Date(START_MS).toISOString());

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

test('updatedAt rises though the clock steps back', () => {
  const first = afterAttempt(fresh, outcome('failed'), [5, 5], START_MS, 0);
  const second = afterAttempt(first, outcome('failed'), [5, 5], START_MS - 60_000, 0);
  assert.ok(second.updatedAt > first.updatedAt);
});

test('a finished delivery keeps what was made for it and what it carries', () => {
  const made = { ...fresh, body: '{}', carried: eventMembers(1, [], '"p"') };
  const stored = (delivery: Delivery | null): unknown =>
    delivery !== null && JSON.parse(encodeDelivery(delivery));
  const failed = stored(afterAttempt(made, outcome('gone'), [], START_MS, 0));
  const delivered = stored(afterAttempt(made, outcome('delivered'), [], START_MS, 0));
  const dropped = stored(cancelledIfPending(made, START_MS));
  const kept = ({ body, payload }: { body?: string; payload?: string }): unknown => [body, payload];
  assert.deepEqual(kept(failed as object), ['{}', 'p']);
  assert.deepEqual(kept(delivered as object), ['{}', 'p']);
  assert.deepEqual(kept(dropped as object), ['{}', 'p']);
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
    assert.deepEqual(decodeDelivery(bytes), delivery);
    assert.equal(statusOf(bytes), delivery.status);
    assert.ok(bytes.toString().startsWith('{"identifier":"d1",'));
  }
});

test("a waiting delivery's record is small", () => {
  const id = '019aa000-0000-7000-8000-000000000000';
  const delivery = newDelivery(
    { identifier: id, hook: id, event: 'book.created', message: id, carried: null },
    fresh.createdAt);
  assert.ok(encodeDelivery(delivery).length < 200);
});

test('what a delivery carries is passed on byte for byte, whatever stands in it', () => {
  const payload = '{"status":"failed", "updatedAt":"1999","depth":9,"deliveries":["x"],"é":1.0}';
  const alone = { ...fresh, carried: eventMembers(2, [], payload) };
  const first = Buffer.from(encodeDelivery(alone));
  const failing = afterAttempt(decodeDelivery(first), outcome('failed'), [5], START_MS, 0);
  for (const bytes of [first, Buffer.from(encodeDelivery(failing))]) {
    assert.equal(statusOf(bytes), 'pending');
    assert.equal(String(payloadOf(bytes)), payload);
    assert.equal(depthOf(bytes), 2);
    assert.deepEqual(deliveriesOf(bytes), []);
  }
  assert.deepEqual({ ...decodeDelivery(first), carried: null }, fresh);
  assert.equal(updatedMsOf(Buffer.from(encodeDelivery(failing))), Date.parse(failing.updatedAt));
});

test("an event's payload and deliveries are found whatever its name says", () => {
  const name = '],"payload":"x","deliveries":["y"],"depth":7,';
  const payload = { a: '],"payload":', deliveries: ['z'] };
  const members = eventMembers(2, ['d1', 'd2'], JSON.stringify(payload));
  const bytes = Buffer.from(encodeMessage('e1', fresh.createdAt, name, members));
  assert.deepEqual(JSON.parse(String(payloadOf(bytes))), payload);
  assert.deepEqual(deliveriesOf(bytes), ['d2', 'd1']);
  assert.equal(depthOf(bytes), 2);
});

test('a queued forward keeps the received bytes as they came', () => {
  for (const body of [Buffer.from('\ufeff{ "a":\n1.0 }'), Buffer.from([0, 0xff, 0x22]), null]) {
    const forward = { url: 'http://x', method: 'PUT', headers: { deliveries: ['x', 'y'] }, body };
    const bytes = Buffer.from(encodeDelivery({ ...fresh, carried: forwardMembers(forward) }));
    assert.equal(payloadOf(bytes), null);
    assert.deepEqual(decodeForward(bytes), forward);
  }
});

test('the deliveries of a message are asked for from the newest until one is sought', () => {
  const message = (ids: readonly string[]): Buffer => Buffer.from(
    encodeMessage('e1', fresh.createdAt, 'a', eventMembers(1, ids, '["d0"]')));
  const asked: string[] = [];
  assert.ok(hasDelivery(message(['d1', 'd2', 'd3']), (id) => asked.push(id) === 2));
  assert.deepEqual(asked, ['d3', 'd2']);
  assert.ok(!hasDelivery(message([]), () => true));
});

/** Newest first. */
function deliveriesOf(bytes: Buffer): string[] {
  const found: string[] = [];
  hasDelivery(bytes, (id) => found.push(id) === 0);
  return found;
}

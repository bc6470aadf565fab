import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  decodeDelivery, deliveryHead, encodeDelivery,
} from '../../../src/webhooks/deliveries/delivery-codec.ts';
import {
  afterAttempt, afterProbe, afterAttemptOffSchedule, endIfPending, computeDeliveryDueMs,
  createDelivery, createRouteDelivery, resetForRetry, type Delivery, type SendOutcome,
} from '../../../src/webhooks/deliveries/delivery.ts';
import {
  decodeEventDeliveries, decodeEventHead, encodeEvent, isEvent, readPayloadBytes,
} from '../../../src/webhooks/deliveries/event-record.ts';
import { decodeForward, encodeForward } from '../../../src/webhooks/deliveries/queued-forward.ts';

const SCHEDULE_S = [5, 300, 1800, 7200, 18_000, 36_000, 36_000];

const NEVER = { schedule: [] };
const ONCE = { schedule: [5] };
const TWICE = { schedule: [5, 5] };
const IN_100_S = { schedule: [100] };

const START_MS = Date.UTC(2026, 0, 1);
const fresh = createDelivery(
  { identifier: 'd1', hook: 'h1', event: 'a.b', eventId: 'd1' },
  new Date(START_MS).toISOString());

function outcome(end: SendOutcome['end'], retryAfterMs = 0): SendOutcome {
  const attempt = {
    at: new Date(START_MS).toISOString(), durationMs: 3, statusCode: 500, error: null, response: '',
  };
  return { end, attempt, retryAfterMs };
}

function waitMs(delivery: Delivery, nowMs: number): number {
  return Date.parse(delivery.nextAttemptAt ?? '') - nowMs;
}

test('failures follow the schedule to its end, then the delivery has failed', () => {
  let delivery = fresh;
  const waits: number[] = [];
  for (let nowMs = START_MS; delivery.status === 'pending';) {
    delivery = afterAttempt(delivery, outcome('failed'), { schedule: SCHEDULE_S }, nowMs, 0);
    if (delivery.status === 'pending') waits.push(waitMs(delivery, nowMs) / 1000);
    nowMs = Date.parse(delivery.nextAttemptAt ?? '') || nowMs;
  }
  assert.deepEqual(waits, SCHEDULE_S);
  assert.equal(delivery.status, 'failed');
  assert.equal(delivery.nextAttemptAt, null);
  assert.equal(delivery.attempts.length, SCHEDULE_S.length + 1);
});

test('a probe uses up nothing, and ends what need not be tried again', () => {
  const probed = (end: SendOutcome['end'], more = {}, retryOn?: number[]): unknown[] => {
    const { status, failures, attempts, nextAttemptAt } =
      afterProbe(fresh, { ...outcome(end), ...more }, { schedule: [5], retryOn }, START_MS + 1);
    return [status, failures, attempts.length, nextAttemptAt];
  };
  assert.deepEqual(probed('failed'), ['pending', 0, 1, fresh.nextAttemptAt]);
  assert.deepEqual(probed('notAsked'), ['pending', 0, 0, fresh.nextAttemptAt]);
  assert.deepEqual(probed('delivered'), ['delivered', 0, 1, null]);
  assert.deepEqual(probed('failed', {}, [503]), ['failed', 1, 1, null]);
  assert.deepEqual(probed('failed', { isChainRefused: true }), ['failed', 1, 1, null]);
});

test('jitter lengthens a wait by up to a tenth, and never shortens it', () => {
  for (const random of [0, 0.5, 0.999]) {
    const failed = afterAttempt(fresh, outcome('failed'), IN_100_S, START_MS, random);
    const wait = waitMs(failed, START_MS);
    assert.ok(wait >= 100_000 && wait <= 110_000, String(wait));
  }
});

test('a longer Retry-After is honoured, a shorter one is not, and a month is the most', () => {
  const wait = (retryAfterMs: number): number =>
    waitMs(afterAttempt(fresh, outcome('failed', retryAfterMs), IN_100_S, START_MS, 0), START_MS);
  assert.equal(wait(500_000), 500_000);
  assert.equal(wait(5000), 100_000);
  assert.equal(wait(1e15), 30 * 86_400_000);
});

test('a success ends it, and 410 fails it at once', () => {
  assert.equal(afterAttempt(fresh, outcome('delivered'), ONCE, START_MS, 0).status, 'delivered');
  assert.equal(afterAttempt(fresh, outcome('gone'), ONCE, START_MS, 0).status, 'failed');
});

test("a proxy's own failure uses up no attempt and backs off to five minutes", () => {
  let delivery = fresh;
  const waits = Array.from({ length: 9 }, () => {
    delivery = afterAttempt(delivery, outcome('notAsked'), ONCE, START_MS, 0);
    return waitMs(delivery, START_MS) / 1000;
  });
  assert.deepEqual(waits, [5, 10, 20, 40, 80, 160, 300, 300, 300]);
  assert.deepEqual([delivery.failures, delivery.attempts.length], [0, 0]);
});

test('after an attempt that got through, the back-off of a failing proxy starts anew', () => {
  const failed = afterAttempt(fresh, outcome('notAsked'), TWICE, START_MS, 0);
  const throughProxy = afterAttempt(failed, outcome('failed'), TWICE, START_MS, 0);
  const failedAgain = afterAttempt(throughProxy, outcome('notAsked'), TWICE, START_MS, 0);
  assert.equal(waitMs(failedAgain, START_MS), 5000);
});

test('a clock set back does not lengthen a wait that no attempt has begun', () => {
  const [nowMs, writtenMs] = [START_MS + 3_600_000, START_MS + 7_200_000];
  const failed = afterAttempt(fresh, outcome('notAsked'), ONCE, writtenMs, 0);
  assert.equal(computeDeliveryDueMs(failed, nowMs), nowMs + 5000);
  assert.equal(computeDeliveryDueMs(resetForRetry(fresh, writtenMs), nowMs), nowMs);
});

test('an attempt within the millisecond of the creation does not shorten the wait', () => {
  const failed = afterAttempt(fresh, outcome('failed'), ONCE, START_MS, 0);
  assert.equal(computeDeliveryDueMs(failed, START_MS), START_MS + 5000);
});

test('an attempt that ends after a cancel is kept, unless it was the proxy that failed', () => {
  const cancelled = endIfPending(fresh, 'cancelled', START_MS) ?? fresh;
  for (const [end, status, attempts] of [
    ['delivered', 'delivered', 1], ['failed', 'cancelled', 1], ['notAsked', 'cancelled', 0],
  ] as const) {
    const after = afterAttemptOffSchedule(cancelled, outcome(end), START_MS + 1000);
    assert.deepEqual([after.status, after.attempts.length, after.nextAttemptAt],
      [status, attempts, null]);
    assert.deepEqual(afterAttempt(cancelled, outcome(end), ONCE, START_MS + 1000, 0), after);
  }
});

const routed = createRouteDelivery({ id: 'r1', hook: 'h1' }, 0, 'default', fresh.createdAt);
const RUN = { at: fresh.createdAt, durationMs: 1, success: false, message: null, data: null };

test('a run that ends after its route has failed delivers it, or leaves it as it was', () => {
  const failed = afterAttempt(routed, { end: 'failed', attempt: RUN }, NEVER, START_MS, 0);
  assert.deepEqual([failed.status, failed.failures], ['failed', 1]);
  for (const [end, status] of [
    ['failed', 'failed'], ['delivered', 'delivered'], ['coalesced', 'coalesced'],
  ] as const) {
    const after = afterAttempt(
      failed, { end, attempt: RUN }, { schedule: [5, 60] }, START_MS + 1, 0);
    assert.deepEqual([after.status, after.nextAttemptAt, after.attemptCount, after.failures],
      [status, null, 2, 1]);
  }
});

test('a change that shares its time with others bears that time', () => {
  const updatedAt = '2027-01-01T00:00:00.000Z';
  for (const after of [
    afterAttempt(routed, { end: 'failed', attempt: RUN }, ONCE, START_MS, 0, updatedAt),
    afterAttempt(routed, { end: 'delivered', attempt: RUN }, ONCE, START_MS, 0, updatedAt),
    afterAttemptOffSchedule(routed, { end: 'failed', attempt: RUN }, START_MS, updatedAt),
    resetForRetry(routed, START_MS, updatedAt),
  ]) assert.equal(after.updatedAt, updatedAt);
});

test('fifty attempts are kept of a delivery, however often it is cancelled during one', () => {
  let delivery = fresh;
  for (let round = 0; round < 60; round += 1) {
    delivery = endIfPending(resetForRetry(delivery, START_MS), 'cancelled', START_MS) ?? delivery;
    delivery = afterAttemptOffSchedule(delivery, outcome('failed'), START_MS);
  }
  assert.deepEqual([delivery.attempts.length, delivery.attemptCount], [50, 60]);
});

test('updatedAt rises though the clock steps back', () => {
  const first = afterAttempt(fresh, outcome('failed'), TWICE, START_MS, 0);
  const second = afterAttempt(first, outcome('failed'), TWICE, START_MS - 60_000, 0);
  assert.ok(second.updatedAt > first.updatedAt);
});

test('a manual retry starts the schedule anew and keeps what was tried', () => {
  const failed = {
    ...afterAttempt(fresh, outcome('failed'), NEVER, START_MS, 0), notAskedCount: 3,
  };
  const again = resetForRetry(failed, START_MS + 1000);
  assert.deepEqual([again.status, again.failures, again.notAskedCount, again.attempts.length],
    ['pending', 0, 0, 1]);
  assert.equal(Date.parse(again.nextAttemptAt ?? ''), START_MS + 1000);
});

test('a manual retry puts a delivery that had ended at the end of its queue, and no other', () => {
  const failed = afterAttempt(fresh, outcome('failed'), NEVER, START_MS, 0);
  assert.equal(resetForRetry(failed, START_MS + 1000).queuedAt,
    new Date(START_MS + 1000).toISOString());
  const waiting = afterAttempt(fresh, outcome('failed'), ONCE, START_MS, 0);
  assert.equal(resetForRetry(waiting, START_MS + 1000).queuedAt, null);
});

test('whatever a delivery holds, it is read back the same', () => {
  const failing = afterAttempt(fresh, outcome('failed'), ONCE, START_MS, 0);
  const cases: readonly Delivery[] = [
    fresh, failing, afterAttempt(failing, outcome('failed'), ONCE, START_MS, 0),
    afterAttempt(fresh, outcome('notAsked'), ONCE, START_MS, 0),
    afterAttempt(fresh, outcome('delivered'), ONCE, START_MS, 0),
    { ...fresh, kind: 'forward', hook: null, event: null, eventId: 'm1', resendOf: 'd0' },
    { ...fresh, isPayload: true, event: '"status":"failed"' },
  ];
  for (const delivery of cases) {
    const bytes = Buffer.from(encodeDelivery(delivery));
    assert.deepEqual(decodeDelivery(bytes), delivery);
    assert.equal(deliveryHead.readStatus(bytes), delivery.status);
    assert.ok(bytes.toString().startsWith('{"identifier":"d1",'));
  }
});

test("a waiting delivery's record is small", () => {
  const id = '019aa000-0000-7000-8000-000000000000';
  const delivery = createDelivery(
    { identifier: id, hook: id, event: 'book.created', eventId: id },
    fresh.createdAt);
  assert.ok(encodeDelivery(delivery).length < 230);
});

const EVENT = '00000000-0000-7000-8000-000000000001';
const HEAD = {
  identifier: EVENT, createdAt: fresh.createdAt, source: 'api', hops: 2, webhookIds: ['h1', 'h2'],
} as const;
const LISTS = {
  deliveries: [EVENT.replace(/1$/, '2'), EVENT.replace(/1$/, '3')], webhookIds: HEAD.webhookIds,
};

test('an event keeps its payload byte for byte, whatever stands in it', () => {
  const payload = '{"status":"failed","depth":9,"hooks":["y"],"deliveries":["x"], "é":1.0}';
  const event = { ...HEAD, name: 'a' };
  const bytes = Buffer.from(encodeEvent(event, payload));
  assert.equal(String(readPayloadBytes(bytes)), payload);
  assert.equal(decodeEventHead(bytes).hops, 2);
  assert.deepEqual(decodeEventDeliveries(bytes), LISTS);
});

test('the members of an event stand in their order', () => {
  const event = { ...HEAD, name: 'a' };
  const head = `{"identifier":"${EVENT}","createdAt":"2026-01-01T00:00:00.000Z","name":"a"`
    + ',"source":"api","depth":2';
  const lists = '"hooks":["h1","h2"],"payload":1}';
  assert.equal(encodeEvent(event, '1'), `${head},${lists}`);
  const rest = { key: 'k"1', deliverAt: fresh.createdAt, to: 'h1' };
  const json = encodeEvent({ ...event, ...rest }, '1');
  assert.equal(json,
    `${head},"key":"k\\"1","deliverAt":"${fresh.createdAt}","to":"h1",${lists}`);
  const { webhookIds: _, ...stored } = event;
  assert.deepEqual(decodeEventHead(Buffer.from(json)),
    { ...stored, ...rest, url: null, trace: null });
});

test("an event's payload and deliveries are found whatever its name says", () => {
  const name = ',"hooks":[],"payload":"x","deliveries":["y"],"depth":7,"source":"own"';
  const payload = { a: '],"payload":', hooks: ['z'] };
  const event = { ...HEAD, name };
  const bytes = Buffer.from(encodeEvent(event, JSON.stringify(payload)));
  assert.deepEqual(JSON.parse(String(readPayloadBytes(bytes))), payload);
  assert.deepEqual(decodeEventDeliveries(bytes), LISTS);
  const head = decodeEventHead(bytes);
  assert.deepEqual([head.name, head.hops], [name, 2]);
});

test('a payload with line breaks, which a record cannot hold, is kept byte for byte', () => {
  const payload = '{\r\n  "a": "],\\"payload\\":" }';
  const record = encodeEvent({ ...HEAD, name: 'a' }, payload);
  assert.doesNotMatch(record, /[\r\n]/);
  assert.equal(String(readPayloadBytes(Buffer.from(record))), payload);
  assert.deepEqual(decodeEventDeliveries(Buffer.from(record)), LISTS);
});

test('a queued forward keeps the received bytes as they came', () => {
  for (const body of [Buffer.from('\ufeff{ "a":\n1.0 }'), Buffer.from([0, 0xff, 0x22]), null]) {
    const headers = { hooks: ['x'], payload: 'x' };
    const forward = { url: 'http://x', method: 'PUT', headers, body };
    const bytes = Buffer.from(encodeForward(HEAD, forward));
    assert.deepEqual(decodeForward(bytes), forward);
    assert.deepEqual(decodeEventDeliveries(bytes),
      { deliveries: LISTS.deliveries.slice(0, 1), webhookIds: [null] });
    const { name, url } = decodeEventHead(bytes);
    assert.deepEqual([name, url, isEvent(bytes)], [null, 'http://x', false]);
  }
});

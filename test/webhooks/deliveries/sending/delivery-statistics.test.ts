import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createIdSource } from '../../../../src/base/uuid.ts';
import {
  DeliveryCounters,
} from '../../../../src/webhooks/deliveries/sending/delivery-statistics.ts';
import type { Delivery, SendOutcome } from '../../../../src/webhooks/deliveries/delivery.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const clock = new ManualClock();
const makeId = createIdSource(clock);

function deliveryOf(hook: string | null): Pick<Delivery, 'identifier' | 'hook'> {
  return { identifier: makeId(), hook };
}

function outcomeOf(end: SendOutcome['end'], more: Partial<SendOutcome> = {}): SendOutcome {
  const attempt = { at: '', durationMs: 500, statusCode: null, error: null, response: null };
  return { end, attempt, retryAfterMs: 0, ...more };
}

test('the failures of a bounded number of hooks have series of their own', () => {
  const figures = new DeliveryCounters();
  for (let hook = 0; hook < 250; hook += 1) {
    figures.record(deliveryOf(`hook-${hook}`), outcomeOf('failed'), clock.now());
  }
  figures.record(deliveryOf('hook-3'), outcomeOf('gone'), clock.now());
  assert.equal(figures.failures.size, 101);
  assert.deepEqual([figures.failures.get('hook-3'), figures.failures.get('other')], [2, 150]);
  figures.record(deliveryOf('hook-3'), outcomeOf('notAsked'), clock.now());
  assert.deepEqual(figures.attempts, { delivered: 0, failed: 250, gone: 1, proxy: 1 });
});

test('an attempt is told apart from 10 ms to 10 s, the arrival of a delivery to a day', () => {
  const { attemptDurations, latencies } = new DeliveryCounters();
  assert.deepEqual(attemptDurations.bounds, [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]);
  assert.deepEqual(latencies.bounds,
    [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 600, 3600, 21_600, 86_400]);
});

test('a delivery takes from its creation to its arrival, an attempt its own time', () => {
  const figures = new DeliveryCounters();
  const delivery = deliveryOf(null);
  figures.record(delivery, outcomeOf('failed'), clock.now() + 1000);
  figures.record(delivery, outcomeOf('failed', { isUnsent: true }), clock.now() + 2000);
  figures.record(delivery, outcomeOf('delivered'), clock.now() + 90_000);
  assert.deepEqual([figures.latencies.sum, figures.attemptDurations.sum], [90, 1]);
  assert.deepEqual([...figures.failures], [['forward', 2]]);
});

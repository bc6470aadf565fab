import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createIdSource } from '../../../src/base/uuid.ts';
import { DeliveryFigures } from '../../../src/webhooks/sending/statistics.ts';
import type { Outcome } from '../../../src/webhooks/deliveries/delivery.ts';
import { laneKey, Lanes } from '../../../src/webhooks/scheduler/run-queue.ts';
import type { Entry } from '../../../src/webhooks/scheduler/run-queue.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const clock = new ManualClock();
const makeId = createIdSource(clock);
const lanes = new Lanes({ inFlightMax: 1, inFlightPerLaneMax: 8 });

function entryOf(key: string): Entry {
  const lane = lanes.open(key, 'host', true);
  return { id: makeId(), lane, dueAtMs: 0, state: 'running' };
}

function outcomeOf(kind: Outcome['kind'], more: Partial<Outcome> = {}): Outcome {
  const attempt = { at: '', durationMs: 500, statusCode: null, error: null, response: null };
  return { kind, attempt, retryAfterMs: 0, ...more };
}

test('the failures of a bounded number of hooks have series of their own', () => {
  const figures = new DeliveryFigures();
  for (let hook = 0; hook < 250; hook += 1) {
    figures.record(entryOf(laneKey(`hook-${hook}`)), outcomeOf('failed'), clock.now());
  }
  figures.record(entryOf(laneKey('hook-3')), outcomeOf('gone'), clock.now());
  assert.equal(figures.failures.size, 101);
  assert.deepEqual([figures.failures.get('hook-3'), figures.failures.get('other')], [2, 150]);
  assert.equal(figures.attempts.failed, 250);
});

test('a delivery takes from its creation to its arrival, an attempt its own time', () => {
  const figures = new DeliveryFigures();
  const entry = entryOf('forward example.org');
  figures.record(entry, outcomeOf('failed'), clock.now() + 1000);
  figures.record(entry, outcomeOf('failed', { isUnsent: true }), clock.now() + 2000);
  figures.record(entry, outcomeOf('delivered'), clock.now() + 90_000);
  assert.deepEqual([figures.latencies.sum, figures.attemptDurations.sum], [90, 1]);
  assert.deepEqual([...figures.failures], [['forward', 2]]);
});

/** What came of attempts, for the metrics: counts, times, and failures a hook. */
import { timeOfUuidV7 } from '../../base/uuid.ts';
import { Histogram } from '../../server/metrics/histogram.ts';
import type { Outcome } from '../deliveries/delivery.ts';
import { sourceOfLane } from '../scheduler/run-queue.ts';
import type { Entry } from '../scheduler/run-queue.ts';

/** A series each; the failures of further hooks are counted together, as `other`. */
const FAILING_HOOKS_MAX = 100;
const OTHER_HOOKS = 'other';
const ATTEMPT_BOUNDS_S = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
// From the event to the arrival: attempts go on for hours.
const DELIVERY_BOUNDS_S = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 600, 3600, 21_600, 86_400];

export class DeliveryFigures {
  readonly attempts = { delivered: 0, failed: 0, gone: 0, proxy: 0 };
  /** Seconds that an attempt took. */
  readonly attemptDurations = new Histogram(ATTEMPT_BOUNDS_S);
  /** Seconds from the creation of a delivery until it was delivered. */
  readonly latencies = new Histogram(DELIVERY_BOUNDS_S);
  readonly failures = new Map<string, number>();

  record({ id, lane }: Entry, outcome: Outcome, nowMs: number): void {
    this.attempts[outcome.kind] += 1;
    if (outcome.isUnsent !== true) {
      this.attemptDurations.observe(outcome.attempt.durationMs / 1000);
    }
    if (outcome.kind === 'delivered') {
      this.latencies.observe(Math.max(0, nowMs - timeOfUuidV7(id)) / 1000);
      return;
    }
    const source = sourceOfLane(lane.key);
    const isKept = this.failures.has(source) || this.failures.size < FAILING_HOOKS_MAX;
    const series = isKept ? source : OTHER_HOOKS;
    this.failures.set(series, (this.failures.get(series) ?? 0) + 1);
  }
}

/** Counts deliveries and their attempts for the metrics. */
import { timeOfUuidV7 } from '../../../base/uuid.ts';
import { Histogram } from '../../../server/metrics/metric-source.ts';
import { FORWARDS_LABEL, OTHER_WEBHOOKS_LABEL } from '../../webhook-label.ts';
import type { QueueRoom } from '../queue-capacity.ts';
import type { Delivery, SendOutcome } from '../delivery.ts';

export type DeliveryStatistics = {
  readonly pending: number;
  readonly room: QueueRoom;
  readonly inFlight: number;
  readonly oldestPendingMs: number;
  readonly figures: DeliveryCounters;
  readonly failures: readonly { readonly hook: string; readonly count: number }[];
  readonly inFlightByHost: readonly { readonly host: string; readonly inFlight: number }[];
};

/** Most webhooks with their own series; the failures of others count as `other`. */
const FAILING_HOOKS_MAX = 100;
const ATTEMPT_BOUNDS_S = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
// Hours may pass between event and delivery, as retries go on so long.
const DELIVERY_BOUNDS_S = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 600, 3600, 21_600, 86_400];

export class DeliveryCounters {
  /** By their ends, as the metrics name them. */
  readonly attempts = { delivered: 0, failed: 0, gone: 0, proxy: 0 };
  readonly attemptDurations = new Histogram(ATTEMPT_BOUNDS_S);
  /** Seconds from the creation of deliveries to their end. */
  readonly latencies = new Histogram(DELIVERY_BOUNDS_S);
  readonly failures = new Map<string, number>();

  record(
    { identifier, hook }: Pick<Delivery, 'identifier' | 'hook'>, outcome: SendOutcome,
    nowMs: number,
  ): void {
    this.attempts[outcome.end === 'notAsked' ? 'proxy' : outcome.end] += 1;
    if (outcome.isUnsent !== true) {
      this.attemptDurations.observe(outcome.attempt.durationMs / 1000);
    }
    if (outcome.end === 'delivered') {
      this.latencies.observe(Math.max(0, nowMs - timeOfUuidV7(identifier)) / 1000);
      return;
    }
    const source = hook ?? FORWARDS_LABEL;
    const hasOwnSeries = this.failures.has(source) || this.failures.size < FAILING_HOOKS_MAX;
    const series = hasOwnSeries ? source : OTHER_WEBHOOKS_LABEL;
    this.failures.set(series, (this.failures.get(series) ?? 0) + 1);
  }
}

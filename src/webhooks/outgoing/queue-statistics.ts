/** Figures of the delivery queue, for the metrics. */
import type { Outcome } from './delivery.ts';

export type QueueStatistics = {
  readonly pending: number;
  readonly inFlight: number;
  readonly oldestPendingMs: number;
  /** Attempts so far, by what came of them. */
  readonly attempts: Readonly<Record<Outcome['kind'], number>>;
  readonly inFlightByHost: readonly { readonly host: string; readonly inFlight: number }[];
};

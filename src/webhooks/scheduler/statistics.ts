/** Figures of the delivery queue, for the metrics. */
import type { DeliveryFigures } from '../sending/statistics.ts';

export type QueueStatistics = {
  readonly pending: number;
  readonly inFlight: number;
  readonly oldestPendingMs: number;
  /** Of the attempts so far. */
  readonly figures: DeliveryFigures;
  readonly inFlightByHost: readonly { readonly host: string; readonly inFlight: number }[];
};

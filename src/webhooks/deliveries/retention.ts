/** How long, and how many, deliveries are kept after they have finished. */
import type { DeliveryStatus } from './delivery.ts';
import type { RetentionRules } from '../work/retention.ts';
import { statusOf } from './codec.ts';

const FINISHES = {
  pending: null, delivered: 'finished', failed: 'failed', cancelled: 'finished',
} as const satisfies Record<DeliveryStatus, unknown>;

/** Pending and failed ones are bounded by the queue's own limits: see capacity.ts. */
export function deliveryRetention(limits: {
  readonly retentionMs: number; readonly retentionCount: number;
  readonly failedRetentionMs: number;
}): RetentionRules {
  return {
    finishOf: (bytes) => FINISHES[statusOf(bytes)],
    bytesOf: ({ length }) => length,
    keptMs: { finished: limits.retentionMs, failed: limits.failedRetentionMs },
    finishedMax: limits.retentionCount,
    countMax: Infinity, bytesMax: Infinity, collections: [],
  };
}

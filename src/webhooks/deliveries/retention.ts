/** How long, how many and how much of deliveries is kept after they have finished. */
import type { Store } from '../../store/store-port.ts';
import type { RetentionRules } from '../durable-queue/queue-retention.ts';
import { messageIdOf, statusOf } from './codec.ts';
import type { DeliveryStatus } from './delivery.ts';
import {
  countDeliveriesOf, eventCollection, idleBytesOf, isIdleId, messageStart,
} from './message.ts';

const FINISHES = {
  pending: null, delivered: 'finished', failed: 'failed', cancelled: 'finished',
} as const satisfies Record<DeliveryStatus, unknown>;

/** Pending and failed ones are bounded by the queue's own limits: see capacity.ts. */
export function deliveryRetention(limits: {
  readonly retentionMs: number; readonly retentionCount: number; readonly retentionBytes: number;
  readonly failedRetentionMs: number;
}, store: Store): RetentionRules {
  const messages = store.collection(eventCollection.name);
  return {
    readFinish: (bytes) => FINISHES[statusOf(bytes)],
    bytesOf(_, bytes) {
      if (messageStart(bytes) !== -1) return bytes.length;
      const message = messages.findBytes(messageIdOf(bytes));
      // It goes with the last of those that share it.
      return message === undefined ? bytes.length
        : bytes.length + Math.ceil(message.length / countDeliveriesOf(message));
    },
    ageMsMax: { finished: limits.retentionMs, failed: limits.failedRetentionMs },
    finishedMax: limits.retentionCount,
    finishedBytesMax: limits.retentionBytes,
    companions: {
      collection: eventCollection.name,
      bytesOf: (id, bytes) => isIdleId(id) ? idleBytesOf(bytes) : 0,
    },
    countMax: Infinity, bytesMax: Infinity, collections: [],
  };
}

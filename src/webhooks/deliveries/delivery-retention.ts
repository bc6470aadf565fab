/** The retention rules of deliveries: how long, and how many, finished deliveries are kept. */
import type { Store } from '../../store/store-port.ts';
import { followRecords } from '../../resources/projection.ts';
import type { Finish, RetentionRules } from '../durable-queue/queue-retention.ts';
import { readEventId, readStatus, readUpdatedMs } from './delivery-codec.ts';
import { deliveryCollection, type DeliveryStatus } from './delivery.ts';
import { isRouteDeliveryId } from './route-delivery-id.ts';
import {
  countListedDeliveries, eventCollection, readFinishedBytes, isFinishedMarkId, findEventStart,
} from './event-record.ts';

const FINISHES = {
  pending: null, delivered: 'finished', failed: 'failed', cancelled: 'finished',
} as const satisfies Record<DeliveryStatus, unknown>;

/** Makes the rules. The queue's own limits bound pending and failed ones: see queue-capacity.ts. */
export function deliveryRetention(limits: {
  readonly retentionMs: number; readonly retentionCount: number; readonly retentionBytes: number;
  readonly failedRetentionMs: number;
}, store: Store): RetentionRules {
  const events = store.collection(eventCollection.name);
  const deliveries = store.collection(deliveryCollection.name);
  return {
    follow: (listener) => followRecords(deliveries, ({ id, before, after }) => {
      if (isRouteDeliveryId(id)) return;
      listener({ id, before: readFinish(before), after: readFinish(after) });
    }),
    readFinish: (bytes) => readFinish(bytes),
    bytesOf(id) {
      const bytes = deliveries.findBytes(id);
      if (bytes === undefined) return 0;
      if (findEventStart(bytes) !== -1) return bytes.length;
      const event = events.findBytes(readEventId(bytes));
      // A shared event is deleted with its last delivery, so each one counts for a part of it.
      return event === undefined ? bytes.length
        : bytes.length + Math.ceil(event.length / countListedDeliveries(event));
    },
    ageMsMax: { finished: limits.retentionMs, failed: limits.failedRetentionMs },
    finishedMax: limits.retentionCount,
    finishedBytesMax: limits.retentionBytes,
    companions: {
      collection: eventCollection.name,
      bytesOf: (id, bytes) => isFinishedMarkId(id) ? readFinishedBytes(bytes) : 0,
    },
    countMax: Infinity, bytesMax: Infinity, bytesTotal: () => 0,
  };
}

function readFinish(bytes: Buffer | null): Finish | null {
  const kind = bytes === null ? null : FINISHES[readStatus(bytes)];
  if (bytes === null || kind === null) return null;
  return { kind, atMs: readUpdatedMs(bytes), bytes: bytes.length };
}

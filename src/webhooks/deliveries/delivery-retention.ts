/** The retention rules of deliveries: how long, and how many, finished deliveries are kept. */
import type { Store } from '../../store/store-port.ts';
import type { ItemEnd, RetentionRules } from '../work/queue-retention.ts';
import { followDeliveries } from './delivery-changes.ts';
import { outgoingHead } from './delivery-codec.ts';
import { deliveryCollection, type OutgoingStatus } from './delivery.ts';
import type { EventUse } from './event-use.ts';

const END_KINDS = {
  pending: null, delivered: 'finished', failed: 'failed', cancelled: 'finished',
} as const satisfies Record<OutgoingStatus, unknown>;

/** The queue's own limits bound pending and failed deliveries: see queue-capacity.ts. */
export function deliveryRetention(limits: {
  readonly retentionMs: number; readonly retentionCount: number; readonly retentionBytes: number;
  readonly failedRetentionMs: number;
}, store: Store, eventUse: Pick<EventUse, 'computeBytesBeside' | 'finishedBytes'>): RetentionRules {
  const deliveries = store.collection(deliveryCollection.name);
  return {
    follow: (listener) => followDeliveries(store, ({ id, before, after }) =>
      listener({ id, before: readEnd(before), after: readEnd(after) })),
    readEnd: (bytes) => readEnd(bytes),
    bytesOf(id) {
      const bytes = deliveries.findBytes(id);
      if (bytes === undefined) return 0;
      return bytes.length + eventUse.computeBytesBeside(id, bytes);
    },
    retentionMs: { finished: limits.retentionMs, failed: limits.failedRetentionMs },
    limits: {
      of: 'finished', countMax: limits.retentionCount, bytesMax: limits.retentionBytes,
      bytes: () => eventUse.finishedBytes,
    },
  };
}

function readEnd(bytes: Buffer | null): ItemEnd | null {
  const kind = bytes === null ? null : END_KINDS[outgoingHead.readStatus(bytes)];
  if (bytes === null || kind === null) return null;
  return { kind, atMs: outgoingHead.readUpdatedMs(bytes), bytes: bytes.length };
}

/** The retention rules of the inbox: how long, and how many, finished requests are kept. */
import type { Store } from '../../store/store-port.ts';
import type { RetentionRules } from '../durable-queue/queue-retention.ts';
import { isPinned, readStatus, readUpdatedMs } from './request-codec.ts';
import { requestBodyCollection, requestCollection, type RequestStatus } from './stored-request.ts';

export type InboxLimits = {
  readonly retentionMs: number;
  readonly failedRetentionMs: number;
  /** Most requests of any status. */
  readonly maxCount: number;
  readonly maxBytes: number;
};

const FINISHES = {
  pending: null, failed: 'failed', done: 'finished', filtered: 'finished', duplicate: 'finished',
  rejected: null,
} as const satisfies Record<RequestStatus, unknown>;

/** Makes the rules. Pending and pinned requests are never removed. */
export function requestRetention(store: Store, limits: InboxLimits): RetentionRules {
  const bodies = store.collection(requestBodyCollection.name);
  const { retentionMs, failedRetentionMs, maxCount, maxBytes } = limits;
  return {
    readUpdatedMs,
    readFinish: (bytes) => isPinned(bytes) ? null : FINISHES[readStatus(bytes)],
    bytesOf: (id, { length }) => length + (bodies.findBytes(id)?.length ?? 0),
    ageMsMax: { finished: retentionMs, failed: failedRetentionMs },
    finishedMax: Infinity, finishedBytesMax: Infinity, companions: null,
    countMax: maxCount,
    bytesMax: maxBytes,
    collections: [requestCollection.name, requestBodyCollection.name],
  };
}

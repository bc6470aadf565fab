/** The retention rules of the inbox: how long, and how many, finished requests are kept. */
import type { ItemEnd, RetentionRules } from '../work/queue-retention.ts';
import { readRequestState, type RequestState, type RequestStates } from './request-states.ts';
import type { StoredStatus } from '../incoming/stored-request.ts';

export type InboxLimits = {
  readonly retentionMs: number;
  readonly failedRetentionMs: number;
  /** Most requests of any status. */
  readonly maxCount: number;
  readonly maxBytes: number;
};

const END_KINDS = {
  pending: null, failed: 'failed', done: 'finished', filtered: 'finished', duplicate: 'finished',
} as const satisfies Record<StoredStatus, unknown>;

/** Makes the rules. Pending and pinned requests are never removed. */
export function requestRetention(states: RequestStates, limits: InboxLimits): RetentionRules {
  const { retentionMs, failedRetentionMs, maxCount, maxBytes } = limits;
  return {
    follow: (listener) => states.follow(({ id, before, after }) =>
      listener({ id, before: getEnd(before), after: getEnd(after) })),
    readEnd: (bytes, find) => getEnd(readRequestState(bytes, find)),
    bytesOf: (id) => states.find(id)?.bytes ?? 0,
    retentionMs: { finished: retentionMs, failed: failedRetentionMs },
    limits: {
      of: 'all', countMax: maxCount, bytesMax: maxBytes, bytes: () => states.bytesTotal,
    },
  };
}

function getEnd(state: RequestState | null): ItemEnd | null {
  if (state === null || state.isPinned) return null;
  const kind = END_KINDS[state.status];
  return kind === null ? null : { kind, atMs: state.updatedMs, bytes: state.bytes };
}

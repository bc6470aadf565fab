/**
 * The delivery of a request to one route of its webhook: the action of the route is run until it
 * succeeds, or the retry schedule is used up. Pure. route-record.ts has the record.
 */
import { computeDueMs } from '../durable-queue/retry-time.ts';

/** `coalesced`: its action never ran for this request, as its run for a newer one did for both. */
type RouteStatus = 'pending' | 'done' | 'failed' | 'coalesced';

export const ROUTE_STATUSES: readonly RouteStatus[] = ['pending', 'done', 'failed', 'coalesced'];

/** One run of the action of a route. */
export type RunAttempt = {
  readonly at: string;
  readonly durationMs: number;
  readonly success: boolean;
  readonly message: string | null;
  /**
   * The data of the action's result, of a command with the end of its output; null if an action
   * gave more than `ATTEMPT_DATA_BYTES_MAX` of JSON.
   */
  readonly data: object | null;
};

export type RouteDelivery = {
  readonly name: string;
  readonly createdAt: string;
  /** Is written where the request is staged (inbox/request-changes.ts), not here. */
  readonly updatedAt: string;
  readonly status: RouteStatus;
  /** The time of its place in the queue; null: that of its creation. */
  readonly queuedAt: string | null;
  /** The newest `ATTEMPTS_MAX` attempts. */
  readonly attempts: readonly RunAttempt[];
  readonly nextAttemptAt: string | null;
  /** Failed attempts that count against the retry schedule. */
  readonly failures: number;
  /** The number of all attempts so far. */
  readonly attemptCount: number;
};

export const ATTEMPT_DATA_BYTES_MAX = 1024;
/** Most attempts kept of one route. */
const ATTEMPTS_MAX = 20;

/** Makes the delivery of a route, which is due at once. */
export function createPendingRoute(name: string, at: string): RouteDelivery {
  return {
    name, createdAt: at, updatedAt: at, status: 'pending', queuedAt: null, attempts: [],
    nextAttemptAt: at, failures: 0, attemptCount: 0,
  };
}

/**
 * Makes the route due at `at`, with the whole schedule ahead. One that waits keeps its place in the
 * queue; any other goes to the end.
 */
export function resetRoute(route: RouteDelivery, at: string): RouteDelivery {
  return {
    ...route, status: 'pending', nextAttemptAt: at, failures: 0,
    queuedAt: route.status === 'pending' ? route.queuedAt : at,
  };
}

/**
 * Returns the route after one more attempt. `nextAttemptAt` is when the next one would be; null:
 * there is none, so that the route fails for good unless this attempt succeeded. `isCoalesced`: the
 * attempt succeeded without a run.
 */
export function addAttempt(
  route: RouteDelivery, attempt: RunAttempt,
  { nextAttemptAt = null, isCoalesced = false }: {
    readonly nextAttemptAt?: string | null; readonly isCoalesced?: boolean;
  } = {},
): RouteDelivery {
  const { success } = attempt;
  const statusAfterSuccess = isCoalesced ? 'coalesced' : 'done';
  const statusAfterFailure = nextAttemptAt === null ? 'failed' : 'pending';
  const { name, createdAt, updatedAt, queuedAt, attempts, failures, attemptCount } = route;
  // Every accepted request comes here: spreads like one of the route took a tenth of its time.
  return {
    name, createdAt, updatedAt, status: success ? statusAfterSuccess : statusAfterFailure, queuedAt,
    attempts: attempts.length === 0 ? [attempt] : [...attempts, attempt].slice(-ATTEMPTS_MAX),
    nextAttemptAt: success ? null : nextAttemptAt,
    failures: failures + (success ? 0 : 1), attemptCount: attemptCount + 1,
  };
}

/** Computes when a pending route is due, by a clock that shows `nowMs`: see `computeDueMs`. */
export function computeRouteDueMs(
  { nextAttemptAt, updatedAt }: RouteDelivery, nowMs: number,
): number {
  return computeDueMs(nextAttemptAt, updatedAt, nowMs);
}

/** Computes how a run changes a stored request. Pure: time and randomness are parameters. */
import { formatTimestamp } from '../../base/clock.ts';
import { addAttempt, type RouteDelivery, type RunAttempt } from '../deliveries/route-delivery.ts';
import { withRoutes, type StoredRequest, type UnparsedBody } from '../inbox/stored-request.ts';
import { computeNextAttemptTime } from '../durable-queue/retry-time.ts';

type RetryInputs = {
  /** Seconds between attempts. */
  readonly schedule: readonly number[];
  /** In [0, 1). */
  readonly random: number;
};

/** An action asks for no wait, unlike the target of a webhook. */
const NO_RETRY_AFTER_MS = 0;
const REMOVED_MESSAGE = 'The webhook was removed';

/**
 * Returns the request after an attempt of one of its routes; the other routes are as they were.
 * `unparsed` is undefined if the action did not ask for the payload, and null if it was parsed.
 */
export function applyRun(
  before: StoredRequest, index: number,
  { attempt, unparsed = before.unparsed, isChainRefused = false, isCoalesced = false }: {
    readonly attempt: RunAttempt; readonly unparsed?: UnparsedBody | null | undefined;
    readonly isChainRefused?: boolean; readonly isCoalesced?: boolean;
  },
  { schedule, random }: RetryInputs, nowMs: number,
): StoredRequest {
  const routes = before.routes.map((route, position) => {
    if (position !== index) return route;
    if (route.status !== 'pending') return applyLateRun(route, attempt, isCoalesced);
    // A chain that is too long once is too long in every retry.
    const nextAttemptAt = attempt.success || isChainRefused ? null
      : computeNextAttemptTime(schedule, route.failures + 1, NO_RETRY_AFTER_MS, nowMs, random);
    return addAttempt(route, attempt, { nextAttemptAt, isCoalesced });
  });
  const after = withRoutes(before, routes, nowMs);
  return unparsed === before.unparsed ? after : { ...after, unparsed };
}

/** Applies a run of a route that was given up meanwhile. If it succeeded, the route is done. */
function applyLateRun(
  route: RouteDelivery, attempt: RunAttempt, isCoalesced: boolean,
): RouteDelivery {
  // Without a next attempt it would have failed: it keeps its status.
  const after = addAttempt(route, attempt, { isCoalesced });
  return attempt.success ? after : { ...after, status: route.status };
}

/** Fails the pending routes of a request. Returns null if the request is not pending any more. */
export function failForRemovedWebhook(before: StoredRequest, nowMs: number): StoredRequest | null {
  if (before.status !== 'pending') return null;
  const attempt = {
    at: formatTimestamp(nowMs), durationMs: 0, success: false, message: REMOVED_MESSAGE, data: null,
  };
  const routes = before.routes.map((route) =>
    route.status === 'pending' ? addAttempt(route, attempt) : route);
  return withRoutes(before, routes, nowMs);
}

/** One kept incoming request, and what a run of one of its routes makes of it. Pure. */
import { MASK } from '../../base/log.ts';
import { parseTimestamp, formatTimestamp } from '../../base/clock.ts';
import type { CollectionSpec } from '../../store/store-port.ts';
import { hideQueryValues } from '../http/url-credentials.ts';

export type RequestStatus = 'rejected' | 'filtered' | 'duplicate' | 'pending' | 'done' | 'failed';

export const REQUEST_STATUSES: readonly RequestStatus[] = [
  'rejected', 'filtered', 'duplicate', 'pending', 'done', 'failed',
];

type RouteStatus = 'pending' | 'done' | 'failed';

export const ROUTE_STATUSES: readonly RouteStatus[] = ['pending', 'done', 'failed'];

/** One run of the action of a route. */
export type RunAttempt = {
  readonly at: string;
  readonly durationMs: number;
  readonly success: boolean;
  readonly message: string | null;
  /** What the action gave; null when that is more than `ATTEMPT_DATA_BYTES_MAX` of JSON. */
  readonly data: object | null;
};

export type RouteRun = {
  readonly name: string;
  readonly status: RouteStatus;
  /** The newest `ATTEMPTS_MAX`. */
  readonly attempts: readonly RunAttempt[];
  readonly nextAttemptAt: string | null;
  /** Attempts of the schedule that are used up. */
  readonly failures: number;
  /** All attempts there were: the number of the next one is one more. */
  readonly attemptCount: number;
};

export type StoredVerdict = {
  readonly preset: string | null;
  readonly accepted: boolean;
  readonly failedCheck: string | null;
  readonly secret: 'current' | 'previous' | null;
  readonly signedAt: string | null;
};

export type StoredRequest = {
  readonly id: string;
  readonly receivedAt: string;
  readonly updatedAt: string;
  readonly status: RequestStatus;
  readonly pinned: boolean;
  /** The incoming webhook's identifier. */
  readonly hook: string;
  readonly method: string;
  readonly path: string;
  /** Raw, without `?`. Values of credentials are `***` here and in `headers`. */
  readonly query: string;
  /** In the order and case received. */
  readonly headers: readonly (readonly [string, string])[];
  /** Names, in lower case, of headers and query parameters that hold a signature. */
  readonly signatures: readonly string[];
  readonly bodyBytes: number;
  /** In hex. */
  readonly bodySha256: string;
  readonly client: string;
  readonly host: string;
  readonly protocol: string;
  readonly event: string | null;
  readonly eventId: string | null;
  /** The same id came before, unsigned and with another body. */
  readonly eventIdReused: boolean;
  readonly verdict: StoredVerdict;
  readonly routes: readonly RouteRun[];
  readonly answered: { readonly status: number; readonly afterMs: number } | null;
  readonly duplicateOf: string | null;
  readonly replayOf: string | null;
  /** An operator has sent it again: `context.replay` is true from then on. */
  readonly isReplay: boolean;
  /** Of a body that gave no payload when an action last asked; null: it did, or none asked. */
  readonly unparsed: UnparsedBody | null;
  /** The body where it is in the record; null: it is in `request-bodies`. */
  readonly inlineBody: InlineBody | null;
};

/** A body that is not what its webhook reads. */
export type UnparsedBody = {
  /** The `bodyFormat` in which a payload could be made of it. */
  readonly fittingFormat: FittingFormat | null;
};

export const FITTING_FORMATS = ['json', 'form', 'text'] as const;
type FittingFormat = (typeof FITTING_FORMATS)[number];

/** A body as it came, or as the last member of its stored record (request-body.ts). */
export type InlineBody = { readonly bytes: Buffer; readonly isEncoded: boolean };

export const requestCollection: CollectionSpec = { name: 'requests', key: 'id' };
/** Bodies that are too large for their request's own record, by the same id. */
export const requestBodyCollection: CollectionSpec = { name: 'request-bodies', key: 'id' };

export const ATTEMPT_DATA_BYTES_MAX = 1024;
/** Attempts kept of one route. */
const ATTEMPTS_MAX = 20;

/** A route that is to run, due at once. */
export function createPendingRoute(name: string, at: string): RouteRun {
  return { name, status: 'pending', attempts: [], nextAttemptAt: at, failures: 0, attemptCount: 0 };
}

/** A route after one more attempt; whoever retries says when. */
export function addAttempt(
  route: RouteRun, attempt: RunAttempt, nextAttemptAt: string | null = null,
): RouteRun {
  const { success } = attempt;
  const statusAfterFailure = nextAttemptAt === null ? 'failed' : 'pending';
  return {
    ...route, status: success ? 'done' : statusAfterFailure,
    nextAttemptAt: success ? null : nextAttemptAt,
    attempts: [...route.attempts, attempt].slice(-ATTEMPTS_MAX),
    failures: route.failures + (success ? 0 : 1), attemptCount: route.attemptCount + 1,
  };
}

/** The request with its routes as they are now; its status follows from theirs. */
export function withRoutes(
  request: StoredRequest, routes: readonly RouteRun[], nowMs: number,
): StoredRequest {
  const updatedAt = computeUpdatedAt(request, nowMs);
  return { ...request, updatedAt, routes, status: computeStatus(routes) };
}

export function computeStatus(routes: readonly RouteRun[]): RequestStatus {
  if (routes.length === 0) return 'filtered';
  if (routes.some(({ status }) => status === 'pending')) return 'pending';
  return routes.some(({ status }) => status === 'failed') ? 'failed' : 'done';
}

export function withUpdatedAt(request: StoredRequest, nowMs: number): StoredRequest {
  return { ...request, updatedAt: computeUpdatedAt(request, nowMs) };
}

/** `updatedAt` rises, whatever the clock does. */
function computeUpdatedAt({ updatedAt }: StoredRequest, nowMs: number): string {
  return formatTimestamp(Math.max(nowMs, parseTimestamp(updatedAt) + 1));
}

/** What callers see: of signatures that they were there. `hookName` is the webhook's, by now. */
export function toPublicRequest(request: StoredRequest, hookName: string | null): object {
  const {
    id, hook, receivedAt, method, path, bodyBytes, bodySha256, client, event, eventId,
    eventIdReused, verdict, status, answered, duplicateOf, replayOf, pinned, unparsed,
  } = request;
  const isHidden = (name: string): boolean =>
    request.signatures.includes(name.toLowerCase());
  return {
    id, hook, hookName, receivedAt, method, path, query: hideQueryValues(request.query, isHidden),
    headers: request.headers.map(([name, value]) => [name, isHidden(name) ? MASK : value]),
    bodyBytes, bodySha256, client, event, eventId, eventIdReused, verdict, status,
    routes: request.routes.map(({ name, status: routeStatus, attempts, nextAttemptAt }) =>
      ({ name, status: routeStatus, attempts, nextAttemptAt })),
    answered, duplicateOf, replayOf, pinned,
    ...unparsed === null ? {}
      : { unparsed: true, fittingBodyFormat: unparsed.fittingFormat },
  };
}

/** Names, values and the pair: 123 bytes were measured for headers of six characters. */
const HEADER_BYTES = 128;
const HEAD_BYTES = 1024;

/** About what a request takes in memory beside its body, for those that bound what they hold. */
export function estimateHeadBytes({ headers, query }: StoredRequest): number {
  let bytes = HEAD_BYTES + query.length + HEADER_BYTES * headers.length;
  for (const [name, value] of headers) bytes += name.length + value.length;
  return bytes;
}

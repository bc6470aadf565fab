/** A stored incoming request, and how the runs of its routes change it. Pure. */
import { isTraceHeader, readTraceContext, type TraceContext } from '../../base/trace-context.ts';
import type { CollectionSpec } from '../../store/store-port.ts';
import type { Delivery, DeliveryStatus } from '../deliveries/delivery.ts';
import { nextVersionTime } from '../work/retry-time.ts';

export const STORED_STATUSES = ['filtered', 'duplicate', 'pending', 'done', 'failed'] as const;
export type StoredStatus = typeof STORED_STATUSES[number];

/** Rejected requests are in memory alone. */
export const REQUEST_STATUSES = ['rejected', ...STORED_STATUSES] as const;
export type RequestStatus = typeof REQUEST_STATUSES[number];

/** The statuses of a delivery to a route, as its request shows them: see `shownStatusOf`. */
export const ROUTE_STATUSES = ['pending', 'done', 'failed', 'coalesced'] as const;

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
  /** Whether the same event id came before, unsigned and with another body. */
  readonly eventIdReused: boolean;
  readonly verdict: StoredVerdict;
  /** To the routes of its webhook; on the wire and on disk the member is `routes`. */
  readonly deliveries: readonly Delivery[];
  readonly answered: { readonly status: number; readonly afterMs: number } | null;
  readonly duplicateOf: string | null;
  /** The id of the request that an operator replayed by making this copy of it; else null. */
  readonly replayOf: string | null;
  /** Whether an operator has replayed it, or copied it to replay. Sets `context.replay`. */
  readonly isReplay: boolean;
  /** Set if no payload could be made of the body when an action last asked for it; else null. */
  readonly unparsed: UnparsedBody | null;
  /** The body, if it is in the request's own record; null if it is in `request-bodies`. */
  readonly inlineBody: InlineBody | null;
};

/** A request without what its deliveries say: its status and themselves. */
export type StoredRequestHead = Omit<StoredRequest, 'status' | 'deliveries'>;

/** Says of a body that it does not have the `bodyFormat` of its webhook, or cannot be decoded. */
export type UnparsedBody = {
  /** Why no format fits, as a clause; absent: `fittingFormat` says the rest. */
  readonly reason?: string;
  /** The `bodyFormat` with which a payload could be made of the body. */
  readonly fittingFormat: FittingFormat | null;
};

export const FITTING_FORMATS = ['json', 'form', 'text', 'multipart'] as const;
type FittingFormat = (typeof FITTING_FORMATS)[number];

/** A body as it was received, or encoded as the last member of its record (request-body.ts). */
export type InlineBody = { readonly bytes: Buffer; readonly isEncoded: boolean };

/** The bodies that have a record of their own, under the id of their request. */
export const requestBodyCollection: CollectionSpec = { name: 'request-bodies', key: 'id' };

/** null: the request belongs to no trace. */
export function findRequestTrace({ headers }: Pick<StoredRequest, 'headers'>): TraceContext | null {
  // Most requests have none, and then nothing is allocated.
  if (!headers.some(([name]) => isTraceHeader(name))) return null;
  const values: Record<string, string> = {};
  for (const [name, value] of headers) {
    if (!isTraceHeader(name)) continue;
    const key = name.toLowerCase();
    const previousValue = values[key];
    values[key] = previousValue === undefined ? value : `${previousValue},${value}`;
  }
  return readTraceContext(values);
}

/**
 * Returns the request with other deliveries, from which its status follows. `change` is
 * given the time of the new version, which the deliveries that it changes share with the request.
 */
export function changeDeliveries(
  request: StoredRequest, nowMs: number,
  change: (deliveries: readonly Delivery[], updatedAt: string) => readonly Delivery[],
): StoredRequest {
  const updatedAt = nextVersionTime(request.updatedAt, nowMs);
  const deliveries = change(request.deliveries, updatedAt);
  return { ...request, updatedAt, deliveries, status: computeStatus(deliveries) };
}

export function computeStatus(deliveries: readonly Delivery[]): StoredStatus {
  return combineStatuses(deliveries.map(({ status }) => status));
}

/**
 * Combines the statuses of deliveries to that of their request, which is `filtered` without any.
 */
export function combineStatuses(statuses: readonly DeliveryStatus[]): StoredStatus {
  if (statuses.length === 0) return 'filtered';
  if (statuses.includes('pending')) return 'pending';
  return statuses.includes('failed') ? 'failed' : 'done';
}

export function withUpdatedAt(request: StoredRequest, nowMs: number): StoredRequest {
  return { ...request, updatedAt: nextVersionTime(request.updatedAt, nowMs) };
}

/** The status of a delivery to a route as its request shows it, which calls delivered done. */
export function shownStatusOf(
  { status }: Pick<Delivery, 'status'>,
): typeof ROUTE_STATUSES[number] {
  return ROUTE_STATUSES.find((shown) => shown === status) ?? 'done';
}

/** Memory of a header beside its characters: 123 bytes were measured for six characters. */
const HEADER_BYTES = 128;
const HEAD_BYTES = 1024;

/** Estimates the memory that a request takes beside its body. */
export function estimateHeadBytes({ headers, query }: StoredRequest): number {
  let bytes = HEAD_BYTES + query.length + HEADER_BYTES * headers.length;
  for (const [name, value] of headers) bytes += name.length + value.length;
  return bytes;
}

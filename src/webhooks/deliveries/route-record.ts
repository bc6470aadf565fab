/**
 * The delivery of a request to one route of its webhook is a record of the collection `deliveries`:
 *
 *     {"identifier":"<request>.<n>","status":"…","updatedAt":"<time>","createdAt":"<time>",
 *      "hook":"<incoming webhook>","route":"<name>",…}
 *
 * with `queuedAt` if its place in the queue is not that of its creation, `nextAttemptAt` while it
 * is pending, `failures`, `attempts`, and `attemptCount` if there were more attempts than are kept.
 * Members with their default value are left out: `createdAt` if it is `updatedAt`, and
 * `nextAttemptAt` if it is `createdAt` or the route is not pending. `status` is that of a delivery:
 * a route that is done is `delivered`. So is one that is coalesced, with `"coalesced":true`. An
 * attempt writes this record alone. It is `{"at","durationMs","success","message"?,"data"?}`,
 * without a message that is null and data that is empty.
 */
import { encodeString, isEmptyObject, encodeJson } from '../../base/json/encode.ts';
import { decodeRecordAs } from '../../resources/record.ts';
import { deliveryHead } from './delivery-codec.ts';
import { createRouteDeliveryId } from './route-delivery-id.ts';
import type { RouteDelivery, RunAttempt } from './route-delivery.ts';

/** The delivery of a request to a route, with the webhook that the route is of. */
export type ListedRoute = {
  readonly identifier: string; readonly hook: string; readonly route: RouteDelivery;
};

type RouteRecord = {
  readonly identifier: string;
  readonly createdAt?: string;
  readonly updatedAt: string;
  readonly status: keyof typeof ROUTE_STATUS;
  readonly coalesced?: boolean;
  readonly hook: string;
  readonly route: string;
  readonly attempts?: readonly AttemptRecord[];
  readonly queuedAt?: string;
  readonly nextAttemptAt?: string;
  readonly failures?: number;
  readonly attemptCount?: number;
};
type AttemptRecord = Partial<RunAttempt> & Pick<RunAttempt, 'at' | 'durationMs' | 'success'>;

const ROUTE_STATUS = { pending: 'pending', delivered: 'done', failed: 'failed' } as const;
const DELIVERY_STATUS = {
  pending: 'pending', done: 'delivered', failed: 'failed', coalesced: 'delivered',
} as const;

/** Decodes a record. Throws a TypeError for one that is not of the format. */
export function decodeListedRoute(bytes: Buffer): ListedRoute {
  const record = decodeRecordAs<RouteRecord>(bytes, ({ status, hook, route, updatedAt }) =>
    typeof hook === 'string' && typeof route === 'string' && typeof updatedAt === 'string'
    && typeof status === 'string' && Object.hasOwn(ROUTE_STATUS, status));
  return { identifier: record.identifier, hook: record.hook, route: createRoute(record) };
}

/** Does as `decodeListedRoute`. */
export function decodeRoute(bytes: Buffer): RouteDelivery {
  return decodeListedRoute(bytes).route;
}

function createRoute(record: RouteRecord): RouteDelivery {
  const { updatedAt, createdAt = updatedAt, status, route: name } = record;
  const attempts = (record.attempts ?? []).map(decodeAttempt);
  const { queuedAt = null, failures = 0, attemptCount = attempts.length } = record;
  const { nextAttemptAt = status === 'pending' ? createdAt : null } = record;
  return {
    name, createdAt, updatedAt,
    status: record.coalesced === true ? 'coalesced' : ROUTE_STATUS[status],
    queuedAt, attempts, nextAttemptAt, failures, attemptCount,
  };
}

function decodeAttempt(
  { at, durationMs, success, message = null, data = {} }: AttemptRecord,
): RunAttempt {
  return { at, durationMs, success, message, data };
}

/** Encodes the delivery with that number of a request. */
export function encodeRoute(
  requestId: string, index: number, webhookId: string, route: RouteDelivery,
): string {
  const { createdAt, updatedAt, status, name, attempts } = route;
  const { queuedAt, nextAttemptAt, failures, attemptCount } = route;
  const identifier = createRouteDeliveryId(requestId, index);
  let json = deliveryHead.encode(identifier, DELIVERY_STATUS[status], updatedAt);
  if (createdAt !== updatedAt) json += `,"createdAt":"${createdAt}"`;
  if (status === 'coalesced') json += ',"coalesced":true';
  json += `,"hook":"${webhookId}","route":${encodeString(name)}`;
  if (queuedAt !== null) json += `,"queuedAt":"${queuedAt}"`;
  if (nextAttemptAt !== null && nextAttemptAt !== createdAt) {
    json += `,"nextAttemptAt":"${nextAttemptAt}"`;
  }
  if (failures !== 0) json += `,"failures":${failures}`;
  if (attemptCount !== attempts.length) json += `,"attemptCount":${attemptCount}`;
  if (attempts.length > 0) json += `,"attempts":[${attempts.map(encodeAttempt).join(',')}]`;
  return `${json}}`;
}

function encodeAttempt({ at, durationMs, success, message, data }: RunAttempt): string {
  let json = `{"at":"${at}","durationMs":${durationMs},"success":${success}`;
  if (message !== null) json += `,"message":${encodeString(message)}`;
  if (!isEmptyObject(data)) json += `,"data":${encodeJson(data)}`;
  return `${json}}`;
}

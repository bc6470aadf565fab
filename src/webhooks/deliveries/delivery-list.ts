/** Lists and counts the deliveries that match a filter. */
import type { Collection, Store } from '../../store/store-port.ts';
import { countInSteps, visitInSteps } from '../durable-queue/stepped-scan.ts';
import { isInTime, type QueueFilter } from '../durable-queue/queue-filter.ts';
import { readCreatedMs, decodeDelivery, readStatus } from './delivery-codec.ts';
import {
  deliveryCollection, type Delivery, type DeliveryKind, type DeliveryStatus,
} from './delivery.ts';
import { findEventStart } from './event-record.ts';
import type { RouteDelivery } from './route-delivery.ts';
import { isRouteDeliveryId, parseRequestId } from './route-delivery-id.ts';
import { decodeRoute, readRouteWebhookId } from './route-record.ts';

export type DeliveryFilter = QueueFilter<DeliveryStatus> & {
  /** null: no kind was asked for, which means those of webhooks and forwards, not of routes. */
  readonly kind: DeliveryKind | 'all' | null;
};

export const NO_FILTER: DeliveryFilter = {
  kind: null, hook: null, status: null, event: null, sinceMs: null, untilMs: null,
};

/** The delivery of a request to a route, with the webhook that the route is of. */
export type ListedRoute = {
  readonly identifier: string; readonly hook: string; readonly route: RouteDelivery;
};

/** Finds the event of a request by its id, as its sender names it; null: it has none. */
type FindRequestEvent = (requestId: string) => string | null;

type Matcher = (bytes: Buffer, id: string) => boolean;

const NO_EVENT: FindRequestEvent = () => null;

/** Lists up to `limit` deliveries behind the id `after`, oldest first. */
export function listDeliveries(
  store: Store, filter: DeliveryFilter, after: string | null, limit: number,
): Promise<Delivery[]> {
  return listMatches(store, createDeliveryMatcher({ ...filter, kind: null }), {
    after, limit, isNewestFirst: false, decode: (bytes) => decodeDelivery(bytes),
  });
}

/** Does as `listDeliveries`, for deliveries of every kind. */
export function listOfEveryKind(
  store: Store, filter: DeliveryFilter, findRequestEvent: FindRequestEvent,
  page: { readonly after: string | null; readonly limit: number; readonly isNewestFirst: boolean },
): Promise<(Delivery | ListedRoute)[]> {
  return listMatches<Delivery | ListedRoute>(
    store, createDeliveryMatcher(filter, findRequestEvent), { ...page, decode: decodeListed });
}

export function countDeliveries(
  store: Store, filter: DeliveryFilter, findRequestEvent = NO_EVENT,
): Promise<number> {
  const matches = createDeliveryMatcher(filter, findRequestEvent);
  let count = 0;
  return countInSteps(store.collection(deliveryCollection.name), (bytes, by, id) => {
    if (matches(bytes, id)) count += by;
  }, () => count);
}

function decodeListed(bytes: Buffer, id: string): Delivery | ListedRoute {
  return isRouteDeliveryId(id) ? decodeListedRoute(bytes, id) : decodeDelivery(bytes);
}

export function decodeListedRoute(bytes: Buffer, id: string): ListedRoute {
  return { identifier: id, hook: readRouteWebhookId(bytes), route: decodeRoute(bytes) };
}

/** Makes a function that matches deliveries as they are stored. */
export function createDeliveryMatcher(
  filter: DeliveryFilter, findRequestEvent = NO_EVENT,
): Matcher {
  const { kind, status, hook, event } = filter;
  const hookMark = Buffer.from(`"hook":${JSON.stringify(hook)}`);
  const eventMark = Buffer.from(`"event":${JSON.stringify(event)}`);
  const hasEvent: Matcher = (bytes, id) => isRouteDeliveryId(id)
    ? findRequestEvent(parseRequestId(id)) === event : hasMember(bytes, eventMark);
  // What an action has returned may have any members: the first mark is that of the record.
  const hasHook: Matcher = (bytes, id) => isRouteDeliveryId(id)
    ? readRouteWebhookId(bytes) === hook : hasMember(bytes, hookMark);
  return (bytes, id) => isOfKind(kind, bytes, id)
    && (status === null || readStatus(bytes) === status)
    && (hook === null || hasHook(bytes, id))
    && (event === null || hasEvent(bytes, id))
    && isInTime(filter, () => readCreatedMs(bytes));
}

const HOOK_MARK = Buffer.from('"hook":"');

function isOfKind(kind: DeliveryFilter['kind'], bytes: Buffer, id: string): boolean {
  if (kind === 'all') return true;
  if (isRouteDeliveryId(id)) return kind === 'route';
  return kind === null || kind === (hasMember(bytes, HOOK_MARK) ? 'webhook' : 'forward');
}

// Only the member itself reads like the mark, because quotes inside strings are escaped. But an
// event that version 1 has embedded may hold any members in its payload.
function hasMember(bytes: Buffer, mark: Buffer): boolean {
  const markAt = bytes.indexOf(mark);
  if (markAt === -1) return false;
  const eventStart = findEventStart(bytes);
  return eventStart === -1 || markAt < eventStart;
}

async function listMatches<T>(
  store: Store, matches: Matcher,
  { after, limit, isNewestFirst, decode }: {
    readonly after: string | null; readonly limit: number; readonly isNewestFirst: boolean;
    readonly decode: (bytes: Buffer, id: string) => T;
  },
): Promise<T[]> {
  const deliveries: T[] = [];
  const collection: Collection = store.collection(deliveryCollection.name);
  await visitInSteps(collection, (bytes, slot) => {
    const id = collection.idAt(slot) ?? '';
    if (!matches(bytes, id)) return 'searched';
    deliveries.push(decode(bytes, id));
    return deliveries.length < limit ? 'parsed' : 'done';
  }, after, isNewestFirst);
  return deliveries;
}

/** Lists and counts the deliveries that match a filter. */
import type { Collection, Store } from '../../store/store-port.ts';
import { countInSteps, visitInSteps } from '../durable-queue/stepped-scan.ts';
import { isInTime } from '../durable-queue/queue-filter.ts';
import { countMatching } from '../durable-queue/slot-matches.ts';
import {
  decodeDelivery, isForward, readCreatedMs, readEventName, readListedStatus, readWebhookId,
} from './delivery-codec.ts';
import type { DeliveryColumns, DeliveryFilter } from './delivery-columns.ts';
import { deliveryCollection, type Delivery } from './delivery.ts';
import type { RouteDelivery } from './route-delivery.ts';
import { isRouteDeliveryId, parseRequestId } from './route-delivery-id.ts';
import { decodeRoute, readRouteWebhookId } from './route-record.ts';

/** The delivery of a request to a route, with the webhook that the route is of. */
export type ListedRoute = {
  readonly identifier: string; readonly hook: string; readonly route: RouteDelivery;
};

/** Finds what the sender of a request calls its event, by the request's id; null: it has none. */
type FindRequestEvent = (requestId: string) => string | null;

type Matcher = (bytes: Buffer, id: string) => boolean;

const NO_EVENT: FindRequestEvent = () => null;

/**
 * Lists up to `limit` deliveries behind the id `after`, oldest first. It has no deliveries to
 * routes, whatever kind the filter names.
 */
export function listDeliveries(
  store: Store, filter: DeliveryFilter, after: string | null, limit: number,
): Promise<Delivery[]> {
  return listMatches(store, createDeliveryMatcher({ ...filter, kind: null }), {
    after, limit, isNewestFirst: false, decode: (bytes) => decodeDelivery(bytes),
  });
}

type ListDeps = {
  readonly store: Store;
  readonly columns: DeliveryColumns;
  readonly findRequestEvent: FindRequestEvent;
};

/**
 * Lists up to `limit` deliveries behind the id `after`, of the kinds that the filter asks for: by
 * the columns, or by the records themselves where no column has what is asked for.
 */
export async function listOfEveryKind(
  { store, columns, findRequestEvent }: ListDeps, filter: DeliveryFilter,
  { after, limit, isNewestFirst }:
  { readonly after: string | null; readonly limit: number; readonly isNewestFirst: boolean },
): Promise<(Delivery | ListedRoute)[]> {
  const page = { after, limit, isNewestFirst, decode: decodeListed };
  // A record is looked at also where its slot matches: a column may give the number of a text to
  // another one while the list is made.
  const matches = createDeliveryMatcher(filter, findRequestEvent);
  if (!areColumnsEnough(filter)) return listMatches(store, matches, page);
  await columns.whenBuilt();
  const matchesSlot = columns.createMatcher(filter);
  return matchesSlot === null ? [] : listMatches(store, matches, { ...page, matchesSlot });
}

/**
 * Counts the deliveries that `listOfEveryKind` lists, on all pages. With columns it does so in one
 * turn of the event loop, as they only hold for a moment.
 */
export async function countOfEveryKind(
  { store, columns, findRequestEvent }: ListDeps, filter: DeliveryFilter,
): Promise<number> {
  const records = store.collection(deliveryCollection.name);
  if (!areColumnsEnough(filter)) {
    let count = 0;
    const matches = createDeliveryMatcher(filter, findRequestEvent);
    return countInSteps(records, (bytes, by, id) => {
      if (matches(bytes, id)) count += by;
    }, () => count);
  }
  await columns.whenBuilt();
  return countMatching(records, columns.createMatcher(filter));
}

/** No column has the events of requests, which are those of deliveries to routes. */
function areColumnsEnough({ kind, event }: DeliveryFilter): boolean {
  return event === null || kind !== 'route' && kind !== 'all';
}

function decodeListed(bytes: Buffer, id: string): Delivery | ListedRoute {
  return isRouteDeliveryId(id) ? decodeListedRoute(bytes, id) : decodeDelivery(bytes);
}

/** Decodes the record of a delivery to a route. */
export function decodeListedRoute(bytes: Buffer, id: string): ListedRoute {
  return { identifier: id, hook: readRouteWebhookId(bytes), route: decodeRoute(bytes) };
}

/** Makes a function that matches deliveries as they are stored. */
export function createDeliveryMatcher(
  filter: DeliveryFilter, findRequestEvent = NO_EVENT,
): Matcher {
  const { kind, status, hook, event } = filter;
  const hasEvent: Matcher = (bytes, id) => isRouteDeliveryId(id)
    ? findRequestEvent(parseRequestId(id)) === event : readEventName(bytes) === event;
  return (bytes, id) => isOfKind(kind, bytes, id)
    && (status === null || readListedStatus(bytes) === status)
    && (hook === null || readWebhookId(bytes) === hook)
    && (event === null || hasEvent(bytes, id))
    && isInTime(filter, () => readCreatedMs(bytes));
}

function isOfKind(kind: DeliveryFilter['kind'], bytes: Buffer, id: string): boolean {
  if (kind === 'all') return true;
  if (isRouteDeliveryId(id)) return kind === 'route';
  return kind === null || kind === (isForward(bytes) ? 'forward' : 'webhook');
}

async function listMatches<T>(
  store: Store, matches: Matcher,
  { after, limit, isNewestFirst, decode, matchesSlot = () => true }: {
    readonly after: string | null; readonly limit: number; readonly isNewestFirst: boolean;
    readonly decode: (bytes: Buffer, id: string) => T;
    readonly matchesSlot?: (slot: number) => boolean;
  },
): Promise<T[]> {
  const deliveries: T[] = [];
  const collection: Collection = store.collection(deliveryCollection.name);
  await visitInSteps(collection, (bytes, slot) => {
    if (!matchesSlot(slot)) return 'passed';
    const id = collection.idAt(slot) ?? '';
    if (!matches(bytes, id)) return 'searched';
    deliveries.push(decode(bytes, id));
    return deliveries.length < limit ? 'parsed' : 'done';
  }, after, isNewestFirst);
  return deliveries;
}

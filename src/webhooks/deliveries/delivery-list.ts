/** Lists and counts the deliveries that match a filter. */
import type { Store } from '../../store/store-port.ts';
import { countInSteps, visitInSteps } from '../durable-queue/stepped-scan.ts';
import { isInTime, type QueueFilter } from '../durable-queue/queue-filter.ts';
import { readCreatedMs, decodeDelivery, readStatus } from './delivery-codec.ts';
import { deliveryCollection, type Delivery, type DeliveryStatus } from './delivery.ts';
import { findEventStart } from './event-record.ts';
import { isRouteDeliveryId } from './route-delivery-id.ts';

export type DeliveryFilter = QueueFilter<DeliveryStatus>;

export const NO_FILTER: DeliveryFilter = {
  hook: null, status: null, event: null, sinceMs: null, untilMs: null,
};

/** Lists up to `limit` deliveries behind the id `after`, oldest first or newest first. */
export async function listDeliveries(
  store: Store, filter: DeliveryFilter, after: string | null, limit: number, isNewestFirst = false,
): Promise<Delivery[]> {
  const matches = createDeliveryMatcher(filter);
  const deliveries: Delivery[] = [];
  const collection = store.collection(deliveryCollection.name);
  await visitInSteps(collection, (bytes, slot) => {
    if (isRouteDeliveryId(collection.idAt(slot) ?? '') || !matches(bytes)) return 'searched';
    deliveries.push(decodeDelivery(bytes));
    return deliveries.length < limit ? 'parsed' : 'done';
  }, after, isNewestFirst);
  return deliveries;
}

export function countDeliveries(store: Store, filter: DeliveryFilter): Promise<number> {
  const matches = createDeliveryMatcher(filter);
  let count = 0;
  return countInSteps(store.collection(deliveryCollection.name), (bytes, by, id) => {
    if (!isRouteDeliveryId(id) && matches(bytes)) count += by;
  }, () => count);
}

/** Makes a function that matches deliveries as they are stored. */
export function createDeliveryMatcher(filter: DeliveryFilter): (bytes: Buffer) => boolean {
  const { status, hook, event } = filter;
  const hookMark = Buffer.from(`"hook":${JSON.stringify(hook)}`);
  const eventMark = Buffer.from(`"event":${JSON.stringify(event)}`);
  return (bytes) => (status === null || readStatus(bytes) === status)
    && (hook === null || isBeforeEvent(bytes, bytes.indexOf(hookMark)))
    && (event === null || isBeforeEvent(bytes, bytes.indexOf(eventMark)))
    && isInTime(filter, () => readCreatedMs(bytes));
}

// Only the member itself reads like the mark, because quotes inside strings are escaped. But an
// event that version 1.0 has embedded may hold any members in its payload.
function isBeforeEvent(bytes: Buffer, markAt: number): boolean {
  if (markAt === -1) return false;
  const eventStart = findEventStart(bytes);
  return eventStart === -1 || markAt < eventStart;
}

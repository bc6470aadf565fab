/** The deliveries that a caller asks for. */
import type { Store } from '../../store/store-port.ts';
import { countInSteps, visitInSteps } from '../durable-queue/stepped-scan.ts';
import type { QueueFilter } from '../durable-queue/queue-list-route.ts';
import { readCreatedMs, decodeDelivery, readStatus } from './delivery-codec.ts';
import { deliveryCollection, type Delivery, type DeliveryStatus } from './delivery.ts';
import { findEventStart } from './event-record.ts';

export type DeliveryFilter = QueueFilter<DeliveryStatus>;

export const NO_FILTER: DeliveryFilter = {
  hook: null, status: null, event: null, sinceMs: null, untilMs: null,
};

/** Up to `limit` deliveries behind key `after`, in order of creation or the newest first. */
export async function listDeliveries(
  store: Store, filter: DeliveryFilter, after: string | null, limit: number, isNewestFirst = false,
): Promise<Delivery[]> {
  const matches = createDeliveryMatcher(filter);
  const deliveries: Delivery[] = [];
  await visitInSteps(store.collection(deliveryCollection.name), (bytes) => {
    if (!matches(bytes)) return 'searched';
    deliveries.push(decodeDelivery(bytes));
    return deliveries.length < limit ? 'parsed' : 'done';
  }, after, isNewestFirst);
  return deliveries;
}

export function countDeliveries(store: Store, filter: DeliveryFilter): Promise<number> {
  const matches = createDeliveryMatcher(filter);
  let count = 0;
  return countInSteps(store.collection(deliveryCollection.name), (bytes, by) => {
    if (matches(bytes)) count += by;
  }, () => count);
}

/** Looks at a delivery as it is stored. */
export function createDeliveryMatcher(
  { status, hook, event, sinceMs, untilMs }: DeliveryFilter,
): (bytes: Buffer) => boolean {
  const hookMark = Buffer.from(`"hook":${JSON.stringify(hook)}`);
  const eventMark = Buffer.from(`"event":${JSON.stringify(event)}`);
  const isInTime = (bytes: Buffer): boolean => {
    if (sinceMs === null && untilMs === null) return true;
    const atMs = readCreatedMs(bytes);
    return (sinceMs === null || atMs >= sinceMs) && (untilMs === null || atMs < untilMs);
  };
  return (bytes) => (status === null || readStatus(bytes) === status)
    && (hook === null || isBeforeEvent(bytes, bytes.indexOf(hookMark)))
    && (event === null || isBeforeEvent(bytes, bytes.indexOf(eventMark)))
    && isInTime(bytes);
}

// Before its message nothing in a record but the member itself reads like the mark, as quotes in a
// string are escaped. The message may hold anything.
function isBeforeEvent(bytes: Buffer, markAt: number): boolean {
  if (markAt === -1) return false;
  const eventStart = findEventStart(bytes);
  return eventStart === -1 || markAt < eventStart;
}

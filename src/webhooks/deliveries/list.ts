/** The deliveries that a caller asks for. */
import type { Store } from '../../store/store-port.ts';
import { countInSteps, visitInSteps } from '../durable-queue/stepped-scan.ts';
import type { QueueFilter } from '../durable-queue/queue-list-route.ts';
import { createdMsOf, decodeDelivery, statusOf } from './codec.ts';
import { deliveryCollection, type Delivery, type DeliveryStatus } from './delivery.ts';
import { messageStart } from './message.ts';

export type DeliveryFilter = QueueFilter<DeliveryStatus>;

export const EVERY: DeliveryFilter = {
  hook: null, status: null, event: null, sinceMs: null, untilMs: null,
};

/** Up to `limit` deliveries behind key `after`, in order of creation or the newest first. */
export async function listDeliveries(
  store: Store, filter: DeliveryFilter, after: string | null, limit: number, isNewestFirst = false,
): Promise<Delivery[]> {
  const isWanted = deliveryMatcher(filter);
  const found: Delivery[] = [];
  await visitInSteps(store.collection(deliveryCollection.name), (bytes) => {
    if (!isWanted(bytes)) return 'searched';
    found.push(decodeDelivery(bytes));
    return found.length < limit ? 'parsed' : 'done';
  }, after, isNewestFirst);
  return found;
}

export function countDeliveries(store: Store, filter: DeliveryFilter): Promise<number> {
  const isWanted = deliveryMatcher(filter);
  let count = 0;
  return countInSteps(store.collection(deliveryCollection.name), (bytes, by) => {
    if (isWanted(bytes)) count += by;
  }, () => count);
}

/** Looks at a delivery as it is stored. */
export function deliveryMatcher(
  { status, hook, event, sinceMs, untilMs }: DeliveryFilter,
): (bytes: Buffer) => boolean {
  const hookMark = Buffer.from(`"hook":${JSON.stringify(hook)}`);
  const eventMark = Buffer.from(`"event":${JSON.stringify(event)}`);
  const isInTime = (bytes: Buffer): boolean => {
    if (sinceMs === null && untilMs === null) return true;
    const atMs = createdMsOf(bytes);
    return (sinceMs === null || atMs >= sinceMs) && (untilMs === null || atMs < untilMs);
  };
  return (bytes) => (status === null || statusOf(bytes) === status)
    && (hook === null || isOfDelivery(bytes, bytes.indexOf(hookMark)))
    && (event === null || isOfDelivery(bytes, bytes.indexOf(eventMark)))
    && isInTime(bytes);
}

// Before its message nothing in a record but the member itself reads like the mark, as quotes in a
// string are escaped. The message may hold anything.
function isOfDelivery(bytes: Buffer, markAt: number): boolean {
  if (markAt === -1) return false;
  const end = messageStart(bytes);
  return end === -1 || markAt < end;
}

/**
 * The place and the lane of a pending delivery in the queue of its webhook. Its place is when it
 * went to the queue, and its lane is that of its key, which is read from its event each time: it
 * is stored nowhere.
 */
import { parseTimestamp } from '../../base/clock.ts';
import { encodeJson } from '../../base/json/encode.ts';
import { parseJsonText } from '../../base/json/exact-parser.ts';
import { findCommitted } from '../../store/find-record.ts';
import type { Store } from '../../store/store-port.ts';
import type { StoredDelivery } from '../deliveries/delivery.ts';
import { decodeEventHead, findEventRecord, readPayloadBytes } from '../deliveries/event-record.ts';
import { Facts } from '../filters/facts.ts';
import type { KeyReader } from '../filters/order.ts';
import type { TaskOrder } from '../scheduler/task-queues.ts';
import { createPlace, type LaneName } from '../scheduler/task.ts';

/** `readKey` is that of the webhook; null if its order has none. */
export function computeTaskOrder(
  store: Store, delivery: StoredDelivery, readKey: KeyReader | null, nowMs: number,
): TaskOrder {
  const lane = findDeliveryLane(store, delivery, readKey);
  const { identifier, queuedAt, nextAttemptAt, attempts } = delivery.item;
  // The id has the time of creation.
  if (queuedAt === null) return { lane };
  const queuedAtMs = parseTimestamp(queuedAt);
  const isDelayed = queuedAtMs > nowMs && attempts.length === 0
    && nextAttemptAt !== null && parseTimestamp(nextAttemptAt) >= queuedAtMs;
  return { lane, place: createPlace(queuedAtMs, identifier), isDelayed };
}

/** Finds the lane of a delivery; null: its webhook's order has no key, or it has none itself. */
export function findDeliveryLane(
  store: Store, delivery: StoredDelivery, readKey: KeyReader | null,
): LaneName | null {
  if (readKey === null) return null;
  const eventBytes = findEventRecord(findCommitted(store), delivery.item);
  if (eventBytes === undefined) return null;
  const facts = new Facts({
    payload: () => parseJsonText(readPayloadBytes(eventBytes).toString()) as unknown,
    event: () => delivery.item.event,
  });
  const key = readKey(facts, decodeEventHead(eventBytes).key);
  return key === null ? null : { name: encodeJson(key), key };
}

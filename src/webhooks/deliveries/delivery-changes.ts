/**
 * The durable queue of deliveries to webhooks and of forwards, and every change of one. Deliveries
 * to routes are records of the same collection, but of another queue: see inbox/request-changes.ts.
 */
import { assert } from '../../base/assert.ts';
import { followRecords } from '../../resources/projection.ts';
import type { Change, CollectionSpec, Store, Transaction } from '../../store/store-port.ts';
import { isSameMemory, type ItemSpec } from '../work/item-spec.ts';
import type { Removal } from '../records/removals.ts';
import { deliveryBodyCollection } from './delivery-body.ts';
import { decodeDelivery, encodeDelivery, readEventId } from './delivery-codec.ts';
import {
  createEventDeliveries, deliveryCollection, type DeliveredEvent, type Delivery,
  type OutgoingStatus,
} from './delivery.ts';
import { deleteEvent, eventCollection } from './event-record.ts';
import { isRouteDeliveryId } from './route-delivery-id.ts';

/** One is reserved for each waiting delivery or event until its end: see queue-capacity.ts. */
export const WAITING = 'waiting deliveries';

/** See fan-out.ts. */
export const fanOutCollection: CollectionSpec = { name: 'fan-outs', key: 'identifier' };

/** A delivery only ages out: nobody can delete it, and that of a cancelled event ages out too. */
export type DeliveryTotals =
  { readonly [Name in OutgoingStatus | Exclude<Removal, 'deleted'> | 'accepted']: number };

export const deliverySpec: ItemSpec<Delivery> = {
  noun: 'deliveries',
  collection: deliveryCollection,
  idOf: ({ identifier }) => identifier,
  read: decodeDelivery,
  isCurrent: (storedItem, bytes) => isSameMemory(storedItem.bytes, bytes),
  stageChange,
  stageRemoval,
};

/** Like `followRecords`, without the deliveries to routes, which follow requests. */
export function followDeliveries(
  store: Pick<Store, 'collection'>, apply: (change: Change) => void,
): void {
  followRecords(store.collection(deliveryCollection.name), (change) => {
    if (!isRouteDeliveryId(change.id)) apply(change);
  });
}

/**
 * Stages an event for one webhook, or a queued forward, with its one pending delivery, which its
 * record `json` implies, and returns the delivery. The caller has reserved room. QueueWorker learns
 * of the delivery once it is committed, as it follows the collection. For an event that any number
 * of webhooks hear, see `EventPublisher`.
 */
export function stageEventWithDelivery(
  transaction: Transaction, event: DeliveredEvent, json: string,
): Delivery {
  const [delivery, ...others] = createEventDeliveries(event);
  assert(delivery !== undefined && others.length === 0, 'the event has one delivery');
  // The event comes first: when a delivery is applied, its event must be there.
  transaction.put(eventCollection.name, event.identifier, json);
  stageDelivery(transaction, delivery, true);
  return delivery;
}

/** An ended delivery's place is free for the event in the same transaction that tells of it. */
function stageChange(transaction: Transaction, delivery: Delivery, before: Delivery): void {
  if (before.status === 'pending' && delivery.status !== 'pending') {
    transaction.reserve(WAITING, -1);
  }
  stageDelivery(transaction, delivery);
}

/** `isImplied`: see `Transaction.put`. Returns the record. */
export function stageDelivery(
  transaction: Transaction, delivery: Delivery, isImplied = false,
): Buffer {
  return transaction.put(
    deliveryCollection.name, delivery.identifier, encodeDelivery(delivery), isImplied).bytes;
}

/** The event stays, unless it is what a queued forward sends. */
function stageRemoval(transaction: Transaction, id: string, bytes: Buffer): void {
  transaction.delete(deliveryCollection.name, id);
  transaction.delete(deliveryBodyCollection.name, id);
  if (decodeDelivery(bytes).kind === 'forward') deleteEvent(transaction, readEventId(bytes));
}

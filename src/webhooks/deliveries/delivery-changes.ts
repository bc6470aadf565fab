/**
 * The durable queue of deliveries to webhooks and of forwards, and every change of one. Deliveries
 * to routes are records of the same collection, but of another queue: see inbox/request-changes.ts.
 */
import type { CollectionSpec, Transaction } from '../../store/store-port.ts';
import { isSameMemory, type QueueSpec } from '../durable-queue/queue-spec.ts';
import { TotalsAccess, type QueueTotals } from '../durable-queue/queue-totals.ts';
import { changeItems, type UnitOfWork } from '../durable-queue/unit-of-work.ts';
import { deliveryBodyCollection } from './delivery-body.ts';
import { decodeDelivery, deliveryHead, encodeDelivery } from './delivery-codec.ts';
import {
  DELIVERY_STATUSES, deliveryCollection, type Delivery, type DeliveryStatus, type StoredDelivery,
} from './delivery.ts';
import { deleteEvent, eventCollection } from './event-record.ts';

/** Events whose deliveries are not all written yet: see fan-out.ts. */
export const fanOutCollection: CollectionSpec = { name: 'fan-outs', key: 'identifier' };

export type DeliveryTotals = QueueTotals<DeliveryStatus>;
export type DeliveryUnit = UnitOfWork<Delivery, DeliveryStatus>;

export const deliveryQueue: QueueSpec<Delivery, DeliveryStatus> = {
  noun: 'deliveries',
  collection: deliveryCollection,
  totals: new TotalsAccess('delivery-totals', DELIVERY_STATUSES, []),
  idOf: ({ identifier }) => identifier,
  read: decodeDelivery,
  isCurrent: (stored, bytes) => isSameMemory(stored.bytes, bytes),
  stage: stageDelivery,
  stageRemoval,
  statusOf: ({ status }) => status,
  readStatus: (bytes) => deliveryHead.readStatus(bytes),
  stageStatusChange() {},
};

/**
 * Stages new pending deliveries, and the event that they share. `countWithLater` is higher than
 * the number of deliveries if more are written later. The caller has checked that there is room.
 * Once they are committed, sending/delivery-worker.ts learns of them, as it follows the collection.
 */
export function acceptDeliveries(
  transaction: Transaction, unit: DeliveryUnit, deliveries: readonly Delivery[],
  event: { readonly identifier: string; readonly json: string } | null,
  countWithLater = deliveries.length,
): void {
  // The event comes first: when a delivery is applied, its event must be there.
  if (event !== null) transaction.put(eventCollection.name, event.identifier, event.json);
  for (const delivery of deliveries) unit.stageCounted(delivery);
  unit.count('pending', countWithLater);
}

/**
 * Runs `makeChanges` as one unit: the totals are written once for all changes. Once they are
 * committed, sending/delivery-worker.ts learns of each, as of what `acceptDeliveries` stages.
 */
export function changeDeliveries<T>(
  transaction: Transaction, makeChanges: (unit: DeliveryUnit) => T,
): T {
  return changeItems(deliveryQueue, transaction, makeChanges);
}

/** Stages a delivery that the totals count already. */
export function stageDelivery(transaction: Transaction, delivery: Delivery): StoredDelivery {
  const { bytes } =
    transaction.put(deliveryCollection.name, delivery.identifier, encodeDelivery(delivery));
  return { bytes, item: delivery };
}

/** Stages the removal of a delivery. Its event stays, unless it is what a queued forward sends. */
function stageRemoval(transaction: Transaction, id: string): void {
  const bytes = transaction.find(deliveryCollection.name, id);
  transaction.delete(deliveryCollection.name, id);
  transaction.delete(deliveryBodyCollection.name, id);
  if (bytes === undefined) return;
  const { hook, eventId } = decodeDelivery(bytes);
  if (hook === null) deleteEvent(transaction, eventId);
}

/**
 * The durable queue of deliveries, and every change of one. An event record that several deliveries
 * share is marked as finished when none of them is queued any more, and deleted with the last one.
 */
import type { CollectionSpec, Transaction } from '../../store/store-port.ts';
import { isSameMemory, type RelatedRecords, type QueueSpec } from '../durable-queue/queue-spec.ts';
import { TotalsAccess, type QueueTotals } from '../durable-queue/queue-totals.ts';
import { changeItems, type UnitOfWork } from '../durable-queue/unit-of-work.ts';
import {
  decodeDelivery, encodeDelivery, readEventId, readStatus,
} from './delivery-codec.ts';
import {
  DELIVERY_STATUSES, deliveryCollection, countsAsQueued, type Delivery, type DeliveryStatus,
} from './delivery.ts';
import {
  encodeFinishedMark, eventCollection, someListedDelivery, finishedMarkId, findEventStart,
} from './event-record.ts';

/** Events whose deliveries are not all written yet: see fan-out.ts. */
export const fanOutCollection: CollectionSpec = { name: 'fan-outs', key: 'identifier' };

export type DeliveryTotals = QueueTotals<DeliveryStatus>;
export type DeliveryUnit = UnitOfWork<Delivery, DeliveryStatus>;

export const deliveryQueue: QueueSpec<Delivery, DeliveryStatus> = {
  noun: 'deliveries',
  collection: deliveryCollection,
  totals: new TotalsAccess('delivery-totals', DELIVERY_STATUSES, []),
  idOf: ({ identifier }) => identifier,
  read: (bytes) => decodeDelivery(bytes),
  isCurrent: ({ bytes: storedBytes }, bytes) => isSameMemory(storedBytes, bytes),
  stage: (transaction, delivery) => ({
    item: delivery,
    bytes: transaction.put(
      deliveryCollection.name, delivery.identifier, encodeDelivery(delivery)).bytes,
  }),
  stageRemoval: (transaction, id) => void transaction.delete(deliveryCollection.name, id),
  statusOf: ({ status }) => status,
  readStatus: (bytes) => readStatus(bytes),
  openRelatedRecords: (transaction) => new EventRecordKeeper(transaction),
};

/**
 * Stages new pending deliveries, and the event record that they share. `count` is higher than the
 * number of deliveries if more are written later. The caller has checked that there is room.
 */
export function acceptDeliveries(
  transaction: Transaction, unit: DeliveryUnit, deliveries: readonly Delivery[],
  eventRecord: { readonly identifier: string; readonly json: string } | null,
  count = deliveries.length,
): void {
  // The event comes first: when a delivery is applied, its event must be there.
  if (eventRecord !== null) {
    transaction.put(eventCollection.name, eventRecord.identifier, eventRecord.json);
  }
  for (const delivery of deliveries) unit.put(delivery);
  unit.count('pending', count);
}

/** Runs `makeChanges` as one unit: totals and event records are written once for all changes. */
export function changeDeliveries<T>(
  transaction: Transaction, makeChanges: (unit: DeliveryUnit) => T,
): T {
  return changeItems(deliveryQueue, transaction, makeChanges);
}

/** Stages a delivery that the totals count already. */
export function putDelivery(transaction: Transaction, delivery: Delivery): void {
  transaction.put(deliveryCollection.name, delivery.identifier, encodeDelivery(delivery));
}

/** Marks or deletes event records after all changes of their deliveries are staged. */
class EventRecordKeeper implements RelatedRecords<Delivery, DeliveryStatus, never> {
  readonly #transaction: Transaction;
  readonly #eventIds = new Set<string>();

  constructor(transaction: Transaction) {
    this.#transaction = transaction;
  }

  onStatusChange(
    _: string, from: DeliveryStatus, to: DeliveryStatus | 'agedOut', item: () => Delivery,
    bytes: Buffer | null,
  ): void {
    if (bytes !== null) {
      // Very many deliveries age out, and most of them embed their event.
      if (findEventStart(bytes) === -1) this.#eventIds.add(readEventId(bytes));
      return;
    }
    if (to === 'agedOut' || countsAsQueued(from) === countsAsQueued(to)) return;
    const { embeddedEvent, eventId } = item();
    if (embeddedEvent === null) this.#eventIds.add(eventId);
  }

  stage(): void {
    for (const eventId of this.#eventIds) updateEventRecord(this.#transaction, eventId);
  }
}

function updateEventRecord(transaction: Transaction, eventId: string): void {
  const { name } = eventCollection;
  const bytes = transaction.find(name, eventId);
  if (bytes === undefined || transaction.find(fanOutCollection.name, eventId) !== undefined) return;
  let hasDeliveries = false;
  const isInQueue = someListedDelivery(bytes, (delivery) => {
    const deliveryBytes = transaction.find(deliveryCollection.name, delivery);
    hasDeliveries ||= deliveryBytes !== undefined;
    return deliveryBytes !== undefined && countsAsQueued(readStatus(deliveryBytes));
  });
  const markId = finishedMarkId(eventId);
  if (isInQueue || !hasDeliveries) transaction.delete(name, markId);
  else if (transaction.find(name, markId) === undefined) {
    transaction.put(name, markId, encodeFinishedMark(eventId, bytes.length));
  }
  if (!hasDeliveries) transaction.delete(name, eventId);
}

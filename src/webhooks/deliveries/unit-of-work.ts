/**
 * Deliveries as a kind of work. A message leaves the queue with the last of its deliveries, and is
 * deleted with the last of them.
 */
import type { CollectionSpec, Transaction } from '../../store/store-port.ts';
import type { RelatedRecords, QueueSpec } from '../durable-queue/queue-spec.ts';
import { TotalsRecord, type QueueTotals } from '../durable-queue/queue-totals.ts';
import { changeItems, type UnitOfWork } from '../durable-queue/unit-of-work.ts';
import { decodeDelivery, encodeDelivery, messageIdOf, statusOf, updatedMsOf } from './codec.ts';
import {
  DELIVERY_STATUSES, deliveryCollection, isQueued, type Delivery, type DeliveryStatus,
} from './delivery.ts';
import { encodeIdle, eventCollection, hasDelivery, idleId, messageStart } from './message.ts';

/** Events whose deliveries are not all there yet: see fan-out.ts. */
export const fanOutCollection: CollectionSpec = { name: 'fan-outs', key: 'identifier' };

export type Totals = QueueTotals<DeliveryStatus>;
export type DeliveryUnit = UnitOfWork<Delivery, DeliveryStatus>;

export const deliveryKind: QueueSpec<Delivery, DeliveryStatus> = {
  noun: 'deliveries',
  collection: deliveryCollection,
  totals: new TotalsRecord('delivery-totals', DELIVERY_STATUSES, []),
  idOf: ({ identifier }) => identifier,
  decode: decodeDelivery,
  encode: encodeDelivery,
  statusOf: ({ status }) => status,
  readStatus: statusOf,
  readUpdatedMs: updatedMsOf,
  openRelatedRecords: (transaction) => new MessageKeeper(transaction),
};

/**
 * Stages new pending deliveries, and the record of the message that they share. `count` is higher
 * where the deliveries themselves follow. The caller has checked that there is room for them.
 */
export function acceptDeliveries(
  transaction: Transaction, unit: DeliveryUnit, deliveries: readonly Delivery[],
  shared: { readonly identifier: string; readonly json: string } | null,
  count = deliveries.length,
): void {
  // The message first: whoever sees a delivery applied finds its message there.
  if (shared !== null) transaction.put(eventCollection.name, shared.identifier, shared.json);
  for (const delivery of deliveries) unit.put(delivery);
  unit.count('pending', count);
}

/** Runs `work` as one unit: the totals and the messages follow its changes once. */
export function changeDeliveries<T>(transaction: Transaction, work: (unit: DeliveryUnit) => T): T {
  return changeItems(deliveryKind, transaction, work);
}

/** Stages a delivery that the totals count already. */
export function putDelivery(transaction: Transaction, delivery: Delivery): void {
  transaction.put(deliveryCollection.name, delivery.identifier, encodeDelivery(delivery));
}

/** Says of messages whether they are in the queue, once all changes are staged. */
class MessageKeeper implements RelatedRecords<Delivery, DeliveryStatus, never> {
  readonly #transaction: Transaction;
  readonly #touched = new Set<string>();

  constructor(transaction: Transaction) {
    this.#transaction = transaction;
  }

  onStatusChange(
    _: string, from: DeliveryStatus, to: DeliveryStatus | 'agedOut', item: () => Delivery,
    bytes: Buffer | null,
  ): void {
    if (bytes !== null) {
      // Very many age out, and most carry their message.
      if (messageStart(bytes) === -1) this.#touched.add(messageIdOf(bytes));
      return;
    }
    if (to === 'agedOut' || isQueued(from) === isQueued(to)) return;
    const { carried, message } = item();
    if (carried === null) this.#touched.add(message);
  }

  stage(): void {
    for (const message of this.#touched) settleMessage(this.#transaction, message);
  }
}

function settleMessage(transaction: Transaction, message: string): void {
  const { name } = eventCollection;
  const bytes = transaction.find(name, message);
  if (bytes === undefined || transaction.find(fanOutCollection.name, message) !== undefined) return;
  let isThere = false;
  const isInQueue = hasDelivery(bytes, (delivery) => {
    const found = transaction.find(deliveryCollection.name, delivery);
    isThere ||= found !== undefined;
    return found !== undefined && isQueued(statusOf(found));
  });
  const idle = idleId(message);
  if (isInQueue || !isThere) transaction.delete(name, idle);
  else if (transaction.find(name, idle) === undefined) {
    transaction.put(name, idle, encodeIdle(message, bytes.length));
  }
  if (!isThere) transaction.delete(name, message);
}

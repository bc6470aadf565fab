/**
 * Deliveries as a kind of work. A message is deleted with the last delivery that could still need
 * it.
 */
import type { CollectionSpec, Store, Transaction } from '../../store/port.ts';
import type { Attendant, WorkKind } from '../work/kind.ts';
import { TotalsRecord, type WorkTotals } from '../work/totals.ts';
import { changeWork, commitWork, type UnitOfWork } from '../work/unit-of-work.ts';
import { decodeDelivery, encodeDelivery, statusOf, updatedMsOf } from './codec.ts';
import {
  DELIVERY_STATUSES, deliveryCollection, isMessageNeeded, type Delivery, type DeliveryStatus,
} from './delivery.ts';
import { eventCollection, hasDelivery } from './message.ts';

/** Events whose deliveries are not all there yet: see fan-out.ts. */
export const fanOutCollection: CollectionSpec = { name: 'fan-outs', key: 'identifier' };

export type Totals = WorkTotals<DeliveryStatus>;
export type DeliveryUnit = UnitOfWork<Delivery, DeliveryStatus>;

export const deliveryKind: WorkKind<Delivery, DeliveryStatus> = {
  noun: 'deliveries',
  collection: deliveryCollection,
  totals: new TotalsRecord('delivery-totals', DELIVERY_STATUSES, []),
  idOf: ({ identifier }) => identifier,
  decode: decodeDelivery,
  encode: encodeDelivery,
  statusOf,
  updatedMsOf,
  attend: (transaction) => new MessageCleaner(transaction),
};

/**
 * Stages new pending deliveries, and the record of the message that they share. `count` is higher
 * where the deliveries themselves follow. The caller has checked that there is room for them.
 */
export function acceptDeliveries(
  transaction: Transaction, deliveries: readonly Delivery[],
  shared: { readonly identifier: string; readonly json: string } | null,
  count = deliveries.length,
): void {
  // The message first: whoever sees a delivery applied finds its message there.
  if (shared !== null) transaction.put(eventCollection.name, shared.identifier, shared.json);
  changeDeliveries(transaction, (unit) => {
    for (const delivery of deliveries) unit.put(delivery);
    unit.count('pending', count);
  });
}

/** Runs `work` as one unit: the totals and the messages follow its changes once. */
export function changeDeliveries<T>(transaction: Transaction, work: (unit: DeliveryUnit) => T): T {
  return changeWork(deliveryKind, transaction, work);
}

/** The same in a transaction of its own. */
export function commitChanges<T>(store: Store, work: (unit: DeliveryUnit) => T): Promise<T> {
  return commitWork(deliveryKind, store, work);
}

/** Stages a delivery that the totals count already. */
export function putDelivery(transaction: Transaction, delivery: Delivery): void {
  transaction.put(deliveryCollection.name, delivery.identifier, encodeDelivery(delivery));
}

/** Deletes messages that no delivery needs any more, once all changes are staged. */
class MessageCleaner implements Attendant<Delivery, DeliveryStatus, never> {
  readonly #transaction: Transaction;
  readonly #left = new Set<string>();

  constructor(transaction: Transaction) {
    this.#transaction = transaction;
  }

  moved(from: DeliveryStatus, to: DeliveryStatus | 'agedOut', item: () => Delivery): void {
    // Those that needed it no more had left it before.
    if (!isMessageNeeded(from) || (to !== 'agedOut' && isMessageNeeded(to))) return;
    const { carried, message } = item();
    if (carried === null) this.#left.add(message);
  }

  complete(): void {
    for (const message of this.#left) deleteIfUnneeded(this.#transaction, message);
  }
}

function deleteIfUnneeded(transaction: Transaction, message: string): void {
  const bytes = transaction.find(eventCollection.name, message);
  if (bytes === undefined) return;
  const isNeeded = hasDelivery(bytes, (delivery) => {
    const found = transaction.find(deliveryCollection.name, delivery);
    return found !== undefined && isMessageNeeded(statusOf(found));
  });
  if (isNeeded || transaction.find(fanOutCollection.name, message) !== undefined) return;
  transaction.delete(eventCollection.name, message);
}

/**
 * Every change of deliveries goes through here, inside a transaction, together with the totals. A
 * message is deleted with the last delivery that could still need it.
 */
import type { CollectionSpec, Store, Transaction } from '../../store/port.ts';
import { decodeDelivery, encodeDelivery, statusOf, updatedMsOf } from './codec.ts';
import {
  deliveryCollection, isMessageNeeded, type Delivery, type KnownDelivery,
} from './delivery.ts';
import { eventCollection, hasDelivery } from './message.ts';
import { readTotals, writeTotals, type Totals } from './totals.ts';

/** Events whose deliveries are not all there yet: see fan-out.ts. */
export const fanOutCollection: CollectionSpec = { name: 'fan-outs', key: 'identifier' };

/** Makes of a delivery what it becomes; null leaves it as it is. */
export type DeliveryChange = (before: Delivery) => Delivery | null;

/** Deliveries changed in one transaction: it is a few milliseconds of work. */
export const CHUNK = 250;
/** And their bytes, where they hold answers or a body. */
const CHUNK_BYTES = 1 << 19;

/**
 * Stages new pending deliveries, and the record of the message that they share. `count` is higher
 * where the deliveries themselves follow. The caller has checked that there is room for them.
 */
export function acceptDeliveries(
  transaction: Transaction, deliveries: readonly Delivery[],
  shared: { readonly identifier: string; readonly json: string } | null,
  count = deliveries.length,
): void {
  const totals = readTotals(transaction);
  // The message first: whoever sees a delivery applied finds its message there.
  if (shared !== null) transaction.put(eventCollection.name, shared.identifier, shared.json);
  for (const delivery of deliveries) putDelivery(transaction, delivery);
  writeTotals(transaction, {
    ...totals, accepted: totals.accepted + count, pending: totals.pending + count,
  });
}

/** As many deliveries, from the first on, as one transaction should change. */
export function firstChunk<T>(deliveries: readonly T[], bytesOf: (delivery: T) => number): T[] {
  let bytes = 0;
  const end = deliveries.findIndex((delivery, index) => {
    bytes += bytesOf(delivery);
    return index > 0 && (index === CHUNK || bytes > CHUNK_BYTES);
  });
  return deliveries.slice(0, end === -1 ? deliveries.length : end);
}

/** Tells the bytes of a stored delivery by its identifier. */
export function sizesIn(store: Store): (identifier: string) => number {
  const records = store.collection(deliveryCollection.name);
  return (identifier) => records.bytesOf(identifier)?.length ?? 0;
}

/** Runs `work` as one unit: the totals and the messages follow its changes once. */
export function changeDeliveries<T>(transaction: Transaction, work: (unit: UnitOfWork) => T): T {
  const unit = new UnitOfWork(transaction);
  const result = work(unit);
  unit.complete();
  return result;
}

/** The same in a transaction of its own. */
export function commitChanges<T>(store: Store, work: (unit: UnitOfWork) => T): Promise<T> {
  return store.transact((transaction) => changeDeliveries(transaction, work));
}

export class UnitOfWork {
  readonly #transaction: Transaction;
  readonly #totals: Record<keyof Totals, number>;
  readonly #leftMessages = new Set<string>();
  #hasMoved = false;

  constructor(transaction: Transaction) {
    this.#transaction = transaction;
    this.#totals = { ...readTotals(transaction) };
  }

  /**
   * Stages a delivery as `change` makes it; undefined when it is gone or stays as it is. `known` is
   * not decoded again while its bytes are still the record's.
   */
  change(
    identifier: string, change: DeliveryChange, known: KnownDelivery | null = null,
  ): Delivery | undefined {
    const bytes = this.#transaction.find(deliveryCollection.name, identifier);
    if (bytes === undefined) return undefined;
    const before = known !== null && isSame(known.bytes, bytes)
      ? known.delivery : decodeDelivery(bytes);
    const after = change(before);
    if (after === null) return undefined;
    putDelivery(this.#transaction, after);
    if (after.status !== before.status) {
      this.#move(before.status, after.status);
      if (!isMessageNeeded(after.status)) this.#leaveMessage(after);
    }
    return after;
  }

  /** Deletes a finished delivery that is too old to keep, unless it was written since `atMs`. */
  ageOut(identifier: string, atMs: number): void {
    const bytes = this.#transaction.find(deliveryCollection.name, identifier);
    if (bytes === undefined || updatedMsOf(bytes) !== atMs) return;
    const status = statusOf(bytes);
    if (status === 'pending') return;
    this.#transaction.delete(deliveryCollection.name, identifier);
    this.#move(status, 'agedOut');
    // The others left their message when they finished.
    if (isMessageNeeded(status)) this.#leaveMessage(decodeDelivery(bytes));
  }

  complete(): void {
    for (const message of this.#leftMessages) deleteIfUnneeded(this.#transaction, message);
    if (this.#hasMoved) writeTotals(this.#transaction, this.#totals);
  }

  #leaveMessage({ carried, message }: Delivery): void {
    if (carried === null) this.#leftMessages.add(message);
  }

  #move(from: keyof Totals, to: keyof Totals): void {
    this.#totals[from] -= 1;
    this.#totals[to] += 1;
    this.#hasMoved = true;
  }
}

/** Stages a delivery that the totals count already. */
export function putDelivery(transaction: Transaction, delivery: Delivery): void {
  transaction.put(deliveryCollection.name, delivery.identifier, encodeDelivery(delivery));
}

/** Whether both are one place in memory; what lies there never changes. */
function isSame(left: Buffer, right: Buffer): boolean {
  return left.buffer === right.buffer && left.byteOffset === right.byteOffset
    && left.length === right.length;
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

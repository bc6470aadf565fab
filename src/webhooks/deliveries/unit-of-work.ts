/**
 * Every change of deliveries goes through here, inside a transaction of the caller's, together with
 * the totals: accepted = pending + delivered + failed + cancelled + agedOut, always. A message goes
 * with the last delivery that could still need it.
 */
import { isJsonObject } from '../../base/fields.ts';
import type { CollectionSpec, Store, Transaction } from '../../store/port.ts';
import {
  deliveryCollection, encodeDelivery, isMessageNeeded, readDelivery, statusOf, updatedMsOf,
  type Delivery, type DeliveryStatus, type KnownDelivery,
} from './delivery.ts';
import { eventCollection, hasDelivery } from './message.ts';

export const totalsCollection: CollectionSpec = { name: 'delivery-totals', key: 'identifier' };
/** Events whose deliveries are not all there yet: see fan-out.ts. */
export const fanOutCollection: CollectionSpec = { name: 'fan-outs', key: 'identifier' };

export type Totals = Readonly<Record<DeliveryStatus | 'accepted' | 'agedOut', number>>;

const TOTALS_ID = 'totals';
const NO_TOTALS: Totals = {
  accepted: 0, pending: 0, delivered: 0, failed: 0, cancelled: 0, agedOut: 0,
};
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
export function chunkOf<T>(deliveries: readonly T[], bytesOf: (delivery: T) => number): T[] {
  let bytes = 0;
  const end = deliveries.findIndex((delivery, index) => {
    bytes += bytesOf(delivery);
    return index > 0 && (index === CHUNK || bytes > CHUNK_BYTES);
  });
  return deliveries.slice(0, end === -1 ? deliveries.length : end);
}

/** How large a stored delivery is, by its identifier. */
export function sizesIn(store: Store): (identifier: string) => number {
  const records = store.collection(deliveryCollection.name);
  return (identifier) => records.bytesOf(identifier)?.length ?? 0;
}

/** Stages a delivery as `change` makes it; undefined when it is gone or `change` gives null. */
export function changeDelivery(
  transaction: Transaction, identifier: string, change: (delivery: Delivery) => Delivery | null,
): Delivery | undefined {
  const tally = new Tally(transaction);
  const changed = tally.change(identifier, change);
  tally.close();
  return changed;
}

/** Changes many deliveries with one write of the totals. */
export class Tally {
  readonly #transaction: Transaction;
  readonly #totals: Record<keyof Totals, number>;
  readonly #finishedMessages = new Set<string>();
  #hasChanged = false;

  constructor(transaction: Transaction) {
    this.#transaction = transaction;
    this.#totals = { ...readTotals(transaction) };
  }

  /** `known` spares reading again what is still as it was. */
  change(
    identifier: string, change: (delivery: Delivery) => Delivery | null,
    known: KnownDelivery | null = null,
  ): Delivery | undefined {
    const bytes = this.#transaction.find(deliveryCollection.name, identifier);
    if (bytes === undefined) return undefined;
    const before = known !== null && isSame(known.bytes, bytes)
      ? known.delivery : readDelivery(bytes);
    const after = change(before);
    if (after === null) return undefined;
    putDelivery(this.#transaction, after);
    if (after.status !== before.status) {
      this.#move(before.status, after.status);
      if (!isMessageNeeded(after.status)) this.#leaveMessage(after);
    }
    return after;
  }

  /** Removes a finished delivery that is too old to keep, unless it was written since `atMs`. */
  ageOut(identifier: string, atMs: number): void {
    const bytes = this.#transaction.find(deliveryCollection.name, identifier);
    if (bytes === undefined || updatedMsOf(bytes) !== atMs) return;
    const status = statusOf(bytes);
    if (status === 'pending') return;
    this.#transaction.delete(deliveryCollection.name, identifier);
    this.#move(status, 'agedOut');
    // Of the others the message went when they finished.
    if (isMessageNeeded(status)) this.#leaveMessage(readDelivery(bytes));
  }

  close(): void {
    for (const message of this.#finishedMessages) dropMessage(this.#transaction, message);
    if (this.#hasChanged) writeTotals(this.#transaction, this.#totals);
  }

  #leaveMessage({ carried, message }: Delivery): void {
    if (carried === null) this.#finishedMessages.add(message);
  }

  #move(from: keyof Totals, to: keyof Totals): void {
    this.#totals[from] -= 1;
    this.#totals[to] += 1;
    this.#hasChanged = true;
  }
}

/** Changes deliveries in a transaction of their own, for which nobody waits. */
export function inTally<T>(store: Store, run: (tally: Tally) => T): Promise<T> {
  return store.transact((transaction) => {
    const tally = new Tally(transaction);
    const result = run(tally);
    tally.close();
    return result;
  });
}

export function readTotals(source: Pick<Transaction, 'find'>): Totals {
  return decodeTotals(source.find(totalsCollection.name, TOTALS_ID));
}

// Staged bytes are mostly read again by the next transaction; bytes never change.
const knownTotals = new WeakMap<Buffer, Totals>();

export function decodeTotals(bytes: Buffer | undefined): Totals {
  if (bytes === undefined) return NO_TOTALS;
  return knownTotals.get(bytes) ?? parseTotals(bytes);
}

function parseTotals(bytes: Buffer): Totals {
  const record: unknown = JSON.parse(bytes.toString('utf8'));
  if (!isJsonObject(record)) return NO_TOTALS;
  const entries = Object.keys(NO_TOTALS).map((name) => [name, Number(record[name] ?? 0)]);
  return { ...NO_TOTALS, ...Object.fromEntries(entries) as Partial<Totals> };
}

export const totalsRecord = { collection: totalsCollection.name, identifier: TOTALS_ID } as const;

function writeTotals(transaction: Transaction, totals: Totals): void {
  const { accepted, pending, delivered, failed, cancelled, agedOut } = totals;
  const json = `{"identifier":"${TOTALS_ID}","accepted":${accepted},"pending":${pending},`
    + `"delivered":${delivered},"failed":${failed},"cancelled":${cancelled},"agedOut":${agedOut}}`;
  knownTotals.set(transaction.put(totalsCollection.name, TOTALS_ID, json).bytes, totals);
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

// Deliveries of an event finish about in order, so the newest is the likeliest left.
function dropMessage(transaction: Transaction, identifier: string): void {
  const bytes = transaction.find(eventCollection.name, identifier);
  if (bytes === undefined) return;
  const isNeeded = hasDelivery(bytes, (delivery) => {
    const found = transaction.find(deliveryCollection.name, delivery);
    return found !== undefined && isMessageNeeded(statusOf(found));
  });
  if (isNeeded || transaction.find(fanOutCollection.name, identifier) !== undefined) return;
  transaction.delete(eventCollection.name, identifier);
}

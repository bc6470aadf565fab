/**
 * Changes the items of a durable queue, together with its totals and its related records, inside a
 * transaction. What puts an item by itself, as a new delivery is put, counts it here.
 */
import type { Store, Transaction } from '../../store/store-port.ts';
import type { RelatedRecords, StoredItem, ItemChange, QueueSpec } from './queue-spec.ts';
import type { QueueTotals } from './queue-totals.ts';

/** Runs `makeChanges` as one unit: the totals are written once for all its changes. */
export function changeItems<Item, Status extends string, Gone extends string, T>(
  queue: QueueSpec<Item, Status, Gone>, transaction: Transaction,
  makeChanges: (unit: UnitOfWork<Item, Status, Gone>) => T,
): T {
  const unit = new UnitOfWork(queue, transaction);
  const result = makeChanges(unit);
  unit.complete();
  return result;
}

/** Runs `makeChanges` as one unit, in a transaction of its own. */
export function commitItems<Item, Status extends string, Gone extends string, T>(
  queue: QueueSpec<Item, Status, Gone>, store: Store,
  makeChanges: (unit: UnitOfWork<Item, Status, Gone>) => T,
): Promise<T> {
  return store.transact((transaction) => changeItems(queue, transaction, makeChanges));
}

export class UnitOfWork<Item, Status extends string, Gone extends string = never> {
  readonly #queue: QueueSpec<Item, Status, Gone>;
  readonly #transaction: Transaction;
  readonly #relatedRecords: RelatedRecords<Item, Status, Gone>;
  readonly #totals: { -readonly [Name in keyof QueueTotals<Status, Gone>]: number };
  #haveTotalsChanged = false;

  constructor(queue: QueueSpec<Item, Status, Gone>, transaction: Transaction) {
    this.#queue = queue;
    this.#transaction = transaction;
    this.#relatedRecords = queue.openRelatedRecords(transaction);
    this.#totals = { ...queue.totals.read(transaction) };
  }

  /** The totals with the changes so far. */
  get totals(): QueueTotals<Status, Gone> {
    return this.#totals;
  }

  /** Stages a new item. Returns its bytes. */
  accept(item: Item): Buffer {
    this.count(this.#queue.statusOf(item), 1);
    return this.put(item);
  }

  /** Stages an item that the totals count already. Returns its bytes. See `QueueSpec.encode`. */
  put(item: Item, before: Buffer | null = null): Buffer {
    const { collection, idOf, encode } = this.#queue;
    return this.#transaction.put(collection.name, idOf(item), encode(item, before)).bytes;
  }

  /** Counts accepted items whose records are staged elsewhere, or later. */
  count(status: Status, count: number): void {
    this.#totals.accepted += count;
    this.#totals[status] += count;
    this.#haveTotalsChanged = true;
  }

  /**
   * Stages the item that `change` returns, and returns it; undefined when the record is gone or
   * stays as it is. `stored` saves decoding, as long as its bytes are still those of the record.
   */
  change(
    id: string, change: ItemChange<Item>, stored: StoredItem<Item> | null = null,
  ): Item | undefined {
    const bytes = this.#transaction.find(this.#queue.collection.name, id);
    if (bytes === undefined) return undefined;
    const before = stored !== null && isSameMemory(stored.bytes, bytes)
      ? stored.item : this.#queue.decode(bytes);
    const after = change(before);
    if (after === null) return undefined;
    this.put(after, bytes);
    const [from, to] = [this.#queue.statusOf(before), this.#queue.statusOf(after)];
    if (from !== to) this.#recordMove(id, from, to, () => after, null);
    return after;
  }

  /** Deletes a record if `isRemovable` accepts it as it is now. Returns whether it did. */
  remove(id: string, gone: Gone | 'agedOut', isRemovable: (bytes: Buffer) => boolean): boolean {
    const { collection, readStatus, decode } = this.#queue;
    const bytes = this.#transaction.find(collection.name, id);
    if (bytes === undefined || !isRemovable(bytes)) return false;
    this.#transaction.delete(collection.name, id);
    this.#recordMove(id, readStatus(bytes), gone, () => decode(bytes), bytes);
    return true;
  }

  complete(): void {
    this.#relatedRecords.stage();
    if (this.#haveTotalsChanged) this.#queue.totals.write(this.#transaction, this.#totals);
  }

  #recordMove(
    id: string, from: Status, to: Status | Gone | 'agedOut', item: () => Item,
    bytes: Buffer | null,
  ): void {
    this.#totals[from] -= 1;
    this.#totals[to] += 1;
    this.#haveTotalsChanged = true;
    this.#relatedRecords.onStatusChange(id, from, to, item, bytes);
  }
}

/** Whether both are the same bytes in memory, which for records means the same version. */
export function isSameMemory(left: Buffer, right: Buffer): boolean {
  return left.buffer === right.buffer && left.byteOffset === right.byteOffset
    && left.length === right.length;
}

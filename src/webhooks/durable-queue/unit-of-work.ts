/**
 * Changes the items of a durable queue, together with its totals, inside a transaction. Records
 * that are staged elsewhere or later, as those of a fan-out, are counted by `count`.
 */
import { findStaged } from '../../store/find-record.ts';
import type { FindRecord, Store, Transaction } from '../../store/store-port.ts';
import type { StoredItem, ItemChange, QueueSpec } from './queue-spec.ts';
import type { QueueTotals } from './queue-totals.ts';

/**
 * Runs `makeChanges` as one unit: the totals are read before it, and written once for all its
 * changes. It must not run another unit of the same queue: this one would overwrite its totals.
 */
export function changeItems<Item, Status extends string, Removal extends string, T>(
  queue: QueueSpec<Item, Status, Removal>, transaction: Transaction,
  makeChanges: (unit: UnitOfWork<Item, Status, Removal>) => T,
): T {
  const unit = new UnitOfWork(queue, transaction);
  const result = makeChanges(unit);
  unit.complete();
  return result;
}

/** Runs `makeChanges` as one unit, in a transaction of its own. */
export function commitItems<Item, Status extends string, Removal extends string, T>(
  queue: QueueSpec<Item, Status, Removal>, store: Store,
  makeChanges: (unit: UnitOfWork<Item, Status, Removal>) => T,
): Promise<T> {
  return store.transact((transaction) => changeItems(queue, transaction, makeChanges));
}

export class UnitOfWork<Item, Status extends string, Removal extends string = never> {
  readonly #queue: QueueSpec<Item, Status, Removal>;
  readonly #transaction: Transaction;
  readonly #find: FindRecord;
  readonly #totals: { -readonly [Name in keyof QueueTotals<Status, Removal>]: number };
  #haveTotalsChanged = false;

  constructor(queue: QueueSpec<Item, Status, Removal>, transaction: Transaction) {
    this.#queue = queue;
    this.#transaction = transaction;
    this.#find = findStaged(transaction);
    this.#totals = { ...queue.totals.read(transaction) };
  }

  /** The totals with the changes so far. */
  get totals(): QueueTotals<Status, Removal> {
    return this.#totals;
  }

  /** Stages a new item and counts it. */
  accept(item: Item): StoredItem<Item> {
    this.count(this.#queue.statusOf(item), 1);
    return this.stageCounted(item);
  }

  /** Stages a new item that the totals count already. */
  stageCounted(item: Item): StoredItem<Item> {
    return this.#queue.stage(this.#transaction, item, null);
  }

  /** Counts accepted items whose records are staged elsewhere, or later. */
  count(status: Status, count: number): void {
    this.#totals.accepted += count;
    this.#totals[status] += count;
    this.#haveTotalsChanged = true;
  }

  /**
   * Stages the item that `change` returns, and returns it; undefined when the record is gone or
   * stays as it is. `stored` saves decoding, as long as the records are still the same.
   */
  change(
    id: string, change: ItemChange<Item>, stored: StoredItem<Item> | null = null,
  ): Item | undefined {
    const { collection, read, isCurrent, stage, statusOf } = this.#queue;
    const bytes = this.#find(collection.name, id);
    if (bytes === undefined) return undefined;
    const before = stored !== null && isCurrent(stored, bytes, this.#find)
      ? stored.item : read(bytes, this.#find);
    const after = change(before);
    if (after === null) return undefined;
    stage(this.#transaction, after, before);
    const [from, to] = [statusOf(before), statusOf(after)];
    if (from !== to) this.#recordMove(from, to, () => after);
    return after;
  }

  /** Deletes an item if `isRemovable` accepts its record as it is now. Returns whether it did. */
  remove(
    id: string, removal: Removal | 'agedOut',
    isRemovable: (bytes: Buffer, find: FindRecord) => boolean,
  ): boolean {
    const { collection, read, readStatus, stageRemoval } = this.#queue;
    const bytes = this.#find(collection.name, id);
    if (bytes === undefined || !isRemovable(bytes, this.#find)) return false;
    const status = readStatus(bytes, this.#find);
    this.#recordMove(status, removal, () => read(bytes, this.#find));
    stageRemoval(this.#transaction, id);
    return true;
  }

  complete(): void {
    if (this.#haveTotalsChanged) this.#queue.totals.write(this.#transaction, this.#totals);
  }

  #recordMove(from: Status, to: Status | Removal | 'agedOut', getItem: () => Item): void {
    this.#totals[from] -= 1;
    this.#totals[to] += 1;
    this.#haveTotalsChanged = true;
    this.#queue.stageStatusChange(this.#transaction, from, to, getItem);
  }
}

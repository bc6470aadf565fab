/** Changes and removes items of a durable queue inside a transaction. */
import { findStaged } from '../../store/find-record.ts';
import type { Store, Transaction } from '../../store/store-port.ts';
import type { QueueLease } from './ownership.ts';
import type { ItemChange, ItemSpec, RemovalSpec, StoredItem } from './item-spec.ts';
import { stageRemovals, type Removal } from '../records/removals.ts';

type ChangedItem<Item> = { readonly before: Item; readonly after: Item };

export function hasFailed({ before, after }: ChangedItem<{ readonly status: string }>): boolean {
  return before.status === 'pending' && after.status === 'failed';
}

/**
 * Stages the item that `change` returns; undefined when the record is gone or stays as it is.
 * `stored`, the item as read before, saves decoding while its records are unchanged.
 */
export function changeItem<Item>(
  { collection, read, isCurrent, stageChange }: ItemSpec<Item>, transaction: Transaction,
  id: string, change: ItemChange<Item>, storedItem: StoredItem<Item> | null = null,
): ChangedItem<Item> | undefined {
  const find = findStaged(transaction);
  const bytes = find(collection.name, id);
  if (bytes === undefined) return undefined;
  const before = storedItem !== null && isCurrent(storedItem, bytes, find) ? storedItem.item
    : read(bytes, find);
  const after = change(before);
  if (after === null) return undefined;
  stageChange(transaction, after, before);
  return { before, after };
}

/** An item that was attempted, with the change that the attempt's result makes. */
export type AttemptWrite<Item> = {
  readonly storedItem: StoredItem<Item>;
  readonly lease: QueueLease;
  readonly change: ItemChange<Item>;
  /** Stages more records in the same transaction, after the item; null: none. It may run again. */
  readonly stageMore: ((transaction: Transaction, changedItem: ChangedItem<Item>) => void) | null;
};

/**
 * Writes the result of an attempt, and resolves with the item before and after; undefined when the
 * item is gone, `change` leaves it as it is, or the lease has ended.
 */
export function writeAttempt<Item>(
  store: Store, spec: ItemSpec<Item>,
  { storedItem, lease, change, stageMore }: AttemptWrite<Item>,
): Promise<ChangedItem<Item> | undefined> {
  return store.transact((transaction) => {
    if (!lease.isHeld(transaction)) return undefined;
    const id = spec.idOf(storedItem.item);
    const changedItem = changeItem(spec, transaction, id, change, storedItem);
    if (changedItem !== undefined) stageMore?.(transaction, changedItem);
    return changedItem;
  });
}

/** Stages the removal of items that exist, counts them as `removal`, returns how many. */
export function removeItems(
  { noun, collection, stageRemoval }: RemovalSpec, transaction: Transaction,
  ids: readonly string[], removal: Removal,
): number {
  let count = 0;
  for (const id of ids) {
    const bytes = transaction.find(collection.name, id);
    if (bytes === undefined) continue;
    stageRemoval(transaction, id, bytes);
    count += 1;
  }
  if (count > 0) stageRemovals(transaction, noun, removal, count);
  return count;
}

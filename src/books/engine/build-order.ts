/**
 * Makes the order of all books by one key: reads each book once, in id order, and sorts stably by
 * the value, so that books of one value stay in id order.
 */
import { sortIndexes } from '../../base/structures/merge-sort.ts';
import type { Steps } from '../../base/turns.ts';
import type { Collection } from '../../store/store-port.ts';
import type { SortOrder } from '../query/book-sort.ts';
import type { SortValue } from '../query/cursor.ts';
import { compareKeys, readSortValue } from '../query/sort-keys.ts';

const READS_PER_YIELD = 64;

/**
 * The slots of all books, in the order of `SlotOrder`, but those of which `isStale` says that they
 * changed since this began: their old and new values are mixed. It is asked about all of them in
 * the last step.
 */
export function* buildOrder(
  collection: Pick<Collection, 'walk' | 'bytesAt'>, key: SortOrder['key'],
  isStale: (slot: number) => boolean,
): Steps<Uint32Array> {
  const slots: number[] = [];
  const values: SortValue[] = [];
  const walk = collection.walk();
  for (let slot = walk.next(); slot >= 0; slot = walk.next()) {
    const bytes = collection.bytesAt(slot);
    if (bytes === undefined) continue;
    slots.push(slot);
    values.push(readSortValue(key, bytes));
    if (slots.length % READS_PER_YIELD === 0) yield;
  }
  const order = yield* sortIndexes(slots.length, (left, right) =>
    compareKeys(values[left] ?? null, values[right] ?? null, false));
  return order.map((index) => slots[index] ?? -1).filter((slot) => !isStale(slot));
}

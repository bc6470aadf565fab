/** The order of a list of books, as `sort` asks for it. Pure. */
import { quote, suggestName } from '../../base/text/error-message.ts';
import { malformed } from '../../server/query.ts';
import { SORT_KEYS, compareKeys, isSortKey, readSortValue } from './sort-keys.ts';
import type { SortKey, SortValue } from './sort-keys.ts';
import { readId } from './stored-fields.ts';

/**
 * Books are ordered by each of `orders` in turn, then by id. No order is by id, and none stands
 * behind it: ids decide everything. Books without a key come last in its order, either way.
 */
export type BookSort = {
  readonly orders: readonly SortOrder[];
  readonly isIdDescending: boolean;
};

export type SortOrder = { readonly key: SortKey; readonly isDescending: boolean };

/** A book's position in a sorted list, with a value for each order of the sort. */
export type BookPosition = { readonly sortValues: readonly SortValue[]; readonly id: string };

export const ID_SORT: BookSort = { orders: [], isIdDescending: false };

const KEYS_MAX = 4;

/** Parses keys such as `author,-datePublished`. Throws `malformed`. */
export function parseSort(text: string): BookSort {
  const parts = text.split(',');
  const orders: SortOrder[] = [];
  const keys = new Set<string>();
  let idOrder: { readonly isDescending: boolean } | null = null;
  for (const part of parts) {
    const isDescending = part.startsWith('-');
    const key = isDescending ? part.slice(1) : part;
    if (keys.has(key)) throw malformed(`\`sort\` has \`${key}\` twice: leave one out`);
    keys.add(key);
    if (key === 'id') {
      idOrder = { isDescending };
      continue;
    }
    if (!isSortKey(key) || key.startsWith('-')) {
      throw malformed('`sort` must be keys such as `title` or `author,-datePublished`, not '
        + `${quote(key)}${suggestName(key, SORT_KEYS)}`);
    }
    // A falling order with a row of its own.
    if (idOrder === null) orders.push({ key: isSortKey(part) ? part : key, isDescending });
  }
  if (parts.length > KEYS_MAX) {
    throw malformed(`\`sort\` takes at most ${KEYS_MAX} keys, not ${parts.length}: leave out the `
      + 'last ones');
  }
  return { orders, isIdDescending: idOrder?.isDescending ?? false };
}

/** Whether the order is by rising id alone, as books are stored. */
export function isIdSort({ orders, isIdDescending }: BookSort): boolean {
  return orders.length === 0 && !isIdDescending;
}

/** The value of a stored book for each order of the sort. */
export function readSortValues({ orders }: BookSort, bytes: Buffer): readonly SortValue[] {
  return orders.map(({ key }) => readSortValue(key, bytes));
}

/** Compares by all orders of the sort, and not by id. */
export function compareSortValues(
  left: readonly SortValue[], right: readonly SortValue[], { orders }: BookSort,
): number {
  for (const [index, { isDescending }] of orders.entries()) {
    const order = compareKeys(left[index] ?? null, right[index] ?? null, isDescending);
    if (order !== 0) return order;
  }
  return 0;
}

/** Ties are broken by id. */
export function comparePositions(left: BookPosition, right: BookPosition, sort: BookSort): number {
  const byValues = compareSortValues(left.sortValues, right.sortValues, sort);
  if (byValues !== 0 || left.id === right.id) return byValues;
  return (left.id < right.id) !== sort.isIdDescending ? -1 : 1;
}

/** Whether a book stands after a position; with none, every book does. */
export function isAfterCursor(
  after: BookPosition | null, sort: BookSort, sortValues: readonly SortValue[], bytes: Buffer,
): boolean {
  if (after === null) return true;
  // The values decide almost always; the id, which has to be read from the bytes, between ties.
  const order = compareSortValues(sortValues, after.sortValues, sort);
  if (order !== 0) return order > 0;
  return comparePositions({ sortValues, id: readId(bytes) }, after, sort) > 0;
}

/** The sort keys of stored books, and their order. Pure. */
import { encodeByteString, fold } from '../../base/text/fold.ts';
import { createAuthorKey } from './author-key.ts';
import type { BookSort, SortOrder } from './book-sort.ts';
import type { BookPosition, SortValue } from './cursor.ts';
import {
  readCreatedAt, readDatePublished, readFirstAuthor, readId, readTitle, readUpdatedAt,
} from './stored-fields.ts';

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

/** The value of a stored book for one key; null when it has none. */
export function readSortValue(key: SortOrder['key'], bytes: Buffer): SortValue {
  switch (key) {
    case 'title': return encodeByteString(fold(readTitle(bytes)));
    case 'author': {
      const author = readFirstAuthor(bytes);
      return author === null ? null : createAuthorKey(author);
    }
    case 'datePublished': return readDatePublished(bytes);
    case 'updatedAt': return readUpdatedAt(bytes);
    case 'createdAt': return readCreatedAt(bytes);
  }
}

/** Books without the key come last in either direction. */
export function compareKeys(left: SortValue, right: SortValue, isDescending: boolean): number {
  if (left === right) return 0;
  if (left === null) return 1;
  if (right === null) return -1;
  return (left < right) !== isDescending ? -1 : 1;
}

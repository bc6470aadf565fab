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
    case 'title': return createTitleSortKey(readTitle(bytes));
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

// Quotes may lead either way round: „Wer“, »Wer«.
const LEADING_QUOTES = /^[\p{Pi}\p{Pf}\p{Ps}\s"'`]+/u;
const NUMBERS = /[0-9]+/g;
// An order of a million books makes as many keys; these are made in half the time.
const WITHOUT_BOTH = /^[a-z][^0-9]*$/;

/**
 * The title as a byte string (`encodeByteString`), folded, without leading quotes and brackets. A
 * number has before it how many digits follow its first, so that `10` comes after `2`, and its own
 * digits still come before all letters.
 */
export function createTitleSortKey(title: string): string {
  const folded = fold(title);
  return encodeByteString(WITHOUT_BOTH.test(folded) ? folded
    : folded.replace(LEADING_QUOTES, '').replace(NUMBERS, encodeNumber));
}

/** `02` for 2 and 02, `110` for 10; each 9 before the count adds nine: `90…` for ten digits. */
function encodeNumber(digits: string): string {
  const number = digits.replace(/^0+(?=.)/, '');
  const furtherDigits = number.length - 1;
  return `${'9'.repeat(Math.floor(furtherDigits / 9))}${furtherDigits % 9}${number}`;
}

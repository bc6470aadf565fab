/** The sort keys of stored books, and their order. Pure. */
import { encodeByteString, fold } from '../../base/text/fold.ts';
import type { BookSort } from './parse-query.ts';
import type { BookPosition, SortValue } from './cursor.ts';
import { readDatePublished, readTitle, readUpdatedAt } from './stored-fields.ts';
import type { SortKey } from './query-parameters.ts';

/** The key of a stored book; null when it has none, and always for the sort by id. */
export function readSortKey(key: SortKey, bytes: Buffer): SortValue {
  switch (key) {
    case 'id': return null;
    case 'title': return encodeByteString(fold(readTitle(bytes)));
    case 'datePublished': return readDatePublished(bytes);
    case 'updatedAt': return readUpdatedAt(bytes);
  }
}

/** Books without the key come last in either direction. */
export function compareKeys(left: SortValue, right: SortValue, isDescending: boolean): number {
  if (left === right) return 0;
  if (left === null) return 1;
  if (right === null) return -1;
  return (left < right) !== isDescending ? -1 : 1;
}

/** Ties are broken by rising id; only the sort by id itself can be reversed. */
export function comparePositions(left: BookPosition, right: BookPosition, sort: BookSort): number {
  const byKey = compareKeys(left.key, right.key, sort.isDescending);
  if (byKey !== 0 || left.id === right.id) return byKey;
  const isReversed = sort.key === 'id' && sort.isDescending;
  return (left.id < right.id) !== isReversed ? -1 : 1;
}

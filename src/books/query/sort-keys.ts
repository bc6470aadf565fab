/** What the sorts compare: keys of stored books, and their order. Pure. */
import { encodeByteString, fold } from '../../base/text/fold.ts';
import type { BookSort } from './parse.ts';
import type { Position, SortValue } from './cursor.ts';
import { readDatePublished, readTitle, readUpdatedAt } from './fields.ts';
import type { SortKey } from './parameters.ts';

const PREFIX_BYTES = 6;

/** The key of a stored book; null when it has none, and always for the sort by id. */
export function readSortKey(key: SortKey, bytes: Buffer): SortValue {
  switch (key) {
    case 'id': return null;
    case 'title': return encodeByteString(fold(readTitle(bytes)));
    case 'datePublished': return readDatePublished(bytes);
    case 'updatedAt': return readUpdatedAt(bytes);
  }
}

/** Books without the key come last, either way. */
export function compareKeys(left: SortValue, right: SortValue, isDescending: boolean): number {
  if (left === right) return 0;
  if (left === null) return 1;
  if (right === null) return -1;
  return (left < right) !== isDescending ? -1 : 1;
}

/** Ties go by rising id; only the sort by id itself turns round. */
export function comparePositions(left: Position, right: Position, sort: BookSort): number {
  const byKey = compareKeys(left.key, right.key, sort.isDescending);
  if (byKey !== 0 || left.id === right.id) return byKey;
  const isReversed = sort.key === 'id' && sort.isDescending;
  return (left.id < right.id) !== isReversed ? -1 : 1;
}

/**
 * A number that sorts as the key does, and is the same for keys that begin alike: of byte strings
 * the first six bytes count. Infinity for none.
 */
export function shortKey(key: SortValue): number {
  if (typeof key === 'number') return key;
  if (key === null) return Infinity;
  let prefix = 0;
  for (let index = 0; index < PREFIX_BYTES; index += 1) {
    prefix = prefix * 256 + (index < key.length ? key.charCodeAt(index) : 0);
  }
  return prefix;
}

/** Compares short keys; none comes last, either way. */
export function compareShortKeys(left: number, right: number, isDescending: boolean): number {
  if (left === right) return 0;
  if (left === Infinity) return 1;
  if (right === Infinity) return -1;
  return (left < right) !== isDescending ? -1 : 1;
}

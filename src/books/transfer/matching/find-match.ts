/**
 * Which book of the catalog a record of an import is: the book with its id, else the book whose id
 * our export put into the record, else what is found by the keys, in their order (match-key.ts).
 */
import type { ImportRecord } from '../import-record.ts';
import type { SourceFormat } from './book-import.ts';
import type { BookStaging } from './book-staging.ts';
import type { MatchKeys } from './match-key.ts';
import { findBookId } from './own-export.ts';

type BookMatch =
  /** `hasKeys`: the record has something by which another import could find its book. */
  | { readonly kind: 'none'; readonly hasKeys: boolean }
  | { readonly kind: 'book'; readonly id: string }
  /** The book took in the one of the record (merged-ids.ts). */
  | { readonly kind: 'merged'; readonly id: string }
  /** Several books: some of their ids, in order. */
  | { readonly kind: 'several'; readonly ids: readonly string[] };

// The most books that are named where very many match.
const MATCHES_NAMED_MAX = 10;

/** `keys` are those of each way to match, by their ranks. */
export function findMatch(
  books: Pick<BookStaging, 'find' | 'findMatches'>, keys: readonly MatchKeys[],
  source: SourceFormat | null, record: ImportRecord,
): BookMatch {
  const bookId = source === null ? null : findBookId(record.fields, source);
  let hasKeys = false;
  for (const id of [record.id, bookId]) {
    if (id === null) continue;
    hasKeys = true;
    if (books.find(id) !== undefined) return { kind: 'book', id };
  }
  for (const [rank, { readRecord, areMerged = false }] of keys.entries()) {
    const recordKeys = readRecord(record);
    hasKeys ||= recordKeys.length > 0;
    const ids = findByKeys(books, rank, recordKeys);
    const [id] = ids;
    if (id === undefined) continue;
    if (areMerged) return { kind: 'merged', id };
    return ids.length === 1 ? { kind: 'book', id } : { kind: 'several', ids };
  }
  return { kind: 'none', hasKeys };
}

function findByKeys(
  books: Pick<BookStaging, 'findMatches'>, rank: number, recordKeys: readonly string[],
): readonly string[] {
  const ids = new Set<string>();
  for (const key of recordKeys) {
    for (const id of books.findMatches(key, rank)) {
      ids.add(id);
      if (ids.size >= MATCHES_NAMED_MAX) break;
    }
  }
  return [...ids].sort();
}

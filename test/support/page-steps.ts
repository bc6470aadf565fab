/** The steps by which a page is found, without turns. */
import type { BitSet } from '../../src/base/structures/bit-set.ts';
import type { Steps } from '../../src/base/turns.ts';
import type { ConcurrentChanges } from '../../src/books/list/concurrent-changes.ts';
import { findPage } from '../../src/books/list/find-books.ts';
import type { PageResult } from '../../src/books/list/find-books.ts';
import { openSearch } from '../../src/books/list/open-search.ts';
import type { SearchIndexes } from '../../src/books/list/open-search.ts';
import { parseBookQuery } from '../../src/books/query/parse-query.ts';
import type { Collection } from '../../src/store/store-port.ts';

type PageInputs = {
  readonly collection: Collection;
  /** The query string; its limit is `limit`. */
  readonly search: string;
  readonly limit: number | null;
  readonly changes: ConcurrentChanges;
  readonly indexes?: SearchIndexes | null;
};

export function* pageSteps(
  { search, limit, indexes = null, ...inputs }: PageInputs,
): Steps<PageResult> {
  const query = parseBookQuery(search);
  return yield* findPage(yield* openSearch({ ...inputs, query, indexes }), limit);
}

/** Indexes that have found these slots by their words, but have not seen some. */
export function foundByWords(slots: BitSet, unseen: BitSet | null = null): SearchIndexes {
  return {
    openWords: () => ({ isExact: true, unseen, * find() { return slots; } }),
    findColumn: () => null, findOrder: () => null, copyPending: () => null,
    askOrDrop: (_, ask) => ask(),
  };
}

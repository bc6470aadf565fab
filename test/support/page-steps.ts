/** The steps by which a page is found, without turns. */
import type { Steps } from '../../src/base/turns.ts';
import type { CatalogIndexes } from '../../src/books/engine/catalog-indexes.ts';
import type { Candidates } from '../../src/books/index/book-search.ts';
import type { ConcurrentChanges } from '../../src/books/list/concurrent-changes.ts';
import { findPage } from '../../src/books/list/find-books.ts';
import type { PageResult } from '../../src/books/list/find-books.ts';
import { openSearch } from '../../src/books/list/match-search.ts';
import { parseBookQuery } from '../../src/books/query/parse-query.ts';
import type { Collection } from '../../src/store/store-port.ts';

type PageInputs = {
  readonly collection: Collection;
  /** The query string; its limit is `limit`. */
  readonly search: string;
  readonly limit: number | null;
  readonly changes: ConcurrentChanges;
  readonly candidates?: Candidates | null;
  readonly indexes?: CatalogIndexes | null;
};

export function* pageSteps(
  { search, limit, candidates = null, indexes = null, ...inputs }: PageInputs,
): Steps<PageResult> {
  const query = parseBookQuery(search);
  return yield* findPage(yield* openSearch({ ...inputs, query, candidates, indexes }), limit);
}

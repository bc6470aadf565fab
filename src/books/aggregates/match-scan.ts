/**
 * Goes through the books that match a filter for an answer about all of them: facets, suggestions,
 * duplicates. It is given up when its caller has left.
 */
import type { SearchCaller } from '../index/book-search.ts';
import { CatalogIndexes } from '../engine/catalog-indexes.ts';
import { ConcurrentChanges } from '../list/concurrent-changes.ts';
import { assertWanted } from '../list/exchange-caller.ts';
import type { BookListOptions, IndexOptions } from '../list/book-list.ts';
import { createSlotSource, findMatches, openSearch } from '../list/match-search.ts';
import type { MatchSearch } from '../list/match-search.ts';
import { searchBooks } from '../list/search-books.ts';
import { ID_SORT } from '../query/book-sort.ts';
import type { Corrections } from '../query/corrections.ts';
import { NO_CONDITIONS } from '../query/parse-query.ts';
import type { CorrectableQuery } from '../query/parse-query.ts';
import type { ConcurrencyLimiter, Steps } from '../../base/turns.ts';
import type { ValueCounts } from './value-counts.ts';

/** `limiter` bounds how many answers, each with a memory of its own, are made at a time. */
export type AggregateOptions = BookListOptions & IndexOptions;
export type AggregateDeps = AggregateOptions & { readonly limiter: ConcurrencyLimiter };

type MatchScan<Result> = {
  /** The search has the corrections, of which the steps are told, too. */
  readonly createSteps: (search: MatchSearch, corrections: Corrections) => Steps<Result>;
  /** Whether nothing matched. */
  readonly isEmpty: (result: Result) => boolean;
};

/**
 * Resolves to the result of the steps, for the query with its mistyped words corrected. Throws
 * `timeout` when the caller has left.
 */
export function runMatchScan<Result>(
  { limiter, ...deps }: AggregateDeps, query: CorrectableQuery, caller: SearchCaller,
  scan: MatchScan<Result>,
): Promise<{ readonly result: Result; readonly corrections: Corrections }> {
  const { collection, turns } = deps;
  const indexes = deps.indexes?.open(CatalogIndexes) ?? null;
  return searchBooks(deps, query, caller, {
    // Corrections may wait for the word index: others scan meanwhile.
    run: ({ query: { filter, corrections }, candidates, changes }) => limiter.run(async () => {
      const inputs = { collection, query: { filter, sort: ID_SORT }, candidates, changes, indexes };
      const answer = function* (): Steps<Result> {
        return yield* scan.createSteps(yield* openSearch(inputs), corrections);
      };
      const result = assertWanted(await turns.run(answer(), caller.isWanted));
      changes.stop();
      return { result, corrections };
    }),
    isEmpty: ({ result }) => scan.isEmpty(result),
  });
}

/**
 * Scans all books, for some that are read later: the caller must stop `changes`, which may keep
 * them.
 */
export function openWholeScan<Result>(
  { collection, turns, limiter }: AggregateDeps, caller: SearchCaller,
  createSteps: (search: MatchSearch) => Steps<Result>,
): Promise<{ readonly result: Result; readonly changes: ConcurrentChanges }> {
  return limiter.run(async () => {
    const changes = new ConcurrentChanges(collection);
    try {
      const query = { filter: NO_CONDITIONS, sort: ID_SORT };
      const answer = function* (): Steps<Result> {
        return yield* createSteps(yield* openSearch({
          collection, query, candidates: null, changes, indexes: null,
        }));
      };
      return { result: assertWanted(await turns.run(answer(), caller.isWanted)), changes };
    } catch (error) {
      changes.stop();
      throw error;
    }
  });
}

/** Calls `visit` for each book that matches, once. */
export function* eachMatch(
  search: MatchSearch, visit: (bytes: Buffer, slot: number) => void,
): Steps<void> {
  yield* findMatches(search, createSlotSource(search), {
    readsBooks: true,
    take(bytes, slot) {
      visit(bytes, slot);
      return true;
    },
  });
}

/**
 * Passes over the matches as often as the counts need it (value-counts.ts). `visit` adds the values
 * of a book to them. Of books that are written between two passes, each counts what it finds.
 */
export function* countMatches(
  search: MatchSearch, counts: readonly ValueCounts[],
  visit: (bytes: Buffer, isFirstPass: boolean) => void,
): Steps<void> {
  let isFirstPass = true;
  do {
    const matches = eachMatch(search, (bytes) => visit(bytes, isFirstPass));
    for (let step = matches.next(); step.done !== true; step = matches.next()) {
      yield;
      for (const count of counts) if (count.isFull) yield* count.split();
    }
    for (const count of counts) yield* count.finishShare();
    isFirstPass = false;
  } while (counts.some(({ isDone }) => !isDone));
}

/** Goes through the books that match, for an answer about all of them. */
import { findMatches } from '../list/match-search.ts';
import type { MatchSearch } from '../list/open-search.ts';
import { createExchangeCaller, searchBooks } from '../list/search-books.ts';
import type {
  SearchCaller, SearchDeps, SearchOutcome, SearchedQuery,
} from '../list/search-books.ts';
import type { Steps } from '../../base/turns.ts';
import type { Exchange } from '../../server/http-route.ts';
import { ID_SORT } from '../query/book-sort.ts';
import { NO_CORRECTIONS, formatCorrectionHeader } from '../query/corrections.ts';
import type { ValueCounts } from './value-counts.ts';

/** The answer about the books that match, made in one go. `changes` is to be stopped. */
export function searchMatches<Query extends SearchedQuery, Result>(
  deps: SearchDeps, query: Query, caller: SearchCaller,
  createSteps: (search: MatchSearch<Query>) => Steps<Result>, isEmpty: (result: Result) => boolean,
): Promise<SearchOutcome<Query, Result>> {
  return searchBooks(deps, query, caller, { createSteps, finish: (found) => found, isEmpty });
}

/** Sends the answer about the books that match, which is counted by `createSteps`. */
export async function answerMatches<Result>(
  deps: SearchDeps, exchange: Exchange, query: Pick<SearchedQuery, 'filter' | 'mayCorrect'>,
  createSteps: (search: MatchSearch<SearchedQuery>) => Steps<Result>,
  isEmpty: (result: Result) => boolean,
): Promise<void> {
  const { result, query: { corrections }, changes } = await searchMatches(deps,
    { ...query, sort: ID_SORT, corrections: NO_CORRECTIONS }, createExchangeCaller(exchange),
    createSteps, isEmpty);
  changes.stop();
  exchange.sendJson(200, result, formatCorrectionHeader(corrections));
}

/** Calls `visit` for each book that matches, once. */
export function* eachMatch(
  search: MatchSearch, visit: (bytes: Buffer, slot: number) => void,
): Steps<void> {
  yield* findMatches(search, {
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

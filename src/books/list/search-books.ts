/**
 * Answers a query, and corrects its mistyped words where nothing matches. The list of books,
 * facets, suggestions and duplicates do it this way.
 *
 * A first search answers from what the indexes know by now. So nobody waits for an index, except
 * where nothing matched: corrections come from the complete word index.
 */
import { AppError } from '../../base/errors.ts';
import type { Collection } from '../../store/store-port.ts';
import type { ConcurrencyLimiter, Turns, Steps } from '../../base/turns.ts';
import type { Exchange } from '../../server/http-route.ts';
import { CORRECTED_PLACES, findCorrectableWords } from '../query/corrections.ts';
import type { CorrectedPlace, Corrections, WordCorrections } from '../query/corrections.ts';
import { createWordsFilter } from '../query/book-filter.ts';
import { correctQuery } from '../query/parse-query.ts';
import type { BookQuery, CorrectableQuery } from '../query/parse-query.ts';
import type { IndexHost } from '../index/index-host.ts';
import { ConcurrentChanges } from './concurrent-changes.ts';
import { createBookCheck } from './match-search.ts';
import { openSearch } from './open-search.ts';
import type { MatchSearch } from './open-search.ts';

export type SearchDeps = {
  readonly collection: Collection;
  readonly turns: Turns;
  /** null: every query is a scan. */
  readonly indexes: IndexHost | null;
  /** Bounds how many searches are made at a time. */
  readonly limiter?: ConcurrencyLimiter;
};

/** The caller of a search, who waits for its result. */
export type SearchCaller = {
  /** Whether somebody still waits; called now and then. */
  readonly isWanted: () => boolean;
};

export type SearchedQuery = CorrectableQuery & Pick<BookQuery, 'sort'>;

type BookAnswer<Query, Result, Found> = {
  /** The query of the search has the corrections. */
  readonly createSteps: (search: MatchSearch<Query>) => Steps<Found>;
  /** Ends what has to wait for more than a turn. */
  readonly finish: (found: Found) => Result | Promise<Result>;
  /** Whether nothing matched. */
  readonly isEmpty: (result: Result) => boolean;
};

export type SearchOutcome<Query, Result> = {
  readonly result: Result;
  /** The query, with its mistyped words corrected. */
  readonly query: Query;
  /** They record since before the indexes were asked, until the caller stops them. */
  readonly changes: ConcurrentChanges;
};

/** Throws `timeout` when the caller has left. */
export async function searchBooks<Query extends SearchedQuery, Result, Found>(
  deps: SearchDeps, query: Query, { isWanted }: SearchCaller,
  { createSteps, finish, isEmpty }: BookAnswer<Query, Result, Found>,
): Promise<SearchOutcome<Query, Result>> {
  const { collection, turns, indexes, limiter } = deps;
  const changes = new ConcurrentChanges(collection);
  let lacksWords = false;
  const search = function* (searched: Query): Steps<Found> {
    const openedSearch = yield* openSearch({ collection, query: searched, changes, indexes });
    lacksWords = openedSearch.lacksWords;
    return yield* createSteps(openedSearch);
  };
  const find = async (searched: Query): Promise<Result> => {
    const steps = search(searched);
    const result = limiter === undefined ? turns.run(steps, isWanted)
      : limiter.run(() => turns.run(steps, isWanted));
    return finish(assertWanted(await result));
  };
  try {
    const result = await find(query);
    // A query that has a match has no mistyped word.
    if (indexes === null || !query.mayCorrect || !lacksWords || !isEmpty(result)) {
      return { result, query, changes };
    }
    // The first search may have stopped recording.
    changes.recordAnew();
    const steps = findCorrections(deps, indexes, query, changes);
    const corrections = assertWanted(await turns.run(steps, isWanted));
    if (corrections.size === 0) return { result, query, changes };
    const correctedQuery = correctQuery(query, corrections);
    return { result: await find(correctedQuery), query: correctedQuery, changes };
  } catch (error) {
    changes.stop();
    throw error;
  }
}

function* findCorrections(
  deps: SearchDeps, indexes: IndexHost, { filter }: SearchedQuery, changes: ConcurrentChanges,
): Steps<Corrections> {
  const corrections = new Map<CorrectedPlace, WordCorrections>();
  for (const place of CORRECTED_PLACES) {
    const words = findCorrectableWords(filter, place);
    const wordCorrections = words.length === 0
      ? null : yield* findWordCorrections(deps, indexes, words, place, changes);
    if (wordCorrections === null || wordCorrections.size === 0) continue;
    corrections.set(place, wordCorrections);
  }
  return corrections;
}

/**
 * The corrections but those of words that changed books have: a book that changed while the index
 * was asked may have been in no part of it.
 */
function* findWordCorrections(
  { collection }: SearchDeps, indexes: IndexHost, words: readonly string[], place: CorrectedPlace,
  { changedSlots }: ConcurrentChanges,
): Steps<WordCorrections> {
  const corrections = new Map(yield* indexes.findCorrections(words, place));
  if (corrections.size === 0) return corrections;
  const checks = [...corrections.keys()].map((text) => ({
    text, hasWord: createBookCheck(createWordsFilter([[[{ text, isUnspaced: false }]]], place)),
  }));
  for (const slot of changedSlots) {
    const bytes = collection.bytesAt(slot);
    for (const { text, hasWord } of checks) {
      if (bytes !== undefined && hasWord(bytes)) corrections.delete(text);
    }
    yield;
  }
  return corrections;
}

/** The caller of a search over HTTP, who may leave before its end. */
export function createExchangeCaller({ response }: Exchange): SearchCaller {
  return { isWanted: () => !response.destroyed };
}

/** Throws `timeout` for null, the result of steps that were given up as nobody waited for them. */
export function assertWanted<T>(result: T | null): T {
  if (result === null) throw new AppError('timeout', 'the client left before the answer was found');
  return result;
}

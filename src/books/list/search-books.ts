/**
 * Answers a query with the help of the word index, and corrects its mistyped words where nothing
 * matches. The list of books, facets, suggestions and duplicates do it this way.
 *
 * A first search answers from what is indexed by now and reads the books that are not. So nobody
 * waits for the index, except where nothing matched: corrections come from the complete index.
 */
import type { Collection } from '../../store/store-port.ts';
import type { ConcurrencyLimiter, Turns, Steps } from '../../base/turns.ts';
import { CatalogIndexes } from '../engine/catalog-indexes.ts';
import type { BookSearch, SearchCaller } from '../index/book-search.ts';
import { NO_CORRECTIONS } from '../query/corrections.ts';
import type { Corrections } from '../query/corrections.ts';
import { hasTextConditions } from '../query/match-book.ts';
import { NO_CONDITIONS, correctQuery } from '../query/parse-query.ts';
import type { BookFilter, BookQuery, CorrectableQuery } from '../query/parse-query.ts';
import { ConcurrentChanges } from './concurrent-changes.ts';
import { assertWanted } from './exchange-caller.ts';
import type { LazyCatalogIndexes } from './lazy-catalog-indexes.ts';
import { createBookCheck, openSearch } from './match-search.ts';
import type { MatchSearch } from './match-search.ts';

export type SearchDeps = {
  readonly collection: Collection;
  readonly search: BookSearch;
  readonly turns: Turns;
  /** null: every query is a scan. */
  readonly indexes: LazyCatalogIndexes | null;
  /** Bounds how many searches are made at a time; null: there is no bound. */
  readonly limiter: ConcurrencyLimiter | null;
};

type ListedQuery = CorrectableQuery & Pick<BookQuery, 'sort'>;

type BookAnswer<Query, Result, Found> = {
  /** The query of the search has the corrections. */
  readonly createSteps: (search: MatchSearch<Query>) => Steps<Found>;
  /** Ends what has to wait for more than a turn. */
  readonly finish: (found: Found) => Result | Promise<Result>;
  /** Whether nothing matched. */
  readonly isEmpty: (result: Result) => boolean;
};

type SearchOutcome<Query, Result> = {
  readonly result: Result;
  /** The query, with its mistyped words corrected. */
  readonly query: Query;
  /** They record since before the index was asked, until the caller stops them. */
  readonly changes: ConcurrentChanges;
  /** Whether no book in the word index has the words of the query. */
  readonly lacksWords: boolean;
};

/** Throws `timeout` when the caller has left. */
export async function searchBooks<Query extends ListedQuery, Result, Found>(
  deps: SearchDeps, query: Query, caller: SearchCaller, answer: BookAnswer<Query, Result, Found>,
): Promise<SearchOutcome<Query, Result>> {
  const found = await searchOnce(deps, query, caller, answer);
  // A query that has a match has no mistyped word.
  if (!query.mayCorrect || !found.lacksWords || !answer.isEmpty(found.result)) return found;
  found.changes.stop();
  const corrections = await findCorrections(deps, query.filter, caller);
  return corrections.size === 0
    ? found : searchOnce(deps, correctQuery(query, corrections), caller, answer);
}

async function searchOnce<Query extends ListedQuery, Result, Found>(
  { collection, search, turns, indexes, limiter }: SearchDeps, query: Query, caller: SearchCaller,
  { createSteps, finish }: BookAnswer<Query, Result, Found>,
): Promise<SearchOutcome<Query, Result>> {
  const changes = new ConcurrentChanges(collection);
  try {
    const { filter } = query;
    // The word index is not even loaded for a query without words.
    const hasWords = hasTextConditions(filter) || filter.isbns.length > 0;
    const candidates = hasWords ? await search.find(filter, caller) : null;
    const lacksWords = candidates !== null && candidates.slots.next(0) < 0;
    const steps = function* (): Steps<Found> {
      return yield* createSteps(yield* openSearch({
        collection, query, candidates, changes, indexes: indexes?.open(CatalogIndexes) ?? null,
      }));
    };
    const run = (): Promise<Found | null> => turns.run(steps(), caller.isWanted);
    const found = assertWanted(await (limiter === null ? run() : limiter.run(run)));
    const result = await finish(found);
    return { result, query, changes, lacksWords };
  } catch (error) {
    changes.stop();
    throw error;
  }
}

/**
 * The corrections but those of words that changed books have: a book that changed while the index
 * was asked may have been in no part of it.
 */
async function findCorrections(
  { collection, search, turns }: SearchDeps, filter: BookFilter, caller: SearchCaller,
): Promise<Corrections> {
  const changes = new ConcurrentChanges(collection);
  try {
    const found = await search.findCorrections(filter, caller);
    if (found.size === 0) return NO_CORRECTIONS;
    const steps = dropChangedWords(found, collection, changes);
    return await turns.run(steps, caller.isWanted) ?? NO_CORRECTIONS;
  } finally {
    changes.stop();
  }
}

function* dropChangedWords(
  found: Corrections, collection: Collection, { changedSlots }: ConcurrentChanges,
): Steps<Corrections> {
  const corrections = new Map(found);
  const checks = [...found.keys()].map((text) => ({
    text, hasWord: createBookCheck({ ...NO_CONDITIONS, words: [[[{ text, isUnspaced: false }]]] }),
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

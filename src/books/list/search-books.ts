/**
 * Finds the books of a query with the help of the word index, and corrects its mistyped words where
 * nothing matches. The list of books, facets and suggestions do it this way.
 *
 * A first scan answers from what is indexed by now and reads the books that are not. So nobody
 * waits for the index, except where nothing matched: corrections come from the complete index.
 */
import type { Collection } from '../../store/store-port.ts';
import type { Turns, Steps } from '../../base/turns.ts';
import type { BookSearch, Candidates, SearchCaller } from '../index/book-search.ts';
import { NO_CORRECTIONS } from '../query/corrections.ts';
import type { Corrections } from '../query/corrections.ts';
import { decodeSearchable, hasBookWord, hasTextConditions } from '../query/match-book.ts';
import { correctQuery } from '../query/parse-query.ts';
import type { BookFilter, CorrectableQuery } from '../query/parse-query.ts';
import { ConcurrentChanges } from './concurrent-changes.ts';

type SearchDeps = {
  readonly collection: Collection; readonly search: BookSearch; readonly turns: Turns;
};

/** What a scan looks through. */
export type SearchedBooks<Query> = {
  /** The query, with its mistyped words corrected. */
  readonly query: Query;
  /** The books that may match it; null: all may. */
  readonly candidates: Candidates | null;
  /** They record since before the index was asked. */
  readonly changes: ConcurrentChanges;
};

type BookScan<Query, Result> = {
  /** Its result stops `changes` when it has no more use of them; on an error they are stopped. */
  readonly run: (books: SearchedBooks<Query>) => Promise<Result>;
  /** Whether nothing matched. */
  readonly isEmpty: (result: Result) => boolean;
};

export async function searchBooks<Query extends CorrectableQuery, Result>(
  deps: SearchDeps, query: Query, caller: SearchCaller, scan: BookScan<Query, Result>,
): Promise<Result> {
  const { collection, search } = deps;
  let { mayCorrect } = query;
  const result = await withChanges(collection, async (changes) => {
    // Not even a turn is taken for a query without words.
    const candidates = isForWords(query.filter)
      ? await search.find(query.filter, caller) : null;
    // A query that has a match has no mistyped word.
    mayCorrect &&= candidates !== null && candidates.slots.next(0) < 0;
    const scanned = await scan.run({ query, candidates, changes });
    mayCorrect &&= scan.isEmpty(scanned);
    if (mayCorrect) changes.stop();
    return scanned;
  });
  if (!mayCorrect) return result;
  return withChanges(collection, async (changes) => {
    const corrections = await findCorrections(deps, query.filter, changes, caller);
    if (corrections.size === 0) {
      changes.stop();
      return result;
    }
    const correctedQuery = correctQuery(query, corrections);
    const candidates = await search.find(correctedQuery.filter, caller);
    return scan.run({ query: correctedQuery, candidates, changes });
  });
}

/** Whether the filter has conditions that the word index knows. */
function isForWords(filter: BookFilter): boolean {
  return hasTextConditions(filter) || filter.isbns.length > 0;
}

/** Calls `use` with changes that are recorded from now on; stops them when it throws. */
async function withChanges<Result>(
  collection: Collection, use: (changes: ConcurrentChanges) => Promise<Result>,
): Promise<Result> {
  const changes = new ConcurrentChanges(collection);
  try {
    return await use(changes);
  } catch (error) {
    changes.stop();
    throw error;
  }
}

async function findCorrections(
  { collection, search, turns }: SearchDeps, filter: BookFilter, changes: ConcurrentChanges,
  caller: SearchCaller,
): Promise<Corrections> {
  const found = await search.findCorrections(filter, caller);
  if (found.size === 0) return NO_CORRECTIONS;
  const steps = dropChangedWords(found, collection, changes);
  return await turns.run(steps, caller.isWanted) ?? NO_CORRECTIONS;
}

/**
 * The corrections without those of words that changed books have: a book that changed while the
 * index was asked may have been in no part of it.
 */
function* dropChangedWords(
  found: Corrections, collection: Collection, { changedSlots }: ConcurrentChanges,
): Steps<Corrections> {
  const corrections = new Map(found);
  for (const slot of [...changedSlots]) {
    const bytes = collection.bytesAt(slot);
    if (bytes === undefined) continue;
    const book = decodeSearchable(bytes);
    for (const word of found.keys()) {
      if (hasBookWord(book, word)) corrections.delete(word);
    }
    yield;
  }
  return corrections;
}

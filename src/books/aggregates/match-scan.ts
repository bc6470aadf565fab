/**
 * Scans the books that match a filter for an answer about all of them: facets, suggestions,
 * duplicates. Like a scan of the list (list/scan.ts) it works in small steps, is narrowed down by
 * the word index, and is given up when its caller has left.
 */
import type { Candidates, SearchCaller } from '../index/book-search.ts';
import { ConcurrentChanges } from '../list/concurrent-changes.ts';
import { assertWanted } from '../list/exchange-caller.ts';
import type { BookListOptions, IndexOptions } from '../list/book-list.ts';
import { isSparse } from '../list/scan.ts';
import { createSlotFilter } from '../list/slot-filter.ts';
import type { FilterInputs } from '../list/slot-filter.ts';
import { searchBooks } from '../list/search-books.ts';
import type { Corrections } from '../query/corrections.ts';
import { NO_CONDITIONS } from '../query/parse-query.ts';
import type { CorrectableQuery } from '../query/parse-query.ts';
import { readId } from '../query/stored-fields.ts';
import type { ConcurrencyLimiter, Steps } from '../../base/turns.ts';
import type { ValueCounts } from './value-counts.ts';

/** `limiter` bounds how many answers, each with a memory of its own, are made at a time. */
export type AggregateOptions = BookListOptions & IndexOptions;
export type AggregateDeps = AggregateOptions & { readonly limiter: ConcurrencyLimiter };

// Bytes of books to read before yielding, some 20 µs.
export const BYTES_PER_YIELD = 4096;

type MatchScan<Result> = {
  /** The inputs have the corrections, of which the steps are told, too. */
  readonly createSteps: (inputs: FilterInputs, corrections: Corrections) => Steps<Result>;
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
  return searchBooks(deps, query, caller, {
    // Corrections may wait for the word index: others scan meanwhile.
    run: ({ query: { filter, corrections }, candidates, changes }) => limiter.run(async () => {
      const inputs = { collection, query: { filter }, candidates, changes };
      const steps = scan.createSteps(inputs, corrections);
      const result = assertWanted(await turns.run(steps, caller.isWanted));
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
  createSteps: (inputs: FilterInputs) => Steps<Result>,
): Promise<{ readonly result: Result; readonly changes: ConcurrentChanges }> {
  return limiter.run(async () => {
    const changes = new ConcurrentChanges(collection);
    try {
      const query = { filter: NO_CONDITIONS };
      const steps = createSteps({ collection, query, candidates: null, changes });
      return { result: assertWanted(await turns.run(steps, caller.isWanted)), changes };
    } catch (error) {
      changes.stop();
      throw error;
    }
  });
}

/** Calls `visit` for each book that matches, once: in id order, or in that of few candidates. */
export function* eachMatch(
  inputs: FilterInputs, visit: (bytes: Buffer, slot: number) => void,
): Steps<void> {
  const filter = createSlotFilter(inputs);
  const isCandidatesWalk = isSparse(inputs);
  const walk = isCandidatesWalk ? walkCandidates(inputs) : inputs.collection.walk();
  // A book that is deleted and added again meanwhile may come in two slots of candidates.
  const ids = new Set<string>();
  let bytesRead = 0;
  for (let slot = walk.next(); slot >= 0; slot = walk.next()) {
    if (filter.resetIfYieldDue()) yield;
    const bytes = filter.readIfMatching(slot);
    if (bytes === undefined) continue;
    const id = isCandidatesWalk ? readId(bytes) : '';
    if (ids.has(id)) continue;
    if (isCandidatesWalk) ids.add(id);
    visit(bytes, slot);
    bytesRead += bytes.length;
    if (bytesRead < BYTES_PER_YIELD) continue;
    bytesRead = 0;
    yield;
  }
}

/**
 * Passes over the matches as often as the counts need it (value-counts.ts). `visit` adds the values
 * of a book to them. Of books that are written between two passes, each counts what it finds.
 */
export function* countMatches(
  inputs: FilterInputs, counts: readonly ValueCounts[],
  visit: (bytes: Buffer, isFirstPass: boolean) => void,
): Steps<void> {
  let isFirstPass = true;
  do {
    const matches = eachMatch(inputs, (bytes) => visit(bytes, isFirstPass));
    for (let step = matches.next(); step.done !== true; step = matches.next()) {
      yield;
      for (const count of counts) if (count.isFull) yield* count.split();
    }
    for (const count of counts) yield* count.finishShare();
    isFirstPass = false;
  } while (counts.some(({ isDone }) => !isDone));
}

function walkCandidates(
  { candidates: { slots } }: { readonly candidates: Candidates },
): { next(): number } {
  let start = 0;
  return {
    next() {
      const slot = slots.next(start);
      start = slot + 1;
      return slot;
    },
  };
}

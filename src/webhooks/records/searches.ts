/**
 * Searches of stored records, newest first. There is no index: a search goes through the records in
 * short steps, between which the loop serves other requests, until its page is full or its time is
 * over. The next page goes on from there.
 */
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Steps, Turns } from '../../base/turns.ts';
import { matchesRecord, type SearchQuery, type SearchedRecord } from './search-query.ts';

/** A walk through the records of a list, newest first. */
export interface SearchWalk<Item> {
  /** The next record; `filtered`: the filters of the list leave it out; null: there is none. */
  next(): SearchedRecord<Item> | 'filtered' | null;
  /**
   * Whether the caller may not know that there are records that the filters leave out: a page then
   * never ends at such a record. Absent: he may.
   */
  readonly hidesOthers?: boolean;
  /** The last record that `next` has come to. */
  position(): SearchPosition;
  /** Whether the list still has that record: it may go, or change, while steps search it. */
  isStillListed(): boolean;
}

type SearchPosition = {
  readonly id: string;
  /** When the record was received, or created. */
  readonly at: string;
};

type SearchResult<Item> = {
  readonly items: readonly Item[];
  /** The last record that was looked at; null: all were. */
  readonly stoppedAt: SearchPosition | null;
};

const RUNNING_MAX = 4;
const RETRY_AFTER_S = 1;
const PAGE_MS_MAX = 250;
// A step takes about a fifth of a millisecond.
const STEP_RECORDS = 100;
const STEP_BYTES = 1 << 17;
/** Decoding a record takes as long as looking at so many bytes. */
const DECODED_WEIGHT = 1 << 14;

export type Searches = ReturnType<typeof createSearches>;

export function createSearches({ turns, clock }: {
  readonly turns: Turns; readonly clock: Pick<Clock, 'monotonicMs'>;
}) {
  let running = 0;
  return {
    /**
     * Finds up to `limit` records, of those that a page's time suffices for. Null: nobody waits for
     * them any more. Throws `unavailable` while too many searches are running.
     */
    async findPage<Item>(
      walk: SearchWalk<Item>, query: SearchQuery, limit: number, isWanted: () => boolean,
    ): Promise<SearchResult<Item> | null> {
      if (running >= RUNNING_MAX) {
        throw new AppError('unavailable', `${RUNNING_MAX} searches are running already: try again `
          + `in ${RETRY_AFTER_S} s`, { retryAfterS: RETRY_AFTER_S });
      }
      running += 1;
      try {
        const endMs = clock.monotonicMs() + PAGE_MS_MAX;
        const isOver = (): boolean => clock.monotonicMs() >= endMs;
        return await turns.run(searchPage(walk, query, limit, isOver), isWanted);
      } finally {
        running -= 1;
      }
    },
  };
}

function* searchPage<Item>(
  walk: SearchWalk<Item>, query: SearchQuery, limit: number, isOver: () => boolean,
): Steps<SearchResult<Item>> {
  const items: Item[] = [];
  const { words } = query;
  if (words === null) return { items, stoppedAt: null };
  let records = 0;
  let weight = 0;
  for (let record = walk.next(); record !== null; record = walk.next()) {
    records += 1;
    if (record !== 'filtered') {
      const parts = record.encodedParts ?? [];
      for (const { length } of parts) weight += length;
      if (record.encodedParts === null || query.mayMatch(parts)) {
        weight += DECODED_WEIGHT;
        const isMatch = yield* matchesRecord(words, query, record);
        if (isMatch && walk.isStillListed()) items.push(record.decode());
        if (items.length === limit) return yield* endFullPage(walk, items);
      }
    }
    if (records < STEP_RECORDS && weight < STEP_BYTES) continue;
    [records, weight] = [0, 0];
    yield;
    const mayEnd = record !== 'filtered' || walk.hidesOthers !== true;
    if (mayEnd && isOver()) return { items, stoppedAt: walk.position() };
  }
  return { items, stoppedAt: null };
}

function* endFullPage<Item>(
  walk: SearchWalk<Item>, items: readonly Item[],
): Steps<SearchResult<Item>> {
  const position = walk.position();
  for (let looks = 1; ; looks += 1) {
    const record = walk.next();
    if (record === null) return { items, stoppedAt: null };
    if (record !== 'filtered' || walk.hidesOthers !== true) return { items, stoppedAt: position };
    if (looks % STEP_RECORDS === 0) yield;
  }
}

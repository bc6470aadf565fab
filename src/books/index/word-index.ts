/**
 * The word index, an inverted index: finds books by the words in their titles, subtitles, keywords
 * and names of authors and publishers, and by ISBN. It lives in memory and is made from the
 * collection alone.
 *
 * It is built when it is first needed. Slots whose books are to be indexed are pending: all of them
 * at the start, later those that change. One run of small steps indexes the pending books into a
 * memtable. A full memtable becomes an immutable segment, as does the first one when all books have
 * been indexed once. Segments are merged beside all else. When a book changes, its old document is
 * removed from whichever part holds it, so every part knows which of its books are live.
 *
 * A query does not wait: it is told which slots are pending, whose books are to be read.
 * Corrections wait until no slot is pending, because a word that is missing from a part of the
 * catalog is not mistyped.
 *
 * An index that outgrows its share of the memory drops everything, for good, and finds null from
 * then on; `bounded-word-index.ts` decides when to build another one.
 */
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Collection } from '../../store/store-port.ts';
import type { BookFilter } from '../query/parse-query.ts';
import { NO_CORRECTIONS, findCorrectableWords } from '../query/corrections.ts';
import type { Corrections } from '../query/corrections.ts';
import { hasTextConditions } from '../query/match-book.ts';
import type { Turns, Steps } from '../../base/turns.ts';
import { BitSet } from '../../base/structures/bit-set.ts';
import { findCorrections } from './find-corrections.ts';
import { findInMemtable, findInSegment, planSearch } from './search-plan.ts';
import type { SearchPlan } from './search-plan.ts';
import { createSegment } from './flush-memtable.ts';
import { mergeSegments } from './merge-segments.ts';
import { Memtable } from './memtable.ts';
import type { Candidates, SearchCaller } from './book-search.ts';
import type { Segment } from './segment.ts';
import { Segments } from './segments.ts';

export type WordIndexOptions = {
  readonly collection: Collection;
  readonly turns: Turns;
  readonly clock: Pick<Clock, 'startTimer'>;
  /** How many books fill a memtable. */
  readonly memtableBooks?: number;
  /** How much memory the segments may take; a merge begins only where its result fits, too. */
  readonly bytesMax?: number;
  /** Called when it takes more memory than before. */
  readonly onGrowth?: () => void;
};

// How long after its caller has left a search for corrections may go on waiting.
const LOOK_MS = 2000;
const MEMTABLE_BOOKS = 4096;
// During the first build memtables are this much larger, and segments are merged after it, unless
// they take so much of the memory that a merge would soon have no room: it is to end soon.
const FIRST_BUILD_FACTOR = 4;
// A memtable is searched by a look at all that is in it, so that of a small catalog is small, too.
const MEMTABLE_BOOKS_MIN = 256;
const MEMTABLE_SHARE = 1 / 16;
const UNMERGED_SHARE = 1 / 4;
// Bytes of books to index before yielding, some 20 µs; an empty slot is work too.
const WORK_PER_YIELD = 4096;
const SLOT_WORK = 32;
// An index that was too large is not built again before the catalog is clearly smaller.
const RETURN_SHARE = 0.9;

export class WordIndex {
  readonly #options: WordIndexOptions;
  /** Slots whose books are to be indexed. */
  readonly #pendingSlots = new BitSet();
  #pendingCount = 0;
  readonly #memtableBooks: number;
  readonly #bytesMax: number;
  #booksMax: number | null = null;
  #memtable = new Memtable();
  readonly #segments = new Segments();
  #unsubscribe: (() => void) | null = null;
  #isIndexing = false;
  /** Until all books have been indexed once. */
  #isFirstBuild = true;
  #isMerging = false;
  /** The error that every query throws from now on; null while there is none. */
  #failure: { readonly reason: unknown } | null = null;
  #waiters: (() => void)[] = [];

  constructor(options: WordIndexOptions) {
    this.#options = options;
    this.#memtableBooks = options.memtableBooks ?? MEMTABLE_BOOKS;
    this.#bytesMax = options.bytesMax ?? Infinity;
  }

  /** About how much memory the index takes. */
  get bytes(): number {
    return this.#segments.bytes;
  }

  /** Whether all books have been indexed once; null before the first need, and at the end. */
  get state(): 'making' | 'ready' | null {
    if (this.#unsubscribe === null || !this.#isActive()) return null;
    return this.#isFirstBuild ? 'making' : 'ready';
  }

  /** How many books surely fit; null while this index has not outgrown its share of memory. */
  get booksMax(): number | null {
    return this.#booksMax;
  }

  /** See `BookSearch`. Starts the build when it was not needed before. */
  async find(filter: BookFilter, caller: SearchCaller): Promise<Candidates | null> {
    // A scan finds an ISBN quickly, so an ISBN alone is no reason to build the index.
    const isHelpful = filter.isbns.length > 0
      && this.#unsubscribe !== null && !this.#isFirstBuild;
    if (!hasTextConditions(filter) && !isHelpful) return null;
    const plan = planSearch(filter);
    // It knows no signs.
    if (plan.groups.length === 0 && plan.excluded === null) return null;
    this.#followCollection();
    if (this.#failure !== null) throw this.#failure.reason;
    if (this.#booksMax !== null) return null;
    // A snapshot of the parts and of what is in none of them.
    const unindexed = this.#pendingCount === 0 ? null : this.#pendingSlots.copy();
    const steps = this.#searchParts(plan, this.#memtable, this.#segments.all);
    const slots = await this.#options.turns.run(steps, caller.isWanted);
    return slots === null ? null : { slots, isExact: plan.isExact, unindexed };
  }

  /** See `BookSearch`. */
  async findCorrections(filter: BookFilter, caller: SearchCaller): Promise<Corrections> {
    const words = findCorrectableWords(filter.words);
    if (words.length === 0) return NO_CORRECTIONS;
    await this.#waitUntilCurrent(caller);
    if (this.#booksMax !== null) return NO_CORRECTIONS;
    const { turns, collection: { slotBound } } = this.#options;
    const parts = { memtable: this.#memtable, segments: this.#segments.all, slotBound };
    return await turns.run(findCorrections(words, parts), caller.isWanted) ?? NO_CORRECTIONS;
  }

  /** Stops indexing and merging; queries are refused from now on. */
  close(): void {
    this.#unsubscribe?.();
    this.#failure ??= { reason: new AppError('unavailable', 'the search index is closed') };
    this.#wakeWaiters();
  }

  * #searchParts(
    plan: SearchPlan, memtable: Memtable, segments: readonly Segment[],
  ): Steps<BitSet> {
    const slots = new BitSet(this.#options.collection.slotBound);
    for (const segment of segments) {
      yield* findInSegment(segment, plan, slots);
      yield;
    }
    yield* findInMemtable(memtable, plan, slots);
    return slots;
  }

  /** Resolves when every book is indexed, when the index was dropped, or the caller is gone. */
  async #waitUntilCurrent({ isWanted }: SearchCaller): Promise<void> {
    this.#followCollection();
    for (;;) {
      if (this.#failure !== null) throw this.#failure.reason;
      if (this.#pendingCount === 0 || !isWanted()) return;
      await this.#waitForProgress();
    }
  }

  #waitForProgress(): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#options.clock.startTimer(LOOK_MS, resolve);
      this.#waiters.push(() => {
        timer.cancel();
        resolve();
      });
    });
  }

  /** Begins to follow the collection, with all of its slots pending. */
  #followCollection(): void {
    if (this.#unsubscribe !== null || !this.#isActive()) return;
    const { collection } = this.#options;
    this.#unsubscribe = collection.onChange((_, slot) => this.#onChange(slot));
    this.#pendingSlots.addBelow(collection.slotBound);
    this.#pendingCount = collection.slotBound;
    this.#startIndexing();
  }

  /**
   * The index follows the books here: the collection (store/records/collection.ts) calls it for
   * each change that it applies. It runs inside a commit, so it does as little as possible.
   */
  #onChange(slot: number): void {
    if (!this.#pendingSlots.add(slot)) return;
    this.#pendingCount += 1;
    if (!this.#memtable.remove(slot)) this.#segments.remove(slot);
    this.#startIndexing();
  }

  /** Indexes the pending books in the background, unless that is under way. */
  #startIndexing(): void {
    if (this.#isIndexing || this.#pendingCount === 0) return;
    this.#isIndexing = true;
    this.#runInBackground(this.#indexPendingBooks(), () => {
      this.#isIndexing = false;
      if (this.#pendingCount === 0) this.#onAllIndexed();
      else this.#startIndexing();
    });
  }

  * #indexPendingBooks(): Steps<void> {
    let slot = -1;
    let work = 0;
    while (this.#pendingCount > 0) {
      slot = this.#pendingSlots.next(slot + 1);
      // After the last slot the search begins again from the first: an earlier one became pending.
      if (slot < 0) continue;
      this.#pendingSlots.delete(slot);
      this.#pendingCount -= 1;
      const bytes = this.#options.collection.bytesAt(slot);
      if (bytes !== undefined) this.#memtable.add(slot, bytes);
      work += SLOT_WORK + (bytes?.length ?? 0);
      if (this.#memtable.isFull(this.#computeBooksMax())) yield* this.#flush();
      if (work < WORK_PER_YIELD) continue;
      work = 0;
      yield;
    }
    if (this.#isFirstBuild && this.#memtable.slots.length > 0) yield* this.#flush();
  }

  /** How many books the memtable may hold. */
  #computeBooksMax(): number {
    if (this.#isFirstBuild) return this.#memtableBooks * FIRST_BUILD_FACTOR;
    return Math.min(this.#memtableBooks,
      Math.max(MEMTABLE_BOOKS_MIN, this.#segments.bookCount * MEMTABLE_SHARE));
  }

  /** Makes a segment of the memtable. Queries ask the memtable until the segment is complete. */
  * #flush(): Steps<void> {
    const segment = yield* createSegment(this.#memtable);
    this.#memtable = new Memtable();
    this.#segments.replace([], segment);
    const mustMerge = !this.#isFirstBuild || this.bytes > this.#bytesMax * UNMERGED_SHARE;
    if (this.bytes > this.#bytesMax) this.#dropAll();
    else if (mustMerge) this.#startMerging();
    this.#options.onGrowth?.();
  }

  #onAllIndexed(): void {
    if (this.#isFirstBuild) {
      this.#isFirstBuild = false;
      this.#startMerging();
    }
    this.#wakeWaiters();
  }

  /**
   * Merges segments in the background where they have become too many. It runs beside indexing and
   * queries, as a merge of large segments takes seconds.
   */
  #startMerging(): void {
    const group = this.#segments.nextMerge(this.#bytesMax);
    if (this.#isMerging || group.length === 0) return;
    this.#isMerging = true;
    this.#runInBackground(this.#mergeGroup(group), () => {
      this.#isMerging = false;
      this.#startMerging();
    });
  }

  * #mergeGroup(group: readonly Segment[]): Steps<void> {
    this.#segments.replace(group, yield* mergeSegments(group));
  }

  /** Gives up the index, as it takes more memory than it may; notes how many books would fit. */
  #dropAll(): void {
    const bytesPerBook = this.bytes / this.#segments.bookCount;
    this.#booksMax = Math.floor(this.#bytesMax / bytesPerBook * RETURN_SHARE);
    this.#unsubscribe?.();
    this.#memtable = new Memtable();
    this.#segments.clear();
    this.#pendingCount = 0;
    this.#wakeWaiters();
  }

  #isActive(): boolean {
    return this.#failure === null && this.#booksMax === null;
  }

  /** A failure here is a bug: every later query throws it, as a broken index must not be used. */
  #runInBackground(steps: Steps<void>, onDone: () => void): void {
    const isWanted = (): boolean => this.#isActive();
    this.#options.turns.runLater(steps, isWanted).then(() => {
      if (isWanted()) onDone();
    }).catch((reason: unknown) => {
      this.#failure ??= { reason };
      this.#wakeWaiters();
    });
  }

  #wakeWaiters(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resume of waiters) resume();
  }
}

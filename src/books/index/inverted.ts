/**
 * The word index: finds books by the words in their titles, subtitles, author names and keywords,
 * and by ISBN. In memory only, and made from nothing but the collection and its applied changes.
 *
 * It is built when it is first needed. A book that must be indexed is marked, and one run of small
 * steps takes the marked books in turn: at the start all are marked, later those that change. New
 * books go into an overlay; a full overlay becomes an immutable segment, and eight segments of a
 * size become one. A changed book dies where it stands, so each part knows which of its books are
 * alive. A query waits until no book is marked: its answer is never partial.
 *
 * An index that outgrows its share of the memory lets go of all it has, for good, and finds nothing
 * any more: bounded-search.ts knows when to begin with another one.
 */
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Change, Collection } from '../../store/port.ts';
import type { BookFilter } from '../query/parse.ts';
import { decodeSearchable, hasTextConditions } from '../query/match.ts';
import type { Turns, Work } from '../../base/turns.ts';
import { Bits } from '../../base/structures/bit-set.ts';
import { findInOverlay, findInSegment, planSearch } from './find.ts';
import type { SearchPlan } from './find.ts';
import { mergeSegments } from './merge.ts';
import { Overlay, segmentOf } from './memtable.ts';
import type { Asker, Candidates, Writes } from './search.ts';
import type { Segment } from './segment.ts';
import { SegmentTiers } from './tiers.ts';

export type SearchOptions = {
  readonly collection: Collection;
  readonly turns: Turns;
  readonly clock: Pick<Clock, 'monotonicMs' | 'startTimer'>;
  /** How many books fill an overlay. */
  readonly overlayBooks?: number;
  /** What its segments may take; a merge begins only where its result fits beside them. */
  readonly bytesMax?: number;
};

export function createSearchIndex(options: SearchOptions): SearchIndex {
  return new SearchIndex(options);
}

const WAIT_MS_MAX = 2000;
const RETRY_S_MAX = 60;
// Full overlays that may wait to become segments; indexing pauses beyond.
const FROZEN_MAX = 2;
const OVERLAY_BOOKS = 4096;
// What was too large is not tried again for the last few books.
const RETURN_SHARE = 0.9;

export class SearchIndex {
  readonly #options: SearchOptions;
  /** Slots whose books are to be indexed. */
  readonly #marked = new Bits();
  #markedCount = 0;
  readonly #overlayBooks: number;
  readonly #bytesMax: number;
  #booksMax: number | null = null;
  #overlay: Overlay;
  #frozen: Overlay[] = [];
  readonly #segments: SegmentTiers;
  #unsubscribe: (() => void) | null = null;
  #isIndexing = false;
  #isConverting = false;
  #isMerging = false;
  /** Why no query is answered any more. */
  #failure: { readonly reason: unknown } | null = null;
  #waiting: (() => void)[] = [];
  #startedMs = 0;
  #indexedCount = 0;

  constructor(options: SearchOptions) {
    this.#options = options;
    this.#overlayBooks = options.overlayBooks ?? OVERLAY_BOOKS;
    this.#bytesMax = options.bytesMax ?? Infinity;
    this.#segments = new SegmentTiers(this.#overlayBooks);
    this.#overlay = new Overlay(this.#overlayBooks);
  }

  /** About what the index holds in memory. */
  get bytes(): number {
    return this.#segments.bytes;
  }

  /** How many books another index would surely have room for, once this one has outgrown its. */
  get booksMax(): number | null {
    return this.#booksMax;
  }

  /** See `BookSearch`. Starts the build when it was not needed before. */
  async find(filter: BookFilter, writes: Writes, asker: Asker): Promise<Candidates | null> {
    // An ISBN alone is quickly found in the bytes, so it is no reason to build or to wait.
    const isHelpful = filter.isbn !== null && this.#unsubscribe !== null && this.#markedCount === 0;
    if (!hasTextConditions(filter) && !isHelpful) return null;
    await this.#becomeCurrent(asker);
    if (this.#booksMax !== null) return null;
    const plan = planSearch(filter);
    // As they are now: what becomes of the parts while this runs shows in `writes`.
    const work = this.#find(plan, [this.#overlay, ...this.#frozen], this.#segments.all);
    const slots = await this.#options.turns.run(work, asker.isWanted);
    if (slots === null) return null;
    // Where these books were when each part was asked is not known; they will be looked at.
    for (const slot of writes.changed) slots.add(slot);
    return { slots, count: slots.count(), isExact: plan.isExact };
  }

  /** Ends what is under way; queries are refused from now on. */
  close(): void {
    this.#unsubscribe?.();
    this.#failure ??= { reason: new AppError('unavailable', 'the search index is closed') };
    this.#settle();
  }

  * #find(
    plan: SearchPlan, overlays: readonly Overlay[], segments: readonly Segment[],
  ): Work<Bits> {
    const slots = new Bits(this.#options.collection.slotBound);
    for (const segment of segments) {
      yield* findInSegment(segment, plan, slots);
      yield;
    }
    for (const overlay of overlays) yield* findInOverlay(overlay, plan, slots);
    return slots;
  }

  /**
   * Resolves when every book is indexed, when none will ever be, or when a patient asker is gone;
   * throws `unavailable` when that takes too long for one that is not patient.
   */
  async #becomeCurrent({ isWanted, isPatient }: Asker): Promise<void> {
    this.#start();
    const { clock } = this.#options;
    const deadlineMs = clock.monotonicMs() + WAIT_MS_MAX;
    for (;;) {
      if (this.#failure !== null) throw this.#failure.reason;
      if (this.#markedCount === 0 || !isWanted()) return;
      const leftMs = isPatient ? WAIT_MS_MAX : deadlineMs - clock.monotonicMs();
      if (leftMs <= 0) {
        throw new AppError('unavailable', 'the search index is being built: try again soon', {
          retryAfterS: this.#secondsLeft(),
        });
      }
      await this.#settledWithin(leftMs);
    }
  }

  #settledWithin(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#options.clock.startTimer(delayMs, resolve);
      this.#waiting.push(() => {
        timer.cancel();
        resolve();
      });
    });
  }

  #secondsLeft(): number {
    const elapsedMs = this.#options.clock.monotonicMs() - this.#startedMs;
    const leftMs = this.#markedCount * elapsedMs / Math.max(1, this.#indexedCount);
    return Math.min(RETRY_S_MAX, Math.max(1, Math.ceil(leftMs / 1000)));
  }

  #start(): void {
    if (this.#unsubscribe !== null || !this.#isAtWork()) return;
    const { collection, clock } = this.#options;
    this.#unsubscribe = collection.onChange((change) => this.#onChange(change));
    this.#startedMs = clock.monotonicMs();
    for (let slot = 0; slot < collection.slotBound; slot += 1) this.#marked.add(slot);
    this.#markedCount = collection.slotBound;
    this.#indexMarked();
  }

  /** Runs inside a commit, so it does no more than it must. */
  #onChange({ slot }: Change): void {
    if (!this.#marked.add(slot)) return;
    this.#markedCount += 1;
    if (!this.#overlay.kill(slot) && !this.#frozen.some((overlay) => overlay.kill(slot))) {
      this.#segments.kill(slot);
    }
    this.#indexMarked();
  }

  #indexMarked(): void {
    if (this.#isIndexing || this.#markedCount === 0) return;
    this.#isIndexing = true;
    this.#own(this.#index(), () => {
      this.#isIndexing = false;
      if (this.#markedCount === 0) this.#settle();
      else if (this.#frozen.length < FROZEN_MAX) this.#indexMarked();
    });
  }

  * #index(): Work<void> {
    let slot = -1;
    while (this.#markedCount > 0 && this.#frozen.length < FROZEN_MAX) {
      slot = this.#marked.next(slot + 1);
      if (slot < 0) continue;
      this.#marked.delete(slot);
      this.#markedCount -= 1;
      this.#indexedCount += 1;
      const bytes = this.#options.collection.bytesAt(slot);
      if (bytes !== undefined) this.#overlay.add(slot, decodeSearchable(bytes));
      if (this.#overlay.isFull) this.#freeze();
      yield;
    }
  }

  #freeze(): void {
    this.#frozen.push(this.#overlay);
    this.#overlay = new Overlay(this.#overlayBooks);
    this.#convert();
  }

  #convert(): void {
    if (this.#isConverting || this.#frozen.length === 0) return;
    this.#isConverting = true;
    this.#own(this.#convertFrozen(), () => {
      this.#isConverting = false;
      this.#convert();
    });
  }

  * #convertFrozen(): Work<void> {
    for (let [overlay] = this.#frozen; overlay !== undefined; [overlay] = this.#frozen) {
      const segment = yield* segmentOf(overlay);
      this.#frozen.shift();
      this.#segments.replace([], segment);
      if (this.bytes > this.#bytesMax) return this.#letGo();
      this.#indexMarked();
      this.#merge();
    }
  }

  /** Beside all else, as a merge of large segments takes seconds. */
  #merge(): void {
    const group = this.#segments.nextMerge(this.#bytesMax);
    if (this.#isMerging || group.length === 0) return;
    this.#isMerging = true;
    this.#own(this.#replace(group), () => {
      this.#isMerging = false;
      this.#merge();
    });
  }

  * #replace(group: readonly Segment[]): Work<void> {
    this.#segments.replace(group, yield* mergeSegments(group));
  }

  #letGo(): void {
    const bytesPerBook = this.bytes / this.#segments.documentCount;
    this.#booksMax = Math.floor(this.#bytesMax / bytesPerBook * RETURN_SHARE);
    this.#unsubscribe?.();
    this.#overlay = new Overlay(this.#overlayBooks);
    this.#frozen = [];
    this.#segments.clear();
    this.#markedCount = 0;
    this.#settle();
  }

  #isAtWork(): boolean {
    return this.#failure === null && this.#booksMax === null;
  }

  /** A failure here is a bug; every query tells it rather than answer from a broken index. */
  #own(work: Work<void>, then: () => void): void {
    const isWanted = (): boolean => this.#isAtWork();
    this.#options.turns.runLater(work, isWanted).then(() => {
      if (isWanted()) then();
    }).catch((reason: unknown) => {
      this.#failure ??= { reason };
      this.#settle();
    });
  }

  #settle(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
  }
}

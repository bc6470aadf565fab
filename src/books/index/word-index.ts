/**
 * The word index, an inverted index: finds books by the words in their titles, subtitles, keywords
 * and names of authors and publishers, and by ISBN.
 *
 * New books go into a memtable. A full memtable becomes an immutable segment, as does the first one
 * when all books have been added once; meanwhile others go into a new memtable. Segments are merged
 * beside all else. When a book changes, its old document is removed from whichever part holds it,
 * so every part knows which of its books are live.
 *
 * `index-host.ts` has it made, tells it of changes, and drops it where it is too large.
 */
import type { CorrectedPlace, WordCorrections } from '../query/corrections.ts';
import type { Steps } from '../../base/turns.ts';
import { BitSet } from '../../base/structures/bit-set.ts';
import type { BookIndex } from '../engine/book-index.ts';
import { findCorrections } from './find-corrections.ts';
import type { IndexParts } from './find-corrections.ts';
import { findInMemtable, findInSegment } from './search-plan.ts';
import type { SearchPlan } from './search-plan.ts';
import { createSegment } from './flush-memtable.ts';
import { mergeSegments } from './merge-segments.ts';
import { Memtable } from './memtable.ts';
import type { Segment } from './segment.ts';

export type WordIndexOptions = {
  /** The memory for all indexes. A merge of segments begins only where its result fits, too. */
  readonly bytesMax: number;
  /** How many books fill a memtable. */
  readonly memtableBooks?: number;
};

const MEMTABLE_BOOKS = 4096;
// Until all books have been added once, memtables are this much larger, and segments are merged
// after it, unless they take so much of the memory that a merge would soon have no room: it is to
// end soon.
const FIRST_BUILD_FACTOR = 4;
// A memtable is searched by a look at all that is in it, so that of a small catalog is small, too.
const MEMTABLE_BOOKS_MIN = 256;
const MEMTABLE_SHARE = 1 / 16;
// A memtable takes no more than a sixteenth of the memory, by an estimate of 256 bytes a book: two
// are there while one becomes a segment.
const BOOKS_PER_BYTE = 1 / 16 / 256;
const UNMERGED_SHARE = 1 / 4;
// Fewer small segments than this are not worth a merge.
const SMALL_MIN = 8;
// The large segment is written again when the small ones hold a quarter of its books: so each book
// is merged about five times, and among a million a query asks some 60 small segments at most.
const SMALL_SHARE = 1 / 4;

export class WordIndex implements BookIndex {
  readonly #memtableBooks: number;
  readonly #bytesMax: number;
  /** Runs a merge, which takes seconds, beside all else. */
  readonly #runBeside: (steps: Steps<void>) => void;
  #memtable = new Memtable();
  /** The memtable of which a segment is being made; books are removed from it, and none added. */
  #fullMemtable: Memtable | null = null;
  /** The list does not change later: another takes its place. */
  #segments: readonly Segment[] = [];
  /** Until all books have been added once. */
  #isFirstBuild = true;
  #isMerging = false;

  constructor(
    { bytesMax, memtableBooks = MEMTABLE_BOOKS }: WordIndexOptions,
    runBeside: (steps: Steps<void>) => void,
  ) {
    this.#bytesMax = bytesMax;
    this.#memtableBooks = memtableBooks;
    this.#runBeside = runBeside;
  }

  /** About how much memory it takes. */
  get bytes(): number {
    return sumBytes(this.#segments) + this.#memtable.bytes + (this.#fullMemtable?.bytes ?? 0);
  }

  * prepare(): Steps<void> {}

  set(slot: number, bytes: Buffer | undefined): void {
    if (!this.#memtable.remove(slot) && this.#fullMemtable?.remove(slot) !== true) {
      this.#segments.some((segment) => segment.remove(slot));
    }
    if (bytes !== undefined) this.#memtable.add(slot, bytes);
  }

  /** Whether `settle` is due, also while it is being made. */
  get isFull(): boolean {
    return this.#memtable.isFull(this.#computeBooksMax());
  }

  * settle(): Steps<void> {
    const { isFull } = this;
    if (!isFull && !this.#isFirstBuild) return;
    yield* this.#flush();
    // Until all books have been set it is called only where it is full.
    if (!isFull) this.#isFirstBuild = false;
    const mayMerge = !this.#isFirstBuild
      || sumBytes(this.#segments) > this.#bytesMax * UNMERGED_SHARE;
    if (!mayMerge || this.#isMerging) return;
    this.#isMerging = true;
    this.#runBeside(this.#merge());
  }

  /** Makes a segment of the memtable, which is searched until the segment is complete. */
  * #flush(): Steps<void> {
    const memtable = this.#memtable;
    this.#fullMemtable = memtable;
    this.#memtable = new Memtable();
    this.#replace([], yield* createSegment(memtable));
    this.#fullMemtable = null;
  }

  /** Merges segments where they have become too many. */
  * #merge(): Steps<void> {
    for (;;) {
      const group = findMergeGroup(this.#segments);
      // Its result needs room beside it.
      if (group.length === 0 || this.bytes + sumBytes(group) > this.#bytesMax) break;
      this.#replace(group, yield* mergeSegments(group));
    }
    this.#isMerging = false;
  }

  /**
   * The slots of the books that a plan finds; the caller may change the set. Those that change
   * meanwhile may be among them or not.
   */
  * find(plan: SearchPlan, slotBound: number): Steps<BitSet> {
    const { memtables, segments } = this.#parts;
    const slots = new BitSet(slotBound);
    for (const segment of segments) {
      yield* findInSegment(segment, plan, slots);
      yield;
    }
    for (const memtable of memtables) yield* findInMemtable(memtable, plan, slots);
    return slots;
  }

  /** The corrections of those words that begin no word in the place of the books added so far. */
  findCorrections(
    words: readonly string[], place: CorrectedPlace, slotBound: number,
  ): Steps<WordCorrections> {
    return findCorrections(words, place, { ...this.#parts, slotBound });
  }

  /**
   * The parts to search, as they are now: they stay valid when a memtable becomes a segment
   * meanwhile.
   */
  get #parts(): Omit<IndexParts, 'slotBound'> {
    const full = this.#fullMemtable;
    const memtables = full === null ? [this.#memtable] : [full, this.#memtable];
    return { memtables, segments: this.#segments };
  }

  /** Replaces a group with a segment, or with nothing. */
  #replace(group: readonly Segment[], segment: Segment | null): void {
    const others = this.#segments.filter((one) => !group.includes(one));
    this.#segments = segment === null ? others : [...others, segment];
  }

  /** How many books the memtable may hold. */
  #computeBooksMax(): number {
    const share = this.#isFirstBuild ? Infinity : sumBooks(this.#segments) * MEMTABLE_SHARE;
    const booksMax = Math.min(share, this.#bytesMax * BOOKS_PER_BYTE);
    return Math.min(this.#memtableBooks * (this.#isFirstBuild ? FIRST_BUILD_FACTOR : 1),
      Math.max(MEMTABLE_BOOKS_MIN, booksMax));
  }
}

/** The segments to merge next; none when no merge is due. */
function findMergeGroup(segments: readonly Segment[]): readonly Segment[] {
  const wasteful = segments.find(({ liveCount, bookCount }) => liveCount * 2 < bookCount);
  if (wasteful !== undefined) return [wasteful];
  const largest = Math.max(...segments.map(({ bookCount }) => bookCount));
  const isDue = segments.length > SMALL_MIN
    && sumBooks(segments) - largest >= largest * SMALL_SHARE;
  return isDue ? segments : [];
}

function sumBytes(segments: readonly Segment[]): number {
  return segments.reduce((sum, { bytes }) => sum + bytes, 0);
}

function sumBooks(segments: readonly Segment[]): number {
  return segments.reduce((sum, { bookCount }) => sum + bookCount, 0);
}

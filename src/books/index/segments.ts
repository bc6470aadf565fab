/** The segments of the word index, and when they are merged. */
import type { Segment } from './segment.ts';

// Fewer small segments than this are not worth a merge.
const SMALL_MIN = 8;
// The large segment is written again when the small ones hold a quarter of its books: so each book
// is merged about five times, and among a million a query asks some 60 small segments at most.
const SMALL_SHARE = 1 / 4;

export class Segments {
  #all: readonly Segment[] = [];

  /** The segments as they are now: the list does not change later. */
  get all(): readonly Segment[] {
    return this.#all;
  }

  /** About how much memory they take. */
  get bytes(): number {
    return sumBytes(this.#all);
  }

  /** Removed documents count too, as they take room. */
  get bookCount(): number {
    return sumBooks(this.#all);
  }

  /** Replaces `group` with `segment`, or with nothing. */
  replace(group: readonly Segment[], segment: Segment | null): void {
    const others = this.#all.filter((one) => !group.includes(one));
    this.#all = segment === null ? others : [...others, segment];
  }

  clear(): void {
    this.#all = [];
  }

  /** Removes the book in a slot. */
  remove(slot: number): void {
    this.#all.some((segment) => segment.remove(slot));
  }

  /** The segments to merge next; none when no merge is due, or its result would find no room. */
  nextMerge(bytesMax: number): readonly Segment[] {
    const group = this.#nextGroup();
    return this.bytes + sumBytes(group) <= bytesMax ? group : [];
  }

  #nextGroup(): readonly Segment[] {
    const wasteful = this.#all.find(({ liveCount, bookCount }) =>
      liveCount * 2 < bookCount);
    if (wasteful !== undefined) return [wasteful];
    const largest = Math.max(...this.#all.map(({ bookCount }) => bookCount));
    const isDue = this.#all.length > SMALL_MIN
      && this.bookCount - largest >= largest * SMALL_SHARE;
    return isDue ? this.#all : [];
  }
}

function sumBytes(segments: readonly Segment[]): number {
  return segments.reduce((sum, { bytes }) => sum + bytes, 0);
}

function sumBooks(segments: readonly Segment[]): number {
  return segments.reduce((sum, { bookCount }) => sum + bookCount, 0);
}

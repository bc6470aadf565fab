/** Merges segments into one, without their removed books, in small steps beside queries. */
import type { Steps } from '../../base/turns.ts';
import { BitSet } from '../../base/structures/bit-set.ts';
import { PriorityQueue } from '../../base/structures/priority-queue.ts';
import { addPlaces, eachPlace, isBitmap } from './packed-postings.ts';
import { SegmentWriter } from './segment.ts';
import type { Segment } from './segment.ts';

const TERMS_PER_YIELD = 64;
// Up to this many places of a term are gathered as a sorted list, more as bits.
const LIST_MAX = 4096;
// How much longer the first varint of a list may become in a larger segment.
const BYTES_GROWN_MAX = 4;

/** A term of a segment, whose turn comes in the order of terms. */
type SegmentCursor = {
  readonly segment: Segment;
  /** The segment's index among all, in whose order places mostly rise. */
  readonly order: number;
  /** The term's index in the segment. */
  readonly index: number;
  readonly term: string;
};

/**
 * One segment of the live books of all; null when there are none. A book that is removed meanwhile
 * is not live in the result.
 */
export function* mergeSegments(segments: readonly Segment[]): Steps<Segment | null> {
  const firstSlot = Math.min(...segments.map((segment) => segment.firstSlot));
  const placeBound = Math.max(...segments.map((segment) =>
    segment.firstSlot + segment.placeBound)) - firstSlot;
  const sum = (read: (segment: Segment) => number): number =>
    segments.reduce((total, segment) => total + read(segment), 0);
  const terms = sum(({ termCount }) => termCount);
  const writer = new SegmentWriter({
    termCount: terms, termBytes: sum(({ termBytes }) => termBytes), firstSlot, placeBound,
    postingBytes: sum(({ postingBytes }) => postingBytes) + terms * BYTES_GROWN_MAX,
  });
  const cursors = createCursors(segments);
  const collector = new PlaceCollector(firstSlot, placeBound);
  for (let step = 1; ; step += 1) {
    if (step % TERMS_PER_YIELD === 0) yield;
    // The segments that have the next term, at that term.
    const holders = popSmallestTerm(cursors);
    const [first] = holders;
    if (first === undefined) break;
    first.segment.copyTermTo(first.index, writer);
    yield* collector.write(writer, holders);
    for (const { segment, order, index } of holders) push(cursors, segment, order, index + 1);
  }
  const live = collectLivePlaces(segments, firstSlot, placeBound);
  return live.next(0) < 0 ? null : writer.finish(live);
}

function createCursors(segments: readonly Segment[]): PriorityQueue<SegmentCursor> {
  const cursors = new PriorityQueue<SegmentCursor>(({ term, order }, other) =>
    term < other.term || (term === other.term && order < other.order));
  for (const [order, segment] of segments.entries()) push(cursors, segment, order, 0);
  return cursors;
}

function push(
  cursors: PriorityQueue<SegmentCursor>, segment: Segment, order: number, index: number,
): void {
  if (index < segment.termCount) cursors.push({ segment, order, index, term: segment.term(index) });
}

/** Takes out all cursors that are at the smallest term. */
function popSmallestTerm(cursors: PriorityQueue<SegmentCursor>): readonly SegmentCursor[] {
  const holders: SegmentCursor[] = [];
  for (let next = cursors.peek(); next !== undefined; next = cursors.peek()) {
    if (holders.length > 0 && holders[0]?.term !== next.term) break;
    holders.push(next);
    cursors.pop();
  }
  return holders;
}

/** Gathers the places of one term from all segments that have it. */
class PlaceCollector {
  readonly #firstSlot: number;
  readonly #placeBound: number;
  readonly #places = new Uint32Array(LIST_MAX);

  constructor(firstSlot: number, placeBound: number) {
    this.#firstSlot = firstSlot;
    this.#placeBound = placeBound;
  }

  /** Writes the term that `holders` are at, with its live places. */
  * write(writer: SegmentWriter, holders: readonly SegmentCursor[]): Steps<void> {
    let bound = 0;
    for (const { segment, index } of holders) {
      const start = segment.postingStart(index);
      // Each place of a list takes at least one byte.
      bound += isBitmap(segment.postings, start)
        ? segment.placeBound : segment.postingEnd(index) - start;
    }
    if (bound <= LIST_MAX) writer.addList(this.#places, 0, this.#gatherList(holders));
    else yield* this.#writeMany(writer, holders);
  }

  /** Gathers few places into `#places`, in rising order. Returns how many there are. */
  #gatherList(holders: readonly SegmentCursor[]): number {
    const places = this.#places;
    let count = 0;
    let isRising = true;
    for (const { segment, index } of holders) {
      const offset = segment.firstSlot - this.#firstSlot;
      const visit = (place: number): void => {
        if (!segment.live.has(place)) return;
        if (count > 0 && place + offset < (places[count - 1] ?? 0)) isRising = false;
        places[count] = place + offset;
        count += 1;
      };
      eachLivePlace(segment, index, visit);
    }
    if (!isRising) places.subarray(0, count).sort();
    return count;
  }

  /** Gathers many places as bits, and writes them in the form that is shorter. */
  * #writeMany(writer: SegmentWriter, holders: readonly SegmentCursor[]): Steps<void> {
    const all = new BitSet(this.#placeBound);
    for (const { segment, index } of holders) {
      const words = new Uint32Array(segment.live.words.length);
      addPlaces(words, segment.postings, segment.postingStart(index), segment.postingEnd(index));
      const wordOffset = (segment.firstSlot - this.#firstSlot) >>> 5;
      const live = segment.live.words;
      for (const [word, bits] of words.entries()) {
        if (bits === 0) continue;
        const target = word + wordOffset;
        all.words[target] = (all.words[target] ?? 0) | (bits & (live[word] ?? 0));
      }
      yield;
    }
    const count = all.count();
    // A bitmap takes a bit a place, a list a byte or more for each place in it.
    if (count * 8 >= this.#placeBound) {
      writer.addBitmap(all.words);
      return;
    }
    const places = new Uint32Array(count);
    let index = 0;
    for (let place = all.next(0); place >= 0; place = all.next(place + 1)) {
      places[index] = place;
      index += 1;
    }
    yield;
    writer.addList(places, 0, count);
  }
}

function eachLivePlace(segment: Segment, index: number, visit: (place: number) => void): void {
  const start = segment.postingStart(index);
  const end = segment.postingEnd(index);
  if (!isBitmap(segment.postings, start)) {
    eachPlace(segment.postings, start, end, visit);
    return;
  }
  const bits = new BitSet(segment.placeBound);
  addPlaces(bits.words, segment.postings, start, end);
  for (let place = bits.next(0); place >= 0; place = bits.next(place + 1)) visit(place);
}

function collectLivePlaces(
  segments: readonly Segment[], firstSlot: number, placeBound: number,
): BitSet {
  const live = new BitSet(placeBound);
  for (const segment of segments) {
    const wordOffset = (segment.firstSlot - firstSlot) >>> 5;
    for (const [word, bits] of segment.live.words.entries()) {
      if (bits === 0) continue;
      const target = word + wordOffset;
      live.words[target] = (live.words[target] ?? 0) | bits;
    }
  }
  return live;
}

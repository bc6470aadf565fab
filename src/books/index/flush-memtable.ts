/**
 * Makes a segment of a full memtable. The memtable numbers its documents as they came; a segment
 * knows a book by its place, its slot counted from the segment's first.
 */
import { BitSet } from '../../base/structures/bit-set.ts';
import { sortIndexes } from '../../base/structures/merge-sort.ts';
import type { Steps } from '../../base/turns.ts';
import type { Memtable } from './memtable.ts';
import { SegmentWriter } from './segment.ts';
import type { Segment } from './segment.ts';
import type { TermTable } from './term-table.ts';

const TERMS_PER_YIELD = 64;
const KEYS_PER_YIELD = 4096;
const PAIRS_PER_YIELD = 4096;
const POSTING_BYTES = 4;

/**
 * A segment of the memtable's live books; null when there are none. Nothing may be added to the
 * memtable meanwhile; books may be removed.
 */
export function* createSegment(memtable: Memtable): Steps<Segment | null> {
  const { terms } = memtable;
  const [firstSlot, placeBound] = findSlotRange(memtable);
  if (placeBound === 0) return null;
  const writer = new SegmentWriter({
    termCount: terms.count, termBytes: terms.end(terms.count - 1),
    postingBytes: terms.count * POSTING_BYTES, firstSlot, placeBound,
  });
  const order = yield* sortTerms(terms);
  const { places, starts, ends } = yield* collectPlacesByTerm(memtable, firstSlot);
  for (let index = 0; index < order.length; index += 1) {
    if (index % TERMS_PER_YIELD === 0) yield;
    const term = order[index] ?? 0;
    const start = starts[term] ?? 0;
    const end = ends[term] ?? 0;
    if (!isRising(places, start, end)) places.subarray(start, end).sort();
    writer.setTerm(terms.bytes, terms.start(term), terms.end(term));
    writer.addList(places, start, end);
  }
  return writer.finish(collectLivePlaces(memtable, firstSlot, placeBound));
}

/**
 * The numbers of the terms in the order of their bytes. The first bytes are compared as one number:
 * that decides nearly always, in a third of the time.
 */
function* sortTerms(terms: TermTable): Steps<Uint32Array> {
  const keys = new Float64Array(terms.count);
  for (let term = 0; term < terms.count; term += 1) {
    keys[term] = terms.sortKey(term);
    if (term % KEYS_PER_YIELD === 0) yield;
  }
  return yield* sortIndexes(terms.count, (left, right) =>
    (keys[left] ?? 0) - (keys[right] ?? 0) || terms.compareRest(left, right));
}

type PlacesByTerm = {
  /** The places of the live books that have a term, term by term. */
  readonly places: Uint32Array;
  /** The end of each term's places. */
  readonly ends: Uint32Array;
  /** The start of each term's places. */
  readonly starts: Uint32Array;
};

function* collectPlacesByTerm(
  { terms, postings, slots, live }: Memtable, firstSlot: number,
): Steps<PlacesByTerm> {
  const starts = new Uint32Array(terms.count);
  let start = 0;
  for (let term = 0; term < terms.count; term += 1) {
    starts[term] = start;
    start += postings.documentCount(term);
  }
  yield;
  const ends = starts.slice();
  const places = new Uint32Array(start);
  for (let pair = 0; pair < postings.count; pair += 1) {
    if (pair % PAIRS_PER_YIELD === 0) yield;
    const document = postings.document(pair);
    if (!live.has(document)) continue;
    const term = postings.term(pair);
    const end = ends[term] ?? 0;
    places[end] = (slots[document] ?? 0) - firstSlot;
    ends[term] = end + 1;
  }
  return { places, starts, ends };
}

function isRising(places: Uint32Array, start: number, end: number): boolean {
  for (let index = start + 1; index < end; index += 1) {
    if ((places[index] ?? 0) < (places[index - 1] ?? 0)) return false;
  }
  return true;
}

/** Called at the end, because books may be removed while the segment is being written. */
function collectLivePlaces(
  { live, slots }: Memtable, firstSlot: number, placeBound: number,
): BitSet {
  const places = new BitSet(placeBound);
  for (let document = live.next(0); document >= 0; document = live.next(document + 1)) {
    places.add((slots[document] ?? 0) - firstSlot);
  }
  return places;
}

/** The slot at which the segment begins, and how many places it has; none if no book is live. */
function findSlotRange(
  { live, slots }: Memtable,
): readonly [firstSlot: number, placeBound: number] {
  let first = Infinity;
  let last = -1;
  for (let document = live.next(0); document >= 0; document = live.next(document + 1)) {
    first = Math.min(first, slots[document] ?? 0);
    last = Math.max(last, slots[document] ?? 0);
  }
  if (last < 0) return [0, 0];
  // A multiple of 32, so that the places of two segments differ by whole words of a BitSet.
  const firstSlot = first - first % 32;
  return [firstSlot, last - firstSlot + 1];
}

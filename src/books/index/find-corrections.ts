/**
 * Finds what was meant by the mistyped words of a query, among the terms of the word index. A word
 * that begins no word of the catalog becomes the nearest one: that of the least edit distance, then
 * that of most books, then the first by code points.
 *
 * A segment's terms are sorted, so they are walked through as a trie: where no near word can begin
 * as a term does, all terms with that beginning are skipped. The terms of a memtable are looked at
 * one by one, but mostly no further than their second letter. A word takes some 4 ms among 150,000
 * distinct words of a million books.
 */
import { EditDistanceRows } from '../../base/text/edit-distance.ts';
import { decodeByteString, encodeByteString } from '../../base/text/fold.ts';
import { BitSet } from '../../base/structures/bit-set.ts';
import type { Steps } from '../../base/turns.ts';
import { correctionDistanceMax } from '../query/corrections.ts';
import type { WordCorrections } from '../query/corrections.ts';
import type { Memtable } from './memtable.ts';
import { addPlaces } from './packed-postings.ts';
import {
  AFTER_PREFIX, PLACE_TAGS, findInMemtable, findInSegment, intersect,
} from './search-plan.ts';
import type { SearchPlan } from './search-plan.ts';
import type { Segment } from './segment.ts';

/** The parts of the word index, as they are when the search for corrections begins. */
export type IndexParts = {
  readonly memtables: readonly Memtable[];
  readonly segments: readonly Segment[];
  /** All slots are below it. */
  readonly slotBound: number;
};

/** A word of the catalog that is near to the mistyped one. */
type NearWord = {
  /** A byte string, without tag. */
  readonly word: string;
  readonly distance: number;
  readonly bookCount: number;
};

const TAG_BYTES = 1;
const TERMS_PER_YIELD = 256;
const PAIRS_PER_YIELD = 2048;

/**
 * The corrections of words by those that books have in the place. Words that begin such a word, and
 * those to which nothing is near, have none.
 */
export function* findCorrections(
  words: readonly string[], place: keyof typeof PLACE_TAGS, parts: IndexParts,
): Steps<WordCorrections> {
  const tags = PLACE_TAGS[place];
  const corrections = new Map<string, string>();
  for (const word of words) {
    if (yield* beginsTerm(word, tags, parts)) continue;
    const nearest = yield* findNearest(word, tags, parts);
    if (nearest !== null) corrections.set(word, decodeByteString(nearest.word));
  }
  return corrections;
}

/** Whether a book has a word that begins with this one. */
function* beginsTerm(
  word: string, tags: readonly string[], { memtables, segments, slotBound }: IndexParts,
): Steps<boolean> {
  const prefixes = tags.map((tag) => tag + encodeByteString(word));
  const groups = [[[{ prefixes, isWholeTerm: false }]]];
  const plan: SearchPlan = { groups, excluded: null, isExact: true };
  const slots = new BitSet(slotBound);
  for (const segment of segments) {
    yield* findInSegment(segment, plan, slots);
    if (slots.next(0) >= 0) return true;
    yield;
  }
  for (const memtable of memtables) yield* findInMemtable(memtable, plan, slots);
  return slots.next(0) >= 0;
}

function* findNearest(
  word: string, tags: readonly string[], { memtables, segments }: IndexParts,
): Steps<NearWord | null> {
  const matcher = new NearTermMatcher(word);
  const bookCounts = new Map<string, NearWord>();
  for (const segment of segments) {
    const terms = yield* findNearTerms(segment, tags, matcher);
    yield* countInSegment(segment, terms, bookCounts);
  }
  for (const memtable of memtables) yield* countInMemtable(memtable, tags, matcher, bookCounts);
  let nearest: NearWord | null = null;
  for (const nearWord of bookCounts.values()) {
    if (nearest === null || compareNearWords(nearWord, nearest) < 0) nearest = nearWord;
  }
  return nearest;
}

function compareNearWords(left: NearWord, right: NearWord): number {
  return left.distance - right.distance || right.bookCount - left.bookCount
    || (left.word < right.word ? -1 : 1);
}

/** The terms of one word: one with each tag at most. */
type NearTerms = { readonly distance: number; readonly terms: number[] };

/** The near words of a segment, also those whose books are gone. */
function* findNearTerms(
  segment: Segment, tags: readonly string[], matcher: NearTermMatcher,
): Steps<ReadonlyMap<string, NearTerms>> {
  const near = new Map<string, NearTerms>();
  let looks = 0;
  for (const tag of tags) {
    const end = segment.lowerBound(tag + AFTER_PREFIX);
    let term = segment.lowerBound(tag);
    while (term < end) {
      looks += 1;
      if (looks % TERMS_PER_YIELD === 0) yield;
      const start = segment.termStart(term) + TAG_BYTES;
      const distance = matcher.match(segment.terms, start, segment.termEnd(term));
      if (matcher.deadEnd !== null) {
        term = segment.skipPrefix(term, matcher.deadEnd - start + TAG_BYTES);
        continue;
      }
      if (distance <= matcher.distanceMax) {
        const word = segment.term(term).slice(TAG_BYTES);
        const others = near.get(word)?.terms ?? [];
        near.set(word, { distance, terms: [...others, term] });
      }
      term += 1;
    }
  }
  return near;
}

function* countInSegment(
  segment: Segment, near: ReadonlyMap<string, NearTerms>, bookCounts: Map<string, NearWord>,
): Steps<void> {
  for (const [word, { distance, terms }] of near) {
    const places = new BitSet(segment.placeBound);
    for (const term of terms) {
      const start = segment.postingStart(term);
      addPlaces(places.words, segment.postings, start, segment.postingEnd(term));
    }
    intersect(places.words, segment.live.words);
    addBooks(bookCounts, word, distance, places.count());
    yield;
  }
}

function* countInMemtable(
  { terms, postings, live }: Memtable, tags: readonly string[], matcher: NearTermMatcher,
  bookCounts: Map<string, NearWord>,
): Steps<void> {
  const words = new Map<number, { word: string; distance: number }>();
  const tagBytes = tags.map((tag) => tag.charCodeAt(0));
  for (let term = 0; term < terms.count; term += 1) {
    if (term % TERMS_PER_YIELD === 0) yield;
    const start = terms.start(term);
    if (!tagBytes.includes(terms.bytes[start] ?? 0)) continue;
    const distance = matcher.match(terms.bytes, start + TAG_BYTES, terms.end(term));
    if (distance > matcher.distanceMax) continue;
    const word = terms.bytes.toString('latin1', start + TAG_BYTES, terms.end(term));
    words.set(term, { word, distance });
  }
  if (words.size === 0) return;
  // The documents of pairs rise, so a document that has a word in two terms comes twice in a row.
  const lastDocuments = new Map<string, number>();
  for (let pair = 0; pair < postings.count; pair += 1) {
    if (pair % PAIRS_PER_YIELD === 0) yield;
    const near = words.get(postings.term(pair));
    if (near === undefined) continue;
    const document = postings.document(pair);
    if (!live.has(document) || lastDocuments.get(near.word) === document) continue;
    lastDocuments.set(near.word, document);
    addBooks(bookCounts, near.word, near.distance, 1);
  }
}

function addBooks(
  bookCounts: Map<string, NearWord>, word: string, distance: number, count: number,
): void {
  if (count === 0) return;
  const bookCount = (bookCounts.get(word)?.bookCount ?? 0) + count;
  bookCounts.set(word, { word, distance, bookCount });
}

/** Compares terms with a mistyped word, letter by letter, as far as they may be near to it. */
class NearTermMatcher {
  readonly distanceMax: number;
  /**
   * The end of the last term's letters with which no near word begins; null when it was compared
   * to its end.
   */
  deadEnd: number | null = null;
  readonly #rows: EditDistanceRows;

  constructor(word: string) {
    this.distanceMax = correctionDistanceMax(word);
    this.#rows = new EditDistanceRows(word, this.distanceMax);
  }

  /** The distance of the word in UTF-8 from `start` to `end`, which is too large at a `deadEnd`. */
  match(bytes: Buffer, start: number, end: number): number {
    this.deadEnd = null;
    let depth = 0;
    for (let at = start; at < end;) {
      const length = letterBytes(bytes[at] ?? 0);
      const letter = readLetter(bytes, at, length);
      at += length;
      if (!this.#rows.setLetter(depth, letter)) {
        this.deadEnd = at;
        return this.distanceMax + 1;
      }
      depth += 1;
    }
    return this.#rows.distance(depth);
  }
}

/** How many bytes a letter has in UTF-8, by its first. */
function letterBytes(first: number): number {
  if (first < 0x80) return 1;
  if (first < 0xe0) return 2;
  return first < 0xf0 ? 3 : 4;
}

/** The code point of a letter in UTF-8, which is well-formed. */
function readLetter(bytes: Buffer, at: number, length: number): number {
  const first = bytes[at] ?? 0;
  if (length === 1) return first;
  let letter = first & (0xff >> (length + 1));
  for (let index = 1; index < length; index += 1) {
    letter = letter * 64 + ((bytes[at + index] ?? 0) & 0x3f);
  }
  return letter;
}

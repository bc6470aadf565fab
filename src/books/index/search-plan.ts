/**
 * Searches the memtable and the segments, the parts of the index. All words of a query must be in
 * one book, and a book is in one part only, so each part is searched by itself: sets of places (of
 * a segment) or documents (of the memtable) are intersected as bits, 32 in an element, the rarest
 * words first.
 */
import { encodeByteString } from '../../base/text/fold.ts';
import type { BookFilter } from '../query/book-filter.ts';
import type { IndexedPlace } from '../query/conditions.ts';
import type { Steps } from '../../base/turns.ts';
import { BitSet } from '../../base/structures/bit-set.ts';
import { AUTHOR, KEYWORD, PUBLISHER, TEXT } from './memtable.ts';
import type { Memtable } from './memtable.ts';
import { addPlaces } from './packed-postings.ts';
import type { Segment } from './segment.ts';
import { deriveTermPrefixes } from '../query/words.ts';
import type { Clause } from '../query/words.ts';

/**
 * A book matches when all groups hold and it has no excluded term: a group holds by one of its
 * alternatives, an alternative by all its terms.
 */
export type SearchPlan = {
  readonly groups: readonly (readonly Alternative[])[];
  readonly excluded: TermMatch | null;
  /** Whether each book that it finds matches; else the texts of the books must be checked. */
  readonly isExact: boolean;
};
type Alternative = readonly TermMatch[];
/** Matches a term that begins with one of the prefixes or, if `isWholeTerm`, equals one. */
type TermMatch = { readonly prefixes: readonly string[]; readonly isWholeTerm: boolean };

// How many bytes of postings (under 0.2 ms) to process before yielding.
const BYTES_PER_YIELD = 32_768;
// No term has this byte, which is not in UTF-8, so it sorts after all terms with the same start.
export const AFTER_PREFIX = '\xff';
const AFTER_TERM = '\0';
// Only numbers with hyphens and initials have two alternatives, so few names come near it.
const EXPANSION_MAX = 16;

export function planSearch(filter: BookFilter): SearchPlan {
  const groups: (readonly Alternative[])[] = [];
  let isExact = true;
  for (const { row, wanted } of filter.words) {
    if (row.isScanned === true) {
      isExact = false;
      continue;
    }
    const [clauses = [], ...others] = wanted;
    const expansion = others.length === 0 ? { clauses, isExact: true } : expandClauses(wanted);
    isExact &&= expansion.isExact;
    for (const clause of expansion.clauses) {
      const group = createGroup(clause, PLACE_TAGS[row.place]);
      isExact &&= group.isExact;
      // A clause that any book may meet, such as one of signs, narrows nothing.
      if (!group.alternatives.some(({ length }) => length === 0)) groups.push(group.alternatives);
    }
  }
  let excluded: TermMatch | null = null;
  for (const { row: { term, isExcluded }, wanted } of filter.values) {
    if (term === undefined) continue;
    // An ISBN is a word as others are, which may stand in a title, too.
    isExact &&= term === 'keyword';
    const tag = term === 'keyword' ? KEYWORD : TEXT;
    const prefixes = wanted.map((value) => tag + encodeByteString(String(value)));
    const match = { prefixes, isWholeTerm: true };
    if (isExcluded === true) excluded = match;
    else groups.push([[match]]);
  }
  return { groups, excluded, isExact };
}

/** The tags of the terms of each place. */
export const PLACE_TAGS: Readonly<Record<IndexedPlace, readonly string[]>> = {
  anyText: [TEXT, AUTHOR], author: [AUTHOR], publisher: [PUBLISHER],
};

/** A book matches the clause if it has all terms of one of the alternatives; see `isExact`. */
function createGroup(clause: Clause, tags: readonly string[]): {
  readonly alternatives: readonly Alternative[]; readonly isExact: boolean;
} {
  const alternatives: Alternative[] = [];
  let isExact = true;
  for (const words of clause) {
    const terms: TermMatch[] = [];
    for (const word of words) {
      const { prefixes, isExact: isWordExact } = deriveTermPrefixes(word);
      isExact &&= isWordExact;
      for (const start of prefixes) {
        terms.push({ prefixes: tags.map((tag) => tag + start), isWholeTerm: false });
      }
    }
    alternatives.push(terms);
  }
  return { alternatives, isExact };
}

/**
 * Several names, any of which will do, as one clause: each of its alternatives takes one from each
 * clause of a name. A clause that would make too many is left to the check of the books' texts.
 */
function expandClauses(
  names: readonly (readonly Clause[])[],
): { readonly clauses: readonly Clause[]; readonly isExact: boolean } {
  const clauses: Clause[number][] = [];
  let isExact = true;
  for (const name of names) {
    let alternatives: Clause = [[]];
    for (const clause of name) {
      if (alternatives.length * clause.length > EXPANSION_MAX) {
        isExact = false;
        continue;
      }
      alternatives = alternatives.flatMap((head) => clause.map((words) => [...head, ...words]));
    }
    clauses.push(...alternatives);
  }
  return { clauses: [clauses], isExact };
}

/** Adds the slots of a segment's live books that match to `into`. */
export function* findInSegment(segment: Segment, plan: SearchPlan, into: BitSet): Steps<void> {
  const groups: GroupRanges[] = [];
  for (const group of plan.groups) {
    const ranges = findGroupRanges(segment, group);
    // If no book here has some word, nothing matches, and nothing need be unpacked.
    if (ranges.bytes === 0) return;
    groups.push(ranges);
  }
  groups.sort((left, right) => left.bytes - right.bytes);
  const matches = Uint32Array.from(segment.live.words);
  for (const { alternatives } of groups) {
    const union = new Uint32Array(matches.length);
    for (const terms of alternatives) {
      unite(union, yield* intersectPlaces(segment, terms, matches.length));
    }
    if (!intersect(matches, union)) return;
  }
  if (plan.excluded !== null) {
    const ranges = [findTermRanges(segment, plan.excluded)];
    subtract(matches, yield* intersectPlaces(segment, ranges, matches.length));
  }
  const target = into.words;
  const offset = segment.firstSlot >>> 5;
  for (let index = 0; index < matches.length; index += 1) {
    const bits = matches[index] ?? 0;
    if (bits !== 0) target[index + offset] = (target[index + offset] ?? 0) | bits;
  }
}

/** Adds the slots of a memtable's live books that match to `into`. */
export function* findInMemtable(memtable: Memtable, plan: SearchPlan, into: BitSet): Steps<void> {
  const bound = memtable.slots.length;
  const matches = new BitSet(bound);
  matches.words.fill(0xffff_ffff);
  for (const group of plan.groups) {
    const union = new BitSet(bound);
    for (const terms of group) {
      const documents = yield* intersectDocuments(memtable, terms, bound);
      unite(union.words, documents);
    }
    if (!intersect(matches.words, union.words)) return;
  }
  if (plan.excluded !== null) {
    subtract(matches.words, yield* intersectDocuments(memtable, [plan.excluded], bound));
  }
  let document = matches.next(0);
  while (document >= 0 && document < bound) {
    if (memtable.live.has(document)) into.add(memtable.slots[document] ?? 0);
    document = matches.next(document + 1);
  }
}

/** The terms of a segment that a `TermMatch` matches. */
type TermRanges = {
  readonly ranges: readonly (readonly [first: number, end: number])[];
  /** The bytes of their postings: what it costs to unpack them. */
  readonly bytes: number;
};

/** The terms of a group, and what its dearest alternative costs by its rarest term. */
type GroupRanges = {
  readonly alternatives: readonly (readonly TermRanges[])[]; readonly bytes: number;
};

function findGroupRanges(segment: Segment, group: readonly Alternative[]): GroupRanges {
  const alternatives: TermRanges[][] = [];
  let bytes = 0;
  for (const terms of group) {
    const ranges: TermRanges[] = [];
    let rarestBytes = Infinity;
    for (const term of terms) {
      const termRanges = findTermRanges(segment, term);
      ranges.push(termRanges);
      rarestBytes = Math.min(rarestBytes, termRanges.bytes);
    }
    alternatives.push(ranges);
    bytes = Math.max(bytes, rarestBytes);
  }
  return { alternatives, bytes };
}

function findTermRanges(segment: Segment, { prefixes, isWholeTerm }: TermMatch): TermRanges {
  const ranges: (readonly [number, number])[] = [];
  let bytes = 0;
  for (const prefix of prefixes) {
    const first = segment.lowerBound(prefix);
    const end = segment.lowerBound(prefix + (isWholeTerm ? AFTER_TERM : AFTER_PREFIX));
    if (first >= end) continue;
    ranges.push([first, end]);
    bytes += segment.postingEnd(end - 1) - segment.postingStart(first);
  }
  return { ranges, bytes };
}

/** The places of the books that have a term of each kind, the rarest kind first. */
function* intersectPlaces(
  segment: Segment, terms: readonly TermRanges[], elementCount: number,
): Steps<Uint32Array> {
  let common: Uint32Array | null = null;
  let work = 0;
  for (const { ranges } of terms.toSorted((left, right) => left.bytes - right.bytes)) {
    const places = new Uint32Array(elementCount);
    for (const [first, end] of ranges) {
      for (let term = first; term < end; term += 1) {
        const start = segment.postingStart(term);
        const stop = segment.postingEnd(term);
        addPlaces(places, segment.postings, start, stop);
        work += stop - start;
        if (work < BYTES_PER_YIELD) continue;
        work = 0;
        yield;
      }
    }
    if (common === null) common = places;
    else if (!intersect(common, places)) return common;
  }
  return common ?? new Uint32Array(elementCount);
}

/** The documents that have a term of each kind. */
function* intersectDocuments(
  memtable: Memtable, terms: readonly TermMatch[], bound: number,
): Steps<Uint32Array> {
  const common = new BitSet(bound);
  common.words.fill(0xffff_ffff);
  for (const { prefixes, isWholeTerm } of terms) {
    const documents = new BitSet(bound);
    for (const start of prefixes) yield* memtable.addMatches(start, isWholeTerm, documents);
    if (!intersect(common.words, documents.words)) break;
  }
  return common.words;
}

/** Adds the numbers in `right` to `left`. */
function unite(left: Uint32Array, right: Uint32Array): void {
  for (let index = 0; index < left.length; index += 1) {
    left[index] = (left[index] ?? 0) | (right[index] ?? 0);
  }
}

/** Removes the numbers in `right` from `left`. */
function subtract(left: Uint32Array, right: Uint32Array): void {
  for (let index = 0; index < left.length; index += 1) {
    left[index] = (left[index] ?? 0) & ~(right[index] ?? 0);
  }
}

/** Reduces `left` to the numbers that are in both. Returns whether there are any. */
export function intersect(left: Uint32Array, right: Uint32Array): boolean {
  let commonBits = 0;
  for (let index = 0; index < left.length; index += 1) {
    const bits = (left[index] ?? 0) & (right[index] ?? 0);
    left[index] = bits;
    commonBits |= bits;
  }
  return commonBits !== 0;
}

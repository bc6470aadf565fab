/**
 * The part of the word index that takes new books one by one until it is full. A book that is
 * indexed again becomes a new document, and its old one is removed.
 */
import { encodeByteString, foldCase } from '../../base/text/fold.ts';
import type { SearchableBook } from '../query/match.ts';
import type { Work } from '../../base/turns.ts';
import { Bits } from '../../base/structures/bit-set.ts';
import { SegmentWriter } from './segment.ts';
import type { Segment } from './segment.ts';
import { eachTerm } from '../query/words.ts';
import { sortIndexes } from '../../base/structures/merge-sort.ts';

/** The first letter of a term says which member it is from: one dictionary serves all filters. */
export const TEXT = 't';
export const AUTHOR = 'a';
/** A whole keyword, case folded. */
export const KEYWORD = 'k';

// Long texts with many words fill a memtable before it has all its books.
const TERMS_MAX = 32_768;
const TERMS_PER_YIELD = 64;

export class Memtable {
  /** The documents that have each term, in rising order. */
  readonly terms = new Map<string, number[]>();
  /** The slot of each document. */
  readonly slots: number[] = [];
  readonly #documentOf = new Map<number, number>();
  readonly #documentsMax: number;

  constructor(documentsMax: number) {
    this.#documentsMax = documentsMax;
  }

  get isFull(): boolean {
    return this.slots.length >= this.#documentsMax || this.terms.size >= TERMS_MAX;
  }

  /** Any earlier document of the slot must have been removed. */
  add(slot: number, book: SearchableBook): void {
    const document = this.slots.length;
    this.slots.push(slot);
    this.#documentOf.set(slot, document);
    const addText = (term: string): void => this.#addTerm(TEXT + term, document);
    eachTerm(book.title, addText);
    if (book.subtitle !== undefined) eachTerm(book.subtitle, addText);
    if (book.isbn !== undefined) addText(book.isbn);
    for (const { name } of book.authors ?? []) {
      eachTerm(name, (term) => this.#addTerm(AUTHOR + term, document));
    }
    for (const keyword of book.keywords ?? []) {
      eachTerm(keyword, addText);
      this.#addTerm(KEYWORD + encodeByteString(foldCase(keyword)), document);
    }
  }

  /** Removes the book in a slot, if it is here. Returns whether it was. */
  remove(slot: number): boolean {
    return this.#documentOf.delete(slot);
  }

  isLive(document: number): boolean {
    return this.#documentOf.get(this.slots[document] ?? -1) === document;
  }

  #addTerm(term: string, document: number): void {
    const documents = this.terms.get(term);
    if (documents === undefined) this.terms.set(term, [document]);
    else if (documents.at(-1) !== document) documents.push(document);
  }
}

/** A segment of the live books; null when there are none. Nothing may be added meanwhile. */
export function* segmentOf(memtable: Memtable): Work<Segment | null> {
  const terms = [...memtable.terms.keys()];
  const order = yield* sortIndexes(terms.length, (left, right) =>
    (terms[left] ?? '') < (terms[right] ?? '') ? -1 : 1);
  const [firstSlot, placeBound] = rangeOf(memtable);
  if (placeBound === 0) return null;
  const writer = new SegmentWriter({
    terms: terms.length, termBytes: terms.reduce((sum, { length }) => sum + length, 0),
    postingBytes: terms.length * 4, firstSlot, placeBound,
  });
  const places = new Uint32Array(memtable.slots.length);
  for (const [index, rank] of order.entries()) {
    if (index % TERMS_PER_YIELD === 0) yield;
    const term = terms[rank] ?? '';
    let count = 0;
    let isRising = true;
    for (const document of memtable.terms.get(term) ?? []) {
      if (!memtable.isLive(document)) continue;
      const place = (memtable.slots[document] ?? 0) - firstSlot;
      if (count > 0 && place < (places[count - 1] ?? 0)) isRising = false;
      places[count] = place;
      count += 1;
    }
    if (!isRising) places.subarray(0, count).sort();
    writer.addList(term, places, count);
  }
  return writer.finish(liveOf(memtable, firstSlot, placeBound));
}

/** Read at the end, because books may be removed while the segment is being written. */
function liveOf(memtable: Memtable, firstSlot: number, placeBound: number): Bits {
  const live = new Bits(placeBound);
  for (const [document, slot] of memtable.slots.entries()) {
    if (memtable.isLive(document)) live.add(slot - firstSlot);
  }
  return live;
}

function rangeOf(memtable: Memtable): readonly [firstSlot: number, placeBound: number] {
  let first = Infinity;
  let last = -1;
  for (const [document, slot] of memtable.slots.entries()) {
    if (!memtable.isLive(document)) continue;
    first = Math.min(first, slot);
    last = Math.max(last, slot);
  }
  if (last < 0) return [0, 0];
  const firstSlot = first - first % 32;
  return [firstSlot, last - firstSlot + 1];
}

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
const TERMS_PER_BOOK_MAX = 8;
const TERMS_PER_YIELD = 64;

/** The documents that have a term, in rising order. */
type Documents = number[];
type Dictionary = Map<string, Documents>;

export class Memtable {
  // By first letter, which the terms here are without: to join it to each word, before it is known
  // that the word is new, took a tenth of the time of the build.
  readonly #dictionaries: ReadonlyMap<string, Dictionary> =
    new Map([TEXT, AUTHOR, KEYWORD].map((letter) => [letter, new Map()]));
  readonly #texts = this.dictionaryOf(TEXT);
  readonly #authors = this.dictionaryOf(AUTHOR);
  readonly #keywords = this.dictionaryOf(KEYWORD);
  // Of the whole names and keywords, which come again and again, those of all their terms: to take
  // them apart each time took another tenth.
  readonly #ofAuthor = new Map<string, readonly Documents[]>();
  readonly #ofKeyword = new Map<string, readonly Documents[]>();
  /** The slot of each document. */
  readonly slots: number[] = [];
  readonly #documentOf = new Map<number, number>();

  /** Whether it should take no more, when it is to hold so many. */
  isFullWith(documentsMax: number): boolean {
    return this.slots.length >= documentsMax
      || this.#texts.size + this.#authors.size + this.#keywords.size
        >= documentsMax * TERMS_PER_BOOK_MAX;
  }

  /** The terms of a first letter, without it. */
  dictionaryOf(letter: string): Dictionary {
    return this.#dictionaries.get(letter) ?? new Map();
  }

  /** All terms, each with its documents, in no order. */
  * terms(): Generator<readonly [term: string, documents: readonly number[]]> {
    for (const [letter, dictionary] of this.#dictionaries) {
      for (const [word, documents] of dictionary) yield [letter + word, documents];
    }
  }

  /** Any earlier document of the slot must have been removed. */
  add(slot: number, book: SearchableBook): void {
    const document = this.slots.length;
    this.slots.push(slot);
    this.#documentOf.set(slot, document);
    const addText = (term: string): void => append(documentsOf(this.#texts, term), document);
    eachTerm(book.title, addText);
    if (book.subtitle !== undefined) eachTerm(book.subtitle, addText);
    if (book.isbn !== undefined) addText(book.isbn);
    for (const { name } of book.authors ?? []) {
      for (const documents of this.#documentsOfAuthor(name)) append(documents, document);
    }
    for (const keyword of book.keywords ?? []) {
      for (const documents of this.#documentsOfKeyword(keyword)) append(documents, document);
    }
  }

  /** Removes the book in a slot, if it is here. Returns whether it was. */
  remove(slot: number): boolean {
    return this.#documentOf.delete(slot);
  }

  isLive(document: number): boolean {
    return this.#documentOf.get(this.slots[document] ?? -1) === document;
  }

  #documentsOfAuthor(name: string): readonly Documents[] {
    const known = this.#ofAuthor.get(name);
    if (known !== undefined) return known;
    const all: Documents[] = [];
    eachTerm(name, (term) => all.push(documentsOf(this.#authors, term)));
    this.#ofAuthor.set(name, all);
    return all;
  }

  #documentsOfKeyword(keyword: string): readonly Documents[] {
    const known = this.#ofKeyword.get(keyword);
    if (known !== undefined) return known;
    const all = [documentsOf(this.#keywords, encodeByteString(foldCase(keyword)))];
    eachTerm(keyword, (term) => all.push(documentsOf(this.#texts, term)));
    this.#ofKeyword.set(keyword, all);
    return all;
  }
}

function documentsOf(dictionary: Dictionary, term: string): Documents {
  const known = dictionary.get(term);
  if (known !== undefined) return known;
  const documents: Documents = [];
  dictionary.set(term, documents);
  return documents;
}

function append(documents: Documents, document: number): void {
  if (documents[documents.length - 1] !== document) documents.push(document);
}

/** A segment of the live books; null when there are none. Nothing may be added meanwhile. */
export function* segmentOf(memtable: Memtable): Work<Segment | null> {
  const terms: string[] = [];
  const lists: (readonly number[])[] = [];
  for (const [term, documents] of memtable.terms()) {
    terms.push(term);
    lists.push(documents);
  }
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
    for (const document of lists[rank] ?? []) {
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

/**
 * The part of the word index that takes new books one by one until it is full. A book that is
 * indexed again becomes a new document, and its old one is removed.
 *
 * Words of plain ASCII, which most are, go from the bytes of the book into the table of terms
 * without a string in between. Any other text is decoded, and takes the way that words of queries
 * take too (`query/words.ts`).
 */
import { encodeByteString, foldCase } from '../../base/text/fold.ts';
import type { Work } from '../../base/turns.ts';
import { Bits } from '../../base/structures/bit-set.ts';
import { eachTerm } from '../query/words.ts';
import { Occurrences } from './occurrences.ts';
import { HASH_FACTOR, TermTable, hashOf, hashOfTag } from './term-table.ts';
import type { ByteMap } from './term-table.ts';
import { eachText, endOfString } from './texts.ts';
import type { TextSink } from './texts.ts';

/** The first letter of a term says which member it is from: one dictionary serves all filters. */
export const TEXT = 't';
export const AUTHOR = 'a';
/** A whole keyword, case folded. */
export const KEYWORD = 'k';

const TEXT_TAG = TEXT.charCodeAt(0);
const AUTHOR_TAG = AUTHOR.charCodeAt(0);
const KEYWORD_TAG = KEYWORD.charCodeAt(0);

// Long texts with many words fill a memtable before it has all its books.
const TERMS_PER_BOOK_MAX = 8;
const LOOKS_PER_YIELD = 2048;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
// In FOLDED, what a byte of a text is where it is no letter or digit of ASCII.
const BREAK = 0;
const END = 1;
/** Not ASCII, or escaped. */
const OTHER = 2;
const FOLDED = byteMap((byte, text) => {
  if (byte === QUOTE) return END;
  if (byte >= 0x80 || byte === BACKSLASH) return OTHER;
  return /[0-9a-z]/i.test(text) ? text.toLowerCase().charCodeAt(0) : BREAK;
});
const UPPER = byteMap((_, text) => text.toUpperCase().charCodeAt(0));
const SAME = byteMap((byte) => byte);

export class Memtable implements TextSink {
  readonly terms = new TermTable();
  readonly occurrences = new Occurrences();
  /** The slot of each document. */
  readonly slots: number[] = [];
  readonly #documentOf = new Map<number, number>();
  /** The documents that are not removed. */
  readonly live = new Bits();
  #document = 0;
  // Names and keywords come again and again: the texts that had to be decoded, as they are stored,
  // and the terms of each.
  readonly #decoded = new TermTable();
  readonly #termsOfDecoded: (readonly number[])[] = [];

  /** Whether it should take no more, when it is to hold so many. */
  isFullWith(documentsMax: number): boolean {
    return this.slots.length >= documentsMax
      || this.terms.count >= documentsMax * TERMS_PER_BOOK_MAX;
  }

  /** Adds a stored book. Any earlier document of the slot must have been removed. */
  add(slot: number, bytes: Buffer): void {
    this.#document = this.slots.length;
    this.slots.push(slot);
    this.#documentOf.set(slot, this.#document);
    this.live.add(this.#document);
    eachText(bytes, this);
  }

  /** Removes the book in a slot, if it is here. Returns whether it was. */
  remove(slot: number): boolean {
    const document = this.#documentOf.get(slot);
    if (document === undefined) return false;
    this.#documentOf.delete(slot);
    return this.live.delete(document);
  }

  /** Adds to `into` the documents of the terms that begin with `start`, or equal it. */
  * find(start: string, isWhole: boolean, into: Bits): Work<void> {
    const { terms, occurrences } = this;
    const prefix = Buffer.from(start, 'latin1');
    const found = new Bits(terms.count);
    for (let term = 0; term < terms.count; term += 1) {
      if (term % LOOKS_PER_YIELD === LOOKS_PER_YIELD - 1) yield;
      if (terms.matches(term, prefix, isWhole)) found.add(term);
    }
    for (let pair = 0; pair < occurrences.count; pair += 1) {
      if (pair % LOOKS_PER_YIELD === LOOKS_PER_YIELD - 1) yield;
      if (found.has(occurrences.term(pair))) into.add(occurrences.document(pair));
    }
  }

  addText(bytes: Buffer, start: number): number {
    return this.#addWords(TEXT_TAG, bytes, start);
  }

  addAuthor(bytes: Buffer, start: number): number {
    return this.#addWords(AUTHOR_TAG, bytes, start);
  }

  addKeyword(bytes: Buffer, start: number): number {
    let end = start;
    while (isPlain(bytes[end])) end += 1;
    if (FOLDED[bytes[end] ?? QUOTE] === OTHER) return this.#addDecoded(KEYWORD_TAG, bytes, start);
    const hash = hashOf(KEYWORD_TAG, bytes, start, end, UPPER);
    this.#add(this.terms.numberOf(hash, KEYWORD_TAG, bytes, start, end, UPPER));
    return this.#addWords(TEXT_TAG, bytes, start);
  }

  /** Adds the words of the text at `start`; where it is closed. */
  #addWords(tag: number, bytes: Buffer, start: number): number {
    const { terms } = this;
    const hashStart = hashOfTag(tag);
    for (let at = start; ; at += 1) {
      const wordStart = at;
      let hash = hashStart;
      let kind = FOLDED[bytes[at] ?? QUOTE] ?? END;
      while (kind > OTHER) {
        hash = Math.imul(hash ^ kind, HASH_FACTOR);
        at += 1;
        kind = FOLDED[bytes[at] ?? QUOTE] ?? END;
      }
      // A letter that is not ASCII may belong to the word before it. What was added before that
      // word stays as it is: nothing reaches over what is no letter.
      if (kind === OTHER) return this.#addDecoded(tag, bytes, start);
      if (at > wordStart) this.#add(terms.numberOf(hash, tag, bytes, wordStart, at, FOLDED));
      if (kind === END) return at;
    }
  }

  /** The same for any text, by way of a string. Keywords have their whole as a term too. */
  #addDecoded(tag: number, bytes: Buffer, start: number): number {
    const end = endOfString(bytes, start);
    const hash = hashOf(tag, bytes, start, end, SAME);
    const text = this.#decoded.numberOf(hash, tag, bytes, start, end, SAME);
    const terms = this.#termsOfDecoded[text]
      ?? this.#termsOf(tag, String(JSON.parse(bytes.toString('utf8', start - 1, end + 1))));
    this.#termsOfDecoded[text] = terms;
    for (const term of terms) this.#add(term);
    return end;
  }

  #termsOf(tag: number, text: string): readonly number[] {
    const numbers: number[] = [];
    const add = (ofTag: number, term: string): void => {
      const bytes = Buffer.from(term, 'latin1');
      const hash = hashOf(ofTag, bytes, 0, bytes.length, SAME);
      numbers.push(this.terms.numberOf(hash, ofTag, bytes, 0, bytes.length, SAME));
    };
    if (tag === KEYWORD_TAG) add(KEYWORD_TAG, encodeByteString(foldCase(text)));
    eachTerm(text, (term) => add(tag === KEYWORD_TAG ? TEXT_TAG : tag, term));
    return numbers;
  }

  #add(term: number): void {
    this.occurrences.add(term, this.#document);
  }
}

function byteMap(of: (byte: number, text: string) => number): ByteMap {
  return Uint8Array.from({ length: 256 }, (_, byte) => of(byte, String.fromCharCode(byte)));
}

/** Whether the byte is one of the text, and of ASCII. */
function isPlain(byte: number | undefined): boolean {
  const kind = FOLDED[byte ?? QUOTE];
  return kind !== END && kind !== OTHER;
}

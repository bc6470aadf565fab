/**
 * The part of the word index that takes new books one by one until it is full. Each becomes a
 * document, numbered from 0 in the order in which they come. A book that is indexed again becomes
 * a new document, and its old one is removed.
 *
 * Words of plain ASCII, which most are, without signs that may belong to a word, go from the bytes
 * of the book into the table of terms without a string in between. Any other text is decoded, and
 * takes the way that words of queries take too (`query/words.ts`).
 */
import { findStringEnd } from '../../base/json/parse.ts';
import { encodeByteString, foldCase } from '../../base/text/fold.ts';
import type { Steps } from '../../base/turns.ts';
import { BitSet } from '../../base/structures/bit-set.ts';
import { growInt32 } from '../../base/structures/typed-arrays.ts';
import { eachTerm } from '../query/words.ts';
import { HASH_FACTOR, TermTable, hashTerm, hashTag } from './term-table.ts';
import type { ByteMap } from './term-table.ts';
import { visitTexts } from './searchable-texts.ts';
import type { TokenVisitor } from './searchable-texts.ts';

/**
 * The tags of terms. The first letter of a term says which member it is from, so that one
 * dictionary serves all filters.
 */
export const TEXT = 't';
export const AUTHOR = 'a';
export const PUBLISHER = 'p';
/** A whole keyword, case folded. */
export const KEYWORD = 'k';

const TEXT_TAG = TEXT.charCodeAt(0);
const AUTHOR_TAG = AUTHOR.charCodeAt(0);
const PUBLISHER_TAG = PUBLISHER.charCodeAt(0);
const KEYWORD_TAG = KEYWORD.charCodeAt(0);

// Long texts with many words fill a memtable before it has all its books.
const TERMS_PER_BOOK_MAX = 8;
const CHECKS_PER_YIELD = 2048;

// An estimate of what a document takes in the list and the map of slots.
const DOCUMENT_BYTES = 40;
const FIRST_TERMS = 64;
const FIRST_PAIRS = 256;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Signs with which more than letters and digits is a word (base/text/words.ts). */
const WORD_SIGNS = '.+#';
// BYTE_CLASS holds one of these for a byte that is no ASCII letter or digit. For a letter or digit
// it holds the code of its lower-case form, which is larger than all of these.
const NO_WORD = 0;
const TEXT_END = 1;
/** Not ASCII, escaped, or a sign that may belong to a word. */
const NEEDS_DECODING = 2;
const BYTE_CLASS = createByteMap((byte, text) => {
  if (byte === QUOTE) return TEXT_END;
  if (byte >= 0x80 || byte === BACKSLASH || WORD_SIGNS.includes(text)) return NEEDS_DECODING;
  return /[0-9a-z]/i.test(text) ? text.toLowerCase().charCodeAt(0) : NO_WORD;
});
const TO_UPPER_CASE = createByteMap((_, text) => text.toUpperCase().charCodeAt(0));
const UNCHANGED = createByteMap((byte) => byte);

export class Memtable implements TokenVisitor {
  readonly terms = new TermTable();
  readonly postings = new MemtablePostings();
  /** The slot of each document. */
  readonly slots: number[] = [];
  readonly #documentBySlot = new Map<number, number>();
  /** The documents that are not removed. */
  readonly live = new BitSet();
  #currentDocument = 0;
  // The texts that had to be decoded, as they are stored, and the terms of each: names and keywords
  // repeat.
  readonly #decodedTexts = new TermTable();
  readonly #decodedTextTerms: (readonly number[])[] = [];

  /** About how much memory it takes. */
  get bytes(): number {
    return this.terms.byteLength + this.postings.byteLength + this.#decodedTexts.byteLength
      + this.slots.length * DOCUMENT_BYTES + this.live.words.byteLength;
  }

  /** Whether it should take no more books, when it is to hold at most `documentsMax`. */
  isFull(documentsMax: number): boolean {
    return this.slots.length >= documentsMax
      || this.terms.count >= documentsMax * TERMS_PER_BOOK_MAX;
  }

  /** Adds a stored book. Any earlier document of the slot must have been removed. */
  add(slot: number, bytes: Buffer): void {
    this.#currentDocument = this.slots.length;
    this.slots.push(slot);
    this.#documentBySlot.set(slot, this.#currentDocument);
    this.live.add(this.#currentDocument);
    visitTexts(bytes, this);
  }

  /** Removes the book in a slot, if it is here. Returns whether it was. */
  remove(slot: number): boolean {
    const document = this.#documentBySlot.get(slot);
    if (document === undefined) return false;
    this.#documentBySlot.delete(slot);
    return this.live.delete(document);
  }

  /** Adds to `into` the documents of the terms that begin with `prefixText`, or equal it. */
  * addMatches(prefixText: string, isWholeTerm: boolean, into: BitSet): Steps<void> {
    const { terms, postings } = this;
    const prefix = Buffer.from(prefixText, 'latin1');
    const matches = new BitSet(terms.count);
    for (let term = 0; term < terms.count; term += 1) {
      if (term % CHECKS_PER_YIELD === CHECKS_PER_YIELD - 1) yield;
      if (terms.matches(term, prefix, isWholeTerm)) matches.add(term);
    }
    for (let pair = 0; pair < postings.count; pair += 1) {
      if (pair % CHECKS_PER_YIELD === CHECKS_PER_YIELD - 1) yield;
      if (matches.has(postings.term(pair))) into.add(postings.document(pair));
    }
  }

  visitText(bytes: Buffer, start: number): number {
    return this.#addWords(TEXT_TAG, bytes, start);
  }

  visitAuthor(bytes: Buffer, start: number): number {
    return this.#addWords(AUTHOR_TAG, bytes, start);
  }

  visitPublisher(bytes: Buffer, start: number): number {
    return this.#addWords(PUBLISHER_TAG, bytes, start);
  }

  visitKeyword(bytes: Buffer, start: number): number {
    let end = start;
    while (isPlain(bytes[end])) end += 1;
    if (BYTE_CLASS[bytes[end] ?? QUOTE] === NEEDS_DECODING) {
      return this.#addDecoded(KEYWORD_TAG, bytes, start);
    }
    const hash = hashTerm(KEYWORD_TAG, bytes, start, end, TO_UPPER_CASE);
    this.#addPosting(this.terms.intern(hash, KEYWORD_TAG, bytes, start, end, TO_UPPER_CASE));
    return this.#addWords(TEXT_TAG, bytes, start);
  }

  /** Adds the words of the text at `start`. Returns where the text ends. */
  #addWords(tag: number, bytes: Buffer, start: number): number {
    const { terms } = this;
    const hashStart = hashTag(tag);
    for (let at = start; ; at += 1) {
      const wordStart = at;
      let hash = hashStart;
      let kind = BYTE_CLASS[bytes[at] ?? QUOTE] ?? TEXT_END;
      while (kind > NEEDS_DECODING) {
        hash = Math.imul(hash ^ kind, HASH_FACTOR);
        at += 1;
        kind = BYTE_CLASS[bytes[at] ?? QUOTE] ?? TEXT_END;
      }
      // A letter that is not ASCII may belong to the word before it, so the whole text is decoded.
      // Words that were added by now come again, which adds nothing.
      if (kind === NEEDS_DECODING) return this.#addDecoded(tag, bytes, start);
      if (at > wordStart) {
        this.#addPosting(terms.intern(hash, tag, bytes, wordStart, at, BYTE_CLASS));
      }
      if (kind === TEXT_END) return at;
    }
  }

  /** Does what `#addWords` does, for any text; for a keyword it adds the whole keyword as well. */
  #addDecoded(tag: number, bytes: Buffer, start: number): number {
    const end = findStringEnd(bytes, start);
    const hash = hashTerm(tag, bytes, start, end, UNCHANGED);
    const text = this.#decodedTexts.intern(hash, tag, bytes, start, end, UNCHANGED);
    const terms = this.#decodedTextTerms[text]
      ?? this.#internTerms(tag, String(JSON.parse(bytes.toString('utf8', start - 1, end + 1))));
    this.#decodedTextTerms[text] = terms;
    for (const term of terms) this.#addPosting(term);
    return end;
  }

  /** The terms of a decoded text. */
  #internTerms(tag: number, text: string): readonly number[] {
    const numbers: number[] = [];
    const add = (termTag: number, term: string): void => {
      const bytes = Buffer.from(term, 'latin1');
      const hash = hashTerm(termTag, bytes, 0, bytes.length, UNCHANGED);
      numbers.push(this.terms.intern(hash, termTag, bytes, 0, bytes.length, UNCHANGED));
    };
    if (tag === KEYWORD_TAG) add(KEYWORD_TAG, encodeByteString(foldCase(text)));
    eachTerm(text, (term) => add(tag === KEYWORD_TAG ? TEXT_TAG : tag, term));
    return numbers;
  }

  #addPosting(term: number): void {
    this.postings.add(term, this.#currentDocument);
  }
}

/**
 * The postings of a memtable: pairs of a term and a document that has it, in the order in which
 * they came, so that documents rise. They are sorted by term once, by counting, when the memtable
 * is full: an array for each term, or a linked list, took twice the time.
 */
class MemtablePostings {
  #count = 0;
  #terms = new Int32Array(FIRST_PAIRS);
  #documents = new Int32Array(FIRST_PAIRS);
  /** The last document of each term, plus one; 0 for a term without documents. */
  #lastDocuments = new Int32Array(FIRST_TERMS);
  #documentCounts = new Int32Array(FIRST_TERMS);

  get count(): number { return this.#count; }

  get byteLength(): number {
    return this.#terms.byteLength + this.#documents.byteLength + this.#lastDocuments.byteLength
      + this.#documentCounts.byteLength;
  }

  term(pair: number): number { return this.#terms[pair] ?? 0; }
  document(pair: number): number { return this.#documents[pair] ?? 0; }

  /** How many documents have a term. */
  documentCount(term: number): number { return this.#documentCounts[term] ?? 0; }

  /** Adds a pair, unless it is there already. `document` must not be lower than before. */
  add(term: number, document: number): void {
    if (term >= this.#lastDocuments.length) {
      this.#lastDocuments = growInt32(this.#lastDocuments, term + 1);
      this.#documentCounts = growInt32(this.#documentCounts, term + 1);
    }
    if (this.#lastDocuments[term] === document + 1) return;
    this.#lastDocuments[term] = document + 1;
    this.#documentCounts[term] = (this.#documentCounts[term] ?? 0) + 1;
    const pair = this.#count;
    if (pair === this.#terms.length) {
      this.#terms = growInt32(this.#terms, pair + 1);
      this.#documents = growInt32(this.#documents, pair + 1);
    }
    this.#terms[pair] = term;
    this.#documents[pair] = document;
    this.#count = pair + 1;
  }
}

function createByteMap(map: (byte: number, text: string) => number): ByteMap {
  return Uint8Array.from({ length: 256 }, (_, byte) => map(byte, String.fromCharCode(byte)));
}

/** Whether the byte needs no decoding and does not end the text. */
function isPlain(byte: number | undefined): boolean {
  const kind = BYTE_CLASS[byte ?? QUOTE];
  return kind !== TEXT_END && kind !== NEEDS_DECODING;
}

/**
 * Checks the text conditions of a query in the bytes of a stored book. It takes under a microsecond
 * where parsing the book and cutting its texts into words takes ten, so a scan of books that are
 * not indexed is quick enough for somebody who waits.
 *
 * Most texts are plain: all ASCII, without escapes and without signs that may belong to a word
 * (`.`, `+`, `#`). A plain text is what stands in the bytes; folding it only lowers the case of
 * its letters, and its words are the runs of letters and digits (base/text/words.ts). So it has a
 * word where that stands after any other byte, signs anywhere, and no word that is not ASCII or is
 * of an unspaced script. A book of ASCII alone whose bytes nowhere have a word, nor initials that
 * may be joined to it, is done with; else its texts are looked for. Any other text is decoded, and
 * cut into tokens.
 */
import { isAscii } from 'node:buffer';
import { findStringEnd } from '../../base/json/parse.ts';
import { hasWord, isSignsWord, tokenizeWithSigns } from '../../base/text/words.ts';
import type { TextToken, Word } from '../../base/text/words.ts';
import { visitTexts } from '../index/searchable-texts.ts';
import type { TokenVisitor } from '../index/searchable-texts.ts';
import type { BookFilter } from '../query/book-filter.ts';
import type { WordsPlace } from '../query/conditions.ts';

type SoughtTerm = {
  readonly word: Word;
  readonly place: WordsPlace;
  /** In lower case; null for what no plain text has. */
  readonly plain: string | null;
  /** Matches what begins initials that may have the word when they are joined. */
  readonly initials: RegExp | null;
  readonly isSigns: boolean;
};
type TermClause = readonly (readonly SoughtTerm[])[];
/** The place of a text in a book. */
type TextPlace = 'text' | 'keyword' | Exclude<WordsPlace, 'anyText'>;
/** All clauses of one of the alternatives must match. */
type TermCondition = readonly (readonly TermClause[])[];

export function createTextFilter({ words }: BookFilter): (bytes: Buffer) => boolean {
  const texts = new BookTexts(new Set(words.map(({ row }) => row.place)));
  const conditions: readonly TermCondition[] = words.map(({ row: { place }, wanted }) =>
    wanted.map((clauses) => clauses.map((clause) =>
      clause.map((list) => list.map((word) => createTerm(word, place))))));
  const hold = (has: (term: SoughtTerm) => boolean): boolean =>
    conditions.every((alternatives) => alternatives.some((clauses) =>
      clauses.every((clause) => clause.some((terms) => terms.every(has)))));
  return (bytes) => {
    const text = bytes.toString('latin1').toLowerCase();
    // Most books lack a word altogether.
    const isAsciiBook = isAscii(bytes) && !text.includes('\\');
    const isDone = isAsciiBook && !hold(({ plain, initials }) =>
      (plain !== null && text.includes(plain)) || initials?.test(text) === true);
    if (isDone) return false;
    texts.load(bytes, text, isAsciiBook);
    return hold((term) => texts.has(term));
  };
}

function createTerm(word: Word, place: WordsPlace): SoughtTerm {
  const isSigns = isSignsWord(word);
  const plain = ASCII_TEXT.test(word.text) && (isSigns || !word.isUnspaced)
    ? word.text.toLowerCase() : null;
  const [first, second] = plain ?? '';
  const initials = plain !== null && LETTERS.test(plain)
    ? new RegExp(`${first}\\.[\\s-]?${second}`) : null;
  return { word, place, plain, initials, isSigns };
}

const ASCII_TEXT = /^[\x00-\x5b\x5d-\x7f]*$/;
const LETTERS = /^[a-z]{2,}$/;
// Neither beyond ASCII, nor an escape, nor a sign that may belong to a word: `#`, `+` and `.`.
const PLAIN_TEXT = /^[\x00-\x22\x24-\x2a\x2c\x2d\x2f-\x5b\x5d-\x7f]*$/;

// So many decoded texts are remembered: names and keywords repeat. A longer text does not, and its
// tokens take some thirty times its length.
const DECODED_MAX = 1000;
const DECODED_LENGTH_MAX = 500;

/** The places of the texts in one book. */
class BookTexts implements TokenVisitor {
  #bytes: Buffer = Buffer.alloc(0);
  /** The bytes, one character each, in lower case as far as they are ASCII. */
  #text = '';
  #isAsciiBook = false;
  // The places in the next book overwrite these: a scan has a million books.
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  readonly #places: TextPlace[] = [];
  #count = 0;
  /** The texts of this book that are not plain. */
  #decoded: { readonly place: TextPlace; readonly tokens: readonly TextToken[] }[] = [];
  readonly #tokensByJson = new Map<string, readonly TextToken[]>();
  readonly #hasReviews: boolean;
  readonly visitMetadata?: (bytes: Buffer, start: number) => number;

  constructor(places: ReadonlySet<WordsPlace>) {
    this.#hasReviews = places.has('review');
    // A reader without this method is spared the members behind the reading.
    if (places.has('metadata')) {
      this.visitMetadata = (bytes, start) => this.#add(bytes, start, 'metadata');
    }
  }

  load(bytes: Buffer, text: string, isAsciiBook: boolean): void {
    this.#bytes = bytes;
    this.#text = text;
    this.#isAsciiBook = isAsciiBook;
    this.#count = 0;
    this.#decoded = [];
    visitTexts(bytes, this);
  }

  has(term: SoughtTerm): boolean {
    return (term.plain !== null && this.#hasPlain(term.plain, term))
      || this.#decoded.some(({ place, tokens }) =>
        isIn(place, term.place) && hasWord(tokens, term.word));
  }

  visitText(bytes: Buffer, start: number): number { return this.#add(bytes, start, 'text'); }
  visitAuthor(bytes: Buffer, start: number): number { return this.#add(bytes, start, 'author'); }
  visitKeyword(bytes: Buffer, start: number): number { return this.#add(bytes, start, 'keyword'); }

  visitReview(bytes: Buffer, start: number): void {
    if (this.#hasReviews) this.#add(bytes, start, 'review');
  }

  visitPublisher(bytes: Buffer, start: number): number {
    return this.#add(bytes, start, 'publisher');
  }

  #add(bytes: Buffer, start: number, place: TextPlace): number {
    const end = this.#isAsciiBook ? this.#text.indexOf('"', start) : findStringEnd(bytes, start);
    if (!PLAIN_TEXT.test(this.#text.slice(start, end))) {
      this.#decoded.push({ place, tokens: this.#decode(start, end, place) });
      return end;
    }
    this.#starts[this.#count] = start;
    this.#ends[this.#count] = end;
    this.#places[this.#count] = place;
    this.#count += 1;
    return end;
  }

  #decode(start: number, end: number, place: TextPlace): readonly TextToken[] {
    const json = this.#bytes.toString('utf8', start - 1, end + 1);
    const cachedTokens = this.#tokensByJson.get(json);
    if (cachedTokens !== undefined) return cachedTokens;
    const tokens = tokenizeWithSigns(String(JSON.parse(json)));
    // Titles and reviews do not repeat.
    if (place === 'text' || place === 'review' || json.length > DECODED_LENGTH_MAX) return tokens;
    if (this.#tokensByJson.size >= DECODED_MAX) this.#tokensByJson.clear();
    this.#tokensByJson.set(json, tokens);
    return tokens;
  }

  #hasPlain(text: string, { place, isSigns }: SoughtTerm): boolean {
    // Members after the last text, such as a description, are not looked at.
    const end = this.#ends[this.#count - 1] ?? 0;
    for (let at = this.#text.indexOf(text); at >= 0 && at < end;
      at = this.#text.indexOf(text, at + 1)) {
      const index = this.#findIndex(at);
      if (index < 0 || !isIn(this.#places[index], place)) continue;
      if (isSigns || !isLetterOrDigit(this.#text.charCodeAt(at - 1))) return true;
    }
    return false;
  }

  /** The index of the plain text that a character is in, or -1. Metadata may hold 2,000 texts. */
  #findIndex(at: number): number {
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (at >= (this.#ends[middle] ?? 0)) low = middle + 1;
      else high = middle;
    }
    return low < this.#count && at >= (this.#starts[low] ?? 0) ? low : -1;
  }
}

function isIn(place: TextPlace | undefined, soughtPlace: WordsPlace): boolean {
  return place === soughtPlace || (soughtPlace === 'anyText' && place !== 'publisher'
    && place !== 'review' && place !== 'metadata');
}

/** Whether it is the code of one in lower case. */
function isLetterOrDigit(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39);
}

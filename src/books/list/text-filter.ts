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
import { foldCase } from '../../base/text/fold.ts';
import { hasWord, isSignsWord, tokenizeWithSigns } from '../../base/text/words.ts';
import type { TextToken, Word } from '../../base/text/words.ts';
import { visitTexts } from '../index/searchable-texts.ts';
import type { TokenVisitor } from '../index/searchable-texts.ts';
import type { BookFilter } from '../query/parse-query.ts';
import { findStringEnd } from '../query/stored-json.ts';
import type { Clause } from '../query/words.ts';

/** Where a term may stand; `q` looks at all texts but publishers. A keyword is a whole term. */
type Place = 'text' | 'author' | 'publisher' | 'keyword' | 'anyText';
type SoughtTerm = {
  readonly word: Word;
  readonly place: Place;
  /** In lower case; null for what no plain text has. */
  readonly plain: string | null;
  /** Matches what begins initials that may have the word when they are joined. */
  readonly initials: RegExp | null;
  readonly isSigns: boolean;
};
type TermClause = readonly (readonly SoughtTerm[])[];
/** All clauses of one of the alternatives must match. */
type TermCondition = readonly (readonly TermClause[])[];

export class TextFilter {
  readonly #conditions: readonly TermCondition[];
  readonly #excludedTerms: readonly SoughtTerm[];
  readonly #texts = new BookTexts();

  constructor({ words, authors, publishers, keywords, excludedKeywords }: BookFilter) {
    const wholeKeywords = keywords.map((keyword) => [[[createKeywordTerm(keyword)]]]);
    this.#conditions = [
      createCondition([words], 'anyText'), createCondition(authors, 'author'),
      createCondition(publishers, 'publisher'), wholeKeywords,
    ].filter(({ length }) => length > 0);
    this.#excludedTerms = excludedKeywords.map(createKeywordTerm);
  }

  matches(bytes: Buffer): boolean {
    const text = bytes.toString('latin1').toLowerCase();
    // Most books lack a word altogether.
    const isAsciiBook = isAscii(bytes) && !text.includes('\\');
    const isDone = isAsciiBook && !this.#holds(({ plain, initials }) =>
      (plain !== null && text.includes(plain)) || initials?.test(text) === true);
    if (isDone) return false;
    this.#texts.load(bytes, text, isAsciiBook);
    return this.#holds((term) => this.#texts.has(term))
      && !this.#excludedTerms.some((term) => this.#texts.has(term));
  }

  #holds(has: (term: SoughtTerm) => boolean): boolean {
    return this.#conditions.every((alternatives) => alternatives.some((clauses) =>
      clauses.every((clause) => clause.some((terms) => terms.every(has)))));
  }
}

function createCondition(
  alternatives: readonly (readonly Clause[])[], place: Place,
): TermCondition {
  return alternatives.map((clauses) => clauses.map((clause) =>
    clause.map((words) => words.map((word) => createTerm(word, place)))));
}

function createKeywordTerm(keyword: string): SoughtTerm {
  return createTerm({ text: keyword, isUnspaced: false }, 'keyword');
}

function createTerm(word: Word, place: Place): SoughtTerm {
  const isSigns = isSignsWord(word);
  const plain = ASCII_TEXT.test(word.text) && (isSigns || !word.isUnspaced)
    ? word.text.toLowerCase() : null;
  const [first, second] = plain ?? '';
  const initials = plain !== null && place !== 'keyword' && LETTERS.test(plain)
    ? new RegExp(`${first}\\.[\\s-]?${second}`) : null;
  return { word, place, plain, initials, isSigns };
}

const ASCII_TEXT = /^[\x00-\x5b\x5d-\x7f]*$/;
const LETTERS = /^[a-z]{2,}$/;
// Neither beyond ASCII, nor an escape, nor a sign that may belong to a word: `#`, `+` and `.`.
const PLAIN_TEXT = /^[\x00-\x22\x24-\x2a\x2c\x2d\x2f-\x5b\x5d-\x7f]*$/;

// So many decoded texts are remembered: names and keywords repeat.
const DECODED_MAX = 1000;

type DecodedText = { readonly tokens: readonly TextToken[]; readonly caseless: string };

/** Where the texts of one book are. */
class BookTexts implements TokenVisitor {
  #bytes: Buffer = Buffer.alloc(0);
  /** The bytes, one character each, in lower case as far as they are ASCII. */
  #text = '';
  #isAsciiBook = false;
  // Those of other books are overwritten: a scan has a million.
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  readonly #places: Place[] = [];
  #count = 0;
  /** The texts of this book that are not plain. */
  #decoded: { readonly place: Place; readonly text: DecodedText }[] = [];
  readonly #decodedByJson = new Map<string, DecodedText>();

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
      || this.#decoded.some(({ place, text }) => isIn(place, term.place)
        && (term.place === 'keyword'
          ? text.caseless === term.word.text : hasWord(text.tokens, term.word)));
  }

  visitText(bytes: Buffer, start: number): number { return this.#add(bytes, start, 'text'); }
  visitAuthor(bytes: Buffer, start: number): number { return this.#add(bytes, start, 'author'); }
  visitKeyword(bytes: Buffer, start: number): number { return this.#add(bytes, start, 'keyword'); }

  visitPublisher(bytes: Buffer, start: number): number {
    return this.#add(bytes, start, 'publisher');
  }

  #add(bytes: Buffer, start: number, place: Place): number {
    const end = this.#isAsciiBook ? this.#text.indexOf('"', start) : findStringEnd(bytes, start);
    if (!PLAIN_TEXT.test(this.#text.slice(start, end))) {
      this.#decoded.push({ place, text: this.#decode(start, end, place) });
      return end;
    }
    this.#starts[this.#count] = start;
    this.#ends[this.#count] = end;
    this.#places[this.#count] = place;
    this.#count += 1;
    return end;
  }

  #decode(start: number, end: number, place: Place): DecodedText {
    const json = this.#bytes.toString('utf8', start - 1, end + 1);
    const known = this.#decodedByJson.get(json);
    if (known !== undefined) return known;
    const text = String(JSON.parse(json));
    const decoded = { tokens: tokenizeWithSigns(text), caseless: foldCase(text) };
    // Titles do not repeat.
    if (place === 'text') return decoded;
    if (this.#decodedByJson.size >= DECODED_MAX) this.#decodedByJson.clear();
    this.#decodedByJson.set(json, decoded);
    return decoded;
  }

  #hasPlain(text: string, { place, isSigns }: SoughtTerm): boolean {
    // What stands after the last text, such as a description, is not looked at.
    const end = this.#ends[this.#count - 1] ?? 0;
    for (let at = this.#text.indexOf(text); at >= 0 && at < end;
      at = this.#text.indexOf(text, at + 1)) {
      const index = this.#findIndex(at);
      if (index < 0 || !isIn(this.#places[index], place)) continue;
      const isMatch = place === 'keyword'
        ? this.#starts[index] === at && this.#ends[index] === at + text.length
        : isSigns || !isLetterOrDigit(this.#text.charCodeAt(at - 1));
      if (isMatch) return true;
    }
    return false;
  }

  /** The index of the plain text that a character is in, or -1. */
  #findIndex(at: number): number {
    for (let index = 0; index < this.#count; index += 1) {
      if (at >= (this.#starts[index] ?? 0) && at < (this.#ends[index] ?? 0)) return index;
    }
    return -1;
  }
}

function isIn(place: Place | undefined, soughtPlace: Place): boolean {
  return place === soughtPlace || (soughtPlace === 'anyText' && place !== 'publisher');
}

/** Whether it is the code of one in lower case. */
function isLetterOrDigit(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39);
}

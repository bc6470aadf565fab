/**
 * Finds where the entries of a BibTeX file begin and end, in bytes, and reads each. It counts
 * braces alone, and leaves the grammar to the parser; where an entry turns out broken, it goes on
 * at the first `@` at a line's start within it. See `bibtex.ts` for the grammar.
 */
import { isUtf8 } from 'node:buffer';
import type { BrokenRecord } from '../mapping/format-table.ts';
import { isSpace, skipSpace } from '../../../base/json/parse.ts';
import { RECORD_BYTES_MAX, TOO_LONG } from '../record-splitter.ts';
import { parseBibtexEntry } from './bibtex-entry.ts';
import type { BibtexEntry, BibtexStringTable } from './bibtex-entry.ts';

const NOT_CLOSED = 'the entry is not closed: its last } is missing, or that of a { in it';
const NO_ENTRY = 'expected an entry of BibTeX, such as `@book{emma, title = {Emma}}`';
const TYPE_LENGTH_MAX = 100;
/** Between two steps so much is scanned, and the rest of an entry. */
const STEP_BYTES = 64 * 1024;
/** Enough for the type and the key of a broken entry. */
const HEAD_BYTES = 400;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const QUOTE = 0x22;
const PERCENT = 0x25;
const PARENTHESIS_LEFT = 0x28;
const PARENTHESIS_RIGHT = 0x29;
const AT = 0x40;
const BRACE_LEFT = 0x7b;
const BRACE_RIGHT = 0x7d;

/** The end of an entry's content, and its problem. */
type ContentEnd = {
  readonly end: number;
  /** The first `@` at a line's start within; -1: there is none. */
  readonly innerOffset: number;
  readonly problem: string | null;
};

/**
 * Reads the entries one after another, and the file's first mistake where it has text and no entry;
 * null after a while of work without one. Definitions are kept in `strings`.
 */
export function readBibtexEntries(
  bytes: Buffer, strings: BibtexStringTable,
): Generator<BibtexEntry | BrokenRecord | null, void, void> {
  return new BibtexScanner(bytes, strings).scan();
}

class BibtexScanner {
  readonly #bytes: Buffer;
  readonly #strings: BibtexStringTable;
  #offset = 0;
  /** The line of the offset. */
  #line = 1;
  /** The end of what a broken entry had swallowed: there an `@` at a line's start is no text. */
  #swallowedEnd = 0;
  /** Whether an entry that is too long goes on: only an `@` at a line's start begins another. */
  #isSkipping = false;
  /** The first line that has text outside of comments and entries; null: there is none. */
  #junkLine: number | null = null;
  #hasEntry = false;

  constructor(bytes: Buffer, strings: BibtexStringTable) {
    this.#bytes = bytes;
    this.#strings = strings;
  }

  *scan(): Generator<BibtexEntry | BrokenRecord | null, void, void> {
    let stepEnd = STEP_BYTES;
    while (this.#offset < this.#bytes.length) {
      const isEntry = this.#bytes[this.#offset] === AT
        && (!this.#isSkipping || this.#isLineStart(this.#offset));
      if (isEntry) yield this.#scanEntry();
      else this.#skipJunk();
      if (isEntry) stepEnd = this.#offset + STEP_BYTES;
      if (this.#offset < stepEnd) continue;
      stepEnd = this.#offset + STEP_BYTES;
      yield null;
    }
    if (this.#hasEntry || this.#junkLine === null) return;
    yield { line: this.#junkLine, key: null, problem: NO_ENTRY };
  }

  #skipJunk(): void {
    const byte = this.#bytes[this.#offset] ?? 0;
    let end = this.#offset + 1;
    if (byte === PERCENT && !this.#isSkipping) {
      while (end < this.#bytes.length && !isLineEnd(this.#bytes[end])) end += 1;
    } else if (!isSpace(byte)) {
      this.#junkLine ??= this.#line;
    }
    this.#moveTo(end);
  }

  /** Null for what is no work, such as a comment. */
  #scanEntry(): BibtexEntry | BrokenRecord | null {
    const start = this.#offset;
    const hasLineOfItsOwn = start >= this.#swallowedEnd && this.#isLineStart(start);
    this.#isSkipping = false;
    const typeStart = skipSpace(this.#bytes, start + 1);
    let typeEnd = typeStart;
    while (typeEnd < typeStart + TYPE_LENGTH_MAX && isTypeByte(this.#bytes[typeEnd])) typeEnd += 1;
    const type = this.#bytes.toString('latin1', typeStart, typeEnd).toLowerCase();
    const opening = skipSpace(this.#bytes, typeEnd);
    const closing = type === '' ? undefined : CLOSINGS.get(this.#bytes[opening] ?? 0);
    this.#hasEntry ||= hasLineOfItsOwn || closing !== undefined;
    if (closing !== undefined) {
      return this.#readEntry(this.#findEnd(start, opening + 1, closing, type === 'comment'));
    }
    // Within a line it is an address or a name, as in comments: no entry at all. Within what a
    // broken entry had swallowed it is text, of which there may be a million lines.
    const broken = hasLineOfItsOwn && type !== 'comment'
      ? this.#makeBroken(opening, `after @${type} a { is missing: write @book{key, …}`) : null;
    this.#moveTo(opening);
    return broken;
  }

  #readEntry({ end, innerOffset, problem }: ContentEnd): BibtexEntry | BrokenRecord | null {
    const entry = problem === null
      ? this.#parseEntry(end) : this.#makeBroken(end, problem);
    if (entry !== null && 'problem' in entry && innerOffset >= 0) {
      this.#swallowedEnd = end;
      this.#moveTo(innerOffset);
      return entry;
    }
    this.#isSkipping = problem === TOO_LONG;
    this.#moveTo(end);
    return entry;
  }

  #parseEntry(end: number): BibtexEntry | BrokenRecord | null {
    const bytes = this.#bytes.subarray(this.#offset, end);
    if (!isUtf8(bytes)) return this.#makeBroken(end, 'not valid UTF-8');
    const place = { line: this.#line, offset: this.#offset };
    const entry = parseBibtexEntry(bytes.toString(), place, this.#strings);
    return typeof entry === 'string' ? this.#makeBroken(end, entry) : entry;
  }

  /** The entry that ends at `end` and is broken. */
  #makeBroken(end: number, problem: string): BrokenRecord {
    const head = this.#bytes.toString(
      'utf8', this.#offset, Math.min(end, this.#offset + HEAD_BYTES));
    const key = /^@\s*[^\s{(]+\s*[{(]\s*([^\s,{}=]+)\s*,/.exec(head)?.[1] ?? null;
    return { line: this.#line, key, problem };
  }

  #findEnd(
    start: number, contentStart: number, closing: number, isIgnored: boolean,
  ): ContentEnd {
    const bytes = this.#bytes;
    const bytesEnd = Math.min(bytes.length, start + RECORD_BYTES_MAX + 1);
    let innerOffset = -1;
    /** How many braces are open within it. */
    let depth = 0;
    /** Whether the next byte stands in quotes outside of those braces. */
    let isQuoted = false;
    let isComment = false;
    for (let offset = contentStart; offset < bytesEnd; offset += 1) {
      const byte = bytes[offset] ?? 0;
      if (byte === AT && (innerOffset < 0 || offset < this.#swallowedEnd)
        && this.#isLineStart(offset)) {
        if (offset < this.#swallowedEnd) return { end: offset, innerOffset, problem: NOT_CLOSED };
        innerOffset = offset;
      }
      if (isComment) {
        isComment = !isLineEnd(byte);
      } else if (byte === BRACE_LEFT) {
        depth += 1;
      } else if (byte === BRACE_RIGHT && depth > 0) {
        depth -= 1;
      } else if (depth === 0) {
        // A brace beats a quote that is not closed; a parenthesis within quotes is text.
        if (byte === closing && (byte === BRACE_RIGHT || !isQuoted)) {
          return { end: offset + 1, innerOffset, problem: null };
        }
        if (byte === QUOTE && !isIgnored) isQuoted = !isQuoted;
        else if (byte === PERCENT && !isQuoted) isComment = !isIgnored;
      }
    }
    const isTooLong = bytesEnd - start > RECORD_BYTES_MAX;
    return { end: bytesEnd, innerOffset, problem: isTooLong ? TOO_LONG : NOT_CLOSED };
  }

  /** Whether only blanks stand before the byte on its line. */
  #isLineStart(offset: number): boolean {
    let before = offset - 1;
    while (before >= 0 && isSpace(this.#bytes[before])) {
      if (isLineEnd(this.#bytes[before])) return true;
      before -= 1;
    }
    return before < 0;
  }

  /** Lines end in LF, CRLF or CR. */
  #moveTo(end: number): void {
    for (let offset = this.#offset; offset < end; offset += 1) {
      const byte = this.#bytes[offset];
      const isCrLf = byte === LINE_FEED && this.#bytes[offset - 1] === CARRIAGE_RETURN;
      if (isLineEnd(byte) && !isCrLf) this.#line += 1;
    }
    this.#offset = end;
  }
}

const CLOSINGS: ReadonlyMap<number, number> =
  new Map([[BRACE_LEFT, BRACE_RIGHT], [PARENTHESIS_LEFT, PARENTHESIS_RIGHT]]);

function isLineEnd(byte: number | undefined): boolean {
  return byte === LINE_FEED || byte === CARRIAGE_RETURN;
}

/** Letters, digits and a few marks; types are ASCII. */
function isTypeByte(byte: number | undefined): boolean {
  return byte !== undefined && /[A-Za-z0-9_.:+*/-]/.test(String.fromCharCode(byte));
}

/**
 * Finds where the entries of a BibTeX file begin and end, in bytes, wherever chunks end. It counts
 * braces alone, and leaves the grammar to its reader; where the reader finds an entry broken, it
 * goes on at the first `@` at a line's start within it. See `bibtex.ts` for the grammar.
 */
import { ByteCollector } from '../../../base/structures/byte-collector.ts';
import { RECORD_BYTES_MAX, TOO_LONG } from '../record-splitter.ts';

type BibtexEntryReader = {
  /** Reads an entry from its `@` to its closing brace; tells whether it is valid. */
  readonly read: (bytes: Buffer, line: number) => boolean;
  /** An entry that has no end. */
  readonly report: (bytes: Buffer, line: number, problem: string) => void;
};

const NOT_CLOSED = 'the entry is not closed: its last } is missing, or that of a { in it';
const TYPE_LENGTH_MAX = 100;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const QUOTE = 0x22;
const PERCENT = 0x25;
const PARENTHESIS_LEFT = 0x28;
const PARENTHESIS_RIGHT = 0x29;
const AT = 0x40;
const BRACE_LEFT = 0x7b;
const BRACE_RIGHT = 0x7d;
const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, LINE_FEED, CARRIAGE_RETURN]);

/** `skipping`: beyond the end of what is kept of an entry that is too long. */
type ScannerState =
  'outside' | 'outside-comment' | 'skipping' | 'type' | 'content' | 'content-comment';

/** The effect of a byte on the entry that is open. */
type Step = 'goes-on' | 'ends' | 'is-none';

/** Bytes to scan; `isSwallowed`: a broken entry had swallowed them. */
type Input = { readonly bytes: Buffer; readonly isSwallowed: boolean };

export class BibtexScanner {
  readonly #reader: BibtexEntryReader;
  #state: ScannerState = 'outside';
  #line = 1;
  /** Whether only blanks stand before the next byte on its line. */
  #isLineStart = true;
  /** A line feed after a carriage return ends no other line. */
  #isAfterReturn = false;
  /** The bytes of the open entry that earlier inputs had. */
  readonly #entryBytes = new ByteCollector();
  #entryLine = 1;
  /** Whether only blanks stand before its `@` on its line, and no broken entry had swallowed it. */
  #hasLineOfItsOwn = true;
  /** In lower case. */
  #type = '';
  /** Whether a blank stands behind the type: only a brace may follow. */
  #isTypeEnded = false;
  /** The byte that ends the open entry, a brace or a parenthesis. */
  #closing = BRACE_RIGHT;
  /** How many braces are open within it. */
  #depth = 0;
  /** Whether the next byte stands in quotes outside of those braces. */
  #isQuoted = false;
  /** The offset in the entry of the first `@` at a line's start; -1: there is none. */
  #innerOffset = -1;
  #innerLine = 1;
  /** The first line that has text outside of comments and entries; null: there is none. */
  #junkLine: number | null = null;
  #hasEntry = false;

  constructor(reader: BibtexEntryReader) {
    this.#reader = reader;
  }

  /** The first line with text of a file that has no entry; null where it has one, or no text. */
  get junkLine(): number | null {
    return this.#hasEntry ? null : this.#junkLine;
  }

  push(chunk: Buffer): void {
    this.#scanAll([{ bytes: chunk, isSwallowed: false }]);
  }

  /** Each round goes on within the entry that was open, behind its start: there is a last one. */
  end(): void {
    while (this.#isInEntry()) {
      const isContent = this.#state !== 'type';
      const bytes = this.#close();
      if (isContent) this.#reader.report(bytes, this.#entryLine, NOT_CLOSED);
      const swallowed = this.#findSwallowed(bytes);
      if (swallowed !== null) this.#scanAll([swallowed]);
    }
  }

  #isInEntry(): boolean {
    return this.#state === 'type' || this.#state === 'content' || this.#state === 'content-comment';
  }

  #scanAll(inputs: Input[]): void {
    for (let input = inputs.pop(); input !== undefined; input = inputs.pop()) {
      inputs.push(...this.#scan(input).reverse());
    }
  }

  /** Scans to the end, or until an entry is broken that swallowed others: the bytes that follow. */
  #scan({ bytes, isSwallowed }: Input): Input[] {
    // The offset at which the open entry begins in these bytes, or goes on.
    let start = 0;
    for (let offset = 0; offset < bytes.length; offset += 1) {
      const byte = bytes[offset] ?? 0;
      const isAtLineStart = this.#isLineStart;
      this.#count(byte);
      if (byte === AT && this.#canOpen(isAtLineStart, isSwallowed)) {
        if (this.#isInEntry()) this.#abandon(bytes.subarray(start, offset));
        this.#open(isAtLineStart && !isSwallowed);
        start = offset;
        continue;
      }
      if (!this.#isInEntry()) {
        this.#stepOutside(byte);
        continue;
      }
      const length = this.#entryBytes.length + offset - start;
      if (byte === AT && isAtLineStart && this.#innerOffset < 0) {
        this.#innerOffset = length;
        this.#innerLine = this.#line;
      }
      const step = this.#state === 'type' ? this.#stepType(byte) : this.#stepContent(byte);
      if (step === 'goes-on' && length < RECORD_BYTES_MAX) continue;
      const swallowed = this.#finish(step, bytes.subarray(start, offset + 1));
      if (swallowed === null) continue;
      return [swallowed, { bytes: bytes.subarray(offset + 1), isSwallowed }];
    }
    if (this.#isInEntry()) this.#entryBytes.add(bytes.subarray(start));
    return [];
  }

  /** Lines end in LF, CRLF or CR. */
  #count(byte: number): void {
    const isReturn = byte === CARRIAGE_RETURN;
    if (isReturn || (byte === LINE_FEED && !this.#isAfterReturn)) this.#line += 1;
    if (!BLANKS.has(byte)) this.#isLineStart = false;
    else if (isReturn || byte === LINE_FEED) this.#isLineStart = true;
    this.#isAfterReturn = isReturn;
  }

  #canOpen(isAtLineStart: boolean, isSwallowed: boolean): boolean {
    switch (this.#state) {
      case 'outside':
      case 'type': return true;
      case 'skipping': return isAtLineStart;
      case 'outside-comment': return false;
      case 'content':
      case 'content-comment': return isAtLineStart && isSwallowed;
    }
  }

  #open(hasLineOfItsOwn: boolean): void {
    this.#state = 'type';
    this.#hasEntry ||= hasLineOfItsOwn;
    this.#type = '';
    this.#isTypeEnded = false;
    this.#entryLine = this.#line;
    this.#hasLineOfItsOwn = hasLineOfItsOwn;
    this.#depth = 0;
    this.#isQuoted = false;
    this.#innerOffset = -1;
  }

  /** Reports the open entry, which ends before the next byte. */
  #abandon(lastBytes: Buffer): void {
    const isContent = this.#state !== 'type';
    this.#entryBytes.add(lastBytes);
    const bytes = this.#close();
    if (isContent) this.#reader.report(bytes, this.#entryLine, NOT_CLOSED);
    else this.#reportType(bytes);
  }

  #close(): Buffer {
    this.#state = 'outside';
    return this.#entryBytes.take();
  }

  #stepOutside(byte: number): void {
    if (this.#state === 'outside' && !BLANKS.has(byte) && byte !== PERCENT) {
      this.#junkLine ??= this.#line;
    }
    if (this.#state === 'outside' && byte === PERCENT) this.#state = 'outside-comment';
    else if (this.#state === 'outside-comment' && isLineEnd(byte)) this.#state = 'outside';
  }

  #stepType(byte: number): Step {
    if (BLANKS.has(byte)) {
      this.#isTypeEnded = this.#type !== '';
      return 'goes-on';
    }
    if (byte === BRACE_LEFT || byte === PARENTHESIS_LEFT) {
      if (this.#type === '') return 'is-none';
      this.#closing = byte === BRACE_LEFT ? BRACE_RIGHT : PARENTHESIS_RIGHT;
      this.#state = 'content';
      return 'goes-on';
    }
    // A type is one word.
    if (this.#isTypeEnded || !isTypeByte(byte) || this.#type.length > TYPE_LENGTH_MAX) {
      return 'is-none';
    }
    this.#type += String.fromCharCode(byte).toLowerCase();
    return 'goes-on';
  }

  #stepContent(byte: number): Step {
    if (this.#state === 'content-comment') {
      if (isLineEnd(byte)) this.#state = 'content';
      return 'goes-on';
    }
    if (byte === BRACE_LEFT) {
      this.#depth += 1;
    } else if (byte === BRACE_RIGHT && this.#depth > 0) {
      this.#depth -= 1;
    } else if (this.#depth === 0) {
      // A brace beats a quote that is not closed; a parenthesis within quotes is text.
      if (byte === this.#closing && (byte === BRACE_RIGHT || !this.#isQuoted)) return 'ends';
      if (this.#type === 'comment') return 'goes-on';
      if (byte === QUOTE) this.#isQuoted = !this.#isQuoted;
      else if (byte === PERCENT && !this.#isQuoted) this.#state = 'content-comment';
    }
    return 'goes-on';
  }

  /** Ends the open entry; returns what it swallowed, if it is broken. */
  #finish(step: Step, lastBytes: Buffer): Input | null {
    this.#entryBytes.add(lastBytes);
    const bytes = this.#close();
    if (step === 'is-none') {
      this.#reportType(bytes);
      this.#stepOutside(bytes.at(-1) ?? 0);
      return null;
    }
    this.#hasEntry = true;
    if (step === 'ends') {
      return this.#reader.read(bytes, this.#entryLine) ? null : this.#findSwallowed(bytes);
    }
    this.#reader.report(bytes, this.#entryLine, TOO_LONG);
    if (this.#innerOffset < 0) this.#state = 'skipping';
    return this.#findSwallowed(bytes);
  }

  // Within a line it is an address or a name, as in comments: no entry at all. Within what a broken
  // entry had swallowed it is text, of which there may be a million lines.
  #reportType(bytes: Buffer): void {
    if (!this.#hasLineOfItsOwn || this.#type === 'comment') return;
    const problem = `after @${this.#type} a { is missing: write @book{key, …}`;
    this.#reader.report(bytes, this.#entryLine, problem);
  }

  /** The bytes of a broken entry from the first `@` at a line's start, and moves back to them. */
  #findSwallowed(bytes: Buffer): Input | null {
    if (this.#innerOffset < 0) return null;
    this.#line = this.#innerLine;
    this.#isLineStart = true;
    this.#isAfterReturn = false;
    return { bytes: bytes.subarray(this.#innerOffset), isSwallowed: true };
  }
}

function isLineEnd(byte: number): boolean {
  return byte === LINE_FEED || byte === CARRIAGE_RETURN;
}

/** Letters, digits and a few marks; types are ASCII. */
function isTypeByte(byte: number): boolean {
  return /[A-Za-z0-9_.:+*/-]/.test(String.fromCharCode(byte));
}

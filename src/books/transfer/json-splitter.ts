/**
 * Cuts a stream of JSON into records, wherever its chunks end. It finds where each record ends, and
 * leaves the inside to the JSON parser.
 *
 *   file   = array / *value              ; read by `JsonSplitter`
 *   array  = "[" [ value *( "," value ) ] "]"
 *   object = "{" [ member *( "," member ) ] "}"
 *   lines  = *( [value] ( LF / CRLF / CR ) )   ; JSON Lines, read by `JsonLinesSplitter`
 *
 * A record is a value; where objects are split, it is a member of an object at the top of the file,
 * as `"name": value`, and an item of the array in the one member that is named for this.
 *
 * If brackets or quotes do not match, or a comma is missing or too much, the mistake is told once,
 * and reading goes on at the next line that begins with `{`. Among the members of an object no
 * such line tells a record from its parts: there the rest of the file is not read, unless
 * the objects themselves are lines. A record of more than 2 MiB is told, and not held. A broken
 * line of JSON Lines is a record for the parser to refuse.
 *
 * A record is one line: line feeds within it are overwritten, in the chunks that are given.
 */
import { isSpace, skipSpace, withoutByteOrderMark } from '../../base/json/parse.ts';
import { RecordBytes, TOO_LONG } from './record-splitter.ts';
import type { RecordSplitter, SourceRecord } from './record-splitter.ts';

/**
 * A value of its own; a member of an object; an item of its named array; the begin or the end of an
 * object, whose text is empty.
 */
type ElementPart = 'value' | 'member' | 'item' | 'objectStart' | 'objectEnd';

export type SplitElement =
  | {
    readonly line: number; readonly json: Buffer; readonly part: ElementPart;
    readonly problem?: never;
  }
  | { readonly line: number; readonly problem: string; readonly json?: never };

type JsonSplitterOptions = {
  /** Whether objects at the top of the file are split. */
  readonly splitsObjects?: boolean;
  /** A member whose items are records, where it is an array; with it a mistake ends its object. */
  readonly arrayMember?: string;
};

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const ARRAY_OPEN = 0x5b;
const ARRAY_CLOSE = 0x5d;
const OBJECT_OPEN = 0x7b;
const OBJECT_CLOSE = 0x7d;
const DEPTH_MAX = 1024;
// The rest of a file that is one line goes unread: its owner, who counts records, has to know.
const RESUMES = '; reading goes on at the next line that begins with `{`';
const ENDS = '; the rest of the file is not read';

type JsonSplitterState =
  | 'start' // before everything: the file may turn out to be an array, or one value after another
  | 'before' // a record, or in an array or object its end, may come
  | 'after' // a record ended: in an array or object a comma or the end must come
  | 'record' // in a record, but in no string
  | 'string' | 'escape' // in a string of a record
  | 'lost' // after a mistake: resumes at the next line that begins with `{`
  | 'done'; // after the array

/** An array or object in which records stand. */
type JsonContainer = 'array' | 'object';

const CLOSERS: Readonly<Record<JsonContainer, number>> =
  { array: ARRAY_CLOSE, object: OBJECT_CLOSE };

export class JsonSplitter implements RecordSplitter {
  readonly #splitsObjects: boolean;
  readonly #arrayMember: string | null;
  readonly #recordBytes = new RecordBytes();
  #state: JsonSplitterState = 'start';
  /** The containers around the record: at most an object, and the array in its member. */
  readonly #containers: JsonContainer[] = [];
  /** A comma came, so the container must not end before another record. */
  #needsItem = false;
  /** A mistake was reported, and no whole record has come since: further ones follow from it. */
  #isReported = false;
  /** Only white space has come on this line. */
  #isLineStart = true;
  #line = 1;
  #recordLine = 1;
  /** The line on which the object begins that is split. */
  #objectLine = 1;
  /** The record's first byte in this chunk, 0 when it began in an earlier one; -1 outside. */
  #recordStart = -1;
  /** The closing brackets that the record still expects, the innermost last. */
  readonly #closers: number[] = [];
  #elements: SplitElement[] = [];

  constructor({ splitsObjects = false, arrayMember }: JsonSplitterOptions = {}) {
    this.#splitsObjects = splitsObjects;
    this.#arrayMember = arrayMember === undefined ? null : JSON.stringify(arrayMember);
  }

  push(chunk: Buffer): readonly SplitElement[] {
    this.#elements = [];
    this.#recordStart = this.#isInRecord() ? 0 : -1;
    for (let offset = 0; offset < chunk.length; offset += 1) {
      const byte = chunk[offset] ?? 0;
      if (byte === LINE_FEED) this.#line += 1;
      this.#step(chunk, offset, byte);
      if (byte === LINE_FEED) this.#isLineStart = true;
      else if (!isSpace(byte)) this.#isLineStart = false;
    }
    if (this.#recordStart >= 0) this.#recordBytes.add(chunk.subarray(this.#recordStart));
    if (this.#recordBytes.isTooLong && this.#isInRecord()) this.#abandon(TOO_LONG);
    return this.#elements;
  }

  end(): readonly SplitElement[] {
    this.#elements = [];
    const [container] = this.#containers;
    if (this.#state === 'record' && this.#closers.length === 0) {
      // A number or word is whole; of a member nobody knows.
      if (this.#containers.at(-1) !== 'object') this.#endRecord();
      this.#state = 'after';
    }
    if (this.#isInRecord()) this.#abandon('the file ends within this record', '');
    else if (container !== undefined && !this.#isReported) {
      const closer = String.fromCharCode(CLOSERS[container]);
      const line = this.#state === 'lost' ? this.#line : this.#recordLine;
      this.#report(line, `the file ends before its ${container} does: \`${closer}\` is missing`);
    }
    return this.#elements;
  }

  #step(chunk: Buffer, offset: number, byte: number): void {
    switch (this.#state) {
      case 'string':
        if (byte === BACKSLASH) this.#state = 'escape';
        else if (byte === QUOTE) this.#leaveString(chunk, offset);
        else if (byte === LINE_FEED) this.#abandon('a string does not end on its line');
        return;
      case 'escape':
        this.#state = 'string';
        if (byte === LINE_FEED) this.#abandon('a string does not end on its line');
        return;
      case 'record': return this.#stepRecord(chunk, offset, byte);
      case 'lost':
        if (byte === OBJECT_OPEN && this.#isLineStart) this.#resume(offset, byte);
        return;
      case 'done':
        if (isSpace(byte) || this.#isReported) return;
        return this.#report(this.#line, 'text follows the end of the array');
      default: return this.#stepBetween(offset, byte);
    }
  }

  #stepRecord(chunk: Buffer, offset: number, byte: number): void {
    if (this.#closers.length === 0) {
      const isMember = this.#containers.at(-1) === 'object';
      const isEnd = byte === COMMA || byte === ARRAY_CLOSE
        || (byte === OBJECT_CLOSE && this.#containers.length > 0) || (isSpace(byte) && !isMember);
      if (isEnd) {
        this.#finish(chunk, offset);
        return this.#stepBetween(offset, byte);
      }
      // The splitter looks only for the end of a number or word.
      if (!isMember) return;
    }
    if (byte === QUOTE) {
      this.#state = 'string';
    } else if (byte === OBJECT_OPEN || byte === ARRAY_OPEN) {
      if (byte === ARRAY_OPEN && this.#isArrayMember(chunk, offset)) this.#open('array');
      else this.#openBracket(byte);
    } else if (byte === OBJECT_CLOSE || byte === ARRAY_CLOSE) {
      if (this.#closers.pop() !== byte) this.#abandon('the brackets of this record do not match');
      else if (this.#closers.length === 0) this.#finish(chunk, offset + 1);
    } else if (byte === LINE_FEED) {
      // Allowed between the tokens of JSON, but a record must be one line.
      chunk[offset] = SPACE;
    }
  }

  #openBracket(byte: number): void {
    this.#closers.push(byte === OBJECT_OPEN ? OBJECT_CLOSE : ARRAY_CLOSE);
    if (this.#closers.length > DEPTH_MAX) this.#abandon('the record is nested too deep');
  }

  /** Whether the array that opens is the value of the member whose items are records. */
  #isArrayMember(chunk: Buffer, offset: number): boolean {
    const isMemberValue = this.#arrayMember !== null && this.#closers.length === 0
      && this.#containers.at(-1) === 'object';
    if (!isMemberValue) return false;
    this.#recordBytes.add(chunk.subarray(this.#recordStart, offset));
    this.#recordStart = offset;
    const begin = this.#recordBytes.take() ?? Buffer.alloc(0);
    const text = begin.toString().trimEnd();
    const isNamed = text.endsWith(':') && text.slice(0, -1).trimEnd() === this.#arrayMember;
    if (isNamed) this.#recordStart = -1;
    else this.#recordBytes.add(begin);
    return isNamed;
  }

  #stepBetween(offset: number, byte: number): void {
    if (isSpace(byte)) return;
    const container = this.#containers.at(-1);
    if (container !== undefined && byte === CLOSERS[container] && !this.#needsItem) {
      this.#close(container);
    } else if (container !== undefined && this.#state === 'after') {
      this.#stepAfter(container, offset, byte);
    } else if (this.#state === 'start' && byte === ARRAY_OPEN) {
      this.#open('array');
    } else if (isValueStart(byte)) {
      this.#begin(offset, byte);
    } else {
      this.#recordLine = this.#line;
      this.#abandon(`expected a ${container === 'object' ? 'member' : 'record'} here`);
    }
  }

  #stepAfter(container: JsonContainer, offset: number, byte: number): void {
    if (byte === COMMA) {
      this.#state = 'before';
      this.#needsItem = true;
      return;
    }
    const isResumed = container === 'array' && byte === OBJECT_OPEN;
    const closer = String.fromCharCode(CLOSERS[container]);
    this.#recordLine = this.#line;
    this.#abandon(`expected "," or "${closer}" before this`, isResumed ? '' : undefined);
    if (isResumed) this.#begin(offset, byte);
  }

  #open(container: JsonContainer): void {
    this.#containers.push(container);
    this.#needsItem = false;
    this.#state = 'before';
  }

  #close(container: JsonContainer): void {
    this.#containers.pop();
    this.#isReported = false;
    this.#state = this.#containers.length === 0 && container === 'array' ? 'done' : 'after';
    if (container === 'object') this.#add(this.#objectLine, NOTHING, 'objectEnd');
  }

  /** Begins a record, or an object that is split. */
  #begin(offset: number, byte: number): void {
    this.#recordLine = this.#line;
    if (this.#splitsObjects && byte === OBJECT_OPEN && this.#containers.length === 0) {
      this.#objectLine = this.#line;
      this.#add(this.#line, NOTHING, 'objectStart');
      this.#open('object');
      return;
    }
    this.#recordStart = offset;
    this.#closers.length = 0;
    this.#state = byte === QUOTE ? 'string' : 'record';
    if (byte === OBJECT_OPEN || byte === ARRAY_OPEN) this.#openBracket(byte);
  }

  #resume(offset: number, byte: number): void {
    // A mistake among the members of an object has ended it.
    if (this.#containers.at(-1) === 'object') this.#containers.length = 0;
    this.#begin(offset, byte);
  }

  #leaveString(chunk: Buffer, offset: number): void {
    this.#state = 'record';
    const isWhole = this.#closers.length === 0 && this.#containers.at(-1) !== 'object';
    if (isWhole) this.#finish(chunk, offset + 1);
  }

  #finish(chunk: Buffer, end: number): void {
    this.#recordBytes.add(chunk.subarray(this.#recordStart, end));
    this.#recordStart = -1;
    this.#endRecord();
    this.#state = 'after';
    this.#needsItem = false;
    this.#isReported = false;
  }

  #endRecord(): void {
    const json = this.#recordBytes.take();
    if (json === null) this.#elements.push({ line: this.#recordLine, problem: TOO_LONG });
    else if (this.#containers[0] !== 'object') this.#add(this.#recordLine, json, 'value');
    else this.#add(this.#recordLine, json, this.#containers.length === 1 ? 'member' : 'item');
  }

  #add(line: number, json: Buffer, part: ElementPart): void {
    this.#elements.push({ line, json, part });
  }

  /** Drops the record and says why, unless that follows from a mistake that was reported. */
  #abandon(problem: string, consequence = this.#resumesAtLine() ? RESUMES : ENDS): void {
    if (!this.#isReported) this.#report(this.#recordLine, problem + consequence);
    this.#recordBytes.take();
    this.#recordStart = -1;
    this.#state = 'lost';
    if (this.#resumesAtLine()) return;
    this.#containers.length = 0;
    this.#state = 'done';
  }

  /** Whether a line that begins with `{` begins a record. */
  #resumesAtLine(): boolean {
    return this.#arrayMember !== null || this.#containers.at(-1) !== 'object';
  }

  #report(line: number, problem: string): void {
    this.#elements.push({ line, problem });
    this.#isReported = true;
  }

  #isInRecord(): boolean {
    return this.#state === 'record' || this.#state === 'string' || this.#state === 'escape';
  }
}

const NOTHING = Buffer.alloc(0);

/** Whether a value may begin so: `{ [ "`, a digit, a minus or a letter. The parser checks it. */
function isValueStart(byte: number): boolean {
  return byte === OBJECT_OPEN || byte === ARRAY_OPEN || byte === QUOTE || byte === 0x2d
    || (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x7a);
}

/**
 * Blank lines are skipped. Lines end in CR where one stands between two objects before the first
 * LF: no JSON value has `}`, a CR and `{` within.
 */
export class JsonLinesSplitter implements RecordSplitter {
  readonly #lineBytes = new RecordBytes();
  #line = 1;
  /** Null: the first line has not ended yet, as far as is known. */
  #lineEnd: typeof LINE_FEED | typeof CARRIAGE_RETURN | null = null;
  /** The end of the first line so far, but for blanks. */
  #ending: '' | '}' | '}\r' = '';

  push(chunk: Buffer): readonly SourceRecord[] {
    const records: SourceRecord[] = [];
    const bytes = this.#lineEnd === null ? this.#findLineEnd(chunk) : chunk;
    const lineEnd = this.#lineEnd ?? LINE_FEED;
    let start = 0;
    for (let end = bytes.indexOf(lineEnd); end >= 0; end = bytes.indexOf(lineEnd, start)) {
      this.#lineBytes.add(bytes.subarray(start, end));
      this.#finish(records);
      this.#line += 1;
      start = end + 1;
    }
    this.#lineBytes.add(bytes.subarray(start));
    return records;
  }

  /** Looks for the end of the first line; returns the bytes that are to be split. */
  #findLineEnd(chunk: Buffer): Buffer {
    for (const byte of chunk) {
      if (byte === LINE_FEED) this.#lineEnd = LINE_FEED;
      else if (byte === OBJECT_OPEN && this.#ending === '}\r') this.#lineEnd = CARRIAGE_RETURN;
      if (this.#lineEnd !== null) break;
      if (byte === OBJECT_CLOSE) this.#ending = '}';
      else if (byte === CARRIAGE_RETURN && this.#ending === '}') this.#ending = '}\r';
      else if (!isSpace(byte)) this.#ending = '';
    }
    if (this.#lineEnd !== CARRIAGE_RETURN || this.#lineBytes.isTooLong) return chunk;
    // The CR may have come with an earlier chunk.
    const held = this.#lineBytes.take();
    return held === null ? chunk : Buffer.concat([held, chunk]);
  }

  end(): readonly SourceRecord[] {
    const records: SourceRecord[] = [];
    this.#finish(records);
    return records;
  }

  #finish(records: SourceRecord[]): void {
    const bytes = this.#lineBytes.take();
    const line = this.#line;
    if (bytes === null) records.push({ line, problem: TOO_LONG });
    else if (!isBlank(bytes)) records.push({ line, json: bytes });
  }
}

// On a blank line a byte order mark is ignored here, on others by the JSON parser.
function isBlank(bytes: Buffer): boolean {
  const text = withoutByteOrderMark(bytes);
  return skipSpace(text, 0) === text.length;
}

/**
 * Splits a stream of JSON into records: the items of a top-level array, or values one after
 * another. It only finds where each record ends; the JSON parser checks the inside. Where brackets
 * or quotes do not match, it reports that and resumes at the next line that begins with `{`. It
 * overwrites line feeds within records in the chunks it is given.
 *
 * Where it splits objects too, each member of a top-level object is a record, with its name, and so
 * is each item of the array in the member that is named for this; the end of an object is told.
 */
import { RecordBytes, TOO_LONG } from './record-splitter.ts';
import type { RecordSplitter } from './record-splitter.ts';

export type SplitElement =
  | {
    readonly line: number;
    /** One line; empty for the end of an object. */
    readonly json: Buffer;
    /** The name of the member, as JSON text; null for an item, and for a value of its own. */
    readonly name: Buffer | null;
    /** The number of the object that it stands in, from 1; 0: in none. */
    readonly object: number;
    readonly isObjectEnd: boolean;
    readonly problem?: never;
  }
  | { readonly line: number; readonly problem: string; readonly json?: never };

type JsonSplitterOptions = {
  /** Whether the members of top-level objects are records; else these objects are. */
  readonly splitsObjects?: boolean;
  /** A member whose items are records, where it is an array; with it a mistake ends its object. */
  readonly arrayMember?: string;
};

const LINE_FEED = 0x0a;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const ARRAY_OPEN = 0x5b;
const ARRAY_CLOSE = 0x5d;
const OBJECT_OPEN = 0x7b;
const OBJECT_CLOSE = 0x7d;
const DEPTH_MAX = 1024;
// The rest of a file that is one line goes unread: its owner, who counts records, has to know.
const RESUMES = '; reading goes on at the next line that begins with `{`';
// Between the members of one object no line tells a record from what is in it.
const ENDS = '; the rest of the file is not read';

type JsonSplitterState =
  | 'start' // before everything: the file may turn out to be an array, or one value after another
  | 'before' // a record, or in an array or object its end, may come
  | 'after' // a record ended: in an array or object a comma or the end must come
  | 'colon' // must come after the name of a member
  | 'value' // of a member must come
  | 'scalar' // in a number or word
  | 'nested' // in an object or array
  | 'string' | 'escape' // in a string: a record of its own, or within one
  | 'lost' // after a mistake: resumes at the next line that begins with `{`
  | 'done'; // after the array

/** An array or object in which records stand. */
type JsonContainer = 'array' | 'object';

const CLOSERS: Readonly<Record<JsonContainer, number>> =
  { array: ARRAY_CLOSE, object: OBJECT_CLOSE };

export class JsonSplitter implements RecordSplitter {
  readonly #splitsObjects: boolean;
  readonly #arrayMember: Buffer | null;
  readonly #recordBytes = new RecordBytes();
  #state: JsonSplitterState = 'start';
  /** The containers around the record: at most an object, and the array in its member. */
  readonly #containers: JsonContainer[] = [];
  #objectCount = 0;
  /** On which the object begins whose members are records. */
  #objectLine = 1;
  /** The name of the member that is being read. */
  #name: Buffer | null = null;
  /** The string that is being read is the name of a member. */
  #isName = false;
  /** A comma came, so the array must not end before another record. */
  #needsItem = false;
  /** A mistake was reported, and no whole record has come since: further ones follow from it. */
  #isReported = false;
  /** Only white space has come on this line. */
  #isLineStart = true;
  #line = 1;
  #recordLine = 1;
  /** The record's first byte in this chunk, 0 when it began in an earlier one; -1 outside. */
  #recordStart = -1;
  /** The closing brackets that are still expected, the innermost last. */
  readonly #closers: number[] = [];
  #records: SplitElement[] = [];

  constructor({ splitsObjects = false, arrayMember }: JsonSplitterOptions = {}) {
    this.#splitsObjects = splitsObjects;
    this.#arrayMember = arrayMember === undefined ? null : Buffer.from(JSON.stringify(arrayMember));
  }

  push(chunk: Buffer): readonly SplitElement[] {
    this.#records = [];
    this.#recordStart = this.#isInRecord() ? 0 : -1;
    for (let offset = 0; offset < chunk.length; offset += 1) {
      const byte = chunk[offset] ?? 0;
      if (byte === LINE_FEED) this.#line += 1;
      this.#step(chunk, offset, byte);
      if (byte === LINE_FEED) this.#isLineStart = true;
      else if (!isSpace(byte)) this.#isLineStart = false;
    }
    if (this.#recordStart >= 0) this.#recordBytes.add(chunk.subarray(this.#recordStart));
    if (this.#recordBytes.isTooLong && this.#isInRecord()) this.#abandonRecord(TOO_LONG);
    return this.#records;
  }

  end(): readonly SplitElement[] {
    this.#records = [];
    if (this.#state === 'scalar') {
      this.#endRecord();
      this.#state = 'after';
    }
    if (this.#isInRecord()) this.#abandonRecord('the file ends within this record', '');
    else if (this.#containers.length > 0 && !this.#isReported) {
      const [container = 'array'] = this.#containers;
      const closer = String.fromCharCode(CLOSERS[container]);
      this.#report(`the file ends before its ${container} does: \`${closer}\` is missing`);
    }
    return this.#records;
  }

  #step(chunk: Buffer, offset: number, byte: number): void {
    switch (this.#state) {
      case 'string':
        if (byte === BACKSLASH) this.#state = 'escape';
        else if (byte === QUOTE) this.#leaveString(chunk, offset);
        else if (byte === LINE_FEED) this.#abandonRecord('a string does not end on its line');
        return;
      case 'escape':
        this.#state = 'string';
        if (byte === LINE_FEED) this.#abandonRecord('a string does not end on its line');
        return;
      case 'nested': return this.#stepNested(chunk, offset, byte);
      case 'scalar':
        if (!isSpace(byte) && byte !== COMMA && byte !== ARRAY_CLOSE
          && (byte !== OBJECT_CLOSE || this.#containers.length === 0)) return;
        this.#finish(chunk, offset);
        return this.#stepBetween(offset, byte);
      case 'lost':
        if (byte !== OBJECT_OPEN || !this.#isLineStart) return;
        return this.#beginValue(offset, byte);
      case 'done':
        if (!isSpace(byte) && !this.#isReported) this.#report('text follows the end of the array');
        return;
      default: return this.#stepBetween(offset, byte);
    }
  }

  #stepNested(chunk: Buffer, offset: number, byte: number): void {
    if (byte === QUOTE) {
      this.#state = 'string';
    } else if (byte === OBJECT_OPEN || byte === ARRAY_OPEN) {
      this.#closers.push(closingBracket(byte));
      if (this.#closers.length > DEPTH_MAX) this.#abandonRecord('the record is nested too deep');
    } else if (byte === OBJECT_CLOSE || byte === ARRAY_CLOSE) {
      if (this.#closers.pop() !== byte) {
        this.#abandonRecord('the brackets of this record do not match');
      } else if (this.#closers.length === 0) this.#finish(chunk, offset + 1);
    } else if (byte === LINE_FEED) {
      // Allowed between the tokens of JSON, but a record must be one line.
      chunk[offset] = 0x20;
    }
  }

  #stepBetween(offset: number, byte: number): void {
    if (isSpace(byte)) return;
    const container = this.#containers.at(-1);
    if (this.#state === 'start' && byte === ARRAY_OPEN) {
      this.#open('array');
    } else if (this.#state === 'colon' || this.#state === 'value') {
      this.#stepMember(offset, byte);
    } else if (container !== undefined && byte === CLOSERS[container] && !this.#needsItem) {
      this.#close(container);
    } else if (container !== undefined && byte === COMMA && this.#state === 'after') {
      this.#state = 'before';
      this.#needsItem = true;
    } else if (container !== undefined && this.#state === 'after') {
      const isResumed = container === 'array' && byte === OBJECT_OPEN;
      const closer = String.fromCharCode(CLOSERS[container]);
      this.#recordLine = this.#line;
      this.#abandonRecord(`expected "," or "${closer}" before this`, isResumed ? '' : undefined);
      if (isResumed) this.#begin(offset, byte);
    } else if (container === 'object' ? byte === QUOTE : isValueStart(byte)) {
      this.#beginValue(offset, byte);
    } else {
      this.#recordLine = this.#line;
      this.#abandonRecord(
        container === 'object' ? 'expected the name of a member here' : 'expected a record here');
    }
  }

  #stepMember(offset: number, byte: number): void {
    const isArray = byte === ARRAY_OPEN && this.#name !== null
      && this.#arrayMember?.equals(this.#name) === true;
    if (this.#state === 'colon' && byte === COLON) this.#state = 'value';
    else if (this.#state === 'colon') this.#abandonRecord('expected ":" after the member\'s name');
    else if (isArray) this.#open('array');
    else if (isValueStart(byte)) this.#begin(offset, byte);
    else this.#abandonRecord('expected the value of a member');
  }

  #open(container: JsonContainer): void {
    this.#containers.push(container);
    this.#name = null;
    this.#needsItem = false;
    this.#state = 'before';
  }

  #close(container: JsonContainer): void {
    this.#containers.pop();
    this.#isReported = false;
    this.#state = this.#containers.length === 0 && container === 'array' ? 'done' : 'after';
    if (container !== 'object') return;
    this.#recordLine = this.#objectLine;
    this.#records.push(this.#makeElement(Buffer.alloc(0), true));
  }

  /** Begins a record or the name of one, or opens an object whose members are records. */
  #beginValue(offset: number, byte: number): void {
    const container = this.#containers.at(-1);
    if (container === 'object' && byte === QUOTE) {
      this.#isName = true;
      this.#begin(offset, byte);
    } else if (container === 'array' || !this.#splitsObjects || byte !== OBJECT_OPEN) {
      this.#begin(offset, byte);
    } else {
      // A mistake within an object has ended it.
      this.#containers.length = 0;
      this.#objectCount += 1;
      this.#objectLine = this.#line;
      this.#recordLine = this.#line;
      this.#open('object');
    }
  }

  #begin(offset: number, byte: number): void {
    if (this.#name === null) this.#recordLine = this.#line;
    this.#recordStart = offset;
    this.#closers.length = 0;
    this.#state = 'scalar';
    if (byte === QUOTE) this.#state = 'string';
    if (byte !== OBJECT_OPEN && byte !== ARRAY_OPEN) return;
    this.#closers.push(closingBracket(byte));
    this.#state = 'nested';
  }

  #leaveString(chunk: Buffer, offset: number): void {
    if (this.#closers.length > 0) this.#state = 'nested';
    else this.#finish(chunk, offset + 1);
  }

  #finish(chunk: Buffer, end: number): void {
    this.#recordBytes.add(chunk.subarray(this.#recordStart, end));
    this.#recordStart = -1;
    if (this.#isName) {
      this.#isName = false;
      this.#name = this.#recordBytes.take();
      this.#state = 'colon';
      if (this.#name === null) this.#abandonRecord(TOO_LONG);
      return;
    }
    this.#endRecord();
    this.#state = 'after';
    this.#needsItem = false;
    this.#isReported = false;
  }

  #endRecord(): void {
    const json = this.#recordBytes.take();
    const element = json === null
      ? { line: this.#recordLine, problem: TOO_LONG } : this.#makeElement(json, false);
    this.#records.push(element);
    this.#name = null;
  }

  #makeElement(json: Buffer, isObjectEnd: boolean): SplitElement {
    const object = this.#containers.includes('object') || isObjectEnd ? this.#objectCount : 0;
    return { line: this.#recordLine, json, name: this.#name, object, isObjectEnd };
  }

  /** Drops the record and says why, unless that follows from a mistake that was reported. */
  #abandonRecord(problem: string, consequence = this.#resumesAtLine() ? RESUMES : ENDS): void {
    if (!this.#isReported) this.#report(problem + consequence);
    this.#recordBytes.take();
    this.#recordStart = -1;
    this.#name = null;
    this.#isName = false;
    this.#state = 'lost';
    if (this.#resumesAtLine()) return;
    this.#containers.length = 0;
    this.#state = 'done';
  }

  /** Whether a line that begins with `{` begins a record. */
  #resumesAtLine(): boolean {
    return this.#arrayMember !== null || this.#containers.at(-1) !== 'object';
  }

  #report(problem: string): void {
    const state = this.#state;
    const line = this.#isInRecord() || state === 'after' || state === 'before'
      ? this.#recordLine : this.#line;
    this.#records.push({ line, problem });
    this.#isReported = true;
  }

  #isInRecord(): boolean {
    const state = this.#state;
    return state === 'scalar' || state === 'nested' || state === 'string' || state === 'escape';
  }
}

function closingBracket(openingBracket: number): number {
  return openingBracket === OBJECT_OPEN ? OBJECT_CLOSE : ARRAY_CLOSE;
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === LINE_FEED || byte === 0x0d || byte === 0x09;
}

/** Whether a value may begin so: `{ [ "`, a digit, a minus or a letter. The parser checks it. */
function isValueStart(byte: number): boolean {
  return byte === OBJECT_OPEN || byte === ARRAY_OPEN || byte === QUOTE || byte === 0x2d
    || (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x7a);
}

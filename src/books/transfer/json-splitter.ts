/**
 * Splits a stream of JSON into records: the items of a top-level array, or values one after
 * another. It only finds where each record ends; the JSON parser checks the inside. Where brackets
 * or quotes do not match, it reports that and resumes at the next line that begins with `{`. It
 * overwrites line feeds within records in the chunks it is given.
 */
import { RecordBytes, TOO_LONG } from './record-splitter.ts';
import type { RecordSplitter, SourceRecord } from './record-splitter.ts';

const LINE_FEED = 0x0a;
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

type JsonSplitterState =
  | 'start' // before everything: the file may turn out to be an array, or one value after another
  | 'before' // a record, or in an array its end, may come
  | 'after' // a record ended: in an array a comma or the end must come
  | 'scalar' // in a number or word
  | 'nested' // in an object or array
  | 'string' | 'escape' // in a string: a record of its own, or within one
  | 'lost' // after a mistake: resumes at the next line that begins with `{`
  | 'done'; // after the array

export class JsonSplitter implements RecordSplitter {
  readonly #recordBytes = new RecordBytes();
  #state: JsonSplitterState = 'start';
  #isArray = false;
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
  #records: SourceRecord[] = [];

  push(chunk: Buffer): readonly SourceRecord[] {
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

  end(): readonly SourceRecord[] {
    this.#records = [];
    if (this.#state === 'scalar') {
      this.#endRecord();
      this.#state = 'after';
    }
    if (this.#isInRecord()) this.#abandonRecord('the file ends within this record', '');
    else if (this.#isArray && this.#state !== 'done' && !this.#isReported) {
      this.#report('the file ends before its array does: `]` is missing');
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
        if (!isSpace(byte) && byte !== COMMA && byte !== ARRAY_CLOSE) return;
        this.#finish(chunk, offset);
        return this.#stepBetween(offset, byte);
      case 'lost':
        if (byte === OBJECT_OPEN && this.#isLineStart) this.#begin(offset, byte);
        return;
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
    if (this.#state === 'start' && byte === ARRAY_OPEN) {
      this.#isArray = true;
      this.#state = 'before';
    } else if (this.#isArray && byte === ARRAY_CLOSE && !this.#needsItem) {
      this.#state = 'done';
      this.#isReported = false;
    } else if (this.#isArray && byte === COMMA && this.#state === 'after') {
      this.#state = 'before';
      this.#needsItem = true;
    } else if (this.#isArray && this.#state === 'after') {
      this.#recordLine = this.#line;
      this.#abandonRecord('expected "," or "]" before this', byte === OBJECT_OPEN ? '' : RESUMES);
      if (byte === OBJECT_OPEN) this.#begin(offset, byte);
    } else if (isValueStart(byte)) {
      this.#begin(offset, byte);
    } else {
      this.#recordLine = this.#line;
      this.#abandonRecord('expected a record here');
    }
  }

  #begin(offset: number, byte: number): void {
    this.#recordLine = this.#line;
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
    this.#endRecord();
    this.#recordStart = -1;
    this.#state = 'after';
    this.#needsItem = false;
    this.#isReported = false;
  }

  #endRecord(): void {
    const json = this.#recordBytes.take();
    const line = this.#recordLine;
    this.#records.push(json === null ? { line, problem: TOO_LONG } : { line, json });
  }

  /** Drops the record and says why, unless that follows from a mistake that was reported. */
  #abandonRecord(problem: string, consequence = RESUMES): void {
    if (!this.#isReported) this.#report(problem + consequence);
    this.#recordBytes.take();
    this.#recordStart = -1;
    this.#state = 'lost';
  }

  #report(problem: string): void {
    const line = this.#isInRecord() || this.#state === 'after' || this.#state === 'before'
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

/**
 * Splits a stream of bytes into records, wherever its chunks end, with the line on which each
 * begins. Memory is bounded by the longest record allowed; a longer one is reported and skipped.
 */
import type { JsonObject } from '../../base/schema.ts';
import { ByteCollector } from '../../base/structures/byte-collector.ts';

/**
 * One record of a file: as JSON text in UTF-8 (in our own formats), as the book that a format's
 * table made of it, as one that is no book, or as the problem with it. `key` is what the source
 * calls it.
 */
export type SourceRecord =
  | {
    readonly line: number; readonly json: Buffer; readonly problem?: never;
  }
  | {
    readonly line: number; readonly key: string | null;
    /** A book as an import takes it, perhaps without a title. */
    readonly body: JsonObject;
    /** Why it has no title, in the source's words; absent: it has one. */
    readonly titleProblem?: string;
    /** The fields that did not fit into its `metadata`, by their names. */
    readonly leftOut: readonly string[];
    readonly json?: never; readonly problem?: never;
  }
  | {
    readonly line: number; readonly key: string | null;
    /** The kind of a record that is no book, in the format's word. */
    readonly otherType: string;
    readonly json?: never; readonly problem?: never;
  }
  | {
    readonly line: number; readonly key?: string | null;
    readonly problem: string; readonly json?: never;
  };

export interface RecordSplitter {
  /** The records that end in `chunk`. */
  push(chunk: Buffer): readonly SourceRecord[];
  /**
   * The records that the end of the stream completes: mostly one or none. Those of a file that is
   * read whole are made as they are asked for, with a null after a while of work without one.
   */
  end(): Iterable<SourceRecord | null>;
}

/** Above the largest book that an export can write, and still quick to parse. */
export const RECORD_BYTES_MAX = 2 * 1024 * 1024;

export const TOO_LONG = `the record is longer than ${RECORD_BYTES_MAX} bytes`;

/** Collects the pieces of the record that is being read, up to the limit. */
export class RecordBytes {
  readonly #collector = new ByteCollector();
  /** The length of all pieces, including those that are dropped beyond the limit. */
  #length = 0;

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  /** Whether the record would be longer than it may be with so many bytes more. */
  hasNoRoomFor(byteCount: number): boolean {
    return this.#length + byteCount > RECORD_BYTES_MAX;
  }

  get isTooLong(): boolean {
    return this.#length > RECORD_BYTES_MAX;
  }

  add(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#length += piece.length;
    if (this.isTooLong) this.#collector.clear();
    else this.#collector.add(piece);
  }

  /** Ends the record and returns it; null when it was too long. */
  take(): Buffer | null {
    const { isTooLong } = this;
    this.#length = 0;
    const whole = this.#collector.take();
    return isTooLong ? null : whole;
  }
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const OBJECT_OPEN = 0x7b;
const OBJECT_CLOSE = 0x7d;
const SPACES: ReadonlySet<number> = new Set([0x20, 0x09, LINE_FEED, CARRIAGE_RETURN]);

/**
 * JSON Lines: one value a line, LF or CRLF; blank lines are skipped. Lines end in CR where one
 * stands between two objects before the first LF: no JSON value has `}`, a CR and `{` within.
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
      else if (!SPACES.has(byte)) this.#ending = '';
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
  let offset = hasByteOrderMark(bytes) ? 3 : 0;
  while (offset < bytes.length && SPACES.has(bytes[offset] ?? 0)) offset += 1;
  return offset === bytes.length;
}

function hasByteOrderMark(bytes: Buffer): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

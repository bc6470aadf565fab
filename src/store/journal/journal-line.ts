/**
 * The lines of a journal, `journal-<generation, 6 digits or more>.jsonl`, in UTF-8. Each line is
 * one JSON object without white space, ended by a line feed, in exactly one of these forms. A
 * capital letter stands for a value, and `,…` for any number of further values of the same form:
 *
 *   {"crc":"C","seq":N,"durable":D,"ops":[O,…]}          a transaction, all or nothing
 *   {"crc":"C","seq":N,"durable":N,"mark":true}          writing paused, or stopped
 *   {"crc":"C","seq":N,"durable":N,"snapshots":["S",…]}  the generation's snapshots are complete
 *   {"crc":"C","seq":N,"durable":N,"next":G}             continued in the journal of generation G
 *   {"crc":"C","seq":N,"durable":N,"start":{"format":"hookshelf-journal-2","generation":G}}
 *
 * An operation O is one of
 *
 *   {"put":"S","bytes":B,"record":R}
 *   {"put":"S","bytes":B,"implies":true,"record":R}
 *   {"delete":"S","key":"K"}
 *
 * C: eight lower-case hex digits: the CRC-32 (zlib) of the line's bytes after these digits, without
 * the line feed. The first 16 bytes have a fixed form, so every byte of a line is checked or fixed.
 * N: the sequence. A transaction's is one more than that of the line before it; every other line, a
 * "note", repeats the sequence of the last transaction. The first line of a file, and no other, is
 * its `start`; its N is the sequence of the state that the file continues, its G the file's own
 * generation. Nothing follows a `next`. A note is written alone and synced before the next line.
 * D: the durable mark: the last sequence known to be on disk when the line was written. It never
 * falls within a file, and is less than the N of a transaction. In a note it equals N.
 * S: the name of a collection; in `snapshots`, each collection that has a file of this generation.
 * B: the length in bytes of the record R, so that a reader can slice records out without parsing
 * them. The stored bytes of a record are exactly R. K: the key of a record.
 * N, D, G and B are decimal integers.
 *
 * A put that `implies` stands for itself and, directly after it, the operations that
 * `CollectionSpec.imply` of its collection makes of R: so a record that follows from another is not
 * written. Operations apply in order, so those that come later in the line may change what is
 * implied. A reader that does not know the collection skips both.
 *
 * No other format is read: a directory with another format is refused as a whole.
 */
import { crc32 } from 'node:zlib';
import { assert } from '../../base/assert.ts';
import { readId } from '../records/record-table.ts';
import type { CollectionSpec, LoggedTransaction, Operation } from '../store-port.ts';

export const JOURNAL_FORMAT = 'hookshelf-journal-2';

export type JournalLine = {
  readonly kind: 'ops' | 'mark' | 'snapshots' | 'next' | 'start';
  readonly sequence: number;
  readonly durable: number;
  /** The position of the first operation in the buffer, for `ops`. */
  readonly operationsAt: number;
  /** The G of a `start` or `next`, else 0. */
  readonly generation: number;
  /** The names in `snapshots`, else empty. */
  readonly collections: readonly string[];
};

export const CRC_START = '{"crc":"'.length;
export const CRC_END = CRC_START + 8;
export const HEX = Buffer.from('0123456789abcdef');

const TRANSACTION_PATTERN =
  /^\{"crc":"[0-9a-f]{8}","seq":(\d{1,15}),"durable":(\d{1,15}),"ops":\[/;
const HEAD_BYTES_MAX = 72;

/** Parses the line in `[start, end)` of `buffer`, without line feed. Null when it is not valid. */
export function parseLine(buffer: Buffer, start: number, end: number): JournalLine | null {
  if (!hasChecksum(buffer, start, end)) return null;
  return parseTransaction(buffer, start, end) ?? parseNoteLine(buffer, start, end);
}

// Nearly all lines are transactions. A pattern takes 0.8 µs for one, the reader below 2.7 µs.
function parseTransaction(buffer: Buffer, start: number, end: number): JournalLine | null {
  const head = buffer.toString('latin1', start, Math.min(end, start + HEAD_BYTES_MAX));
  const match = TRANSACTION_PATTERN.exec(head);
  if (match === null) return null;
  return {
    kind: 'ops', sequence: Number(match[1]), durable: Number(match[2]),
    operationsAt: start + match[0].length, generation: 0, collections: [],
  };
}

function parseNoteLine(buffer: Buffer, start: number, end: number): JournalLine | null {
  const reader = new JournalLineReader(buffer, start + CRC_END, end);
  try {
    reader.expect('","seq":');
    const sequence = reader.readInteger();
    reader.expect(',"durable":');
    const durable = reader.readInteger();
    reader.expect(',"');
    const note = { sequence, durable, operationsAt: 0, generation: 0, collections: [] };
    if (sequence !== durable) return null;
    return reader.assertEnd(parseNote(reader, note));
  } catch {
    return null;
  }
}

const HEAD_PATTERN = /^\{"crc":"[0-9a-f]{8}","seq":(\d{1,15}),/;

/** Reads the sequence of the line at the start of `bytes`, without a check; null: no line. */
export function sequenceAt(bytes: Buffer): number | null {
  const sequence = HEAD_PATTERN.exec(bytes.toString('latin1', 0, HEAD_BYTES_MAX))?.[1];
  return sequence === undefined ? null : Number(sequence);
}

/** Whether the bytes are a line as it was written, though perhaps of an unknown format. */
export function hasChecksum(buffer: Buffer, start: number, end: number): boolean {
  if (end - start <= CRC_END || !matches(buffer, start, '{"crc":"')) return false;
  let crc = crc32(buffer.subarray(start + CRC_END, end));
  for (let index = CRC_END - 1; index >= CRC_START; index -= 1) {
    if (buffer[start + index] !== HEX[crc & 15]) return false;
    crc >>>= 4;
  }
  return true;
}

function parseNote(reader: JournalLineReader, note: Omit<JournalLine, 'kind'>): JournalLine {
  if (reader.accept('mark":true}')) return { ...note, kind: 'mark' };
  if (reader.accept('next":')) {
    const generation = reader.readInteger();
    reader.expect('}');
    return { ...note, kind: 'next', generation };
  }
  if (reader.accept('snapshots":[')) {
    const collections: string[] = [];
    do {
      reader.expect('"');
      collections.push(reader.readText());
    } while (reader.accept(','));
    reader.expect(']}');
    return { ...note, kind: 'snapshots', collections };
  }
  reader.expect(`start":{"format":"${JOURNAL_FORMAT}","generation":`);
  const generation = reader.readInteger();
  reader.expect('}}');
  return { ...note, kind: 'start', generation };
}

/** The collections whose specs say what a put implies, by name. */
export type DecodedCollections = ReadonlyMap<string, { readonly spec: CollectionSpec }>;

/**
 * Decodes the transaction in a line that `parseLine` has parsed, with the operations that others
 * imply. Records that stand in the line are slices of `buffer`. Throws when the line is not of the
 * format.
 */
export function decodeTransaction(
  buffer: Buffer, { sequence, operationsAt }: JournalLine, end: number,
  collections: DecodedCollections,
): LoggedTransaction {
  const reader = new JournalLineReader(buffer, operationsAt, end);
  const operations: Operation[] = [];
  do {
    decodeOperation(reader, buffer, collections, operations);
  } while (reader.accept(','));
  reader.expect(']}');
  assert(reader.position === end);
  return { sequence, operations };
}

/** Adds the next operation of a line, and the operations that it implies. */
function decodeOperation(
  reader: JournalLineReader, buffer: Buffer, collections: DecodedCollections,
  operations: Operation[],
): void {
  if (reader.accept('{"put":"')) {
    const collection = reader.readText();
    reader.expect(',"bytes":');
    const length = reader.readInteger();
    const implies = reader.accept(',"implies":true');
    reader.expect(',"record":');
    const bytes = buffer.subarray(reader.position, reader.position + length);
    reader.position += length;
    reader.expect('}');
    operations.push({ collection, id: readId(bytes), bytes });
    if (implies) addImplied(collections.get(collection)?.spec, bytes, operations);
    return;
  }
  reader.expect('{"delete":"');
  const collection = reader.readText();
  reader.expect(',"key":"');
  const id = reader.readText();
  reader.expect('}');
  operations.push({ collection, id, bytes: null });
}

function addImplied(
  spec: CollectionSpec | undefined, bytes: Buffer, operations: Operation[],
): void {
  if (spec === undefined) return;
  assert(spec.imply !== undefined, `a record of ${spec.name} implies none`);
  for (const operation of spec.imply(bytes)) operations.push({ ...operation, isImplied: true });
}

/** Reads a line from left to right; throws where it is not exactly of the format. */
class JournalLineReader {
  position: number;
  readonly #buffer: Buffer;
  readonly #end: number;
  #text = '';

  constructor(buffer: Buffer, at: number, end: number) {
    this.#buffer = buffer;
    this.position = at;
    this.#end = end;
  }

  accept(text: string): boolean {
    if (this.position + text.length > this.#end) return false;
    if (!matches(this.#buffer, this.position, text)) return false;
    this.position += text.length;
    return true;
  }

  expect(text: string): void {
    assert(this.accept(text));
  }

  readInteger(): number {
    const start = this.position;
    let value = 0;
    for (; this.position < this.#end; this.position += 1) {
      const digit = (this.#buffer[this.position] ?? 0) - 0x30;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
    }
    assert(this.position > start && Number.isSafeInteger(value));
    return value;
  }

  /** Reads up to the next quote and skips it. The text is mostly the same as the last time. */
  readText(): string {
    const knownEnd = this.position + this.#text.length;
    if (knownEnd > this.position && this.#buffer[knownEnd] === 0x22 && this.accept(this.#text)) {
      this.position += 1;
      return this.#text;
    }
    const quote = this.#buffer.indexOf(0x22, this.position);
    assert(quote > this.position && quote < this.#end);
    this.#text = this.#buffer.toString('latin1', this.position, quote);
    this.position = quote + 1;
    return this.#text;
  }

  assertEnd(line: JournalLine): JournalLine {
    assert(this.position === this.#end);
    return line;
  }
}

function matches(buffer: Buffer, at: number, ascii: string): boolean {
  for (let index = 0; index < ascii.length; index += 1) {
    if (buffer[at + index] !== ascii.charCodeAt(index)) return false;
  }
  return true;
}

/**
 * A snapshot, `<collection>-<generation, 6 digits or more>.json`, holds every record of one
 * collection as of one sequence. It is immutable once it has its name. It is one JSON document in
 * UTF-8 with these lines. A capital letter stands for a value, and `,…` for any number of further
 * ones of the same form:
 *
 *   {"format":"hookshelf-snapshot-2","collection":"S","generation":G,"sequence":N,
 *     "collections":["S",…],"records":[     in one line with the above, without the white space
 *   R,                                      each record but the last one
 *   R                                       the last record, if there is any
 *   ],"count":B,"crc":"C"}                  the last line; like all lines it ends in a line feed
 *
 * S: the file's collection; in `collections`, the collection of every file of the generation: the
 * set is complete when all of them are there with the same N. R: a JSON object whose first member
 * is its key. B: the count of records. C: eight lower-case hex digits, the CRC-32 (zlib) of all
 * bytes before them. G (the generation), N (the sequence) and B are decimal integers. A file is
 * valid when it has this form, B and C are right and the keys rise.
 *
 * The records lie as they do in memory, each followed by `,` and a line feed. So the bytes read
 * become chunks of the arena as they are; only a line that crosses two chunks is copied.
 */
import { crc32 } from 'node:zlib';
import { isJsonObject } from '../../base/fields.ts';
import { CHUNK_BYTES, allocateSharedChunk } from '../records/arena.ts';
import type { StoredCollection } from '../records/collection.ts';
import { damageError, unknownFormatError } from './damage-error.ts';
import { readFully, readLines, withFile } from '../disk/read-write.ts';
import type { Descriptor, Files } from '../disk/files.ts';

const SNAPSHOT_FORMAT = 'hookshelf-snapshot-2';

export type SnapshotHeader = {
  readonly collection: string;
  readonly generation: number;
  readonly sequence: number;
  readonly collections: readonly string[];
};

const LINE_FEED = 0x0a;
const COMMA = 0x2c;
const BRACE = 0x7b;
const BRACKET = 0x5d;
const RECORDS = ',"records":[';
const CRC_HEX = 8;
const HEADER_BYTES_MAX = 64 * 1024;
const FORMAT_PATTERN = /^\{"format":"(hookshelf-snapshot-\d+)"/;

export function encodeHeader(header: SnapshotHeader): string {
  const { collection, generation, sequence, collections } = header;
  const members = { format: SNAPSHOT_FORMAT, collection, generation, sequence, collections };
  return `${JSON.stringify(members).slice(0, -1)}${RECORDS}\n`;
}

/** The trailer up to the checksum's digits, which cover it too. */
export function encodeCount(count: number): string {
  return `],"count":${count},"crc":"`;
}

export const SNAPSHOT_END = '"}\n';

/** Whether a snapshot holds no record. Throws `damaged`. */
export async function isEmptySnapshot(files: Files, path: string): Promise<boolean> {
  const header = await readHeader(files, path);
  const ends = [encodeHeader(header), encodeCount(0), SNAPSHOT_END];
  const bytes = ends.reduce((sum, end) => sum + Buffer.byteLength(end), CRC_HEX);
  return withFile(files, path, 'read', async (descriptor) =>
    files.sizeSync(descriptor) === bytes);
}

/** Reads the header of a snapshot. Throws `damaged`. */
export async function readHeader(files: Files, path: string): Promise<SnapshotHeader> {
  return withFile(files, path, 'read', async (descriptor) => {
    const start = Buffer.alloc(Math.min(files.sizeSync(descriptor), HEADER_BYTES_MAX));
    const count = await readFully(files, descriptor, start, 0);
    const end = start.subarray(0, count).indexOf(LINE_FEED);
    const header = end < 0 ? null : parseHeader(start.toString('utf8', 0, end));
    const position = { path, line: 1, offset: 0 };
    if (header !== null) return header;
    const line = start.toString('latin1', 0, end);
    const format = FORMAT_PATTERN.exec(line)?.[1] ?? SNAPSHOT_FORMAT;
    throw format === SNAPSHOT_FORMAT ? damageError(position, 'no snapshot header')
      : unknownFormatError(position, SNAPSHOT_FORMAT, line);
  });
}

/** Loads a snapshot into an empty collection. Throws `damaged`. */
export async function loadSnapshot(
  files: Files, path: string, collection: StoredCollection,
): Promise<void> {
  await withFile(files, path, 'read', async (descriptor) => {
    const isValid = await new SnapshotLoader(files, descriptor, collection).load();
    if (!isValid) throw await locateDamage(files, path, descriptor);
  });
}

/** The chunks of a file that are read while another one is indexed. */
const READS_AHEAD = 3;
/** The maximum of records that are added to the collection at once. */
const SPANS_MAX = 4096;

class SnapshotLoader {
  readonly #files: Files;
  readonly #descriptor: Descriptor;
  readonly #collection: StoredCollection;
  readonly #size: number;
  #position = 0;
  readonly #pendingReads: Promise<Buffer>[] = [];
  /** The offset and the length of each record. */
  readonly #spans = new Uint32Array(2 * SPANS_MAX);
  #crc = 0;
  #count = 0;
  #isHeaderRead = false;
  #trailer: string | null = null;
  #isInOrder = true;

  constructor(files: Files, descriptor: Descriptor, collection: StoredCollection) {
    this.#files = files;
    this.#descriptor = descriptor;
    this.#collection = collection;
    this.#size = files.sizeSync(descriptor);
  }

  /** False when the file is not a valid snapshot. */
  async load(): Promise<boolean> {
    // The checksum covers all bytes before its digits.
    const checksummedEnd = this.#size - SNAPSHOT_END.length - CRC_HEX;
    // The parts of a line that continues in the next piece.
    let partialLine: Buffer[] = [];
    let position = 0;
    try {
      for (let reading = this.#nextPiece(); reading !== undefined; reading = this.#nextPiece()) {
        const piece = await reading;
        const checksummedBytes = Math.max(0, Math.min(piece.length, checksummedEnd - position));
        this.#crc = crc32(piece.subarray(0, checksummedBytes), this.#crc);
        position += piece.length;
        const start = partialLine.length === 0 ? 0 : piece.indexOf(LINE_FEED) + 1;
        const end = piece.lastIndexOf(LINE_FEED) + 1;
        if (end === 0) {
          partialLine.push(piece);
          continue;
        }
        if (start > 0) this.#addLine(Buffer.concat([...partialLine, piece.subarray(0, start - 1)]));
        this.#indexLines(piece, start, end);
        partialLine = end === piece.length ? [] : [piece.subarray(end)];
      }
    } finally {
      // The caller closes the file, which must not happen during a read.
      await Promise.allSettled(this.#pendingReads);
    }
    return partialLine.length === 0 && position === this.#size && this.#isInOrder
      && this.#trailer === this.#expectedTrailer();
  }

  /** The next piece, while reads of the following ones are started; undefined at the end. */
  #nextPiece(): Promise<Buffer> | undefined {
    while (this.#pendingReads.length <= READS_AHEAD && this.#position < this.#size) {
      this.#pendingReads.push(this.#read(this.#position));
      this.#position += CHUNK_BYTES;
    }
    return this.#pendingReads.shift();
  }

  async #read(position: number): Promise<Buffer> {
    const chunk = allocateSharedChunk(Math.min(CHUNK_BYTES, this.#size - position));
    const count = await readFully(this.#files, this.#descriptor, chunk, position);
    return chunk.subarray(0, count);
  }

  /** Adds the records of the complete lines in a chunk. */
  #indexLines(chunk: Buffer, from: number, end: number): void {
    const { arena } = this.#collection.table;
    const id = arena.adopt(chunk);
    let count = 0;
    for (let start = from; start < end;) {
      const lineEnd = chunk.indexOf(LINE_FEED, start);
      if (chunk[start] === BRACE && chunk[lineEnd - 1] === COMMA && this.#isHeaderRead) {
        this.#spans[2 * count] = start;
        this.#spans[2 * count + 1] = lineEnd - 1 - start;
        count += 1;
      } else {
        this.#loadSpans(id, count);
        count = 0;
        this.#addLine(chunk.subarray(start, lineEnd));
      }
      if (count === SPANS_MAX) {
        this.#loadSpans(id, count);
        count = 0;
      }
      start = lineEnd + 1;
    }
    this.#loadSpans(id, count);
    arena.dropIfDead(id);
  }

  #loadSpans(chunk: number, count: number): void {
    this.#isInOrder &&= this.#collection.load(chunk, this.#spans, count);
    this.#count += count;
  }

  /** Adds one line: the header, a record without its comma in the chunk, or the trailer. */
  #addLine(line: Buffer): void {
    if (!this.#isHeaderRead) {
      this.#isHeaderRead = true;
    } else if (line[0] === BRACE) {
      const { arena } = this.#collection.table;
      const end = line.at(-1) === COMMA ? line.length - 1 : line.length;
      const span = arena.appendBytes(line, end);
      arena.release(span.chunk, span.length);
      this.#spans[0] = span.offset;
      this.#spans[1] = span.length;
      this.#loadSpans(span.chunk, 1);
    } else if (line[0] === BRACKET && this.#trailer === null) {
      this.#trailer = `${line.toString('latin1')}\n`;
    } else {
      this.#isInOrder = false;
    }
  }

  #expectedTrailer(): string {
    const crc = this.#crc.toString(16).padStart(CRC_HEX, '0');
    return `${encodeCount(this.#count)}${crc}${SNAPSHOT_END}`;
  }
}

/** Null when the line is not exactly a header. */
function parseHeader(line: string): SnapshotHeader | null {
  if (!line.endsWith(RECORDS)) return null;
  try {
    const header: unknown = JSON.parse(`${line}]}`);
    if (!isJsonObject(header)) return null;
    const { collection, generation, sequence, collections } = header;
    if (typeof collection !== 'string' || !Array.isArray(collections)) return null;
    if (typeof generation !== 'number' || typeof sequence !== 'number') return null;
    const names = collections.filter((name) => typeof name === 'string');
    const snapshotHeader = { collection, generation, sequence, collections: names };
    // Anything that is written otherwise is not of this format.
    return encodeHeader(snapshotHeader) === `${line}\n` ? snapshotHeader : null;
  } catch {
    return null;
  }
}

/** Locates the first line that is not valid. If all are, the checksum is wrong. */
async function locateDamage(
  files: Files, path: string, descriptor: Descriptor,
): Promise<Error> {
  let line = 0;
  let position = { path, line: 1, offset: 0 };
  let isFound = false;
  await readLines(files, descriptor, (buffer, start, end, offset, isComplete) => {
    line += 1;
    if (isFound) return;
    position = { path, line, offset };
    isFound = !isComplete || (line > 1 && !isRecordOrTrailer(buffer, start, end));
  });
  return damageError(position, isFound ? 'not a valid record' : 'the checksum is wrong');
}

function isRecordOrTrailer(buffer: Buffer, start: number, end: number): boolean {
  if (buffer[start] === BRACKET) return true;
  try {
    const recordEnd = buffer[end - 1] === COMMA ? end - 1 : end;
    return isJsonObject(JSON.parse(buffer.toString('utf8', start, recordEnd)));
  } catch {
    return false;
  }
}

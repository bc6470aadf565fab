/**
 * A snapshot, `<collection>-<generation, 6 digits or more>.json`: every record of one collection as
 * of one sequence, immutable once it has its name. One JSON document in UTF-8, line by line, where
 * a capital letter stands for a value, and `,…` for any number of more like the one before it:
 *
 *   {"format":"hookshelf-snapshot-1","collection":"S","generation":G,"sequence":N,
 *     "collections":["S",…],"records":[     one line with the one above, without the white space
 *   R,                                      a record, while another one follows
 *   R                                       the last one, if there is any
 *   ],"count":B,"crc":"C"}                  the last line, ended by a line feed like all of them
 *
 * S: the file's collection; in `collections`, of every file of the generation: the set is complete
 * when all of them are there, and their N is the same. R: a JSON object whose first member is its
 * key; keys rise. B: the count of records. C: eight lower-case hex digits, the CRC-32 (zlib) of all
 * bytes before them. G, N and B are decimal integers. A file is valid when it has this form, B and
 * C are right and the keys rise.
 *
 * The records lie as they do in memory, each followed by `,` and a line feed, so that a file is
 * loaded by taking over what was read as chunks.
 */
import { crc32 } from 'node:zlib';
import { isJsonObject } from '../../base/fields.ts';
import { CHUNK_BYTES } from '../records/arena.ts';
import type { StoredCollection } from '../records/collection.ts';
import { damagedAt, foreignLine } from './damage.ts';
import { readFully, readLines } from '../disk/read-write.ts';
import type { Descriptor, Files } from '../disk/files.ts';

const SNAPSHOT_FORMAT = 'hookshelf-snapshot-1';

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
const FOREIGN_HEADER = /^\{"format":"hookshelf-snapshot-(?!1")\d+"/;

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

/** Whether a snapshot of so many bytes holds no record. */
export function isEmptySnapshot(header: SnapshotHeader, bytes: number): boolean {
  const ends = [encodeHeader(header), encodeCount(0), SNAPSHOT_END];
  return bytes === ends.reduce((sum, end) => sum + Buffer.byteLength(end), CRC_HEX);
}

/** The header of a snapshot. Throws `damaged`. */
export async function readHeader(files: Files, path: string): Promise<SnapshotHeader> {
  const descriptor = files.open(path, 'read');
  try {
    const start = Buffer.alloc(Math.min(files.sizeOf(descriptor), HEADER_BYTES_MAX));
    const count = await readFully(files, descriptor, start, 0);
    const end = start.subarray(0, count).indexOf(LINE_FEED);
    const header = end < 0 ? null : parseHeader(start.toString('utf8', 0, end));
    const place = { path, line: 1, offset: 0 };
    if (header !== null) return header;
    const isForeign = FOREIGN_HEADER.test(start.toString('latin1', 0, end));
    throw isForeign ? foreignLine(place) : damagedAt(place, 'no snapshot header');
  } finally {
    files.close(descriptor);
  }
}

/** Loads a snapshot into an empty collection. Throws `damaged`. */
export async function loadSnapshot(
  files: Files, path: string, collection: StoredCollection,
): Promise<void> {
  const descriptor = files.open(path, 'read');
  try {
    const isValid = await new SnapshotLoader(files, descriptor, collection).load();
    if (!isValid) throw await locateDamage(files, path, descriptor);
  } finally {
    files.close(descriptor);
  }
}

class SnapshotLoader {
  readonly #files: Files;
  readonly #descriptor: Descriptor;
  readonly #collection: StoredCollection;
  #crc = 0;
  #count = 0;
  #isHeaderRead = false;
  #trailer: string | null = null;
  #isInOrder = true;

  constructor(files: Files, descriptor: Descriptor, collection: StoredCollection) {
    this.#files = files;
    this.#descriptor = descriptor;
    this.#collection = collection;
  }

  /** False when the file is not a valid snapshot. */
  async load(): Promise<boolean> {
    const size = this.#files.sizeOf(this.#descriptor);
    const checkedEnd = size - SNAPSHOT_END.length - CRC_HEX;
    let chunk = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, size));
    let kept = 0;
    let position = 0;
    let reading = this.#read(chunk, 0, position);
    while (true) {
      const count = await reading;
      if (count === 0) break;
      const from = kept;
      const filled = kept + count;
      const current = chunk;
      const end = current.lastIndexOf(LINE_FEED, filled - 1) + 1;
      position += count;
      kept = filled - end;
      // The next piece is read while this one is indexed. What is left of a line goes first in it.
      const room = end === 0 ? current.length * 2 : CHUNK_BYTES;
      const rest = kept + size - position + 1;
      chunk = Buffer.allocUnsafeSlow(Math.min(Math.max(room, kept + 1), rest));
      current.copy(chunk, 0, end, filled);
      reading = this.#read(chunk, kept, position);
      const checked = Math.min(filled, filled - position + checkedEnd);
      if (checked > from) this.#crc = crc32(current.subarray(from, checked), this.#crc);
      try {
        if (end > 0) this.#index(current, end);
      } catch (error) {
        // The caller closes the file, which must not happen under a read.
        await reading.catch(() => {});
        throw error;
      }
    }
    return kept === 0 && this.#isInOrder && this.#trailer === this.#expectedTrailer();
  }

  #read(chunk: Buffer, kept: number, position: number): Promise<number> {
    return readFully(this.#files, this.#descriptor, chunk.subarray(kept), position);
  }

  #index(chunk: Buffer, end: number): void {
    const { arena } = this.#collection.table;
    const id = arena.adopt(chunk);
    let start = 0;
    while (start < end) {
      const lineEnd = chunk.indexOf(LINE_FEED, start);
      if (chunk[start] === BRACE && this.#isHeaderRead) {
        const isLast = chunk[lineEnd - 1] !== COMMA;
        const isLoaded = isLast ? this.#loadLast(chunk, start, lineEnd)
          : this.#collection.load(id, start, lineEnd - 1 - start);
        this.#isInOrder &&= isLoaded;
        this.#count += 1;
      } else if (!this.#isHeaderRead) {
        this.#isHeaderRead = true;
      } else if (chunk[start] === BRACKET && this.#trailer === null) {
        this.#trailer = chunk.toString('latin1', start, lineEnd + 1);
      } else {
        this.#isInOrder = false;
      }
      start = lineEnd + 1;
    }
    arena.dropIfDead(id);
  }

  // The last record lacks the comma that every record in a chunk is followed by.
  #loadLast(chunk: Buffer, start: number, end: number): boolean {
    const { arena } = this.#collection.table;
    const place = arena.appendBytes(chunk, start, end);
    arena.release(place.chunk, place.length);
    return this.#collection.load(place.chunk, place.offset, place.length);
  }

  #expectedTrailer(): string {
    const crc = this.#crc.toString(16).padStart(CRC_HEX, '0');
    return `${encodeCount(this.#count)}${crc}${SNAPSHOT_END}`;
  }
}

function parseHeader(line: string): SnapshotHeader | null {
  if (!line.endsWith(RECORDS)) return null;
  try {
    const header: unknown = JSON.parse(`${line}]}`);
    if (!isJsonObject(header) || header.format !== SNAPSHOT_FORMAT) return null;
    const { collection, generation, sequence, collections } = header;
    if (typeof collection !== 'string' || !Array.isArray(collections)) return null;
    if (typeof generation !== 'number' || typeof sequence !== 'number') return null;
    const names = collections.filter((name) => typeof name === 'string');
    const parsed = { collection, generation, sequence, collections: names };
    return encodeHeader(parsed) === `${line}\n` ? parsed : null;
  } catch {
    return null;
  }
}

/** The first line that is not as it should be; where all of them are, the checksum's. */
async function locateDamage(
  files: Files, path: string, descriptor: Descriptor,
): Promise<Error> {
  let line = 0;
  let place = { path, line: 1, offset: 0 };
  let isFound = false;
  await readLines(files, descriptor, (buffer, start, end, offset, isComplete) => {
    line += 1;
    if (isFound) return;
    place = { path, line, offset };
    isFound = !isComplete || (line > 1 && !isRecordOrTrailer(buffer, start, end));
  });
  return damagedAt(place, isFound ? 'not a valid record' : 'the checksum is wrong');
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

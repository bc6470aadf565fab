/**
 * The arena holds the bytes of records, one after the other in large append-only buffers
 * ("chunks"), each record followed by `,\n`. Neighbours in a chunk can therefore be sent, or
 * written to a snapshot, as one slice. Bytes in the arena never change. A chunk is dropped with its
 * last live record.
 */
import { assert } from '../../base/assert.ts';

/** The separator of two records: adjacent records are a piece of a JSON array. */
export const SEPARATOR = Buffer.from(',\n');

// A mebibyte includes the allocator's header; else each chunk would take one more page.
export const CHUNK_BYTES = (1 << 20) - 64;
// A collection of a few records must not cost a mebibyte.
const FIRST_CHUNK_BYTES = 1 << 16;
const NO_CHUNK = Buffer.alloc(0);
const COMMA = 0x2c;
const LINE_FEED = 0x0a;

/**
 * Allocates a chunk for records that are read from a snapshot. It is shared memory: V8 takes the
 * growth of other buffers as a reason to collect garbage, and marked the whole heap twelve times
 * while a million books were read, a sixth of the time. Chunks for later writes are normal buffers,
 * so that V8 counts them and frees dropped chunks.
 */
export function allocateSharedChunk(bytes: number): Buffer {
  return Buffer.from(new SharedArrayBuffer(bytes));
}

/** The position of a record's bytes; `length` is without the separator. */
export type RecordSpan = {
  readonly chunk: number;
  readonly offset: number;
  readonly length: number;
};

export type FrozenArena = {
  readonly chunks: readonly (Buffer | undefined)[];
  /** The live share of each chunk, 0 to 1. */
  readonly liveShares: readonly number[];
};

export class Arena {
  #chunks: (Buffer | undefined)[] = [];
  #liveBytes: number[] = [];
  #freeIds: number[] = [];
  /** The chunk that is being filled; its id is -1 before the first record. */
  #tail = NO_CHUNK;
  #tailId = -1;
  #tailUsed = 0;
  #liveTotal = 0;
  #allocatedTotal = 0;
  #isFrozen = false;

  /** Bytes in chunks without a live record: a compaction would free them. */
  get garbageBytes(): number {
    const unusedBytes = this.#tail.length - this.#tailUsed;
    return Math.max(0, this.#allocatedTotal - this.#liveTotal - unusedBytes);
  }

  chunk(id: number): Buffer {
    return this.#chunks[id] ?? NO_CHUNK;
  }

  /** Encodes a record at the end; it counts as live until `release`. */
  append(json: string): RecordSpan {
    // A UTF-16 unit takes at most three bytes. An exact count is only worth it near a chunk's end.
    if (this.#tailUsed + json.length * 3 + SEPARATOR.length > this.#tail.length) {
      this.#reserve(Buffer.byteLength(json));
    }
    return this.#finishRecord(this.#tail.write(json, this.#tailUsed, 'utf8'));
  }

  /** The same of the first `length` bytes of the source. */
  appendBytes(source: Buffer, length = source.length): RecordSpan {
    this.#reserve(length);
    return this.#finishRecord(source.copy(this.#tail, this.#tailUsed, 0, length));
  }

  /** Adds a full chunk, without a live record: `retain` counts them. Returns its id. */
  adopt(chunk: Buffer): number {
    const id = this.#isFrozen ? this.#chunks.length : this.#freeIds.pop() ?? this.#chunks.length;
    this.#chunks[id] = chunk;
    this.#liveBytes[id] = 0;
    this.#allocatedTotal += chunk.length;
    return id;
  }

  /** Counts `count` records of a chunk as live; `length` is the sum of their lengths. */
  retain(chunk: number, length: number, count = 1): void {
    const bytes = length + count * SEPARATOR.length;
    this.#liveBytes[chunk] = (this.#liveBytes[chunk] ?? 0) + bytes;
    this.#liveTotal += bytes;
  }

  release(chunk: number, length: number): void {
    const bytes = length + SEPARATOR.length;
    const live = (this.#liveBytes[chunk] ?? 0) - bytes;
    assert(live >= 0);
    this.#liveBytes[chunk] = live;
    this.#liveTotal -= bytes;
    this.dropIfDead(chunk);
  }

  /** Until `thaw`, ids of dropped chunks are not reused. The result keeps the bytes alive. */
  freeze(): FrozenArena {
    assert(!this.#isFrozen);
    this.#isFrozen = true;
    const liveShares = this.#chunks.map((chunk, id) => {
      const used = id === this.#tailId ? this.#tailUsed : chunk?.length ?? 0;
      return used === 0 ? 0 : (this.#liveBytes[id] ?? 0) / used;
    });
    return { chunks: [...this.#chunks], liveShares };
  }

  thaw(): void {
    this.#isFrozen = false;
  }

  /** Drops a chunk without a live record, unless it is the one being filled. */
  dropIfDead(chunk: number): void {
    if (chunk === this.#tailId || this.#liveBytes[chunk] !== 0) return;
    const buffer = this.#chunks[chunk];
    if (buffer === undefined) return;
    this.#chunks[chunk] = undefined;
    this.#allocatedTotal -= buffer.length;
    this.#freeIds.push(chunk);
  }

  /** Begins a new chunk when a record of `length` bytes does not fit in the tail. */
  #reserve(length: number): void {
    const requiredBytes = length + SEPARATOR.length;
    if (this.#tailUsed + requiredBytes <= this.#tail.length) return;
    const previousTailId = this.#tailId;
    const size = Math.min(CHUNK_BYTES, Math.max(FIRST_CHUNK_BYTES, this.#tail.length * 2));
    this.#tail = Buffer.allocUnsafeSlow(Math.max(size, requiredBytes));
    this.#tailUsed = 0;
    this.#tailId = this.adopt(this.#tail);
    this.dropIfDead(previousTailId);
  }

  #finishRecord(length: number): RecordSpan {
    const offset = this.#tailUsed;
    const end = offset + length;
    assert(end + SEPARATOR.length <= this.#tail.length, 'a record fits in its chunk');
    // These two bytes are SEPARATOR.
    this.#tail[end] = COMMA;
    this.#tail[end + 1] = LINE_FEED;
    this.#tailUsed = end + SEPARATOR.length;
    this.retain(this.#tailId, length);
    return { chunk: this.#tailId, offset, length };
  }
}

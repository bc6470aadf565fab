/**
 * Record bytes, packed one after the other in large append-only buffers ("chunks"), each record
 * followed by `,\n`. Neighbours in a chunk can therefore be sent, or written to a snapshot, as one
 * slice. Bytes never change once they lie here; a chunk goes when the last live record in it goes.
 */
import { assert } from '../../base/assert.ts';

/** What stands between two records, so that adjacent ones are a piece of a JSON array. */
export const SEPARATOR = Buffer.from(',\n');

// A mebibyte together with what the allocator puts before it, or each would take a page more.
export const CHUNK_BYTES = (1 << 20) - 64;
// A collection of a few records must not cost a mebibyte.
const FIRST_CHUNK_BYTES = 1 << 16;
const NO_CHUNK = Buffer.alloc(0);

/**
 * Bytes for what is read from a snapshot. Shared memory, as V8 counts what other buffers grow by as
 * garbage to come: it marked the whole heap twelve times while a million books were read, a sixth
 * of the time that this takes. What is written later is counted, so chunks that were let go go.
 */
export function allocateSharedChunk(bytes: number): Buffer {
  return Buffer.from(new SharedArrayBuffer(bytes));
}

/** Where a record lies; `length` is without the separator. */
export type Span = { readonly chunk: number; readonly offset: number; readonly length: number };

export type FrozenArena = {
  readonly chunks: readonly (Buffer | undefined)[];
  /** Share of each chunk that is live, 0 to 1. */
  readonly liveShares: readonly number[];
};

export class Arena {
  #chunks: (Buffer | undefined)[] = [];
  #liveBytes: number[] = [];
  #freeIds: number[] = [];
  #tail = NO_CHUNK;
  #tailId = -1;
  #tailUsed = 0;
  #liveTotal = 0;
  #allocatedTotal = 0;
  #isFrozen = false;

  /** Bytes of chunks that hold no live record: memory that a compaction would give back. */
  get garbageBytes(): number {
    const unused = this.#tail.length - this.#tailUsed;
    return Math.max(0, this.#allocatedTotal - this.#liveTotal - unused);
  }

  chunk(id: number): Buffer {
    return this.#chunks[id] ?? NO_CHUNK;
  }

  /** Encodes a record at the end; it counts as live until `release`. */
  append(json: string): Span {
    // Three bytes a UTF-16 unit is the most there can be; only near a chunk's end is it worth
    // counting exactly.
    if (this.#tailUsed + json.length * 3 + SEPARATOR.length > this.#tail.length) {
      this.#reserve(Buffer.byteLength(json));
    }
    return this.#finishRecord(this.#tail.write(json, this.#tailUsed, 'utf8'));
  }

  appendBytes(source: Buffer, start: number, end: number): Span {
    this.#reserve(end - start);
    return this.#finishRecord(source.copy(this.#tail, this.#tailUsed, start, end));
  }

  /** Takes over a full chunk; its records count as live through `retain`. */
  adopt(chunk: Buffer): number {
    const id = this.#isFrozen ? this.#chunks.length : this.#freeIds.pop() ?? this.#chunks.length;
    this.#chunks[id] = chunk;
    this.#liveBytes[id] = 0;
    this.#allocatedTotal += chunk.length;
    return id;
  }

  /** Counts records as live, by the sum of their lengths. */
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

  /** While frozen, ids of dropped chunks are not given out again. The result keeps the bytes. */
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

  /** Lets a chunk without a live record go, unless more is still to come into it. */
  dropIfDead(chunk: number): void {
    if (chunk === this.#tailId || this.#liveBytes[chunk] !== 0) return;
    const buffer = this.#chunks[chunk];
    if (buffer === undefined) return;
    this.#chunks[chunk] = undefined;
    this.#allocatedTotal -= buffer.length;
    this.#freeIds.push(chunk);
  }

  #reserve(length: number): void {
    const needed = length + SEPARATOR.length;
    if (this.#tailUsed + needed <= this.#tail.length) return;
    const before = this.#tailId;
    const size = Math.min(CHUNK_BYTES, Math.max(FIRST_CHUNK_BYTES, this.#tail.length * 2));
    this.#tail = Buffer.allocUnsafeSlow(Math.max(size, needed));
    this.#tailUsed = 0;
    this.#tailId = this.adopt(this.#tail);
    this.dropIfDead(before);
  }

  #finishRecord(length: number): Span {
    const offset = this.#tailUsed;
    const end = offset + length;
    this.#tail[end] = 0x2c;
    this.#tail[end + 1] = 0x0a;
    this.#tailUsed = end + SEPARATOR.length;
    this.retain(this.#tailId, length);
    return { chunk: this.#tailId, offset, length };
  }
}

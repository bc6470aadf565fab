/**
 * A walk over a collection that continues after its last key, whatever was written meanwhile. It
 * remembers the position of that key's bytes, which never change, even when the record does.
 */
import { assert } from '../../base/assert.ts';
import { SEPARATOR } from './arena.ts';
import type { Arena } from './arena.ts';
import type { KeyOrder, KeyPosition } from './key-order.ts';
import type { Walk, WalkStart } from '../store-port.ts';
import { KEY_LENGTH_MAX, encodeKey } from './record-table.ts';
import type { RecordTable } from './record-table.ts';

// A smaller run is cheaper to copy than to send as a slice of its own.
const RUN_COPY_BYTES_MAX = 16 * 1024;
// The copies that one call may make. Slices of the arena cost nothing.
const COPIED_BYTES_MAX = 256 * 1024;

export class CollectionWalk implements Walk {
  readonly #table: RecordTable;
  readonly #order: KeyOrder;
  readonly #isDescending: boolean;
  /** The next position, valid while the collection's order has `#version`. */
  readonly #keyPosition: KeyPosition = { block: 0, position: 0 };
  /** -1: the position must be searched for before the next step. */
  #version = -1;
  /** The buffer that holds the last key, at `#keyAt`; null before the first. */
  #key: Buffer | null = null;
  #keyAt = 0;

  constructor(
    table: RecordTable, order: KeyOrder, { after = null, isDescending = false }: WalkStart,
  ) {
    this.#table = table;
    this.#order = order;
    this.#isDescending = isDescending;
    if (after === null) return;
    this.#key = Buffer.alloc(KEY_LENGTH_MAX + 1);
    encodeKey(after, this.#key);
  }

  next(): number {
    if (this.#version !== this.#order.version) this.#seekLastKey();
    const slot = this.#isDescending ? this.#stepBack() : this.#stepForward();
    if (slot >= 0) this.#remember(slot);
    return slot;
  }

  nextSlices(bytesMax: number): readonly Buffer[] {
    assert(!this.#isDescending);
    if (this.#version !== this.#order.version) this.#seekLastKey();
    const runs = new RunList();
    let last = -1;
    while (runs.bytesTotal < bytesMax && runs.bytesCopied < COPIED_BYTES_MAX) {
      const slot = this.#stepForward();
      if (slot < 0) break;
      last = slot;
      runs.add(this.#table.chunkOf(slot), this.#table.offsetOf(slot), this.#table.lengthOf(slot));
    }
    if (last < 0) return [];
    this.#remember(last);
    return runs.toSlices(this.#table.arena);
  }

  #stepForward(): number {
    let slot = this.#order.slotAt(this.#keyPosition.block, this.#keyPosition.position);
    if (slot < 0) {
      this.#keyPosition.block += 1;
      this.#keyPosition.position = 0;
      slot = this.#order.slotAt(this.#keyPosition.block, 0);
      if (slot < 0) {
        // Records may be added after the last one: the next call searches again.
        this.#version = -1;
        return -1;
      }
    }
    this.#keyPosition.position += 1;
    return slot;
  }

  #stepBack(): number {
    while (this.#keyPosition.position === 0) {
      if (this.#keyPosition.block === 0) return -1;
      this.#keyPosition.block -= 1;
      this.#keyPosition.position = this.#order.countOf(this.#keyPosition.block);
    }
    this.#keyPosition.position -= 1;
    return this.#order.slotAt(this.#keyPosition.block, this.#keyPosition.position);
  }

  #remember(slot: number): void {
    this.#key = this.#table.arena.chunk(this.#table.chunkOf(slot));
    this.#keyAt = this.#table.offsetOf(slot) + this.#table.keyStart;
  }

  /**
   * Sets the position from which to go on after the last key: to the first record after it;
   * descending, just past the last record before it.
   */
  #seekLastKey(): void {
    this.#version = this.#order.version;
    if (this.#key === null) {
      const block = this.#isDescending ? Math.max(0, this.#order.blockCount - 1) : 0;
      this.#keyPosition.block = block;
      this.#keyPosition.position = this.#isDescending ? this.#order.countOf(block) : 0;
      return;
    }
    const isFound = this.#order.seek(this.#key, this.#keyAt, this.#keyPosition);
    if (isFound && !this.#isDescending) this.#keyPosition.position += 1;
  }
}

type ByteRun = { readonly chunk: number; readonly start: number; end: number };

/** Adjacent records of one chunk, joined into runs. */
class RunList {
  bytesTotal = 0;
  /** A lower bound of the bytes that `toSlices` will copy. */
  bytesCopied = 0;
  readonly #runs: ByteRun[] = [];
  #last: ByteRun = { chunk: -1, start: 0, end: 0 };

  add(chunk: number, offset: number, length: number): void {
    const bytes = length + SEPARATOR.length;
    this.bytesTotal += bytes;
    if (this.#last.chunk === chunk && this.#last.end === offset) {
      this.#last.end += bytes;
      return;
    }
    const lastBytes = this.#last.end - this.#last.start;
    if (lastBytes <= RUN_COPY_BYTES_MAX) this.bytesCopied += lastBytes;
    this.#last = { chunk, start: offset, end: offset + bytes };
    this.#runs.push(this.#last);
  }

  /** The runs as few slices. The last one has no separator. */
  toSlices(arena: Arena): Buffer[] {
    this.#last.end -= SEPARATOR.length;
    const slices: Buffer[] = [];
    let small: ByteRun[] = [];
    for (const run of this.#runs) {
      if (run.end - run.start <= RUN_COPY_BYTES_MAX) {
        small.push(run);
        continue;
      }
      if (small.length > 0) slices.push(joinRuns(arena, small));
      small = [];
      slices.push(arena.chunk(run.chunk).subarray(run.start, run.end));
    }
    if (small.length > 0) slices.push(joinRuns(arena, small));
    return slices;
  }
}

function joinRuns(arena: Arena, runs: readonly ByteRun[]): Buffer {
  let length = 0;
  for (const { start, end } of runs) length += end - start;
  const bytes = Buffer.allocUnsafe(length);
  let at = 0;
  for (const { chunk, start, end } of runs) {
    at += arena.chunk(chunk).copy(bytes, at, start, end);
  }
  return bytes;
}

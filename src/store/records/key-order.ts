/**
 * The slots of a collection in order of their keys: blocks of at most 1024 slots, so that no
 * insertion moves more than 4 KiB and no step of growth copies the whole. Keys are compared where
 * they lie, in the records. Appending at the end, as rising ids do, is the fast path.
 *
 * A frozen view shares the blocks; a block is copied before it is first changed after a freeze.
 */
import { assert } from '../../base/assert.ts';
import type { RecordTable } from './record-table.ts';

const BLOCK_SLOTS = 1024;
const SPARSE_SLOTS = 256;
// Leaves room, so that merging and splitting do not take turns.
const MERGED_SLOTS_MAX = 768;

export type Block = { readonly slots: Uint32Array; count: number; readonly epoch: number };

/** A place in the order: position `position` of block `block`; may be just past a block's end. */
export type KeyPosition = { block: number; position: number };

export class KeyOrder {
  /** Changes whenever a slot enters or leaves. */
  version = 0;
  readonly #table: RecordTable;
  #blocks: Block[] = [];
  #epoch = 0;
  #size = 0;
  /** Where the last key was found. */
  readonly #found: KeyPosition = { block: 0, position: 0 };

  constructor(table: RecordTable) {
    this.#table = table;
  }

  get size(): number {
    return this.#size;
  }

  get blockCount(): number {
    return this.#blocks.length;
  }

  countOf(block: number): number {
    return this.#blocks[block]?.count ?? 0;
  }

  /** The slot at a place, or -1. */
  slotAt(block: number, position: number): number {
    const found = this.#blocks[block];
    return found === undefined || position >= found.count ? -1 : found.slots[position] ?? -1;
  }

  /**
   * Sets `place` to the first slot whose key is at or after the key at `at` in `target`; true when
   * it is equal. Past the last record the place is the end of the last block.
   */
  seek(target: Uint8Array, at: number, place: KeyPosition): boolean {
    if (this.#isNextAfterFound(target, at, place)) return true;
    place.block = Math.max(0, this.#blocks.length - 1);
    place.position = this.countOf(place.block);
    if (this.#size === 0 || this.#compareLast(place.block, target, at) < 0) return false;
    place.block = this.#findBlock(target, at);
    let low = 0;
    let high = this.countOf(place.block) - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = this.#table.compareTo(this.slotAt(place.block, middle), target, at);
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    place.position = low;
    if (this.#table.compareTo(this.slotAt(place.block, low), target, at) !== 0) return false;
    this.#found.block = place.block;
    this.#found.position = low;
    return true;
  }

  /**
   * Whoever goes through records in order asks for the one found last again, for the next, or,
   * having removed it, for what took its place: two comparisons instead of seventeen.
   */
  #isNextAfterFound(target: Uint8Array, at: number, place: KeyPosition): boolean {
    const { block, position } = this.#found;
    for (let candidate = position; candidate < position + 2; candidate += 1) {
      const slot = this.slotAt(block, candidate);
      if (slot < 0 || this.#table.compareTo(slot, target, at) !== 0) continue;
      place.block = block;
      place.position = candidate;
      this.#found.position = candidate;
      return true;
    }
    return false;
  }

  /** Whether the key at `at` in `target` sorts after all there are. */
  isAfterAll(target: Uint8Array, at: number): boolean {
    return this.#size === 0 || this.#compareLast(this.#blocks.length - 1, target, at) < 0;
  }

  /** Inserts a slot after all there are. */
  append(slot: number): void {
    const block = Math.max(0, this.#blocks.length - 1);
    this.insert({ block, position: this.countOf(block) }, slot);
  }

  /** Inserts a slot before `place`. */
  insert(place: KeyPosition, slot: number): void {
    this.#size += 1;
    this.version += 1;
    if (this.#blocks.length === 0) this.#blocks.push(this.#newBlock());
    let { block, position } = place;
    if (this.countOf(block) === BLOCK_SLOTS) {
      if (block === this.#blocks.length - 1 && position === BLOCK_SLOTS) {
        this.#blocks.push(this.#newBlock());
        block += 1;
        position = 0;
      } else {
        this.#split(block);
        if (position > BLOCK_SLOTS / 2) {
          block += 1;
          position -= BLOCK_SLOTS / 2;
        }
      }
    }
    const target = this.#writable(block);
    if (position < target.count) target.slots.copyWithin(position + 1, position, target.count);
    target.slots[position] = slot;
    target.count += 1;
  }

  remove({ block, position }: KeyPosition): void {
    this.#size -= 1;
    this.version += 1;
    const target = this.#writable(block);
    assert(position < target.count);
    target.slots.copyWithin(position, position + 1, target.count);
    target.count -= 1;
    if (target.count === 0) this.#blocks.splice(block, 1);
    else if (target.count < SPARSE_SLOTS) this.#merge(block);
  }

  freeze(): readonly Block[] {
    this.#epoch += 1;
    return [...this.#blocks];
  }

  /** The first block whose last key is at or after the target. */
  #findBlock(target: Uint8Array, at: number): number {
    let low = 0;
    let high = this.#blocks.length - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compareLast(middle, target, at) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #compareLast(block: number, target: Uint8Array, at: number): number {
    return this.#table.compareTo(this.slotAt(block, this.countOf(block) - 1), target, at);
  }

  #split(index: number): void {
    const left = this.#writable(index);
    const right = this.#newBlock();
    right.slots.set(left.slots.subarray(BLOCK_SLOTS / 2));
    right.count = BLOCK_SLOTS / 2;
    left.count = BLOCK_SLOTS / 2;
    this.#blocks.splice(index + 1, 0, right);
  }

  /** Joins a sparse block with a neighbour that has room, or a few survivors would keep many. */
  #merge(index: number): void {
    const first = index > 0 && this.countOf(index - 1) <= MERGED_SLOTS_MAX - this.countOf(index)
      ? index - 1 : index;
    const right = this.#blocks[first + 1];
    if (right === undefined || this.countOf(first) + right.count > MERGED_SLOTS_MAX) return;
    const left = this.#writable(first);
    left.slots.set(right.slots.subarray(0, right.count), left.count);
    left.count += right.count;
    this.#blocks.splice(first + 1, 1);
  }

  #writable(index: number): Block {
    const block = this.#blocks[index];
    assert(block !== undefined);
    if (block.epoch === this.#epoch) return block;
    const copy = { slots: block.slots.slice(), count: block.count, epoch: this.#epoch };
    this.#blocks[index] = copy;
    return copy;
  }

  #newBlock(): Block {
    return { slots: new Uint32Array(BLOCK_SLOTS), count: 0, epoch: this.#epoch };
  }
}

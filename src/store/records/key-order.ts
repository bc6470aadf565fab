/**
 * The slots of a collection in key order, in blocks of at most 1024 slots: no insertion moves more
 * than 4 KiB, and growth never copies the whole. Keys are compared in place, in the records.
 *
 * Rising ids append at the end, which is the fast path.
 *
 * A frozen view shares the blocks; a block is copied before it is first changed after a freeze.
 */
import { assert } from '../../base/assert.ts';
import type { RecordTable } from './record-table.ts';

const BLOCK_SLOTS = 1024;
const SPARSE_SLOTS = 256;
// A merged block has room left, so that it is not split again at once.
const MERGED_SLOTS_MAX = 768;

export type SlotBlock = {
  readonly slots: Uint32Array;
  count: number;
  /** The number of freezes before the block was made: a block of an earlier freeze is shared. */
  readonly epoch: number;
};

/** A position in the order; it may be just past the end of its block. */
export type KeyPosition = { block: number; position: number };

export class KeyOrder {
  /** Changes whenever a slot enters or leaves. */
  version = 0;
  size = 0;
  readonly #table: RecordTable;
  #blocks: SlotBlock[] = [];
  #epoch = 0;

  constructor(table: RecordTable) {
    this.#table = table;
  }

  get blockCount(): number {
    return this.#blocks.length;
  }

  countOf(block: number): number {
    return this.#blocks[block]?.count ?? 0;
  }

  /** The slot at a position, or -1. */
  slotAt(block: number, position: number): number {
    const slotBlock = this.#blocks[block];
    if (slotBlock === undefined || position >= slotBlock.count) return -1;
    return slotBlock.slots[position] ?? -1;
  }

  /**
   * Sets `keyPosition` to the first slot whose key is at or after the key at `at` in `target`.
   * True when the keys are equal. After the last record it is the end of the last block.
   */
  seek(target: Uint8Array, at: number, keyPosition: KeyPosition): boolean {
    keyPosition.block = Math.max(0, this.#blocks.length - 1);
    keyPosition.position = this.countOf(keyPosition.block);
    // The end comes first, as new ids rise. Other blocks are no longer in the CPU's caches.
    if (this.size === 0 || this.#compareLast(keyPosition.block, target, at) < 0) return false;
    keyPosition.block = this.#findBlock(target, at);
    keyPosition.position = this.countOf(keyPosition.block) - 1;
    return this.#searchBlock(target, at, keyPosition);
  }

  /** Moves `keyPosition` back to the first key of its block that is not before the target. */
  #searchBlock(target: Uint8Array, at: number, keyPosition: KeyPosition): boolean {
    let high = keyPosition.position;
    for (let low = 0; low < high;) {
      const middle = (low + high) >>> 1;
      if (this.#table.compareTo(this.slotAt(keyPosition.block, middle), target, at) < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    keyPosition.position = high;
    return this.#table.compareTo(this.slotAt(keyPosition.block, high), target, at) === 0;
  }

  /** Whether the key at `at` in `target` sorts after all others. */
  isAfterAll(target: Uint8Array, at: number): boolean {
    return this.size === 0 || this.#compareLast(this.#blocks.length - 1, target, at) < 0;
  }

  /** Inserts the slots from `first` on after all others. */
  append(first: number, count: number): void {
    for (let slot = first; slot < first + count; slot += 1) {
      const block = Math.max(0, this.#blocks.length - 1);
      this.insert({ block, position: this.countOf(block) }, slot);
    }
  }

  insert(keyPosition: KeyPosition, slot: number): void {
    this.size += 1;
    this.version += 1;
    let { block, position } = keyPosition;
    const isAtEnd = block >= this.#blocks.length - 1 && position === this.countOf(block);
    if (isAtEnd && position % BLOCK_SLOTS === 0) {
      const slots = new Uint32Array(BLOCK_SLOTS);
      this.#blocks.push({ slots, count: 0, epoch: this.#epoch });
      block = this.#blocks.length - 1;
      position = 0;
    } else if (this.countOf(block) === BLOCK_SLOTS) {
      this.#split(block);
      if (position > BLOCK_SLOTS / 2) {
        block += 1;
        position -= BLOCK_SLOTS / 2;
      }
    }
    const target = this.#getWritableBlock(block);
    assert(position <= target.count, 'a block has no gaps');
    if (position < target.count) target.slots.copyWithin(position + 1, position, target.count);
    target.slots[position] = slot;
    target.count += 1;
  }

  remove({ block, position }: KeyPosition): void {
    this.size -= 1;
    this.version += 1;
    const target = this.#getWritableBlock(block);
    assert(position < target.count);
    target.slots.copyWithin(position, position + 1, target.count);
    target.count -= 1;
    if (target.count === 0) this.#blocks.splice(block, 1);
    else if (target.count < SPARSE_SLOTS) this.#merge(block);
  }

  freeze(): readonly SlotBlock[] {
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
    const left = this.#getWritableBlock(index);
    const slots = new Uint32Array(BLOCK_SLOTS);
    slots.set(left.slots.subarray(BLOCK_SLOTS / 2));
    const right = { slots, count: BLOCK_SLOTS / 2, epoch: this.#epoch };
    left.count = BLOCK_SLOTS / 2;
    this.#blocks.splice(index + 1, 0, right);
  }

  /** Joins a sparse block with a neighbour that has room: removals must not leave tiny blocks. */
  #merge(index: number): void {
    const first = index > 0 && this.countOf(index - 1) <= MERGED_SLOTS_MAX - this.countOf(index)
      ? index - 1 : index;
    const right = this.#blocks[first + 1];
    if (right === undefined || this.countOf(first) + right.count > MERGED_SLOTS_MAX) return;
    const left = this.#getWritableBlock(first);
    left.slots.set(right.slots.subarray(0, right.count), left.count);
    left.count += right.count;
    this.#blocks.splice(first + 1, 1);
  }

  #getWritableBlock(index: number): SlotBlock {
    const block = this.#blocks[index];
    assert(block !== undefined);
    if (block.epoch === this.#epoch) return block;
    const copy = { ...block, slots: block.slots.slice(), epoch: this.#epoch };
    this.#blocks[index] = copy;
    return copy;
  }
}

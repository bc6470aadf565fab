/**
 * The slots of a collection in key order, in blocks of at most 1024 slots: no insertion moves more
 * than 4 KiB, and growth never copies the whole. Keys are compared in place, in the records.
 *
 * Rising ids append at the end, which is the fast path. As long as the slots of a block follow one
 * another, as those of a snapshot do, the block is only its first slot and a count, which saves
 * 4 bytes a record.
 *
 * A frozen view shares the blocks; a block is copied before it is first changed after a freeze.
 */
import { assert } from '../../base/assert.ts';
import type { RecordTable } from './record-table.ts';

const BLOCK_SLOTS = 1024;
const SPARSE_SLOTS = 256;
// Leaves room in a merged block, so that it is not split again at once.
const MERGED_SLOTS_MAX = 768;
/** The reach after an insertion: the next key of the same writer is mostly nearby. */
const INSERTED_REACH = 16;

export type SlotBlock = {
  /** Null in a block that holds the slots from `first` on. */
  readonly slots: Uint32Array | null;
  readonly first: number;
  count: number;
  /** The number of freezes before it was made: a block of an earlier one is shared. */
  readonly epoch: number;
};
type SlotArrayBlock = SlotBlock & { readonly slots: Uint32Array };

/** A position in the order; it may be just past the end of its block. */
export type KeyPosition = { block: number; position: number };

export class KeyOrder {
  /** Changes whenever a slot enters or leaves. */
  version = 0;
  readonly #table: RecordTable;
  #blocks: SlotBlock[] = [];
  #epoch = 0;
  #size = 0;
  /**
   * The position of the last key found or inserted, and within how many positions after it the next
   * key is searched for first. A stale one only costs time.
   */
  readonly #lastPosition = { block: 0, position: 0, reach: 1 };

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

  /** The slot at a position, or -1. */
  slotAt(block: number, position: number): number {
    const slotBlock = this.#blocks[block];
    if (slotBlock === undefined || position >= slotBlock.count) return -1;
    return slotIn(slotBlock, position);
  }

  /**
   * Sets `keyPosition` to the first slot whose key is at or after the key at `at` in `target`.
   * True when the keys are equal. After the last record it is the end of the last block.
   */
  seek(target: Uint8Array, at: number, keyPosition: KeyPosition): boolean {
    keyPosition.block = Math.max(0, this.#blocks.length - 1);
    keyPosition.position = this.countOf(keyPosition.block);
    // The end comes first, as new ids rise. Other blocks are no longer in the CPU's caches.
    if (this.#size === 0 || this.#compareLast(keyPosition.block, target, at) < 0) return false;
    const nearby = this.#seekAfterLast(target, at, keyPosition);
    if (nearby !== 0) return nearby > 0;
    keyPosition.block = this.#findBlock(target, at);
    keyPosition.position = this.countOf(keyPosition.block) - 1;
    return this.#searchBlock(target, at, keyPosition, 0);
  }

  /**
   * Searches near the last key. A caller that goes through the records in order asks for the last
   * key again, for the next one or, after a removal, for its successor: two comparisons instead of
   * seventeen. The keys that another node has inserted rise as well, each a few positions after the
   * one before. Returns 1 when the key is found, -1 when only its position is, 0 for neither.
   */
  #seekAfterLast(target: Uint8Array, at: number, keyPosition: KeyPosition): -1 | 0 | 1 {
    const { block, position, reach } = this.#lastPosition;
    keyPosition.block = block;
    for (let low = position, step = 0; step <= reach; step = Math.max(1, step * 2)) {
      keyPosition.position = position + step;
      const slot = this.slotAt(block, keyPosition.position);
      if (slot < 0) return 0;
      const order = this.#table.compareTo(slot, target, at);
      if (order === 0) {
        this.#rememberLast(keyPosition, 1);
        return 1;
      }
      if (order > 0) {
        // The key may lie anywhere before the last one.
        if (step === 0) return 0;
        return this.#searchBlock(target, at, keyPosition, low) ? 1 : -1;
      }
      low = keyPosition.position + 1;
    }
    return 0;
  }

  /** Moves `keyPosition` back to the first key, from `low` on, that is not before the target. */
  #searchBlock(target: Uint8Array, at: number, keyPosition: KeyPosition, low: number): boolean {
    let high = keyPosition.position;
    for (let first = low; first < high;) {
      const middle = (first + high) >>> 1;
      if (this.#table.compareTo(this.slotAt(keyPosition.block, middle), target, at) < 0) {
        first = middle + 1;
      } else {
        high = middle;
      }
    }
    keyPosition.position = high;
    if (this.#table.compareTo(this.slotAt(keyPosition.block, high), target, at) !== 0) return false;
    this.#rememberLast(keyPosition, 1);
    return true;
  }

  #rememberLast({ block, position }: KeyPosition, reach: number): void {
    this.#lastPosition.block = block;
    this.#lastPosition.position = position;
    this.#lastPosition.reach = reach;
  }

  /** Whether the key at `at` in `target` sorts after all others. */
  isAfterAll(target: Uint8Array, at: number): boolean {
    return this.#size === 0 || this.#compareLast(this.#blocks.length - 1, target, at) < 0;
  }

  /** Inserts the slots from `first` on after all others. */
  append(first: number, count: number): void {
    for (let slot = first; slot < first + count;) {
      const addedCount = this.#extend(slot, first + count - slot);
      if (addedCount > 0) {
        this.#size += addedCount;
        this.version += 1;
        slot += addedCount;
        continue;
      }
      const block = Math.max(0, this.#blocks.length - 1);
      this.insert({ block, position: this.countOf(block) }, slot);
      slot += 1;
    }
  }

  /** Inserts a slot at a position that `seek` has found. */
  insert(keyPosition: KeyPosition, slot: number): void {
    this.#size += 1;
    this.version += 1;
    let { block, position } = keyPosition;
    const isAtEnd = block >= this.#blocks.length - 1 && position === this.countOf(block);
    if (isAtEnd && this.#extend(slot, 1) > 0) return;
    if (this.countOf(block) === BLOCK_SLOTS) {
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
    this.#rememberLast({ block, position }, INSERTED_REACH);
  }

  remove({ block, position }: KeyPosition): void {
    this.#size -= 1;
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

  /** Appends slots to a last block without an array, as many as fit; returns how many. */
  #extend(slot: number, count: number): number {
    const last = this.#blocks.at(-1);
    if (last === undefined || last.count === BLOCK_SLOTS) {
      const addedCount = Math.min(count, BLOCK_SLOTS);
      this.#blocks.push({ slots: null, first: slot, count: addedCount, epoch: this.#epoch });
      return addedCount;
    }
    if (last.slots !== null || last.first + last.count !== slot) return 0;
    const addedCount = Math.min(count, BLOCK_SLOTS - last.count);
    if (last.epoch === this.#epoch) {
      last.count += addedCount;
    } else {
      const copy = { ...last, count: last.count + addedCount, epoch: this.#epoch };
      this.#blocks.splice(-1, 1, copy);
    }
    return addedCount;
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
    const right = { slots, first: 0, count: BLOCK_SLOTS / 2, epoch: this.#epoch };
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
    copySlots(right, left.slots, left.count);
    left.count += right.count;
    this.#blocks.splice(first + 1, 1);
  }

  #getWritableBlock(index: number): SlotArrayBlock {
    const block = this.#blocks[index];
    assert(block !== undefined);
    const { count, epoch } = block;
    if (isArrayBlock(block) && epoch === this.#epoch) return block;
    const copy = { slots: new Uint32Array(BLOCK_SLOTS), first: 0, count, epoch: this.#epoch };
    copySlots(block, copy.slots, 0);
    this.#blocks[index] = copy;
    return copy;
  }
}

/** The slot at a position of a block that has one there. */
export function slotIn({ slots, first }: SlotBlock, position: number): number {
  return slots === null ? first + position : slots[position] ?? -1;
}

function copySlots(from: SlotBlock, into: Uint32Array, offset: number): void {
  for (let position = 0; position < from.count; position += 1) {
    into[offset + position] = slotIn(from, position);
  }
}

function isArrayBlock(block: SlotBlock): block is SlotArrayBlock {
  return block.slots !== null;
}

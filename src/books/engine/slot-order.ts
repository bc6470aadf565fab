/**
 * The slots of all books in the order of one sort key: by rising value, then by rising id. Books
 * without the key come after all others. About 4.5 bytes a book: the values are not kept, but read
 * from the books.
 *
 * The slots stand in blocks of at most 256, so that no insertion moves more than 1 KiB and a search
 * reads only the books of one block: of each block the value of its first slot is kept, once it
 * was needed. 16 blocks share a page of memory, as an array for each would cost a byte a book.
 * Adjacent blocks are spread anew when one of them is full or sparse.
 *
 * Invariants: no block is empty. Whoever makes an order sees to it that `readBytes` gives each book
 * that stands in the order as it was when it was inserted, until it is removed.
 */
import { assert } from '../../base/assert.ts';
import type { SortOrder } from '../query/book-sort.ts';
import type { SortValue } from '../query/cursor.ts';
import { compareKeys, readSortValue } from '../query/sort-keys.ts';
import { compareId, readId } from '../query/stored-fields.ts';

/** A position in the order; methods also take one just past the end of its block. */
export type OrderPosition = { readonly block: number; readonly position: number };

type ReadBytes = (slot: number) => Buffer | undefined;

type OrderBlock = {
  /** Which part of the pages holds its slots. */
  readonly part: number;
  count: number;
  /** The value of its first slot; undefined until it is needed. */
  firstValue: SortValue | undefined;
};

const BLOCK_SLOTS = 256;
const PAGE_BLOCKS = 16;
// Room for the first insertions, at a tenth of a byte a book.
const FILLED_SLOTS = 248;
// Blocks below this are merged with a neighbour that has room.
const SPARSE_SLOTS = 64;
// Leaves room in a merged block, so that it is not spread again at once.
const MERGED_SLOTS_MAX = 192;
// A neighbour with less room would be full again soon.
const ROOM_SLOTS_MIN = 32;
// A book is in so many slots at most: it may have been deleted and added again.
const SAME_BOOK_SLOTS_MAX = 16;
const NO_SLOTS = new Uint32Array(0);
// Estimates: the object of a block with its place in the list, a string besides its characters, and
// a number.
const BLOCK_BYTES = 56;
const STRING_BYTES = 20;
const NUMBER_BYTES = 16;

export class SlotOrder {
  /** Changes whenever a slot enters or leaves. */
  version = 0;
  readonly key: SortOrder['key'];
  readonly #readBytes: ReadBytes;
  #blocks: OrderBlock[] = [];
  #pages: Uint32Array[] = [];
  /** Parts of pages that no block uses. */
  #freeParts: number[] = [];
  #partCount = 0;
  #valueBytes = 0;
  /** Whether the last insertion was at the end: values that rise with time go on there. */
  #isRising = false;

  constructor(key: SortOrder['key'], readBytes: ReadBytes) {
    this.key = key;
    this.#readBytes = readBytes;
  }

  /** The memory that the order holds, as an estimate. */
  get bytes(): number {
    return this.#pages.length * PAGE_BLOCKS * BLOCK_SLOTS * Uint32Array.BYTES_PER_ELEMENT
      + this.#blocks.length * BLOCK_BYTES + this.#valueBytes;
  }

  /** The position after all books. */
  get end(): OrderPosition {
    return { block: this.#blocks.length, position: 0 };
  }

  /** Sets the whole order: `slots` are those of all books, in their order. */
  replaceAll(slots: Uint32Array): void {
    this.version += 1;
    this.#blocks = [];
    this.#pages = [];
    this.#freeParts = [];
    this.#partCount = 0;
    this.#valueBytes = 0;
    this.#isRising = false;
    for (let start = 0; start < slots.length; start += FILLED_SLOTS) {
      const block = this.#createBlock();
      this.#blocks.push(block);
      this.#fill(block, slots.subarray(start, start + FILLED_SLOTS));
    }
  }

  /** Inserts a slot where its book belongs. */
  insert(slot: number): void {
    const bytes = this.getBytes(slot);
    const value = readSortValue(this.key, bytes);
    const id = readId(bytes);
    const isAfterAll = this.#isRising && this.#isAfterAll(value, id);
    let place = isAfterAll ? this.#endOfLastBlock() : this.#search(value, id, false);
    this.#isRising = place.block >= this.#blocks.length - 1
      && place.position === this.countOf(place.block);
    if (this.countOf(place.block) === BLOCK_SLOTS && !this.#isRising) {
      this.#makeRoom(place.block);
      place = this.#search(value, id, false);
    }
    this.#insertAt(place, slot);
  }

  /** Removes a slot that stands in the order, with its book as it was inserted. */
  remove(slot: number): void {
    const bytes = this.getBytes(slot);
    let place = this.seek(readSortValue(this.key, bytes), readId(bytes));
    // A book that was deleted and added again may stand here twice for a moment, in two slots.
    for (let step = 0; this.slotAt(place) !== slot; step += 1) {
      assert(step < SAME_BOOK_SLOTS_MAX, 'a slot stands where its book belongs');
      place = this.#normalize({ block: place.block, position: place.position + 1 });
    }
    this.#removeAt(place);
  }

  /** The first position at or after the value and id; with id null the first of that value. */
  seek(value: SortValue, id: string | null): OrderPosition {
    return this.#normalize(this.#search(value, id, false));
  }

  /** The first position after the value and id; with id null after all books of that value. */
  seekAfter(value: SortValue, id: string | null): OrderPosition {
    return this.#normalize(this.#search(value, id, true));
  }

  /** The position of the first book without the key. */
  firstWithoutKey(): OrderPosition {
    return this.seek(null, null);
  }

  /** The slot at a position, or -1 at the end. */
  slotAt(place: OrderPosition): number {
    const { block, position } = this.#normalize(place);
    return this.slotsIn(block)[position] ?? -1;
  }

  countOf(block: number): number {
    return this.#blocks[block]?.count ?? 0;
  }

  /** The slots of a block: a view, valid while the order has its version. */
  slotsIn(block: number): Uint32Array {
    const found = this.#blocks[block];
    return found === undefined ? NO_SLOTS : this.#viewSlots(found, found.count);
  }

  /** The book in a slot of the order. */
  getBytes(slot: number): Buffer {
    const bytes = this.#readBytes(slot);
    assert(bytes !== undefined, 'the books of an order can be read');
    return bytes;
  }

  /** The first position of the books that have the same value as the book at `position`. */
  findFirstEqual(place: OrderPosition): OrderPosition {
    const { block, position } = this.#normalize(place);
    const slots = this.slotsIn(block);
    const value = this.#readValue(slots[position] ?? -1);
    if (this.#firstValueOf(block) === value) return this.seek(value, null);
    const isEqual = (distance: number): boolean =>
      this.#readValue(slots[position - distance] ?? -1) === value;
    return { block, position: position - gallop(position, isEqual) };
  }

  /** The position after the books that have the same value as the book at `position`. */
  findEqualEnd(place: OrderPosition): OrderPosition {
    const { block, position } = this.#normalize(place);
    const slots = this.slotsIn(block);
    const value = this.#readValue(slots[position] ?? -1);
    const isInNext = block + 1 < this.#blocks.length && this.#firstValueOf(block + 1) === value;
    if (isInNext) return this.seekAfter(value, null);
    const isEqual = (distance: number): boolean =>
      this.#readValue(slots[position + distance] ?? -1) === value;
    const distance = gallop(slots.length - position - 1, isEqual);
    return this.#normalize({ block, position: position + distance + 1 });
  }

  /** The first position not before the target or, with `isPast`, after it. */
  #search(value: SortValue, id: string | null, isPast: boolean): OrderPosition {
    // The last block that begins before the target; the first one if none does.
    let block = 0;
    for (let last = this.#blocks.length - 1; block < last;) {
      const middle = (block + last + 1) >>> 1;
      if (this.#isFirstBefore(middle, value, id, isPast)) block = middle;
      else last = middle - 1;
    }
    const slots = this.slotsIn(block);
    const hasOneValue = block + 1 < this.#blocks.length && this.#firstValueOf(block) === value
      && this.#firstValueOf(block + 1) === value;
    let low = 0;
    for (let high = slots.length; low < high;) {
      const middle = (low + high) >>> 1;
      const bytes = this.getBytes(slots[middle] ?? -1);
      const order = hasOneValue ? 0 : compareKeys(readSortValue(this.key, bytes), value, false);
      if (isBefore(order, bytes, id, isPast)) low = middle + 1;
      else high = middle;
    }
    return { block, position: low };
  }

  #isFirstBefore(block: number, value: SortValue, id: string | null, isPast: boolean): boolean {
    const order = compareKeys(this.#firstValueOf(block), value, false);
    if (order !== 0 || id === null) return order < 0 || (order === 0 && isPast);
    return isBefore(order, this.getBytes(this.slotsIn(block)[0] ?? -1), id, isPast);
  }

  #isAfterAll(value: SortValue, id: string): boolean {
    const { block, position } = this.#endOfLastBlock();
    if (position === 0) return false;
    const bytes = this.getBytes(this.slotsIn(block)[position - 1] ?? -1);
    return isBefore(compareKeys(readSortValue(this.key, bytes), value, false), bytes, id, false);
  }

  #endOfLastBlock(): OrderPosition {
    const block = Math.max(0, this.#blocks.length - 1);
    return { block, position: this.countOf(block) };
  }

  #insertAt({ block: index, position }: OrderPosition, slot: number): void {
    this.version += 1;
    let block = this.#blocks[index];
    let start = position;
    // At the end a block is left full: values that rise leave no gaps for later ones.
    if (block === undefined || block.count === BLOCK_SLOTS) {
      block = this.#createBlock();
      this.#blocks.push(block);
      start = 0;
    }
    const slots = this.#viewSlots(block, block.count + 1);
    slots.copyWithin(start + 1, start);
    slots[start] = slot;
    block.count += 1;
    if (start === 0) this.#forgetFirstValue(block);
  }

  #removeAt({ block: index, position }: OrderPosition): void {
    this.version += 1;
    const block = this.#blocks[index];
    assert(block !== undefined);
    this.#viewSlots(block, block.count).copyWithin(position, position + 1);
    block.count -= 1;
    if (position === 0) this.#forgetFirstValue(block);
    if (block.count === 0) this.#spread(index, 1, 0);
    else if (block.count < SPARSE_SLOTS) this.#merge(index);
  }

  /** Gives a full block's slots room: in a neighbour, or else in a new block. */
  #makeRoom(index: number): void {
    const first = this.#firstOfPair(index);
    const pair = Math.min(2, this.#blocks.length);
    const count = this.countOf(first) + (pair === 2 ? this.countOf(first + 1) : 0);
    const hasRoom = pair * BLOCK_SLOTS - count >= ROOM_SLOTS_MIN;
    this.#spread(first, pair, pair === 2 && hasRoom ? 2 : pair + 1);
  }

  #merge(index: number): void {
    const first = this.#firstOfPair(index);
    if (this.#blocks.length < 2) return;
    const count = this.countOf(first) + this.countOf(first + 1);
    if (count <= MERGED_SLOTS_MAX) this.#spread(first, 2, 1);
  }

  /** The first of two blocks: the one at `index` and the neighbour that has fewer slots. */
  #firstOfPair(index: number): number {
    if (index === 0) return 0;
    const isLast = index === this.#blocks.length - 1;
    return isLast || this.countOf(index - 1) <= this.countOf(index + 1) ? index - 1 : index;
  }

  /** Spreads the slots of `oldCount` adjacent blocks evenly over `newCount`. */
  #spread(first: number, oldCount: number, newCount: number): void {
    const slots = new Uint32Array(oldCount * BLOCK_SLOTS);
    let count = 0;
    for (const block of this.#blocks.slice(first, first + oldCount)) {
      slots.set(this.#viewSlots(block, block.count), count);
      count += block.count;
      this.#forgetFirstValue(block);
      this.#freeParts.push(block.part);
    }
    const blocks = Array.from({ length: newCount }, () => this.#createBlock());
    for (const [index, block] of blocks.entries()) {
      const start = Math.floor(index * count / newCount);
      this.#fill(block, slots.subarray(start, Math.floor((index + 1) * count / newCount)));
    }
    this.#blocks.splice(first, oldCount, ...blocks);
  }

  #createBlock(): OrderBlock {
    const freePart = this.#freeParts.pop();
    if (freePart !== undefined) return { part: freePart, count: 0, firstValue: undefined };
    const part = this.#partCount;
    this.#partCount += 1;
    if (part % PAGE_BLOCKS === 0) this.#pages.push(new Uint32Array(PAGE_BLOCKS * BLOCK_SLOTS));
    return { part, count: 0, firstValue: undefined };
  }

  #fill(block: OrderBlock, slots: Uint32Array): void {
    block.count = slots.length;
    this.#viewSlots(block, block.count).set(slots);
  }

  #viewSlots({ part }: OrderBlock, count: number): Uint32Array {
    const page = this.#pages[Math.floor(part / PAGE_BLOCKS)];
    assert(page !== undefined);
    const start = (part % PAGE_BLOCKS) * BLOCK_SLOTS;
    return page.subarray(start, start + count);
  }

  /** A position past the end of its block as the first one of the next. */
  #normalize(place: OrderPosition): OrderPosition {
    const isPast = place.block < this.#blocks.length && place.position >= this.countOf(place.block);
    return isPast ? { block: place.block + 1, position: 0 } : place;
  }

  #readValue(slot: number): SortValue {
    return readSortValue(this.key, this.getBytes(slot));
  }

  #firstValueOf(index: number): SortValue {
    const block = this.#blocks[index];
    assert(block !== undefined);
    if (block.firstValue === undefined) {
      block.firstValue = this.#readValue(this.slotsIn(index)[0] ?? -1);
      this.#valueBytes += estimateBytes(block.firstValue);
    }
    return block.firstValue;
  }

  #forgetFirstValue(block: OrderBlock): void {
    if (block.firstValue !== undefined) this.#valueBytes -= estimateBytes(block.firstValue);
    block.firstValue = undefined;
  }
}

/** Whether a book with this order of its value stands before the target, or `isPast`, at it. */
function isBefore(order: number, bytes: Buffer, id: string | null, isPast: boolean): boolean {
  if (order !== 0) return order < 0;
  if (id === null) return isPast;
  const byId = compareId(bytes, id);
  return byId < 0 || (isPast && byId === 0);
}

/** The largest distance, at most `distanceMax`, up to which all are equal: they are first. */
function gallop(distanceMax: number, isEqual: (distance: number) => boolean): number {
  let low = 0;
  let high = distanceMax + 1;
  for (let step = 1; low + step < high; step *= 2) {
    if (!isEqual(low + step)) high = low + step;
    else low += step;
  }
  while (low + 1 < high) {
    const middle = (low + high) >>> 1;
    if (isEqual(middle)) low = middle;
    else high = middle;
  }
  return low;
}

function estimateBytes(value: SortValue): number {
  if (typeof value === 'string') return STRING_BYTES + value.length;
  return typeof value === 'number' ? NUMBER_BYTES : 0;
}

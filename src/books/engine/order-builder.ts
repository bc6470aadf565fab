/**
 * Makes the order of all books by one key. It reads each book once, and makes numbers of its value:
 * the value itself or, of a text, its head and tail (text-heads.ts). Slots in the order of ids,
 * sorted by these numbers, leave books of one value in that order. Texts that the numbers cannot
 * tell apart are read again and compared: few, as these have eleven letters in common beyond those
 * of their range.
 *
 * It holds 28 bytes a book until it ends (20 for a date or a time), and returns 4 of them; besides,
 * up to 8192 texts of the sample.
 */
import { sortIndexes } from '../../base/structures/merge-sort.ts';
import { copyInto } from '../../base/structures/typed-arrays.ts';
import type { Steps } from '../../base/turns.ts';
import type { Collection } from '../../store/store-port.ts';
import type { SortOrder } from '../query/book-sort.ts';
import { SORT_ROWS, compareKeys, readSortValue } from '../query/sort-keys.ts';
import type { SortValue } from '../query/sort-keys.ts';
import { SPLITTERS_MAX, createHeadWriter, isWholeText } from './text-heads.ts';

type Books = Pick<Collection, 'size' | 'slotBound' | 'walk' | 'bytesAt'>;

const READS_PER_YIELD = 64;
const SLOTS_PER_YIELD = 4096;
const GROWTH = 1 + 1 / 16;
// Ranges of fewer books save nothing.
const BOOKS_PER_SPLITTER = 128;
// Several for each splitter, so that the ranges are of similar sizes.
const SAMPLES_PER_SPLITTER = 4;
/** The head of a book without the key: it sorts after all others. */
const NO_KEY_HEAD = Number.MAX_SAFE_INTEGER;

export class OrderBuilder {
  readonly #key: SortOrder['key'];
  readonly #books: Books;
  readonly #isText: boolean;
  #writeHead = createHeadWriter([]);
  /** By slot. */
  #heads: Float64Array;
  /** The same of texts alone. */
  #tails: Float64Array;

  constructor(key: SortOrder['key'], books: Books) {
    this.#key = key;
    this.#books = books;
    this.#isText = SORT_ROWS[key].isText === true;
    this.#heads = new Float64Array(books.slotBound);
    this.#tails = new Float64Array(this.#isText ? books.slotBound : 0);
  }

  /** To be run before the first `add`. */
  * prepare(): Steps<void> {
    if (this.#isText) this.#writeHead = createHeadWriter(yield* this.#sampleTexts());
  }

  /** The book that a slot has now; undefined: none. */
  add(slot: number, bytes: Buffer | undefined): void {
    if (bytes === undefined) return;
    if (slot >= this.#heads.length) this.#grow(slot);
    const value = readSortValue(this.#key, bytes);
    if (typeof value === 'string') {
      this.#writeHead(value, this.#heads, this.#tails, slot);
      return;
    }
    this.#heads[slot] = value ?? NO_KEY_HEAD;
    if (this.#isText) this.#tails[slot] = 0;
  }

  /** The slots of all books in their order. Where those stand that change meanwhile is not said. */
  * sort(): Steps<Uint32Array> {
    const slots = yield* this.#listById();
    const order = yield* sortIndexes(slots.length, (left, right) =>
      this.#compareNumbers(slots[left] ?? 0, slots[right] ?? 0));
    for (let place = 0; place < order.length; place += 1) {
      order[place] = slots[order[place] ?? 0] ?? 0;
      if (place % SLOTS_PER_YIELD === 0) yield;
    }
    if (this.#isText) yield* this.#sortEqualHeads(order);
    return order;
  }

  #compareNumbers(left: number, right: number): number {
    const order = (this.#heads[left] ?? 0) - (this.#heads[right] ?? 0);
    if (order !== 0 || !this.#isText) return order;
    return (this.#tails[left] ?? 0) - (this.#tails[right] ?? 0);
  }

  #grow(slot: number): void {
    const length = Math.ceil((slot + 1) * GROWTH);
    this.#heads = copyInto(new Float64Array(length), this.#heads);
    if (this.#isText) this.#tails = copyInto(new Float64Array(length), this.#tails);
  }

  /** Texts that divide those of all books into ranges of about the same number. */
  * #sampleTexts(): Steps<readonly string[]> {
    const { slotBound } = this.#books;
    const splitterCount = Math.min(SPLITTERS_MAX, Math.floor(slotBound / BOOKS_PER_SPLITTER));
    const sampleCount = splitterCount * SAMPLES_PER_SPLITTER;
    const texts: string[] = [];
    for (let index = 0; index < sampleCount; index += 1) {
      if (index % READS_PER_YIELD === 0) yield;
      const value = this.#readValue(Math.floor(index * slotBound / sampleCount));
      if (typeof value === 'string') texts.push(value);
    }
    const order = yield* sortIndexes(texts.length, (left, right) =>
      compareKeys(texts[left] ?? '', texts[right] ?? '', false));
    const splitters = new Set<string>();
    for (let index = 0; index < order.length; index += SAMPLES_PER_SPLITTER) {
      splitters.add(texts[order[index] ?? 0] ?? '');
    }
    return [...splitters];
  }

  * #listById(): Steps<Uint32Array> {
    // A slot that another book gets meanwhile may come twice.
    let slots = new Uint32Array(this.#books.size);
    let count = 0;
    const walk = this.#books.walk();
    for (let slot = walk.next(); slot >= 0; slot = walk.next()) {
      // It was added meanwhile.
      if (slot >= this.#heads.length) continue;
      if (count === slots.length) slots = copyInto(new Uint32Array(2 * count + 1), slots);
      slots[count] = slot;
      count += 1;
      if (count % SLOTS_PER_YIELD === 0) yield;
    }
    return slots.subarray(0, count);
  }

  /** Sorts the books of each head and tail, where their texts may differ. */
  * #sortEqualHeads(order: Uint32Array): Steps<void> {
    for (let start = 0, end = 0; start < order.length; start = end) {
      const first = order[start] ?? 0;
      const head = this.#heads[first] ?? 0;
      const tail = this.#tails[first] ?? 0;
      for (end = start + 1; end < order.length; end += 1) {
        const slot = order[end] ?? 0;
        if (this.#heads[slot] !== head || this.#tails[slot] !== tail) break;
        if (end % SLOTS_PER_YIELD === 0) yield;
      }
      if (start % READS_PER_YIELD === 0) yield;
      if (end - start < 2 || isWholeText(tail)) continue;
      const slots = order.slice(start, end);
      const texts: SortValue[] = [];
      for (const slot of slots) {
        if (texts.length % READS_PER_YIELD === 0) yield;
        texts.push(this.#readValue(slot));
      }
      const places = yield* sortIndexes(texts.length, (left, right) =>
        compareKeys(texts[left] ?? null, texts[right] ?? null, false));
      order.set(places.map((index) => slots[index] ?? 0), start);
    }
  }

  #readValue(slot: number): SortValue {
    const bytes = this.#books.bytesAt(slot);
    return bytes === undefined ? null : readSortValue(this.#key, bytes);
  }
}

/**
 * The order of all books by one sort key. It is made in three steps: `prepare`, `set` for each slot
 * that has a book, `settle`. From then on it follows with `set` alone; when much has been set,
 * `settle` makes one array of what is sorted and what was added.
 *
 * Work of many steps makes a new array beside the one in use. Slots that are set meanwhile are
 * stale in the new array from its beginning, and are set in it before it is used.
 */
import { BitSet } from '../../base/structures/bit-set.ts';
import type { Steps } from '../../base/turns.ts';
import type { Collection } from '../../store/store-port.ts';
import type { SortOrder } from '../query/book-sort.ts';
import type { BookIndex } from './book-index.ts';
import { OrderBuilder } from './order-builder.ts';
import { SortedSlots } from './sorted-slots.ts';
import type { ReadSettledBook } from './sorted-slots.ts';

// To merge takes some 3 ms a million places, and to add a slot the longer the more are added.
const ADDED_MIN = 1024;
const ADDED_SHARE = 1 / 128;

export class SlotOrder implements BookIndex {
  readonly key: SortOrder['key'];
  readonly #readBook: ReadSettledBook;
  #slots: SortedSlots;
  /** The next `#slots`: it takes their place once it has the changed slots. */
  #nextSlots: SortedSlots | null = null;
  /** The slots that were set since another array is made; null while none is. */
  #changedSlots: Set<number> | null = null;
  /** null once all books are there. */
  #builder: OrderBuilder | null;

  /** `readBook` gives the book of a slot, unless a change of it is still to be set. */
  constructor(key: SortOrder['key'], collection: Collection, readBook: ReadSettledBook) {
    this.key = key;
    this.#readBook = readBook;
    this.#slots = new SortedSlots(key, new Uint32Array(0), new BitSet());
    this.#builder = new OrderBuilder(key, collection);
  }

  get bytes(): number {
    return this.#slots.bytes;
  }

  /** The slots as they are now, for a walk: slots that are set later may be missing there. */
  snapshot(): SortedSlots {
    return this.#slots.snapshot();
  }

  * prepare(): Steps<void> {
    if (this.#builder !== null) yield* this.#builder.prepare();
  }

  set(slot: number, bytes: Buffer | undefined): void {
    if (this.#builder !== null) {
      this.#builder.add(slot, bytes);
      return;
    }
    this.#changedSlots?.add(slot);
    this.#slots.set(slot, bytes, this.#readBook);
    this.#nextSlots?.set(slot, bytes, this.#readBook);
  }

  * settle(): Steps<void> {
    const builder = this.#builder;
    const { changeCount, placeCount } = this.#slots;
    const isSettled = changeCount <= Math.max(ADDED_MIN, placeCount * ADDED_SHARE);
    if (this.#changedSlots !== null || (builder === null && isSettled)) return;
    const changedSlots = new Set<number>();
    this.#changedSlots = changedSlots;
    this.#builder = null;
    const array = yield* builder === null ? this.#slots.merge() : builder.sort();
    const next = new SortedSlots(this.key, array, BitSet.of(changedSlots));
    this.#nextSlots = next;
    // Slots that are set meanwhile join the end of the set; to set them twice makes no difference.
    for (const slot of changedSlots) {
      next.set(slot, this.#readBook(slot), this.#readBook);
      yield;
    }
    this.#slots = next;
    this.#nextSlots = null;
    this.#changedSlots = null;
  }
}

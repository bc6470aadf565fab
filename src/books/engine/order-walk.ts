/**
 * A walk through the books of one order, up or down, that gives the slots which its caller accepts.
 *
 * Books without the key come last in both directions. Books of one value come by rising id, or by
 * falling id, in both directions too. So where ids run against the values, a walk goes through the
 * values until a book is accepted, and only then looks for all books of that value and goes through
 * them the other way: a book that is not accepted costs no more than the question.
 *
 * It goes through the order as that was at its beginning. Its caller must accept no slot whose book
 * has changed since, and `readBook` must give none of these books.
 */
import type { SortOrder } from '../query/book-sort.ts';
import { readSortValue } from '../query/sort-keys.ts';
import type { SortValue } from '../query/sort-keys.ts';
import type { SlotOrder } from './slot-order.ts';
import type { AcceptsSlot, ReadSettledBook, SortedSlots } from './sorted-slots.ts';

/** The result of `next` after the last book. */
export const WALK_END = -1;
/** The result of `next` when it has used its looks: there may be more books. */
export const WALK_PAUSE = -2;

type OrderWalkOptions = {
  readonly isDescending: boolean;
  readonly isIdDescending: boolean;
  /**
   * The walk begins after the book of this value and id; with id null at the first book, in the
   * walk's direction, of this value. Neither need be there. Null: at the start.
   */
  readonly from: { readonly value: SortValue; readonly id: string | null } | null;
  readonly readBook: ReadSettledBook;
};

/**
 * The books with the key, while none of a value is accepted; those of one value, by id; and those
 * without the key, by id.
 */
type WalkStage = 'keys' | 'value' | 'rest';

/** The positions from `low` to before `high`; the walk moves one of them to the other. */
type WalkRange = { low: number; high: number; readonly isBackward: boolean };

export class OrderWalk {
  /** How often the caller was asked about a slot. */
  looks = 0;
  readonly #slots: SortedSlots;
  readonly #key: SortOrder['key'];
  readonly #options: OrderWalkOptions;
  #stage: WalkStage = 'keys';
  /** The rest of the stage. */
  #range: WalkRange;
  /** The rest of the stage `keys`, while the walk is in the stage `value`. */
  #keysRange: WalkRange;
  /** The books without the key. */
  readonly #restRange: WalkRange;

  constructor(order: SlotOrder, options: OrderWalkOptions) {
    const { isDescending, isIdDescending, from } = options;
    this.#slots = order.snapshot();
    this.#key = order.key;
    this.#options = options;
    const rest = this.#seek(null, null, false);
    this.#keysRange = { low: 0, high: rest, isBackward: isDescending };
    this.#restRange = { low: rest, high: this.#slots.end, isBackward: isIdDescending };
    this.#range = this.#keysRange;
    if (from !== null) this.#beginAfter(from.value, from.id);
  }

  /**
   * The next slot that the caller accepts, `WALK_END`, or `WALK_PAUSE` after `looksMax` looks.
   * `accepts` may be asked about a slot twice, and must say the same.
   */
  next(accepts: AcceptsSlot, looksMax = Infinity): number {
    const { isDescending, isIdDescending } = this.#options;
    const looksEnd = this.looks + looksMax;
    for (;;) {
      const slot = this.#look(accepts, looksEnd);
      const isFirstOfValue = slot >= 0 && this.#stage === 'keys' && isDescending !== isIdDescending;
      if (isFirstOfValue) this.#beginValue(slot);
      else if (slot !== WALK_END || !this.#beginNextStage()) return slot;
    }
  }

  /** Goes through the range to the first slot that is accepted, `WALK_END` or `WALK_PAUSE`. */
  #look(accepts: AcceptsSlot, looksEnd: number): number {
    const { low, high, isBackward } = this.#range;
    if (low >= high) return WALK_END;
    const lookCount = Math.max(1, Math.min(high - low, looksEnd - this.looks));
    const position = isBackward ? this.#slots.findLast(high - lookCount, high, accepts)
      : this.#slots.findFirst(low, low + lookCount, accepts);
    let looks = lookCount;
    if (position >= 0) looks = isBackward ? high - position : position + 1 - low;
    if (isBackward) this.#range.high = high - looks;
    else this.#range.low = low + looks;
    this.looks += looks;
    if (position >= 0) return this.#slots.slotAt(position);
    return this.looks >= looksEnd ? WALK_PAUSE : WALK_END;
  }

  /** Begins after a book or, with id null, at the first of a value. */
  #beginAfter(value: SortValue, id: string | null): void {
    const { isDescending, isIdDescending } = this.#options;
    if (value === null) {
      this.#stage = 'rest';
      this.#range = this.#restRange;
    } else if (isDescending !== isIdDescending) {
      this.#beginValueBetween(this.#seek(value, null, false), this.#seek(value, null, true));
    }
    const { isBackward } = this.#range;
    const position = this.#seek(value, id, (id === null) === isBackward);
    if (isBackward) this.#range.high = position;
    else this.#range.low = position;
  }

  /** Goes back to the books with the value of the accepted slot, the one looked at last. */
  #beginValue(slot: number): void {
    const { low, high, isBackward } = this.#range;
    const bytes = this.#options.readBook(slot);
    const value = bytes === undefined ? null : readSortValue(this.#key, bytes);
    if (isBackward) {
      this.#beginValueBetween(this.#seek(value, null, false, low, high), high + 1);
    } else {
      this.#beginValueBetween(low - 1, this.#seek(value, null, true, low, high));
    }
  }

  #beginValueBetween(first: number, end: number): void {
    const { low, high } = this.#range;
    const { isDescending, isIdDescending } = this.#options;
    this.#keysRange = isDescending ? { low, high: first, isBackward: true }
      : { low: end, high, isBackward: false };
    this.#range = { low: first, high: end, isBackward: isIdDescending };
    this.#stage = 'value';
  }

  /** False after the last stage. */
  #beginNextStage(): boolean {
    if (this.#stage === 'rest') return false;
    this.#range = this.#stage === 'value' ? this.#keysRange : this.#restRange;
    this.#stage = this.#stage === 'value' ? 'keys' : 'rest';
    return true;
  }

  #seek(
    value: SortValue, id: string | null, wantsEnd: boolean, low?: number, high?: number,
  ): number {
    return this.#slots.seek({ value, id, wantsEnd }, this.#options.readBook, low, high);
  }
}

/**
 * A walk through the books of one order, up or down, that gives the slots which its caller accepts.
 *
 * Books without the key come last in both directions. Books of one value come by rising id, or by
 * falling id, in both directions too. So where ids run against the values, a walk goes through the
 * values until a book is accepted, and only then looks for all books of that value and goes through
 * them the other way: a book that is not accepted costs no more than the question.
 *
 * A walk may be interrupted by changes to the order. It goes on after the book that it looked at
 * last: it visits each book that stays as it is exactly once.
 */
import type { SortValue } from '../query/cursor.ts';
import { readSortValue } from '../query/sort-keys.ts';
import { readId } from '../query/stored-fields.ts';
import type { OrderPosition, SlotOrder } from './slot-order.ts';

type AcceptsSlot = (slot: number) => boolean;

/** What `next` gives after the last book. */
export const WALK_END = -1;
/** What `next` gives when it has used its looks: there may be more. */
export const WALK_PAUSE = -2;

export type OrderWalkOptions = {
  readonly isDescending: boolean;
  readonly isIdDescending: boolean;
  /**
   * The walk begins after the book of this value and id; with id null at the first book, in the
   * walk's direction, of this value. Neither need be there. Null: at the start.
   */
  readonly from: { readonly value: SortValue; readonly id: string | null } | null;
};

/**
 * The books with the key, while none of a value is accepted; those of one value, by id; and those
 * without the key, by id.
 */
type WalkStage = 'keys' | 'value' | 'rest';

/** The place after which a walk goes on: `value` and `id` are those of `OrderWalkOptions`. */
type WalkMark = {
  readonly stage: WalkStage;
  readonly value: SortValue;
  readonly id: string | null;
  /** In the stage `value` the id of the last book to look at; null: the last of that value. */
  readonly lastId: string | null;
};

/** The book looked at last. Its bytes stay as they are, even when the book changes. */
type LastLook = {
  readonly stage: WalkStage;
  readonly bytes: Buffer;
  /** The last book to look at in the stage `value`. */
  readonly lastOfValue: Buffer | null;
};

/** The positions from `low` to before `high`; the walk moves one of them to the other. */
type WalkRange = { low: OrderPosition; high: OrderPosition; readonly isBackward: boolean };

const START: OrderPosition = { block: 0, position: 0 };

export class OrderWalk {
  /** How often the caller was asked about a slot. */
  reads = 0;
  readonly #order: SlotOrder;
  readonly #isDescending: boolean;
  readonly #isIdDescending: boolean;
  readonly #from: OrderWalkOptions['from'];
  /** -1: the ranges must be found before the next step. */
  #version = -1;
  #stage: WalkStage = 'keys';
  /** The rest of the stage. */
  #range: WalkRange = { low: START, high: START, isBackward: false };
  /** The rest of the stage `keys`, while the walk is in the stage `value`. */
  #keysRange = this.#range;
  #lastOfValue: Buffer | null = null;
  #lastLook: LastLook | null = null;
  /** The slot and the stage of the last look of this call; -1: there was none. */
  #slot = -1;
  #slotStage: WalkStage = 'keys';

  constructor(order: SlotOrder, { isDescending, isIdDescending, from }: OrderWalkOptions) {
    this.#order = order;
    this.#isDescending = isDescending;
    this.#isIdDescending = isIdDescending;
    this.#from = from;
  }

  /**
   * The next slot that the caller accepts, `WALK_END`, or `WALK_PAUSE` after `readsMax` looks.
   * `accepts` may be asked about a slot twice, and must say the same.
   */
  next(accepts: AcceptsSlot, readsMax = Infinity): number {
    if (this.#version !== this.#order.version) this.#findRanges();
    const readsEnd = this.reads + readsMax;
    let slot = this.#look(accepts, readsEnd);
    for (;;) {
      const isFirstOfValue = slot >= 0 && this.#stage === 'keys'
        && this.#isDescending !== this.#isIdDescending;
      if (isFirstOfValue) this.#beginValue(slot);
      else if (slot !== WALK_END || !this.#beginNextStage()) break;
      slot = this.#look(accepts, readsEnd);
    }
    this.#keepLastLook();
    return slot;
  }

  /** Goes through the range to the first slot that is accepted, `WALK_END` or `WALK_PAUSE`. */
  #look(accepts: AcceptsSlot, readsEnd: number): number {
    for (;;) {
      const slots = this.#viewNextBlock();
      if (slots.length === 0) return WALK_END;
      const { isBackward } = this.#range;
      const lookCount = Math.max(1, Math.min(slots.length, readsEnd - this.reads));
      const index = isBackward ? findLast(slots, slots.length - lookCount, accepts)
        : findFirst(slots, lookCount, accepts);
      if (index >= 0) {
        const slot = slots[index] ?? -1;
        this.#advance(isBackward ? slots.length - index : index + 1, slot);
        return slot;
      }
      this.#advance(lookCount, slots[isBackward ? slots.length - lookCount : lookCount - 1] ?? -1);
      if (this.reads >= readsEnd) return WALK_PAUSE;
    }
  }

  /** The slots of the range in its next block: a view; none at the end. */
  #viewNextBlock(): Uint32Array {
    const order = this.#order;
    const { low, high, isBackward } = this.#range;
    if (isBackward) {
      const last = high.position > 0 || high.block === low.block ? high
        : { block: high.block - 1, position: order.countOf(high.block - 1) };
      this.#range.high = last;
      const start = last.block > low.block ? 0 : low.position;
      return order.slotsIn(last.block).subarray(start, last.position);
    }
    const first = low.position < order.countOf(low.block) || low.block === high.block ? low
      : { block: low.block + 1, position: 0 };
    this.#range.low = first;
    const end = first.block < high.block ? order.countOf(first.block) : high.position;
    return order.slotsIn(first.block).subarray(first.position, end);
  }

  #advance(count: number, slot: number): void {
    const { low, high, isBackward } = this.#range;
    if (isBackward) this.#range.high = { block: high.block, position: high.position - count };
    else this.#range.low = { block: low.block, position: low.position + count };
    this.reads += count;
    this.#slot = slot;
    this.#slotStage = this.#stage;
  }

  /** Goes back to the books with the value of the accepted slot, the one looked at last. */
  #beginValue(slot: number): void {
    const { low, high, isBackward } = this.#range;
    if (isBackward) {
      const first = this.#order.findFirstEqual(high);
      const end = { block: high.block, position: high.position + 1 };
      this.#keysRange = { low, high: first, isBackward };
      this.#range = { low: first, high: end, isBackward: false };
    } else {
      const place = { block: low.block, position: low.position - 1 };
      const end = this.#order.findEqualEnd(place);
      this.#keysRange = { low: end, high, isBackward };
      this.#range = { low: place, high: end, isBackward: true };
    }
    this.#stage = 'value';
    this.#lastOfValue = this.#order.getBytes(slot);
  }

  /** False after the last stage. */
  #beginNextStage(): boolean {
    if (this.#stage === 'rest') return false;
    if (this.#stage === 'value') {
      this.#stage = 'keys';
      this.#range = this.#keysRange;
    } else {
      this.#stage = 'rest';
      const { end } = this.#order;
      const low = this.#order.firstWithoutKey();
      this.#range = { low, high: end, isBackward: this.#isIdDescending };
    }
    return true;
  }

  /** The order may change before the next call. */
  #keepLastLook(): void {
    if (this.#slot < 0) return;
    const stage = this.#slotStage;
    const bytes = this.#order.getBytes(this.#slot);
    this.#lastLook = { stage, bytes, lastOfValue: stage === 'value' ? this.#lastOfValue : null };
    this.#slot = -1;
  }

  /** Finds where to go on, in an order that may have changed. */
  #findRanges(): void {
    const order = this.#order;
    this.#version = order.version;
    const mark = this.#findMark();
    const rest = order.firstWithoutKey();
    this.#stage = mark?.stage ?? 'keys';
    this.#range = { low: START, high: rest, isBackward: this.#isDescending };
    if (mark === null) return;
    const { value, id, lastId } = mark;
    if (mark.stage === 'keys') {
      this.#cut(this.#range, value, id);
      return;
    }
    if (mark.stage === 'rest') {
      this.#range = { low: rest, high: order.end, isBackward: this.#isIdDescending };
      this.#cut(this.#range, null, id);
      return;
    }
    const first = order.seek(value, null);
    const end = order.seekAfter(value, null);
    this.#keysRange = this.#isDescending ? { low: START, high: first, isBackward: true }
      : { low: end, high: rest, isBackward: false };
    this.#range = { low: first, high: end, isBackward: this.#isIdDescending };
    this.#cut(this.#range, value, id);
    if (lastId === null) return;
    if (this.#isIdDescending) this.#range.low = order.seek(value, lastId);
    else this.#range.high = order.seekAfter(value, lastId);
  }

  /** Cuts off what the walk has passed: up to this book or, with id null, before its value. */
  #cut(range: WalkRange, value: SortValue, id: string | null): void {
    const isAfter = (id === null) === range.isBackward;
    const position = isAfter ? this.#order.seekAfter(value, id) : this.#order.seek(value, id);
    if (range.isBackward) range.high = position;
    else range.low = position;
  }

  #findMark(): WalkMark | null {
    const look = this.#lastLook;
    if (look !== null) {
      const value = readSortValue(this.#order.key, look.bytes);
      const lastId = look.lastOfValue === null ? null : readId(look.lastOfValue);
      return { stage: look.stage, value, id: readId(look.bytes), lastId };
    }
    if (this.#from === null) return null;
    const { value, id } = this.#from;
    if (value === null) return { stage: 'rest', value, id, lastId: null };
    const stage = this.#isDescending === this.#isIdDescending ? 'keys' : 'value';
    return { stage, value, id, lastId: null };
  }
}

/** The index of the first accepted slot before `end`, or -1. */
function findFirst(slots: Uint32Array, end: number, accepts: AcceptsSlot): number {
  for (let index = 0; index < end; index += 1) {
    if (accepts(slots[index] ?? -1)) return index;
  }
  return -1;
}

/** The index of the last accepted slot from `start` on, or -1. */
function findLast(slots: Uint32Array, start: number, accepts: AcceptsSlot): number {
  for (let index = slots.length - 1; index >= start; index -= 1) {
    if (accepts(slots[index] ?? -1)) return index;
  }
  return -1;
}

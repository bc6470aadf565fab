/**
 * The slots of books in the order of one sort key: by rising value, then by rising id. Books
 * without the key come after all others. The values are not kept, but read from the books. A search
 * reads few books, as the value of every 64th place is remembered once a search has read it.
 *
 * Most slots stand in one sorted array, four bytes a book. A slot whose book changes is stale
 * there: it keeps its place in the array, which counts no more, and is added beside it, where its
 * book belongs now. So nobody has to know a book as it was. `merge` makes one array of both.
 *
 * Three numbers say where a slot stands. A place is an index of the array; `added` is an index of
 * the list of added slots; a position counts both kinds from the start, stale slots, too. Here the
 * books of slots 7 and 4 have changed, and belong before the places 1 and 3 now:
 *
 *   place      0       1   2       3
 *   array      5       7*  2       4*        * stale
 *   added          0           1
 *   slot           7           4             of `#addedPlaces` 1, 3
 *   position   0   1   2   3   4   5
 */
import { BitSet } from '../../base/structures/bit-set.ts';
import type { Steps } from '../../base/turns.ts';
import type { SortOrder } from '../query/book-sort.ts';
import { compareKeys, readSortValue } from '../query/sort-keys.ts';
import type { SortValue } from '../query/sort-keys.ts';
import { compareId, readId } from '../query/stored-fields.ts';

/** The book in a slot; undefined where it is not as it was when the slot was set. */
export type ReadSettledBook = (slot: number) => Buffer | undefined;

/** The book of a value and an id, or with `id` null all books of the value. */
type OrderTarget = {
  readonly value: SortValue; readonly id: string | null;
  /** Whether the position after the target is sought; else its first one. */
  readonly wantsEnd: boolean;
};

export type AcceptsSlot = (slot: number) => boolean;
/** Whether what stands at an index sorts before what is looked for; null: it cannot be told. */
type IsBefore = (index: number) => boolean | null;

const PLACES_PER_YIELD = 4096;
const MARK_PLACES = 64;
// Estimates: an added slot, in two lists; a string besides its characters; a number.
const ADDED_BYTES = 16;
const STRING_BYTES = 20;
const NUMBER_BYTES = 16;

/** The values of every 64th place; undefined until it is needed. They stay when it is stale. */
type Marks = { readonly values: (SortValue | undefined)[]; bytes: number };

export class SortedSlots {
  readonly #key: SortOrder['key'];
  readonly #array: Uint32Array;
  /** Slots that count no more where they stand in the array. Each added slot is among them. */
  readonly #stale: BitSet;
  readonly #marks: Marks;
  #addedSlots: number[] = [];
  /** For each of them the place in the array that it stands before. */
  #addedPlaces: number[] = [];
  /** Whether another one has the same lists of what is added, which must then stay as they are. */
  #isShared = false;
  /** How often a slot was set. */
  changeCount = 0;

  constructor(
    key: SortOrder['key'], array: Uint32Array, stale: BitSet, marks = createMarks(array.length),
  ) {
    this.#key = key;
    this.#array = array;
    this.#stale = stale;
    this.#marks = marks;
  }

  /** About how much memory it takes. */
  get bytes(): number {
    return this.#array.byteLength + this.#stale.words.byteLength + this.#marks.bytes
      + this.#addedSlots.length * ADDED_BYTES;
  }

  /** The position after all books. */
  get end(): number {
    return this.#array.length + this.#addedSlots.length;
  }

  get placeCount(): number {
    return this.#array.length;
  }

  /** The same slots, for a reader while others are set. A slot that is set may be missing there. */
  snapshot(): SortedSlots {
    const copy = new SortedSlots(this.#key, this.#array, this.#stale, this.#marks);
    copy.#addedSlots = this.#addedSlots;
    copy.#addedPlaces = this.#addedPlaces;
    copy.#isShared = true;
    this.#isShared = true;
    return copy;
  }

  /** Puts a slot where its book belongs; undefined: it has none. */
  set(slot: number, bytes: Buffer | undefined, readBook: ReadSettledBook): void {
    this.changeCount += 1;
    if (this.#isShared) {
      this.#addedSlots = this.#addedSlots.slice();
      this.#addedPlaces = this.#addedPlaces.slice();
      this.#isShared = false;
    }
    if (!this.#stale.add(slot)) this.#removeAdded(slot);
    if (bytes === undefined) return;
    const value = readSortValue(this.#key, bytes);
    const position = this.seek({ value, id: readId(bytes), wantsEnd: false }, readBook);
    const addedIndex = this.#countAdded(position);
    this.#addedSlots.splice(addedIndex, 0, slot);
    this.#addedPlaces.splice(addedIndex, 0, position - addedIndex);
  }

  /** The position of the target between `low` and `high`. */
  seek(target: OrderTarget, readBook: ReadSettledBook, low = 0, high = this.end): number {
    const [lowAdded, highAdded] = [this.#countAdded(low), this.#countAdded(high)];
    const [firstPlace, endPlace] =
      this.#seekPlace(target, readBook, low - lowAdded, high - highAdded);
    // Slots added between two places that can be read may stand on either side of the target.
    const [first] = bisect(lowAdded, highAdded, false, (index) =>
      (this.#addedPlaces[index] ?? 0) < firstPlace);
    const [end] = bisect(first, highAdded, true, (index) =>
      (this.#addedPlaces[index] ?? 0) <= endPlace);
    const [added] = bisect(first, end, target.wantsEnd, (index) =>
      isBefore(this.#key, readBook(this.#addedSlots[index] ?? -1), target));
    const placeBefore = added > first ? this.#addedPlaces[added - 1] ?? 0 : 0;
    return Math.max(firstPlace, placeBefore) + added;
  }

  /** The two places between which the target belongs, as `bisect` returns them. */
  #seekPlace(
    target: OrderTarget, readBook: ReadSettledBook, low: number, high: number,
  ): readonly [number, number] {
    const { value, id, wantsEnd } = target;
    const isPlaceBefore = (place: number): boolean | null =>
      isBefore(this.#key, this.#readPlace(place, readBook), target);
    const firstMark = Math.ceil(low / MARK_PLACES);
    const endMark = Math.max(firstMark, Math.ceil(high / MARK_PLACES));
    const [mark, nextMark] = bisect(firstMark, endMark, wantsEnd, (index) => {
      const markValue = this.#readMark(index, readBook);
      if (markValue === undefined) return null;
      const order = compareKeys(markValue, value, false);
      if (order !== 0) return order < 0;
      return id === null ? wantsEnd : isPlaceBefore(index * MARK_PLACES);
    });
    return bisect(mark === firstMark ? low : (mark - 1) * MARK_PLACES + 1,
      nextMark === endMark ? high : nextMark * MARK_PLACES, wantsEnd, isPlaceBefore);
  }

  /** undefined where the place is stale, and its value was not needed before. */
  #readMark(index: number, readBook: ReadSettledBook): SortValue | undefined {
    const { values } = this.#marks;
    const mark = values[index];
    if (mark !== undefined) return mark;
    const bytes = this.#readPlace(index * MARK_PLACES, readBook);
    if (bytes === undefined) return undefined;
    const value = readSortValue(this.#key, bytes);
    values[index] = value;
    this.#marks.bytes += typeof value === 'string' ? STRING_BYTES + value.length : NUMBER_BYTES;
    return value;
  }

  #readPlace(place: number, readBook: ReadSettledBook): Buffer | undefined {
    const slot = this.#array[place] ?? -1;
    return this.#stale.has(slot) ? undefined : readBook(slot);
  }

  /** The first position from `low` to before `high` whose slot is accepted, or -1. */
  findFirst(low: number, high: number, accepts: AcceptsSlot): number {
    let addedIndex = this.#countAdded(low);
    for (let position = low; position < high; position += 1) {
      const slot = this.#array[position - addedIndex] ?? -1;
      if (this.#addedPlaces[addedIndex] === position - addedIndex) {
        addedIndex += 1;
        if (accepts(this.#addedSlots[addedIndex - 1] ?? -1)) return position;
      } else if (!this.#stale.has(slot) && accepts(slot)) {
        return position;
      }
    }
    return -1;
  }

  /** The last position from `low` to before `high` whose slot is accepted, or -1. */
  findLast(low: number, high: number, accepts: AcceptsSlot): number {
    let addedIndex = this.#countAdded(high);
    for (let position = high - 1; position >= low; position -= 1) {
      const slot = this.#array[position - addedIndex] ?? -1;
      if (addedIndex > 0 && this.#addedPlaces[addedIndex - 1] === position - addedIndex + 1) {
        addedIndex -= 1;
        if (accepts(this.#addedSlots[addedIndex] ?? -1)) return position;
      } else if (!this.#stale.has(slot) && accepts(slot)) {
        return position;
      }
    }
    return -1;
  }

  /** The slot at a position, stale or not. */
  slotAt(position: number): number {
    const addedIndex = this.#countAdded(position);
    const isAdded = this.#addedPlaces[addedIndex] === position - addedIndex;
    return (isAdded ? this.#addedSlots[addedIndex] : this.#array[position - addedIndex]) ?? -1;
  }

  /** All slots in one array. Those that are set meanwhile are in it or not. */
  * merge(): Steps<Uint32Array> {
    const { end } = this;
    const all = this.snapshot();
    const slots = new Uint32Array(end);
    let count = 0;
    const add = (slot: number): boolean => {
      slots[count] = slot;
      count += 1;
      return false;
    };
    for (let position = 0; position < end; position += PLACES_PER_YIELD) {
      all.findFirst(position, Math.min(end, position + PLACES_PER_YIELD), add);
      yield;
    }
    return slots.subarray(0, count);
  }

  #removeAdded(slot: number): void {
    const addedIndex = this.#addedSlots.indexOf(slot);
    if (addedIndex < 0) return;
    this.#addedSlots.splice(addedIndex, 1);
    this.#addedPlaces.splice(addedIndex, 1);
  }

  /** How many added slots stand before a position. */
  #countAdded(position: number): number {
    // Asked for each slot that a walk gives: by `bisect` the walk takes a fifth longer.
    let low = 0;
    for (let high = this.#addedPlaces.length; low < high;) {
      const middle = (low + high) >>> 1;
      if ((this.#addedPlaces[middle] ?? 0) + middle < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function createMarks(placeCount: number): Marks {
  const length = Math.ceil(placeCount / MARK_PLACES);
  return { values: Array.from({ length }, () => undefined), bytes: 0 };
}

/** Whether a book sorts before the target; null: it cannot be read. */
function isBefore(
  key: SortOrder['key'], bytes: Buffer | undefined, { value, id, wantsEnd }: OrderTarget,
): boolean | null {
  if (bytes === undefined) return null;
  const order = compareKeys(readSortValue(key, bytes), value, false);
  if (order !== 0) return order < 0;
  if (id === null) return wantsEnd;
  const orderById = compareId(bytes, id);
  return orderById < 0 || (wantsEnd && orderById === 0);
}

/**
 * Finds where a target belongs among the sorted indexes from `start` to before `end`. Returns [low,
 * high]: all indexes below `low` sort before the target, none from `high` on does. `low` is less
 * than `high` only where the books between cannot be read. It looks at one end first: new books
 * often have the highest value, and the end of equal values is mostly near its start.
 */
function bisect(
  start: number, end: number, isFromStart: boolean, isIndexBefore: IsBefore,
): readonly [number, number] {
  let low = start;
  let high = end;
  let middle = isFromStart ? start : end - 1;
  for (let bound = end; low < bound; middle = (low + bound) >>> 1) {
    let index = middle;
    let answer = isIndexBefore(index);
    while (answer === null && index + 1 < bound) {
      index += 1;
      answer = isIndexBefore(index);
    }
    if (answer === true) {
      low = index + 1;
    } else {
      if (answer === false) high = index;
      bound = middle;
    }
  }
  return [low, high];
}

/** The first books of a sorted response (top-k), found while looking at all of them. */
import { sortIndexes } from '../../base/structures/merge-sort.ts';
import type { Steps } from '../../base/turns.ts';
import {
  comparePositions, compareSortValues, isAfterCursor, readSortValues,
} from '../query/book-sort.ts';
import type { BookPosition } from '../query/book-sort.ts';
import type { BookQuery } from '../query/parse-query.ts';
import { readId } from '../query/stored-fields.ts';
import type { SortValue } from '../query/sort-keys.ts';
import type { MatchSink } from './match-search.ts';

/** A book of a response: its position, and its bytes, which never change. */
export type BookEntry = BookPosition & { readonly bytes: Buffer };

// As many are sorted in one step.
const STEP_ENTRIES_MAX = 2048;

const NO_ENTRY: BookEntry = { sortValues: [], id: '', bytes: Buffer.alloc(0) };

/**
 * Keeps the `capacity` entries after the cursor that sort first. Twice as many are gathered, then
 * sorted and cut: the cost is spread over the books.
 */
export class TopEntries implements MatchSink {
  readonly readsBooks = true;
  readonly #query: Pick<BookQuery, 'sort' | 'after'>;
  readonly #capacity: number;
  /** Whether books come by their first key, or by id where that is the order. */
  readonly #hasOrder: boolean;
  /** Whether they come in the order of the response. */
  #isSorted: boolean;
  #entries: BookEntry[] = [];
  /** The last entry that the latest cut left: no book that sorts after it can be in the result. */
  #last: BookEntry | null = null;
  /** The first key of the book before. */
  #firstValue: SortValue = null;

  constructor(query: Pick<BookQuery, 'sort' | 'after'>, capacity: number, hasOrder: boolean) {
    this.#query = query;
    this.#capacity = capacity;
    this.#hasOrder = hasOrder;
    this.#isSorted = hasOrder && query.sort.orders.length <= 1;
  }

  take(bytes: Buffer, _slot: number, isLate: boolean): boolean {
    const isInOrder = this.#hasOrder && !isLate;
    const isDone = isInOrder && this.#isFull;
    if (isDone && this.#isSorted) return false;
    const { sort, after } = this.#query;
    const sortValues = readSortValues(sort, bytes);
    const [firstValue = null] = sortValues;
    // Further keys sort among books that have the same first one.
    if (isDone && firstValue !== this.#firstValue) return false;
    this.#firstValue = firstValue;
    if (isAfterCursor(after, sort, sortValues, bytes)) this.#offer(sortValues, bytes, isInOrder);
    return !(isInOrder && this.#isSorted && this.#isFull);
  }

  /** The first `capacity` of the books taken, in order. */
  * finish(): Steps<readonly BookEntry[]> {
    const { sort } = this.#query;
    const entries = this.#entries;
    if (entries.length > STEP_ENTRIES_MAX && !this.#isSorted) {
      const order = yield* sortIndexes(entries.length, (left, right) =>
        comparePositions(entries[left] ?? NO_ENTRY, entries[right] ?? NO_ENTRY, sort));
      this.#entries = Array.from(order, (index) => entries[index] ?? NO_ENTRY);
      this.#isSorted = true;
    }
    this.#cut();
    return this.#entries;
  }

  get #isFull(): boolean {
    return this.#entries.length >= this.#capacity;
  }

  /** Adds a book, unless it surely sorts after the first `capacity`. */
  #offer(sortValues: readonly SortValue[], bytes: Buffer, isInOrder: boolean): void {
    const last = this.#last;
    const { sort } = this.#query;
    if (last !== null && compareSortValues(sortValues, last.sortValues, sort) > 0) return;
    this.#isSorted &&= isInOrder;
    this.#entries.push({ sortValues, id: readId(bytes), bytes });
    if (this.#entries.length >= 2 * this.#capacity) this.#cut();
  }

  #cut(): void {
    const { sort } = this.#query;
    if (!this.#isSorted) this.#entries.sort((left, right) => comparePositions(left, right, sort));
    this.#entries.splice(this.#capacity);
    if (this.#isFull) this.#last = this.#entries.at(-1) ?? null;
  }
}

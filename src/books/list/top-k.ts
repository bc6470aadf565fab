/** The first books of a sorted response (top-k), found while looking at all of them. */
import { sortIndexes } from '../../base/structures/merge-sort.ts';
import type { Steps } from '../../base/turns.ts';
import {
  comparePositions, compareSortValues, isAfterCursor, readSortValues,
} from '../query/book-sort.ts';
import type { BookPosition, BookSort } from '../query/book-sort.ts';
import type { BookQuery } from '../query/parse-query.ts';
import { readId } from '../query/stored-fields.ts';
import type { SortValue } from '../query/sort-keys.ts';
import type { MatchSink } from './match-search.ts';

/**
 * A book of a response, whose bytes never change. Its position is read when it is needed: of a page
 * that comes in order that of its last book alone (8 % of the time that a page takes).
 */
export class BookEntry implements BookPosition {
  readonly bytes: Buffer;
  readonly #sort: BookSort;
  #sortValues: readonly SortValue[] | null = null;
  #id: string | null = null;

  constructor(bytes: Buffer, sort: BookSort) {
    this.bytes = bytes;
    this.#sort = sort;
  }

  get id(): string {
    return this.#id ??= readId(this.bytes);
  }

  get sortValues(): readonly SortValue[] {
    return this.#sortValues ??= readSortValues(this.#sort, this.bytes);
  }
}

/** How books come: by their first key, or by id where that is the order; after the cursor alone. */
type BookArrival = { readonly isInOrder: boolean; readonly isAfterCursor: boolean };

// At most so many entries are sorted in one step.
const STEP_ENTRIES_MAX = 2048;
const NO_POSITION: BookPosition = { sortValues: [], id: '' };

/**
 * Keeps the `capacity` entries after the cursor that sort first. Twice as many are gathered, then
 * sorted and cut: the cost is spread over the books.
 */
export class TopEntries implements MatchSink {
  readonly readsBooks = true;
  readonly #query: Pick<BookQuery, 'sort' | 'after'>;
  readonly #capacity: number;
  readonly #arrival: BookArrival;
  /** Whether they come in the order of the response. */
  #isSorted: boolean;
  #entries: BookEntry[] = [];
  /** The last entry that the latest cut left: no book that sorts after it can be in the result. */
  #last: BookEntry | null = null;
  /** The first key of the book before. */
  #firstValue: SortValue = null;

  constructor(query: Pick<BookQuery, 'sort' | 'after'>, capacity: number, arrival: BookArrival) {
    this.#query = query;
    this.#capacity = capacity;
    this.#arrival = arrival;
    this.#isSorted = arrival.isInOrder && query.sort.orders.length <= 1;
  }

  take(bytes: Buffer, _slot: number, isLate: boolean): boolean {
    const entry = new BookEntry(bytes, this.#query.sort);
    const isInOrder = this.#arrival.isInOrder && !isLate;
    if (isInOrder && this.#isSorted) return this.#append(entry);
    const [firstValue = null] = entry.sortValues;
    // Further keys sort among books that have the same first one.
    if (isInOrder && this.#isFull && firstValue !== this.#firstValue) return false;
    this.#firstValue = firstValue;
    if (this.#isAfterCursor(entry)) this.#offer(entry);
    return true;
  }

  /** The first `capacity` of the books taken, in order. */
  * finish(): Steps<readonly BookEntry[]> {
    const { sort } = this.#query;
    const entries = this.#entries;
    if (entries.length > STEP_ENTRIES_MAX && !this.#isSorted) {
      const order = yield* sortIndexes(entries.length, (left, right) =>
        comparePositions(entries[left] ?? NO_POSITION, entries[right] ?? NO_POSITION, sort));
      this.#entries = Array.from(order).flatMap((index) => entries[index] ?? []);
      this.#isSorted = true;
    }
    this.#cut();
    return this.#entries;
  }

  get #isFull(): boolean {
    return this.#entries.length >= this.#capacity;
  }

  #isAfterCursor({ sortValues, bytes }: BookEntry): boolean {
    return isAfterCursor(this.#query.after, this.#query.sort, sortValues, bytes);
  }

  /** Adds a book that sorts after the others. Whether further ones are of use. */
  #append(entry: BookEntry): boolean {
    const isWanted = !this.#isFull && (this.#arrival.isAfterCursor || this.#isAfterCursor(entry));
    if (isWanted) this.#entries.push(entry);
    return !this.#isFull;
  }

  /** Adds a book, unless it surely sorts after the first `capacity`. */
  #offer(entry: BookEntry): void {
    const last = this.#last;
    const { sort } = this.#query;
    if (last !== null && compareSortValues(entry.sortValues, last.sortValues, sort) > 0) return;
    this.#isSorted = false;
    this.#entries.push(entry);
    if (this.#entries.length >= 2 * this.#capacity) this.#cut();
  }

  #cut(): void {
    const { sort } = this.#query;
    if (!this.#isSorted) this.#entries.sort((left, right) => comparePositions(left, right, sort));
    this.#entries.splice(this.#capacity);
    if (this.#isFull) this.#last = this.#entries.at(-1) ?? null;
  }
}

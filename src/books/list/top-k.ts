/** The first books of a sorted response (top-k), found while looking at all of them. */
import type { BookSort } from '../query/book-sort.ts';
import type { BookPosition, SortValue } from '../query/cursor.ts';
import { readId } from '../query/stored-fields.ts';
import { comparePositions, compareSortValues } from '../query/sort-keys.ts';

/** A book of a response: its position, its bytes, which never change, and where they were found. */
export type BookEntry = BookPosition & { readonly bytes: Buffer; readonly slot: number };

/**
 * Keeps the `capacity` entries that sort first. Twice as many are gathered, then sorted and cut:
 * the cost is spread over the books, and no step is longer than one sort of some 2000 entries.
 */
export class TopEntries {
  readonly #capacity: number;
  readonly #sort: BookSort;
  readonly #entries: BookEntry[] = [];
  /** The last entry that the latest cut left: no book that sorts after it can be in the result. */
  #last: BookEntry | null = null;

  constructor(capacity: number, sort: BookSort) {
    this.#capacity = capacity;
    this.#sort = sort;
  }

  get isFull(): boolean {
    return this.#entries.length >= this.#capacity;
  }

  /** Adds a book, unless it surely sorts after the first `capacity`. */
  offer(sortValues: readonly SortValue[], bytes: Buffer, slot: number): void {
    const last = this.#last;
    if (last !== null && compareSortValues(sortValues, last.sortValues, this.#sort) > 0) return;
    this.#entries.push({ sortValues, id: readId(bytes), bytes, slot });
    if (this.#entries.length >= 2 * this.#capacity) this.#cut();
  }

  /** The first `capacity` of the books offered so far, in order. */
  sorted(): readonly BookEntry[] {
    this.#cut();
    return this.#entries;
  }

  #cut(): void {
    this.#entries.sort((left, right) => comparePositions(left, right, this.#sort));
    this.#entries.splice(this.#capacity);
    if (this.isFull) this.#last = this.#entries.at(-1) ?? null;
  }
}

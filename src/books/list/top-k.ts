/** The first books of a sorted answer, found while looking at all of them: a bounded heap. */
import type { BookSort } from '../query/parse.ts';
import type { SortValue } from '../query/cursor.ts';
import { readId } from '../query/fields.ts';
import { compareKeys, comparePositions, shortKey } from '../query/sort-keys.ts';

/** A book of an answer: its place and its bytes, which never change. */
export type Entry = { readonly key: SortValue; readonly id: string; readonly bytes: Buffer };

/** Keeps the `capacity` entries that sort first. The last of them is the heap's root. */
export class TopEntries {
  readonly #capacity: number;
  readonly #sort: BookSort;
  readonly #heap: Entry[] = [];
  #shortKeyOfLast = Infinity;

  constructor(capacity: number, sort: BookSort) {
    this.#capacity = capacity;
    this.#sort = sort;
  }

  get isFull(): boolean {
    return this.#heap.length >= this.#capacity;
  }

  /** What has a later short key has no place here any more; Infinity while all have. */
  get shortKeyOfLast(): number {
    return this.#shortKeyOfLast;
  }

  /** Books must be offered in the order of ids that breaks their ties. */
  offer(key: SortValue, bytes: Buffer): void {
    const [last] = this.#heap;
    if (!this.isFull || last === undefined) {
      this.#heap.push({ key, id: readId(bytes), bytes });
      this.#rise(this.#heap.length - 1);
    } else if (compareKeys(key, last.key, this.#sort.isDescending) < 0) {
      // With equal keys the one that came first stays: its id comes first too.
      this.#heap[0] = { key, id: readId(bytes), bytes };
      this.#sink();
    } else {
      return;
    }
    if (this.isFull) this.#shortKeyOfLast = shortKey(this.#heap[0]?.key ?? null);
  }

  sorted(): Entry[] {
    return this.#heap.toSorted((left, right) => comparePositions(left, right, this.#sort));
  }

  #rise(start: number): void {
    for (let index = start; index > 0;) {
      const parent = (index - 1) >>> 1;
      if (!this.#isAfter(index, parent)) return;
      this.#swap(index, parent);
      index = parent;
    }
  }

  #sink(): void {
    for (let index = 0; ;) {
      const left = 2 * index + 1;
      let last = this.#isAfter(left, index) ? left : index;
      if (this.#isAfter(left + 1, last)) last = left + 1;
      if (last === index) return;
      this.#swap(index, last);
      index = last;
    }
  }

  #isAfter(index: number, other: number): boolean {
    const entry = this.#heap[index];
    const compared = this.#heap[other];
    if (entry === undefined || compared === undefined) return false;
    return comparePositions(entry, compared, this.#sort) > 0;
  }

  #swap(index: number, other: number): void {
    const entry = this.#heap[index];
    const compared = this.#heap[other];
    if (entry === undefined || compared === undefined) return;
    this.#heap[index] = compared;
    this.#heap[other] = entry;
  }
}

/**
 * Items in order, the least first. Those that come in order stand in a row and cost nothing more
 * than their place; only the others go through a heap. A hundred thousand deliveries that wait are
 * mostly in order, and a heap of them takes seventeen comparisons of strings for each.
 */
import { Heap } from './priority-queue.ts';

/** Places of the row that may be empty before it is moved together. */
const EMPTY_MAX = 1024;

export class Line<T> {
  readonly #isLess: (left: T, right: T) => boolean;
  readonly #others: Heap<T>;
  #row: T[] = [];
  #head = 0;

  constructor(isLess: (left: T, right: T) => boolean) {
    this.#isLess = isLess;
    this.#others = new Heap(isLess);
  }

  push(item: T): void {
    const last = this.#row.at(-1);
    if (last === undefined || !this.#isLess(item, last)) this.#row.push(item);
    else this.#others.push(item);
  }

  peek(): T | undefined {
    return this.#isRowFirst() ? this.#row[this.#head] : this.#others.peek();
  }

  pop(): T | undefined {
    if (!this.#isRowFirst()) return this.#others.pop();
    const item = this.#row[this.#head];
    this.#head += 1;
    if (this.#head === this.#row.length) {
      this.#row = [];
      this.#head = 0;
    } else if (this.#head > EMPTY_MAX && this.#head * 2 > this.#row.length) {
      this.#row = this.#row.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  #isRowFirst(): boolean {
    const first = this.#row[this.#head];
    const other = this.#others.peek();
    return first !== undefined && (other === undefined || !this.#isLess(other, first));
  }
}

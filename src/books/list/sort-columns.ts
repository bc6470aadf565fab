/**
 * The sort keys of a response without limit, packed outside the JavaScript heap, which
 * `--max-memory` keeps small: a million dates are 8 MB and a million titles about 40 MB. As strings
 * they would take twice as much, all of it in the heap.
 */
import type { SortOrder } from '../query/book-sort.ts';
import { SORT_ROWS } from '../query/sort-keys.ts';
import type { SortValue } from '../query/sort-keys.ts';

export interface KeyColumn {
  push(key: SortValue): void;
  /** Compares the keys at two indexes; books without the key come last, either way. */
  compare(left: number, right: number): number;
}

export function createKeyColumn({ key, isDescending }: SortOrder): KeyColumn {
  const { isText = false } = SORT_ROWS[key];
  return isText ? new TextColumn(isDescending) : new NumberColumn(isDescending);
}

const CHUNK_BITS = 14;
const CHUNK_LENGTH = 2 ** CHUNK_BITS;

/** A list of numbers in blocks, which grows without copying. */
export class NumberList {
  length = 0;
  readonly #blocks: Float64Array[] = [];

  push(value: number): void {
    const offset = this.length % CHUNK_LENGTH;
    if (offset === 0) this.#blocks.push(new Float64Array(CHUNK_LENGTH));
    const block = this.#blocks[this.length >>> CHUNK_BITS];
    if (block !== undefined) block[offset] = value;
    this.length += 1;
  }

  at(index: number): number {
    return this.#blocks[index >>> CHUNK_BITS]?.[index & (CHUNK_LENGTH - 1)] ?? Number.NaN;
  }
}

class NumberColumn implements KeyColumn {
  readonly #numbers = new NumberList();
  readonly #sign: number;

  constructor(isDescending: boolean) {
    this.#sign = isDescending ? -1 : 1;
  }

  push(key: SortValue): void {
    this.#numbers.push(typeof key === 'number' ? key * this.#sign : Infinity);
  }

  compare(left: number, right: number): number {
    const first = this.#numbers.at(left);
    const second = this.#numbers.at(right);
    if (first === second) return 0;
    return first < second ? -1 : 1;
  }
}

const ARENA_BLOCK_BYTES = 2 ** 20;
// The length of the key of a book that has none.
const NO_KEY = -1;

/** Byte strings, stored one after another in large blocks. */
class TextColumn implements KeyColumn {
  readonly #sign: number;
  readonly #offsets = new NumberList();
  readonly #lengths = new NumberList();
  readonly #blocks: Buffer[] = [];
  #used = ARENA_BLOCK_BYTES;

  constructor(isDescending: boolean) {
    this.#sign = isDescending ? -1 : 1;
  }

  push(key: SortValue): void {
    const text = typeof key === 'string' ? key : '';
    if (this.#used + text.length > ARENA_BLOCK_BYTES) {
      this.#blocks.push(Buffer.allocUnsafeSlow(Math.max(ARENA_BLOCK_BYTES, text.length)));
      this.#used = 0;
    }
    const block = this.#blocks.length - 1;
    this.#blocks[block]?.write(text, this.#used, 'latin1');
    this.#offsets.push(block * ARENA_BLOCK_BYTES + this.#used);
    this.#lengths.push(key === null ? NO_KEY : text.length);
    this.#used += text.length;
  }

  compare(left: number, right: number): number {
    const leftLength = this.#lengths.at(left);
    const rightLength = this.#lengths.at(right);
    if (leftLength === NO_KEY || rightLength === NO_KEY) {
      return Number(leftLength === NO_KEY) - Number(rightLength === NO_KEY);
    }
    const leftOffset = this.#offsets.at(left);
    const rightOffset = this.#offsets.at(right);
    const leftBlock = this.#blocks[Math.floor(leftOffset / ARENA_BLOCK_BYTES)];
    const rightBlock = this.#blocks[Math.floor(rightOffset / ARENA_BLOCK_BYTES)];
    if (leftBlock === undefined || rightBlock === undefined) return 0;
    const leftStart = leftOffset % ARENA_BLOCK_BYTES;
    const rightStart = rightOffset % ARENA_BLOCK_BYTES;
    return this.#sign * leftBlock.compare(rightBlock,
      rightStart, rightStart + rightLength, leftStart, leftStart + leftLength);
  }
}

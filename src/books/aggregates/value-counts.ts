/**
 * Counts in how many books each value stands, and finds the most frequent ones. Pure.
 *
 * The counts are exact, and the values that are counted at a time take up to `bytesMax`. Where a
 * catalog has more, they are divided by a hash into shares (2, 4, 8, …). One pass over the books
 * counts the values of one share, so its caller passes over the books again until `isDone`:
 *
 *   do {
 *     for each book: add its values, and `split` once `isFull`
 *     finishShare
 *   } while (!isDone)
 */
import { crc32 } from 'node:zlib';
import { AppError } from '../../base/errors.ts';
import { foldCase } from '../../base/text/fold.ts';
import type { Steps } from '../../base/turns.ts';
import { addToTop, commonestOf, isAmongTop } from '../query/value-count.ts';
import type { ValueCount } from '../query/value-count.ts';

type ValueCountsOptions = {
  /** How many of the most frequent values are wanted. */
  readonly topMax: number;
  /** Values that differ in case alone are one, which is shown in its commonest spelling. */
  readonly isCaseless?: boolean;
  readonly bytesMax?: number;
};

/** The values whose hash leaves `remainder` when it is divided by `divisor`, a power of two. */
type Share = { readonly divisor: number; readonly remainder: number };

type Entry = {
  books: number;
  /** The first spelling, and in how many books it stands. */
  readonly spelling: string;
  spellingBooks: number;
  /** The other spellings; null while there is one alone. */
  otherSpellings: Map<string, number> | null;
};

const BYTES_MAX = 16 * 2 ** 20;
// The memory that an entry takes beside its text, in the map and as an object.
const ENTRY_BYTES = 120;
// Beyond this the spellings of a keyword are not told apart: they could not be divided into shares.
const SPELLINGS_MAX = 64;
// 1 GiB of values: a pass for each of more shares would take minutes.
const SHARES_MAX = 64;
const ENTRIES_PER_YIELD = 256;

export class ValueCounts {
  readonly #topMax: number;
  readonly #isCaseless: boolean;
  readonly #bytesMax: number;
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;
  /** The values that this pass counts; null once all have been counted. */
  #share: Share | null = { divisor: 1, remainder: 0 };
  readonly #pendingShares: Share[] = [];
  /** The most frequent values of the shares that have been counted, in order. */
  readonly #top: ValueCount[] = [];

  constructor({ topMax, isCaseless = false, bytesMax = BYTES_MAX }: ValueCountsOptions) {
    this.#topMax = topMax;
    this.#isCaseless = isCaseless;
    this.#bytesMax = bytesMax;
  }

  /** Counts the values of one book, each once. */
  add(values: readonly string[]): void {
    if (this.#share === null) return;
    const keys = new Set<string>();
    for (const value of new Set(values)) {
      const key = this.#isCaseless ? foldCase(value) : value;
      if (!isInShare(key, this.#share)) continue;
      this.#addOne(key, value, keys.has(key) ? 0 : 1);
      keys.add(key);
    }
  }

  /** Whether the values take too much memory, so that `split` must be called. */
  get isFull(): boolean {
    return this.#bytes > this.#bytesMax;
  }

  /**
   * Leaves half of the values to a later pass. Throws `unavailable` where there are far too many.
   */
  *split(): Steps<void> {
    if (this.#share === null) return;
    const { divisor, remainder } = this.#share;
    if (divisor >= SHARES_MAX) {
      throw new AppError('unavailable',
        'the books have too many different values to count: narrow them down by a filter');
    }
    this.#pendingShares.push({ divisor: divisor * 2, remainder: remainder + divisor });
    this.#share = { divisor: divisor * 2, remainder };
    let looks = 0;
    for (const [key, entry] of this.#entries) {
      looks += 1;
      if (looks % ENTRIES_PER_YIELD === 0) yield;
      if (isInShare(key, this.#share)) continue;
      this.#entries.delete(key);
      this.#bytes -= bytesOf(key, entry);
    }
  }

  /** Ends a pass, after which `top` knows the values of its share. */
  *finishShare(): Steps<void> {
    let looks = 0;
    for (const entry of this.#entries.values()) {
      looks += 1;
      if (looks % ENTRIES_PER_YIELD === 0) yield;
      this.#offer(entry);
    }
    this.#entries.clear();
    this.#bytes = 0;
    this.#share = this.#pendingShares.pop() ?? null;
  }

  /** Whether all values have been counted; else another pass is needed. */
  get isDone(): boolean {
    return this.#share === null;
  }

  /** The values that stand in most books; ties by code point. */
  get top(): readonly ValueCount[] {
    return this.#top;
  }

  #addOne(key: string, spelling: string, books: number): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) {
      const newEntry = { books, spelling, spellingBooks: 1, otherSpellings: null };
      this.#entries.set(key, newEntry);
      this.#bytes += bytesOf(key, newEntry);
      return;
    }
    entry.books += books;
    if (entry.spelling === spelling) {
      entry.spellingBooks += 1;
      return;
    }
    const others = entry.otherSpellings ??= new Map<string, number>();
    const spellingBooks = others.get(spelling);
    if (spellingBooks === undefined && others.size >= SPELLINGS_MAX) return;
    if (spellingBooks === undefined) this.#bytes += bytesOfText(spelling);
    others.set(spelling, (spellingBooks ?? 0) + 1);
  }

  #offer(entry: Entry): void {
    const count = { value: commonestSpelling(entry), count: entry.books };
    if (isAmongTop(this.#top, count, this.#topMax)) addToTop(this.#top, count, this.#topMax);
  }
}

function commonestSpelling({ spelling, spellingBooks, otherSpellings }: Entry): string {
  const others = Array.from(otherSpellings ?? [], ([value, count]) => ({ value, count }));
  return commonestOf([{ value: spelling, count: spellingBooks }, ...others]).value;
}

function isInShare(key: string, { divisor, remainder }: Share): boolean {
  return divisor === 1 || crc32(key) % divisor === remainder;
}

function bytesOf(key: string, { spelling, otherSpellings }: Entry): number {
  let bytes = ENTRY_BYTES + bytesOfText(key) + (key === spelling ? 0 : bytesOfText(spelling));
  for (const other of otherSpellings?.keys() ?? []) bytes += bytesOfText(other);
  return bytes;
}

function bytesOfText(text: string): number {
  return 2 * text.length + 24;
}

/**
 * The values of one member, such as the authors' names, with the number of books that have each. A
 * table follows the changes of books, so that the commonest values are found without reading any
 * book, and values by the beginning of their words.
 *
 * To find those, the first three bytes of each term of a value (`eachTerm`) lead to a list of the
 * values that have such a term. A value takes some 150 bytes beside its text. A table that takes
 * more than it may forgets everything, and is of no use from then on.
 */
import { assert } from '../../base/assert.ts';
import { growInt32 } from '../../base/structures/typed-arrays.ts';
import { foldCase } from '../../base/text/fold.ts';
import type { Steps } from '../../base/turns.ts';
import { addToTop, compareValueCounts, isAmongTop } from '../query/value-count.ts';
import type { ValueCount } from '../query/value-count.ts';

type ValueTableOptions = {
  /** The values of a stored book. */
  readonly readValues: (bytes: Buffer) => readonly string[];
  /** Values that differ in case alone are one, which is shown in its commonest spelling. */
  readonly isCaseless: boolean;
  /** The terms under which a value is found, as byte strings. */
  readonly deriveTerms: (value: string) => readonly string[];
  readonly bytesMax: number;
};

type TableEntry = {
  readonly key: string;
  /** The index of its figure in `#books`; that of an entry that is gone goes to another. */
  readonly number: number;
  /** The first spelling. */
  readonly spelling: string;
  /** In how many books each spelling stands; null while there was one alone. */
  spellings: Map<string, number> | null;
};

const TERM_START = 3;
// The memory that an entry takes beside its text: in the map, as an object, and in the lists.
const ENTRY_BYTES = 150;
const SPELLING_BYTES = 60;
// A value is compared with what is looked for in up to 2 µs.
const VALUES_PER_YIELD = 64;

export class ValueTable {
  readonly #options: ValueTableOptions;
  readonly #entries = new Map<string, TableEntry>();
  /** By number; undefined for a free one. */
  readonly #entriesByNumber: (TableEntry | undefined)[] = [];
  readonly #freeNumbers: number[] = [];
  /**
   * By number: how many books have the value. To look at the entries themselves takes many times as
   * long, as they are scattered in memory.
   */
  #books = new Int32Array(256);
  /** The numbers of the entries that have a term with this start. */
  readonly #numbersByStart = new Map<string, number[]>();
  #bytes = 0;
  #isTooLarge = false;

  constructor(options: ValueTableOptions) {
    this.#options = options;
  }

  /** About how much memory it takes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether the values took more than `bytesMax`: the table knows none any more. */
  get isTooLarge(): boolean {
    return this.#isTooLarge;
  }

  /** Counts the values of a book. Where a book has changed, this comes best before `remove`. */
  add(bytes: Buffer): void {
    if (this.#isTooLarge) return;
    const keys = new Set<string>();
    for (const value of new Set(this.#options.readValues(bytes))) {
      const key = this.#keyOf(value);
      const entry = this.#entries.get(key) ?? this.#addEntry(key, value);
      this.#countSpelling(entry, value);
      if (!keys.has(key)) this.#countBooks(entry, 1);
      keys.add(key);
    }
    if (this.#bytes > this.#options.bytesMax) this.#forgetAll();
  }

  /** Takes the values of a book away, which must have been added. */
  remove(bytes: Buffer): void {
    if (this.#isTooLarge) return;
    const keys = new Set<string>();
    for (const value of new Set(this.#options.readValues(bytes))) {
      const key = this.#keyOf(value);
      const entry = this.#entries.get(key);
      assert(entry !== undefined, 'only what was added is removed');
      const spellingBooks = entry.spellings?.get(value) ?? 0;
      if (spellingBooks > 1) entry.spellings?.set(value, spellingBooks - 1);
      else if (entry.spellings?.delete(value) === true) this.#bytes -= bytesOfSpelling(value);
      keys.add(key);
    }
    for (const key of keys) {
      const entry = this.#entries.get(key);
      if (entry === undefined) continue;
      if (this.#countBooks(entry, -1) === 0) this.#removeEntry(entry);
    }
  }

  /** All values. One that goes and comes back meanwhile may come twice. */
  * valueCounts(): Iterable<ValueCount> {
    for (const entry of this.#entries.values()) yield this.#countOf(entry);
  }

  /**
   * The commonest values that have a term with one of the prefixes and are accepted. Where the
   * table is caseless, `accepts` gets them as `foldCase` leaves them.
   */
  * findTop(
    prefixes: readonly string[], accepts: (value: string) => boolean, max: number,
  ): Steps<readonly ValueCount[]> {
    const top: ValueCount[] = [];
    let looks = 0;
    for (const numbers of this.#listsOf(prefixes)) {
      for (const number of numbers) {
        looks += 1;
        if (looks % VALUES_PER_YIELD === 0) yield;
        // The figure decides almost always.
        if ((this.#books[number] ?? 0) < (top[max - 1]?.count ?? 1)) continue;
        const entry = this.#entriesByNumber[number];
        if (entry === undefined) continue;
        const count = this.#countOf(entry);
        if (isAmongTop(top, count, max) && accepts(entry.key)) addToTop(top, count, max);
      }
    }
    return top;
  }

  #keyOf(value: string): string {
    return this.#options.isCaseless ? foldCase(value) : value;
  }

  #addEntry(key: string, spelling: string): TableEntry {
    const number = this.#freeNumbers.pop() ?? this.#entriesByNumber.length;
    const entry = { key, number, spelling, spellings: null };
    this.#entries.set(key, entry);
    this.#entriesByNumber[number] = entry;
    this.#books = growInt32(this.#books, number + 1);
    for (const start of this.#startsOf(key)) {
      const numbers = this.#numbersByStart.get(start);
      if (numbers === undefined) this.#numbersByStart.set(start, [number]);
      else numbers.push(number);
    }
    this.#bytes += bytesOf(entry);
    return entry;
  }

  #removeEntry(entry: TableEntry): void {
    const { key, number } = entry;
    this.#entries.delete(key);
    this.#entriesByNumber[number] = undefined;
    this.#freeNumbers.push(number);
    for (const start of this.#startsOf(key)) {
      const numbers = this.#numbersByStart.get(start) ?? [];
      // The last takes its place, as the order does not matter.
      const last = numbers.pop();
      if (last !== undefined && last !== number) numbers[numbers.indexOf(number)] = last;
      if (numbers.length === 0) this.#numbersByStart.delete(start);
    }
    this.#bytes -= bytesOf(entry);
  }

  /** Returns how many books have the value now. */
  #countBooks({ number }: TableEntry, change: 1 | -1): number {
    const books = (this.#books[number] ?? 0) + change;
    this.#books[number] = books;
    return books;
  }

  #countSpelling(entry: TableEntry, value: string): void {
    if (entry.spellings === null) {
      if (entry.spelling === value) return;
      entry.spellings = new Map([[entry.spelling, this.#books[entry.number] ?? 0]]);
      this.#bytes += bytesOfSpelling(entry.spelling);
    }
    const books = entry.spellings.get(value) ?? 0;
    if (books === 0) this.#bytes += bytesOfSpelling(value);
    entry.spellings.set(value, books + 1);
  }

  #countOf({ number, spelling, spellings }: TableEntry): ValueCount {
    const count = this.#books[number] ?? 0;
    if (spellings === null) return { value: spelling, count };
    let best: ValueCount | null = null;
    for (const [value, books] of spellings) {
      const other = { value, count: books };
      if (best === null || compareValueCounts(other, best) < 0) best = other;
    }
    return { value: best?.value ?? spelling, count };
  }

  #startsOf(key: string): ReadonlySet<string> {
    return new Set(this.#options.deriveTerms(key).map((term) => term.slice(0, TERM_START)));
  }

  * #listsOf(prefixes: readonly string[]): Iterable<readonly number[]> {
    for (const prefix of prefixes) {
      if (prefix.length >= TERM_START) {
        yield this.#numbersByStart.get(prefix.slice(0, TERM_START)) ?? [];
        continue;
      }
      for (const [start, numbers] of this.#numbersByStart) {
        if (start.startsWith(prefix)) yield numbers;
      }
    }
  }

  #forgetAll(): void {
    this.#isTooLarge = true;
    this.#bytes = 0;
    this.#entries.clear();
    this.#entriesByNumber.length = 0;
    this.#freeNumbers.length = 0;
    this.#books = new Int32Array(0);
    this.#numbersByStart.clear();
  }
}

function bytesOf({ key, spelling, spellings }: TableEntry): number {
  let bytes = ENTRY_BYTES + key.length + (key === spelling ? 0 : spelling.length);
  for (const other of spellings?.keys() ?? []) bytes += bytesOfSpelling(other);
  return bytes;
}

function bytesOfSpelling(spelling: string): number {
  return SPELLING_BYTES + spelling.length;
}

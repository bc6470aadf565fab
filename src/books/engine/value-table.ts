/**
 * The values of one member, such as the authors' names, with the number of books that have each. A
 * table follows the changes of books, so that the commonest values are found without reading any
 * book, and values by the beginning of their words.
 *
 * To find those, the first three bytes of each term of a value (`eachTerm`) lead to a list of the
 * values that have such a term. A value takes some 250 bytes beside its text. A table that takes
 * more than it may forgets everything, and is of no use from then on.
 */
import { assert } from '../../base/assert.ts';
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
  books: number;
  /** The first spelling. */
  readonly spelling: string;
  /** In how many books each spelling stands; null while there was one alone. */
  spellings: Map<string, number> | null;
};

const TERM_START = 3;
// The memory that an entry takes beside its text: in the map, as an object, and in the lists.
const ENTRY_BYTES = 250;
const SPELLING_BYTES = 60;
// A value is compared with what is looked for in up to 2 µs.
const VALUES_PER_YIELD = 64;

export class ValueTable {
  readonly #options: ValueTableOptions;
  readonly #entries = new Map<string, TableEntry>();
  /** The entries that have a term with this start. */
  readonly #entriesByStart = new Map<string, TableEntry[]>();
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

  /** Counts the values of a book. Of one that changed, best before those that it had are removed. */
  add(bytes: Buffer): void {
    if (this.#isTooLarge) return;
    const keys = new Set<string>();
    for (const value of new Set(this.#options.readValues(bytes))) {
      const key = this.#keyOf(value);
      const entry = this.#entries.get(key) ?? this.#addEntry(key, value);
      this.#countSpelling(entry, value);
      if (!keys.has(key)) entry.books += 1;
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
      entry.books -= 1;
      if (entry.books === 0) this.#removeEntry(entry);
    }
  }

  /** All values. One that goes and comes back meanwhile may come twice. */
  * valueCounts(): Iterable<ValueCount> {
    for (const entry of this.#entries.values()) yield countOf(entry);
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
    for (const entries of this.#listsOf(prefixes)) {
      for (const entry of entries) {
        looks += 1;
        if (looks % VALUES_PER_YIELD === 0) yield;
        // The last is compared by its figure first, as spellings take longer.
        if (entry.books === 0 || entry.books < (top[max - 1]?.count ?? 0)) continue;
        const count = countOf(entry);
        if (isAmongTop(top, count, max) && accepts(entry.key)) addToTop(top, count, max);
      }
    }
    return top;
  }

  #keyOf(value: string): string {
    return this.#options.isCaseless ? foldCase(value) : value;
  }

  #addEntry(key: string, spelling: string): TableEntry {
    const entry = { key, books: 0, spelling, spellings: null };
    this.#entries.set(key, entry);
    for (const start of this.#startsOf(key)) {
      const list = this.#entriesByStart.get(start);
      if (list === undefined) this.#entriesByStart.set(start, [entry]);
      else list.push(entry);
    }
    this.#bytes += bytesOf(entry);
    return entry;
  }

  #removeEntry(entry: TableEntry): void {
    this.#entries.delete(entry.key);
    for (const start of this.#startsOf(entry.key)) {
      const list = this.#entriesByStart.get(start) ?? [];
      // The last takes its place, as the order does not matter.
      const last = list.pop();
      if (last !== undefined && last !== entry) list[list.indexOf(entry)] = last;
      if (list.length === 0) this.#entriesByStart.delete(start);
    }
    this.#bytes -= bytesOf(entry);
  }

  #countSpelling(entry: TableEntry, value: string): void {
    if (entry.spellings === null) {
      if (entry.spelling === value) return;
      entry.spellings = new Map([[entry.spelling, entry.books]]);
      this.#bytes += bytesOfSpelling(entry.spelling);
    }
    const books = entry.spellings.get(value) ?? 0;
    if (books === 0) this.#bytes += bytesOfSpelling(value);
    entry.spellings.set(value, books + 1);
  }

  #startsOf(key: string): ReadonlySet<string> {
    return new Set(this.#options.deriveTerms(key).map((term) => term.slice(0, TERM_START)));
  }

  * #listsOf(prefixes: readonly string[]): Iterable<readonly TableEntry[]> {
    for (const prefix of prefixes) {
      if (prefix.length >= TERM_START) {
        yield this.#entriesByStart.get(prefix.slice(0, TERM_START)) ?? [];
        continue;
      }
      for (const [start, entries] of this.#entriesByStart) {
        if (start.startsWith(prefix)) yield entries;
      }
    }
  }

  #forgetAll(): void {
    this.#isTooLarge = true;
    this.#bytes = 0;
    this.#entries.clear();
    this.#entriesByStart.clear();
  }
}

function countOf({ books, spelling, spellings }: TableEntry): ValueCount {
  if (spellings === null) return { value: spelling, count: books };
  let best: ValueCount | null = null;
  for (const [value, count] of spellings) {
    const other = { value, count };
    if (best === null || compareValueCounts(other, best) < 0) best = other;
  }
  return { value: best?.value ?? spelling, count: books };
}

function bytesOf({ key, spelling, spellings }: TableEntry): number {
  let bytes = ENTRY_BYTES + key.length + (key === spelling ? 0 : spelling.length);
  for (const other of spellings?.keys() ?? []) bytes += bytesOfSpelling(other);
  return bytes;
}

function bytesOfSpelling(spelling: string): number {
  return SPELLING_BYTES + spelling.length;
}

/**
 * The different values of one member, each with a code, a small number, and with the number of
 * books that have it. A spelling code is of a value as it is written, and a value code the spelling
 * code of its first spelling: they differ only where case does not count. A code is free, for the
 * next new value, once no book has its spelling or, of a value code, any spelling of the value.
 *
 * To find values by a beginning, the first three bytes of each term of a value lead to a list of
 * the values that have such a term.
 */
import { growInt32 } from '../../base/structures/typed-arrays.ts';
import { foldCase } from '../../base/text/fold.ts';
import type { Steps } from '../../base/turns.ts';
import type { BookValue, ValueSpelling } from '../query/book-values.ts';
import { addToTop, commonestOf, isAmongTop } from '../query/value-count.ts';
import type { ValueCount } from '../query/value-count.ts';

/** In how many books each value stands: of all books, or of some. */
export type ValueTally = {
  /**
   * By value code: how many books have the value. To look at the values themselves takes many times
   * as long, as they are scattered in memory.
   */
  valueCounts: Int32Array<ArrayBuffer>;
  /** By spelling code: how many books have the spelling. */
  spellingCounts: Int32Array<ArrayBuffer>;
};

/** Values that have a term with one of the prefixes and are accepted. */
type ValueSelection = {
  readonly prefixes: readonly string[];
  /** It gets values as `foldCase` leaves them, if case does not count. */
  readonly accepts: (value: string) => boolean;
};

const TERM_START = 3;
// The memory that a value takes beside its text: in the maps and lists, and for its terms.
const VALUE_BYTES = 70;
const STRING_BYTES = 30;
const TERMS_BYTES = 50;
// A value is compared with what is looked for in up to 2 µs.
const VALUES_PER_YIELD = 64;

export class ValueDictionary {
  readonly #options: ValueSpelling;
  /** By spelling code; undefined for one that is free. */
  readonly #values: (BookValue | undefined)[] = [];
  readonly #freeCodes: number[] = [];
  /** The spelling code of each value. */
  readonly #codes = new Map<BookValue, number>();
  /** By spelling code: the value code. */
  #valueCodes = new Int32Array(256);
  /** The counts over all books. */
  readonly #tally = createTally(256);
  /** The value code of each value without regard to case. */
  readonly #codesByKey = new Map<string, number>();
  /** By value code: the spelling codes of a value that has several. */
  readonly #spellings = new Map<number, Set<number>>();
  /** The value codes of the values that have a term with this start. */
  readonly #codesByStart = new Map<string, number[]>();
  /** About how much memory it takes. */
  bytes = 0;

  constructor(options: ValueSpelling) {
    this.#options = options;
  }

  /** All spelling codes are below this. */
  get codeBound(): number {
    return this.#values.length;
  }

  /** The spelling of a code; undefined for one that is free. */
  valueAt(code: number): BookValue | undefined {
    return this.#values[code];
  }

  /** The spelling code of a value; undefined: no book has it. */
  findCode(value: BookValue): number | undefined {
    return this.#codes.get(value);
  }

  /** A new spelling code for a value that has none, which no book has until it is counted. */
  add(value: BookValue): number {
    const code = this.#freeCodes.pop() ?? this.#values.length;
    this.#values[code] = value;
    this.#codes.set(value, code);
    this.bytes += this.#bytesOf(value);
    this.#valueCodes = growInt32(this.#valueCodes, code + 1);
    this.#tally.spellingCounts = growInt32(this.#tally.spellingCounts, code + 1);
    this.#tally.valueCounts = growInt32(this.#tally.valueCounts, code + 1);
    const key = this.#keyOf(value);
    const valueCode = this.#options.isCaseless === true ? this.#codesByKey.get(key) ?? code : code;
    this.#valueCodes[code] = valueCode;
    if (valueCode === code) this.#addValue(code, key);
    else this.#addSpelling(valueCode, code);
    return code;
  }

  /** Counts the values of one book, given by its spelling codes, each once. */
  count(codes: ArrayLike<number>): void {
    this.#countAll(this.#tally, codes, 0, codes.length, 1);
  }

  /** A tally of no book. It is void once a book changes: a code may have got another value. */
  createTally(): ValueTally {
    return createTally(this.codeBound);
  }

  /** Counts the values of one book in a tally: `codes` has its spelling codes from `start` on. */
  countIn(tally: ValueTally, codes: ArrayLike<number>, start: number, end: number): void {
    this.#countAll(tally, codes, start, end, 1);
  }

  /** Takes away what was counted of a book. A value that no book has then loses its code. */
  discount(codes: ArrayLike<number>): void {
    this.#countAll(this.#tally, codes, 0, codes.length, -1);
    for (let index = 0; index < codes.length; index += 1) {
      const code = codes[index] ?? -1;
      const valueCode = this.#valueCodes[code] ?? code;
      if (valueCode !== code && this.#tally.spellingCounts[code] === 0) {
        this.#removeSpelling(code);
      }
      if (this.#tally.valueCounts[valueCode] === 0) this.#removeValue(valueCode);
    }
  }

  /** All values. One that goes and comes back meanwhile may come twice. */
  * valueCounts(tally: ValueTally = this.#tally): Iterable<ValueCount> {
    for (let code = 0; code < this.#values.length; code += 1) {
      if ((tally.valueCounts[code] ?? 0) > 0) yield this.#countOf(code, tally);
    }
  }

  /** The commonest values of all books or of a tally: all, or those that are selected. */
  * findTop(
    max: number, selection: ValueSelection | null = null, tally: ValueTally = this.#tally,
  ): Steps<readonly ValueCount[]> {
    const top: ValueCount[] = [];
    let looks = 0;
    const lists = selection === null ? [this.#values.keys()] : this.#listsOf(selection.prefixes);
    for (const codes of lists) {
      for (const code of codes) {
        looks += 1;
        if (looks % VALUES_PER_YIELD === 0) yield;
        // The count alone rejects nearly all.
        if ((tally.valueCounts[code] ?? 0) < (top[max - 1]?.count ?? 1)) continue;
        const value = this.#values[code];
        if (value === undefined) continue;
        const count = this.#countOf(code, tally);
        if (!isAmongTop(top, count, max)) continue;
        if (selection?.accepts(this.#keyOf(value)) !== false) addToTop(top, count, max);
      }
    }
    return top;
  }

  #keyOf(value: BookValue): string {
    return this.#options.isCaseless === true ? foldCase(String(value)) : String(value);
  }

  #addValue(code: number, key: string): void {
    if (this.#options.isCaseless === true) this.#codesByKey.set(key, code);
    for (const start of this.#startsOf(key)) {
      const codes = this.#codesByStart.get(start);
      if (codes === undefined) this.#codesByStart.set(start, [code]);
      else codes.push(code);
    }
  }

  #removeValue(code: number): void {
    const value = this.#free(code);
    if (value === undefined) return;
    const key = this.#keyOf(value);
    this.#codesByKey.delete(key);
    for (const start of this.#startsOf(key)) {
      const codes = this.#codesByStart.get(start) ?? [];
      // The last takes its place, as the order does not matter.
      const last = codes.pop();
      if (last !== undefined && last !== code) codes[codes.indexOf(code)] = last;
      if (codes.length === 0) this.#codesByStart.delete(start);
    }
  }

  #addSpelling(valueCode: number, code: number): void {
    const spellings = this.#spellings.get(valueCode);
    if (spellings === undefined) this.#spellings.set(valueCode, new Set([valueCode, code]));
    else spellings.add(code);
  }

  #removeSpelling(code: number): void {
    const valueCode = this.#valueCodes[code] ?? code;
    const spellings = this.#spellings.get(valueCode);
    if (spellings?.delete(code) === true) this.#free(code);
    if (spellings?.size === 1) this.#spellings.delete(valueCode);
  }

  /** Returns the value that had the code; undefined: it was free. */
  #free(code: number): BookValue | undefined {
    const value = this.#values[code];
    if (value === undefined) return undefined;
    this.#values[code] = undefined;
    this.#codes.delete(value);
    this.#freeCodes.push(code);
    this.bytes -= this.#bytesOf(value);
    return value;
  }

  #countAll(
    { valueCounts, spellingCounts }: ValueTally, codes: ArrayLike<number>, start: number,
    end: number, change: 1 | -1,
  ): void {
    for (let index = start; index < end; index += 1) {
      const code = codes[index] ?? -1;
      spellingCounts[code] = (spellingCounts[code] ?? 0) + change;
      const valueCode = this.#valueCodes[code] ?? code;
      // A book may have a value in two spellings.
      let first = start;
      while (this.#valueCodes[codes[first] ?? -1] !== valueCode) first += 1;
      if (first === index) valueCounts[valueCode] = (valueCounts[valueCode] ?? 0) + change;
    }
  }

  #countOf(valueCode: number, { valueCounts, spellingCounts }: ValueTally): ValueCount {
    const count = valueCounts[valueCode] ?? 0;
    const spellings = this.#spellings.get(valueCode);
    if (spellings === undefined) return { value: String(this.#values[valueCode]), count };
    const { value } = commonestOf(Array.from(spellings, (code) =>
      ({ value: String(this.#values[code]), count: spellingCounts[code] ?? 0 })));
    return { value, count };
  }

  #startsOf(key: string): ReadonlySet<string> {
    const terms = this.#options.deriveTerms?.(key) ?? [];
    return new Set(terms.map((term) => term.slice(0, TERM_START)));
  }

  * #listsOf(prefixes: readonly string[]): Iterable<readonly number[]> {
    for (const prefix of prefixes) {
      if (prefix.length >= TERM_START) {
        yield this.#codesByStart.get(prefix.slice(0, TERM_START)) ?? [];
        continue;
      }
      for (const [start, codes] of this.#codesByStart) {
        if (start.startsWith(prefix)) yield codes;
      }
    }
  }

  #bytesOf(value: BookValue): number {
    const termsBytes = this.#options.deriveTerms === undefined ? 0 : TERMS_BYTES;
    return VALUE_BYTES + termsBytes + (typeof value === 'string' ? STRING_BYTES + value.length : 0);
  }
}

function createTally(bound: number): ValueTally {
  return { valueCounts: new Int32Array(bound), spellingCounts: new Int32Array(bound) };
}

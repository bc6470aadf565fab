/**
 * The dates of publication by slot, as numbers of `encodeDate`: 4 bytes a slot. They stand in
 * blocks, so that growth copies none. A range is found by a look at each date, some 1 ms a million;
 * the bit sets of the ranges that were asked for last are kept, and follow every change. How many
 * books are of a year is counted apart, and known without a look at any date.
 */
import { assert } from '../../base/assert.ts';
import { BitSet } from '../../base/structures/bit-set.ts';
import { RecentValues } from '../../base/structures/recent-values.ts';
import type { Steps } from '../../base/turns.ts';
import {
  YEAR_STEP, createDateRange, isWithin, type DateRange,
} from '../query/date-range.ts';
import type { BookFilter } from '../query/parse-query.ts';
import { readDatePublished } from '../query/stored-fields.ts';
import type { ValueCount } from '../query/value-count.ts';
import type { BookColumn } from './book-column.ts';

// A block is looked at in one step, which takes some 10 µs.
const BLOCK_SLOTS = 4096;
const NO_DATE = -1;
const YEARS = 10_000;
const RANGE_SETS_MAX = 8;

export class DateColumn implements BookColumn {
  readonly #blocks: Int32Array[] = [];
  /** How many books are of each year. */
  readonly #booksByYear = new Int32Array(YEARS);
  /** By their bounds. */
  readonly #rangeSets = new RecentValues<RangeSet>(RANGE_SETS_MAX);

  constructor(slotBound: number) {
    while (this.#blocks.length * BLOCK_SLOTS < slotBound) this.#addBlock();
  }

  get bytes(): number {
    let bytes = this.#blocks.length * BLOCK_SLOTS * Int32Array.BYTES_PER_ELEMENT
      + this.#booksByYear.byteLength;
    for (const { slots } of this.#rangeSets.values()) bytes += slots.words.byteLength;
    return bytes;
  }

  set(slot: number, bytes: Buffer | undefined): void {
    const date = bytes === undefined ? NO_DATE : readDatePublished(bytes) ?? NO_DATE;
    const index = Math.floor(slot / BLOCK_SLOTS);
    while (index >= this.#blocks.length) this.#addBlock();
    const block = this.#blocks[index];
    assert(block !== undefined);
    const previousDate = block[slot % BLOCK_SLOTS] ?? NO_DATE;
    if (date === previousDate) return;
    block[slot % BLOCK_SLOTS] = date;
    this.#countDate(previousDate, -1);
    this.#countDate(date, 1);
    for (const { range, slots } of this.#rangeSets.values()) {
      if (isWithin(date, range)) slots.add(slot);
      else slots.delete(slot);
    }
  }

  * match(filter: BookFilter): Steps<BitSet> {
    const rangeSet = this.#useRangeSet(pickRange(filter));
    const { range, slots, isComplete } = rangeSet;
    if (isComplete) return slots;
    // Another caller may be filling it as well: both write what the slots have now.
    for (const [index, block] of this.#blocks.entries()) {
      addDatesBetween(slots, index * BLOCK_SLOTS, block, range);
      yield;
    }
    rangeSet.isComplete = true;
    return slots;
  }

  /** Decades, each as its first year in four digits. */
  * valueCounts(): Iterable<ValueCount> {
    for (let year = 0; year < YEARS; year += 10) {
      const count = this.#countYears(year, year + 9);
      if (count > 0) yield { value: String(year).padStart(4, '0'), count };
    }
  }

  /**
   * A range set is kept, and so follows changes, even before it is complete. One that is dropped
   * while a caller fills it follows none: the caller looks at slots that change by itself anyway.
   */
  #useRangeSet(range: DateRange): RangeSet {
    return this.#rangeSets.use(`${range.from} ${range.to}`, () =>
      ({ range, slots: new BitSet(this.#blocks.length * BLOCK_SLOTS), isComplete: false }));
  }

  #addBlock(): void {
    this.#blocks.push(new Int32Array(BLOCK_SLOTS).fill(NO_DATE));
  }

  #countDate(date: number, change: 1 | -1): void {
    if (date === NO_DATE) return;
    const year = Math.floor(date / YEAR_STEP);
    this.#booksByYear[year] = (this.#booksByYear[year] ?? 0) + change;
  }

  #countYears(first: number, last: number): number {
    let count = 0;
    for (let year = first; year <= last; year += 1) count += this.#booksByYear[year] ?? 0;
    return count;
  }
}

/** The slots of the books in a range. */
type RangeSet = {
  readonly range: DateRange; readonly slots: BitSet; isComplete: boolean;
};

function pickRange({ publishedFrom, publishedTo }: BookFilter): DateRange {
  assert(publishedFrom !== null || publishedTo !== null);
  return createDateRange(publishedFrom, publishedTo);
}

/** Adds the slots, from `firstSlot` on, whose dates in the block are within the range. */
function addDatesBetween(
  slots: BitSet, firstSlot: number, block: Int32Array,
  { from, to, endedYear, endedMonth }: DateRange,
): void {
  for (let start = 0; start < BLOCK_SLOTS; start += 32) {
    let word = 0;
    for (let bit = 0; bit < 32; bit += 1) {
      const date = block[start + bit] ?? NO_DATE;
      // The sign of a difference tells a date outside, and that of what is one less than nothing a
      // date that is excluded: without a branch, which the processor would mispredict, this takes
      // a third of the time.
      const outside = (date - from) | (to - date) | ((date ^ endedYear) - 1)
        | ((date ^ endedMonth) - 1);
      word |= (~outside >>> 31) << bit;
    }
    slots.setWord((firstSlot + start) >>> 5, word);
  }
}

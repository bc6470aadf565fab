/**
 * Columns by which a list filters records: numbers by the slot of the record, so that a page of a
 * hundred thousand records is found without touching them. The first list has them built from the
 * stored records; they follow every change from then on, and are never written anywhere.
 *
 * A change of a record must not change what its columns have, unless `refresh` is called. A column
 * of what changes follows that by itself, if it is said to be one (`changingColumns`).
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { copyInto } from '../../base/structures/typed-arrays.ts';
import type { Collection } from '../../store/store-port.ts';

/** Whether the record in a slot meets a criterion. */
export type SlotTest = (slot: number) => boolean;

/** A column of one kind of values. A slot that was set is set anew, or cleared. */
export interface RecordColumn<Criterion> {
  set(slot: number, record: Buffer, id: string): void;
  clear(slot: number): void;
  grow(length: number): void;
  createTest(criterion: Criterion): SlotTest;
}

// These take about two milliseconds.
const RECORDS_PER_TURN = 1000;
const SLOTS_MIN = 1024;

/** The test that no record meets. */
export const matchNone: SlotTest = () => false;

export class RecordColumns {
  readonly #collection: Collection;
  readonly #columns: readonly RecordColumn<never>[];
  readonly #changingColumns: readonly RecordColumn<never>[];
  readonly #isListed: (record: Buffer) => boolean;
  /** Whether the record of a slot is in the columns. */
  #entered = new Uint8Array(0);
  #count = 0;
  #building: Promise<void> | null = null;
  #unlisten: (() => void) | null = null;

  /**
   * Records for which `isListed` is false are in no column. `changingColumns` are those of
   * `columns` that are set anew whenever a record changes.
   */
  constructor(collection: Collection, columns: readonly RecordColumn<never>[], {
    changingColumns = [], isListed = () => true,
  }: {
    readonly changingColumns?: readonly RecordColumn<never>[];
    readonly isListed?: (record: Buffer) => boolean;
  } = {}) {
    this.#collection = collection;
    this.#columns = columns;
    this.#changingColumns = changingColumns;
    this.#isListed = isListed;
  }

  /** How many records are in the columns. */
  get count(): number {
    return this.#count;
  }

  /** Resolves once every record is in its columns, which the first call begins. */
  whenBuilt(): Promise<void> {
    this.#building ??= this.#build();
    return this.#building;
  }

  close(): void {
    this.#unlisten?.();
  }

  /** Makes a test that holds where all tests hold; null when no record can match. */
  createMatcher(tests: readonly SlotTest[]): SlotTest | null {
    if (tests.includes(matchNone)) return null;
    return (slot) => {
      if (this.#entered[slot] !== 1) return false;
      for (const isMet of tests) if (!isMet(slot)) return false;
      return true;
    };
  }

  /** Enters a record anew, because what a column has of it has changed. */
  refresh(slot: number): void {
    const record = this.#collection.bytesAt(slot);
    if (this.#entered[slot] !== 1 || record === undefined) return;
    const id = this.#collection.idAt(slot) ?? '';
    for (const column of this.#columns) column.set(slot, record, id);
  }

  async #build(): Promise<void> {
    const collection = this.#collection;
    this.#unlisten = collection.onChange(({ id, after }, slot) => this.#apply(slot, after, id));
    for (let slot = 0; slot < collection.slotBound; slot += 1) {
      const record = collection.bytesAt(slot) ?? null;
      if (record !== null) this.#apply(slot, record, collection.idAt(slot) ?? '');
      if (slot % RECORDS_PER_TURN === RECORDS_PER_TURN - 1) await nextTurn();
    }
  }

  #apply(slot: number, record: Buffer | null, id: string): void {
    const isEntered = this.#entered[slot] === 1;
    if (record === null) {
      if (isEntered) this.#clear(slot);
    } else if (isEntered) {
      for (const column of this.#changingColumns) column.set(slot, record, id);
    } else if (this.#isListed(record)) {
      this.#enter(slot, record, id);
    }
  }

  #enter(slot: number, record: Buffer, id: string): void {
    if (slot >= this.#entered.length) this.#grow(slot + 1);
    this.#entered[slot] = 1;
    this.#count += 1;
    for (const column of this.#columns) column.set(slot, record, id);
  }

  #clear(slot: number): void {
    this.#entered[slot] = 0;
    this.#count -= 1;
    for (const column of this.#columns) column.clear(slot);
  }

  #grow(count: number): void {
    const length = Math.max(SLOTS_MIN, count, this.#entered.length * 2);
    this.#entered = copyInto(new Uint8Array(length), this.#entered);
    for (const column of this.#columns) column.grow(length);
  }
}

/** A column of texts that many records share, such as webhooks. Each text has a number. */
export class SharedTextColumn implements RecordColumn<string | ((text: string) => boolean)> {
  readonly #read: (record: Buffer, id: string) => string | null;
  readonly #numbers = new TextNumbers();
  #column = new Uint32Array(0);

  constructor(read: (record: Buffer, id: string) => string | null) {
    this.#read = read;
  }

  set(slot: number, record: Buffer, id: string): void {
    const text = this.#read(record, id);
    const number = text === null ? 0 : this.#numbers.intern(text);
    // After that, so that a text which stays keeps its number.
    this.clear(slot);
    this.#column[slot] = number;
  }

  clear(slot: number): void {
    this.#numbers.release(this.#column[slot] ?? 0);
    this.#column[slot] = 0;
  }

  grow(length: number): void {
    this.#column = copyInto(new Uint32Array(length), this.#column);
  }

  /** Creates a test for one text, or for all texts for which a function holds. */
  createTest(criterion: string | ((text: string) => boolean)): SlotTest {
    if (typeof criterion === 'function') {
      const numbers = this.#numbers.select(criterion);
      return numbers.size === 0 ? matchNone : (slot) => numbers.has(this.#column[slot] ?? 0);
    }
    const number = this.#numbers.find(criterion);
    return number === undefined ? matchNone : (slot) => this.#column[slot] === number;
  }
}

/**
 * A column of texts that few records share. It has the CRC-32 of each, 0 without one; where that
 * matches, the record itself decides.
 */
export class RareTextColumn implements RecordColumn<string> {
  readonly #collection: Collection;
  readonly #read: (record: Buffer, id: string) => string | null;
  #column = new Uint32Array(0);

  constructor(collection: Collection, read: (record: Buffer, id: string) => string | null) {
    this.#collection = collection;
    this.#read = read;
  }

  set(slot: number, record: Buffer, id: string): void {
    const text = this.#read(record, id);
    this.#column[slot] = text === null ? 0 : crc32(text);
  }

  clear(): void {}

  grow(length: number): void {
    this.#column = copyInto(new Uint32Array(length), this.#column);
  }

  createTest(text: string): SlotTest {
    const checksum = crc32(text);
    return (slot) => {
      if (this.#column[slot] !== checksum) return false;
      const record = this.#collection.bytesAt(slot);
      const id = this.#collection.idAt(slot);
      return record !== undefined && id !== undefined && this.#read(record, id) === text;
    };
  }
}

/** Milliseconds since the epoch: at or after `sinceMs`, and before `untilMs`; null: unbounded. */
export type TimeSpan = { readonly sinceMs: number | null; readonly untilMs: number | null };

export function isWithin({ sinceMs, untilMs }: TimeSpan, atMs: number): boolean {
  return (sinceMs === null || atMs >= sinceMs) && (untilMs === null || atMs < untilMs);
}

/** A column of times, in milliseconds since the epoch. */
export class TimeColumn implements RecordColumn<TimeSpan> {
  readonly #read: (record: Buffer, id: string) => number;
  #column = new Float64Array(0);

  constructor(read: (record: Buffer, id: string) => number) {
    this.#read = read;
  }

  set(slot: number, record: Buffer, id: string): void {
    this.#column[slot] = this.#read(record, id);
  }

  clear(): void {}

  grow(length: number): void {
    this.#column = copyInto(new Float64Array(length), this.#column);
  }

  createTest(span: TimeSpan): SlotTest {
    return (slot) => isWithin(span, this.#column[slot] ?? 0);
  }
}

/** A column of facts that hold or do not. */
export class FlagColumn implements RecordColumn<boolean> {
  readonly #read: (record: Buffer, id: string) => boolean;
  #column = new Uint8Array(0);

  constructor(read: (record: Buffer, id: string) => boolean) {
    this.#read = read;
  }

  set(slot: number, record: Buffer, id: string): void {
    this.#column[slot] = this.#read(record, id) ? 1 : 0;
  }

  clear(): void {}

  grow(length: number): void {
    this.#column = copyInto(new Uint8Array(length), this.#column);
  }

  createTest(flag: boolean): SlotTest {
    const expected = flag ? 1 : 0;
    return (slot) => this.#column[slot] === expected;
  }
}

/**
 * Numbers texts that many records share, from 1 on. A text that no record has is forgotten; its
 * number is never another's, so that a test made before that holds for no other text.
 */
class TextNumbers {
  readonly #byText = new Map<string, number>();
  readonly #uses = new Map<number, { readonly text: string; count: number }>();
  #last = 0;

  find(text: string): number | undefined {
    return this.#byText.get(text);
  }

  select(isMatch: (text: string) => boolean): ReadonlySet<number> {
    const numbers = new Set<number>();
    for (const [text, number] of this.#byText) if (isMatch(text)) numbers.add(number);
    return numbers;
  }

  intern(text: string): number {
    const known = this.#byText.get(text);
    const use = known === undefined ? undefined : this.#uses.get(known);
    if (known !== undefined && use !== undefined) {
      use.count += 1;
      return known;
    }
    this.#last += 1;
    this.#byText.set(text, this.#last);
    this.#uses.set(this.#last, { text, count: 1 });
    return this.#last;
  }

  release(number: number): void {
    const use = this.#uses.get(number);
    if (use === undefined) return;
    use.count -= 1;
    if (use.count > 0) return;
    this.#byText.delete(use.text);
    this.#uses.delete(number);
  }
}

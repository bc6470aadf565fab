/**
 * Columns by which a list filters records: numbers by the slot of the record, so that a page of a
 * hundred thousand records is found without touching them. The first list has them built from the
 * stored records; they follow every change from then on, and are never written anywhere. A record
 * is decoded once for all its columns.
 *
 * A change of a record sets its changing columns again. The others are set when the record comes,
 * and by `refresh`.
 */
import { crc32 } from 'node:zlib';
import { copyInto } from '../../base/structures/typed-arrays.ts';
import type { Collection } from '../../store/store-port.ts';
import { visitInSteps } from './stepped-scan.ts';

/** Whether the record in a slot meets a criterion. */
export type SlotTest = (slot: number) => boolean;

/** Decodes a record as its fields have it; null: it is in no list. */
export type DecodeListed<Item> = (record: Buffer, id: string) => Item | null;

/** A column of one kind of values. A slot that was set is set again, or cleared. */
export interface RecordColumn<Item, Criterion> {
  set(slot: number, item: Item): void;
  /** Absent: not needed, as no test sees a slot whose record is not listed. */
  clear?(slot: number): void;
  grow(length: number): void;
  createTest(criterion: Criterion): SlotTest;
  /**
   * Lists the slots that meet a criterion, in no order; null where they are more than `max`, or
   * only tests tell. Absent: null.
   */
  listSlots?(criterion: Criterion, max: number): number[] | null;
}

/** `never`: their criteria differ in type, and no test is made through these. */
type AnyColumn<Item> = RecordColumn<Item, never>;

const SLOTS_MIN = 1024;

const matchNone: SlotTest = () => false;

export class RecordColumns<Item> {
  readonly #collection: Collection;
  readonly #decode: DecodeListed<Item>;
  readonly #columns: readonly AnyColumn<Item>[];
  readonly #changingColumns: readonly AnyColumn<Item>[];
  /** By slot, 1 if its record is in the columns. */
  #isListed = new Uint8Array(0);
  #count = 0;
  #building: Promise<void> | null = null;
  #isFollowing = false;

  constructor(
    collection: Collection, decode: DecodeListed<Item>,
    columns: readonly { readonly column: AnyColumn<Item>; readonly isChanging?: boolean }[],
  ) {
    this.#collection = collection;
    this.#decode = decode;
    this.#columns = columns.map(({ column }) => column);
    this.#changingColumns = columns.filter((row) => row.isChanging).map(({ column }) => column);
  }

  get count(): number {
    return this.#count;
  }

  /** Resolves once every record is in its columns. After a failure the next call builds again. */
  whenBuilt(): Promise<void> {
    return this.#building ??= this.#build().catch((thrown: unknown) => {
      this.#building = null;
      throw thrown;
    });
  }

  /** Makes a test that holds where all tests hold; null when no record can match. */
  createMatcher(tests: readonly SlotTest[]): SlotTest | null {
    if (tests.includes(matchNone)) return null;
    return (slot) => {
      if (this.#isListed[slot] !== 1) return false;
      for (const isMet of tests) if (!isMet(slot)) return false;
      return true;
    };
  }

  /** Sets all columns of a listed record again, as what they read has changed without it. */
  refresh(slot: number): void {
    const record = this.#collection.bytesAt(slot);
    if (this.#isListed[slot] !== 1 || record === undefined) return;
    this.#set(this.#columns, slot, record, this.#collection.idAt(slot) ?? '');
  }

  async #build(): Promise<void> {
    const collection = this.#collection;
    if (!this.#isFollowing) {
      this.#isFollowing = true;
      collection.onChange(({ id, after }, slot) => this.#apply(slot, after, id));
    }
    await visitInSteps(collection, (record, slot) => {
      this.#apply(slot, record, collection.idAt(slot) ?? '');
      return 'parsed';
    });
  }

  #apply(slot: number, record: Buffer | null, id: string): void {
    const isListed = this.#isListed[slot] === 1;
    if (record === null) {
      if (isListed) this.#clear(slot);
    } else if (isListed) {
      if (this.#changingColumns.length > 0) this.#set(this.#changingColumns, slot, record, id);
    } else {
      if (slot >= this.#isListed.length) this.#grow(slot + 1);
      if (!this.#set(this.#columns, slot, record, id)) return;
      this.#isListed[slot] = 1;
      this.#count += 1;
    }
  }

  /** Returns false, and sets nothing, for a record that is in no list. */
  #set(columns: readonly AnyColumn<Item>[], slot: number, record: Buffer, id: string): boolean {
    const item = this.#decode(record, id);
    if (item === null) return false;
    for (const column of columns) column.set(slot, item);
    return true;
  }

  #clear(slot: number): void {
    this.#isListed[slot] = 0;
    this.#count -= 1;
    for (const column of this.#columns) column.clear?.(slot);
  }

  #grow(count: number): void {
    const length = Math.max(SLOTS_MIN, count, this.#isListed.length * 2);
    this.#isListed = copyInto(new Uint8Array(length), this.#isListed);
    for (const column of this.#columns) column.grow(length);
  }
}

/** One text, or all texts for which a function holds. */
export type TextCriterion = string | ((text: string) => boolean);

/**
 * A column of texts that many records share, such as webhooks. Each text has a number. With
 * `listsSlots` it also finds the slots of a text without looking at those of others.
 */
export class SharedTextColumn<Item> implements RecordColumn<Item, TextCriterion> {
  readonly #read: (item: Item) => string | null;
  readonly #texts = new TextNumbers();
  readonly #chains: SlotChains | null;
  #numbers = new Uint32Array(0);

  constructor(
    read: (item: Item) => string | null,
    { listsSlots = false }: { readonly listsSlots?: boolean } = {},
  ) {
    this.#read = read;
    this.#chains = listsSlots ? new SlotChains() : null;
  }

  set(slot: number, item: Item): void {
    const text = this.#read(item);
    const number = text === null ? 0 : this.#texts.intern(text);
    // Cleared only now, so that a text which stays keeps its number.
    this.clear(slot);
    this.#numbers[slot] = number;
    if (number !== 0) this.#chains?.add(number, slot);
  }

  clear(slot: number): void {
    const number = this.#numbers[slot] ?? 0;
    if (number !== 0) this.#chains?.remove(number, slot);
    this.#texts.release(number);
    this.#numbers[slot] = 0;
  }

  grow(length: number): void {
    this.#numbers = copyInto(new Uint32Array(length), this.#numbers);
    this.#chains?.grow(length);
  }

  createTest(criterion: TextCriterion): SlotTest {
    const numbers = this.#texts.select(criterion);
    const [number, ...others] = numbers;
    if (number === undefined) return matchNone;
    return others.length === 0 ? (slot) => this.#numbers[slot] === number
      : (slot) => numbers.has(this.#numbers[slot] ?? 0);
  }

  listSlots(criterion: TextCriterion, max: number): number[] | null {
    return this.#chains?.list(this.#texts.select(criterion), max) ?? null;
  }
}

const NO_SLOT = -1;

/** The slots of each number: a chain, so that a slot comes and goes without a look at others. */
class SlotChains {
  readonly #firstByNumber = new Map<number, number>();
  #next = new Int32Array(0);
  #previous = new Int32Array(0);

  grow(length: number): void {
    this.#next = copyInto(new Int32Array(length), this.#next);
    this.#previous = copyInto(new Int32Array(length), this.#previous);
  }

  add(number: number, slot: number): void {
    const first = this.#firstByNumber.get(number) ?? NO_SLOT;
    this.#next[slot] = first;
    this.#previous[slot] = NO_SLOT;
    if (first !== NO_SLOT) this.#previous[first] = slot;
    this.#firstByNumber.set(number, slot);
  }

  remove(number: number, slot: number): void {
    const next = this.#next[slot] ?? NO_SLOT;
    const previous = this.#previous[slot] ?? NO_SLOT;
    if (next !== NO_SLOT) this.#previous[next] = previous;
    if (previous !== NO_SLOT) this.#next[previous] = next;
    else if (next !== NO_SLOT) this.#firstByNumber.set(number, next);
    else this.#firstByNumber.delete(number);
  }

  /** null: there are more than `max`. */
  list(numbers: Iterable<number>, max: number): number[] | null {
    const slots: number[] = [];
    for (const number of numbers) {
      let slot = this.#firstByNumber.get(number) ?? NO_SLOT;
      for (; slot !== NO_SLOT; slot = this.#next[slot] ?? NO_SLOT) {
        if (slots.push(slot) > max) return null;
      }
    }
    return slots;
  }
}

/**
 * A column of texts that few records share. It has the CRC-32 of each, 0 without one; where that
 * matches, the record itself decides.
 */
export function createRareTextColumn<Item>(
  itemAt: (slot: number) => Item | null, read: (item: Item) => string | null,
): RecordColumn<Item, string> {
  let checksums = new Uint32Array(0);
  return {
    set(slot, item) {
      const text = read(item);
      checksums[slot] = text === null ? 0 : crc32(text);
    },
    grow(length) {
      checksums = copyInto(new Uint32Array(length), checksums);
    },
    createTest(text) {
      const checksum = crc32(text);
      return (slot) => {
        if (checksums[slot] !== checksum) return false;
        const item = itemAt(slot);
        return item !== null && read(item) === text;
      };
    },
  };
}

/** Milliseconds since the epoch: at or after `sinceMs`, and before `untilMs`; null: unbounded. */
export type TimeSpan = { readonly sinceMs: number | null; readonly untilMs: number | null };

export function isWithin({ sinceMs, untilMs }: TimeSpan, atMs: number): boolean {
  return (sinceMs === null || atMs >= sinceMs) && (untilMs === null || atMs < untilMs);
}

/** A column of times, in milliseconds since the epoch. */
export function createTimeColumn<Item>(
  readMs: (item: Item) => number,
): RecordColumn<Item, TimeSpan> {
  let timesMs = new Float64Array(0);
  return {
    set(slot, item) {
      timesMs[slot] = readMs(item);
    },
    grow(length) {
      timesMs = copyInto(new Float64Array(length), timesMs);
    },
    createTest: (span) => (slot) => isWithin(span, timesMs[slot] ?? 0),
  };
}

export function createFlagColumn<Item>(
  read: (item: Item) => boolean,
): RecordColumn<Item, boolean> {
  let flags = new Uint8Array(0);
  return {
    set(slot, item) {
      flags[slot] = read(item) ? 1 : 0;
    },
    grow(length) {
      flags = copyInto(new Uint8Array(length), flags);
    },
    createTest(flag) {
      const value = flag ? 1 : 0;
      return (slot) => flags[slot] === value;
    },
  };
}

/**
 * Numbers texts that many records share, from 1 on. A text that no record has is forgotten; its
 * number is never another's, so that a test made before that holds for no other text.
 */
class TextNumbers {
  readonly #byText = new Map<string, number>();
  readonly #uses = new Map<number, { readonly text: string; count: number }>();
  #last = 0;

  select(criterion: TextCriterion): ReadonlySet<number> {
    const numbers = new Set<number>();
    if (typeof criterion === 'string') {
      const number = this.#byText.get(criterion);
      return number === undefined ? numbers : numbers.add(number);
    }
    for (const [text, number] of this.#byText) if (criterion(text)) numbers.add(number);
    return numbers;
  }

  intern(text: string): number {
    const number = this.#byText.get(text);
    const use = number === undefined ? undefined : this.#uses.get(number);
    if (number !== undefined && use !== undefined) {
      use.count += 1;
      return number;
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

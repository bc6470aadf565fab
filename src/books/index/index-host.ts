/**
 * The indexes of the catalog: the word index, the orders and the columns. They live in memory and
 * are made from the collection alone.
 *
 * **Making.** An index is made in the background when a query first asks for it, and queries do
 * without it until it is ready. The word index answers for the books that it has by then. A book is
 * read once for all indexes that are asked for in one turn.
 *
 * **Changes.** The host follows the collection for all of its indexes. A slot that changes is
 * pending until a later turn has told the indexes: queries look at the books of pending slots by
 * themselves.
 *
 * **Memory.** The indexes share one part of the memory. The word index comes first, and may take
 * all of it. Another one is made where it has room: others are dropped for it if nothing has asked
 * for them in the last minute. An index that outgrows the room left is dropped for at least a
 * minute. An index larger than the whole share is dropped until the catalog has shrunk by a tenth.
 * While all together take more than the share, the index that was used longest ago is dropped.
 * While an order is made it takes seven times its memory, which no limit counts.
 *
 * **Failures.** A failure is a bug, and a broken index must not be used: it is dropped, and said to
 * be so. Queries do without it, as if it had never been made. What was dropped is made anew at the
 * next need, but after a failure not within a minute.
 */
import type { Clock } from '../../base/clock.ts';
import { BitSet } from '../../base/structures/bit-set.ts';
import type { Turns, Steps } from '../../base/turns.ts';
import type { Collection } from '../../store/store-port.ts';
import type { BookIndex } from '../engine/book-index.ts';
import { SlotOrder } from '../engine/slot-order.ts';
import { ValueColumn } from '../engine/value-column.ts';
import type { SortOrder } from '../query/book-sort.ts';
import type { CorrectedPlace, WordCorrections } from '../query/corrections.ts';
import { justifiesWordIndex, usesWordIndex } from '../query/book-filter.ts';
import type { BookFilter } from '../query/book-filter.ts';
import { COLUMN_ROWS } from '../query/book-values.ts';
import type { ColumnName } from '../query/book-values.ts';
import { planSearch } from './search-plan.ts';
import { WordIndex } from './word-index.ts';
import type { WordIndexOptions } from './word-index.ts';

export type IndexHostOptions = WordIndexOptions & {
  readonly collection: Collection;
  readonly turns: Turns;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Called when indexes, named as in their reports, have failed and were dropped. */
  readonly onFailure: (indexes: readonly string[], error: unknown) => void;
};

/** An index that is there, or is being made, for metrics and status. */
export type IndexReport = {
  readonly index: string;
  /** About how much memory it takes. */
  readonly bytes: number;
  /** `making`: until it has seen all books once, though it may already answer for some of them. */
  readonly state: 'making' | 'ready';
};

/** How the word index finds the books of a filter. */
export type WordSearch = {
  /**
   * The slots of the books that may match, which the caller may change; null when the index fails.
   * Books that change meanwhile may be among them or not.
   */
  readonly find: () => Steps<BitSet | null>;
  /** Whether each of them matches the text conditions, so that its texts need not be read. */
  readonly isExact: boolean;
  /** The slots that the index has not seen yet; null: it has seen all. */
  readonly unseen: BitSet | null;
};

type OrderName = SortOrder['key'];
type IndexName = 'words' | OrderName | `${ColumnName}-column`;

type IndexEntry = {
  readonly name: IndexName;
  readonly index: BookIndex;
  readonly group: MakingGroup;
  readonly bytesExpected: number;
  isReady: boolean;
  /** Infinity for the word index, which is not dropped for others. */
  usedMs: number;
};

/** Indexes that are made together, as they were asked for in one turn. */
type MakingGroup = {
  /** Without those that were dropped. */
  readonly entries: Set<IndexEntry>;
  readonly progress: MakingProgress;
  /**
   * The steps of making them that are left. The work in the background and each query that waits
   * for the indexes share this one generator: whoever has the turn takes its next step.
   */
  readonly steps: Steps<void>;
};

/**
 * The walk through all slots has come to `filledEnd`, and ends at `pendingStart`: a slot from there
 * on became pending when it got its book, and comes to the indexes as every change does.
 */
type MakingProgress = { filledEnd: number; pendingStart: number };

// The memory that an order is expected to take for each book.
const ORDER_BYTES = 4.5;
// For so long an index is not dropped for another one: both would be made again and again.
const IN_USE_MS = 60_000;
// For so long an index that failed, or lacked room, is not made anew: it may fail again at once.
const RETRY_MS = 60_000;
// So many pending slots are taken in before the indexes settle.
const SLOTS_PER_ROUND = 1024;
// Bytes of books to take in before yielding, some 20 µs; an empty slot is work too.
const WORK_PER_YIELD = 4096;
const SLOT_WORK = 32;
// An index that was too large is not made again before the catalog is so much smaller.
const RETURN_SHARE = 0.9;

export class IndexHost {
  readonly #options: IndexHostOptions;
  readonly #entries = new Map<IndexName, IndexEntry>();
  /** The slots whose changes the indexes have not taken in. */
  #pending = new BitSet();
  #pendingCount = 0;
  /** The group of the indexes that are asked for in this turn. */
  #nextGroup: MakingGroup | null = null;
  #unsubscribe: (() => void) | null = null;
  #isSettling = false;
  /** The slot that was taken in last. */
  #lastApplied = -1;
  #isClosed = false;
  /** When an index failed or lacked room. */
  readonly #failedMs = new Map<IndexName, number>();
  /** The least memory of an index that was given up, for each book of the catalog. */
  readonly #bytesPerBook = new Map<IndexName, number>();

  constructor(options: IndexHostOptions) {
    this.#options = options;
  }

  /** About how much memory the indexes take, and those that are being made will take. */
  get bytes(): number {
    let bytes = 0;
    for (const entry of this.#entries.values()) bytes += bytesOf(entry);
    return bytes;
  }

  /**
   * A report for each index that is there; none for one that no query has needed yet, or that was
   * given up.
   */
  listReports(): readonly IndexReport[] {
    return [...this.#entries.values()].map((entry) => ({
      index: entry.name, bytes: Math.round(bytesOf(entry)),
      state: entry.isReady ? 'ready' : 'making',
    }));
  }

  /** Whether the catalog is known to be too large for a word index. */
  get hasOutgrownWords(): boolean {
    return this.#bytesNeeded('words') > this.#options.bytesMax;
  }

  /** How the word index finds the books of a filter; null where it is of no help. */
  openWords(filter: BookFilter): WordSearch | null {
    const isMade = this.#entries.get('words')?.isReady === true;
    if (!(isMade ? usesWordIndex(filter) : justifiesWordIndex(filter))) return null;
    const plan = planSearch(filter);
    // The words were only signs, which the index does not hold.
    if (plan.groups.length === 0 && plan.excluded === null) return null;
    const entry = this.#entries.get('words') ?? this.#makeWords();
    if (!(entry?.index instanceof WordIndex)) return null;
    const { index, isReady } = entry;
    const { slotBound } = this.#options.collection;
    return {
      find: () => this.askOrDrop([index], () => index.find(plan, slotBound)),
      isExact: plan.isExact, unseen: isReady ? null : listUnseen(entry.group, slotBound),
    };
  }

  /**
   * The corrections of those words that begin no word of the catalog in the place. It has the word
   * index finished, and told of all changes until now: a word that is missing from a part of the
   * catalog is not mistyped. There are none without an index.
   */
  * findCorrections(words: readonly string[], place: CorrectedPlace): Steps<WordCorrections> {
    const none: WordCorrections = new Map();
    const entry = this.#entries.get('words');
    if (!(entry?.index instanceof WordIndex)) return none;
    yield* this.#advance(entry.group);
    yield* this.takeInPending();
    if (!this.#keeps(entry)) return none;
    const { index } = entry;
    const { slotBound } = this.#options.collection;
    return (yield* this.askOrDrop([index], () => index.findCorrections(words, place, slotBound)))
      ?? none;
  }

  /** The slots in the order of a key; null while there is no such index. */
  findOrder(key: OrderName): SlotOrder | null {
    const index = this.#use(this.#entries.get(key) ?? this.#makeOrder(key));
    return index instanceof SlotOrder ? index : null;
  }

  /** The values of a member; null while there is no such index. */
  findColumn(name: ColumnName): ValueColumn | null {
    const index = this.#use(this.#entries.get(`${name}-column`) ?? this.#makeColumn(name));
    return index instanceof ValueColumn ? index : null;
  }

  /** The slots whose changes the indexes have not taken in; null: there are none. */
  copyPending(): BitSet | null {
    return this.#pendingCount === 0 ? null : this.#pending.copy();
  }

  /** Tells the indexes of the slots that are pending now, for answers that look at no book. */
  * takeInPending(): Steps<void> {
    const slots = this.#pending.copy();
    for (let slot = slots.next(0); slot >= 0; slot = slots.next(slot + 1)) {
      if (this.#pending.has(slot)) this.#apply(slot);
      yield;
    }
  }

  /** Asks indexes. Null when they fail: all of them are dropped. */
  * askOrDrop<T>(indexes: readonly BookIndex[], ask: () => Steps<T>): Steps<T | null> {
    try {
      return yield* ask();
    } catch (error) {
      const entries = [...this.#entries.values()];
      this.#fail(entries.filter(({ index }) => indexes.includes(index)), error);
      return null;
    }
  }

  /** Drops what has no room any more. */
  fit(): void {
    const { bytesMax } = this.#options;
    for (const entry of this.#entries.values()) {
      if (entry.index.bytes > bytesMax) this.#giveUp(entry);
    }
    while (this.bytes > bytesMax && this.#dropLeastUsed(this.#inUseSinceMs()));
    for (const entry of this.#entries.values()) {
      const { name, index, bytesExpected, isReady } = entry;
      const isLargerThanExpected = !isReady && name !== 'words' && index.bytes > bytesExpected;
      if (isLargerThanExpected && this.bytes > bytesMax) this.#giveUp(entry);
    }
    while (this.bytes > bytesMax && this.#dropLeastUsed(Infinity));
  }

  /** Drops all indexes; none is made from now on. */
  close(): void {
    this.#isClosed = true;
    for (const entry of this.#entries.values()) this.#drop(entry);
  }

  /** The index if it is ready; notes that it was asked for. */
  #use(entry: IndexEntry | null): BookIndex | null {
    if (entry === null) return null;
    entry.usedMs = this.#nowMs();
    return entry.isReady ? entry.index : null;
  }

  #makeWords(): IndexEntry | null {
    if (!this.#mayMake('words') || this.hasOutgrownWords) return null;
    const index: WordIndex = new WordIndex(this.#options, (steps) =>
      this.#runInBackground(this.askOrDrop([index], () => steps),
        () => this.#entries.get('words')?.index === index));
    return this.#make('words', index, 0);
  }

  #makeOrder(key: OrderName): IndexEntry | null {
    const bytesExpected = this.#reserve(key, ORDER_BYTES);
    if (bytesExpected === null) return null;
    const { collection } = this.#options;
    const readSettled = (slot: number): Buffer | undefined =>
      this.#pending.has(slot) ? undefined : collection.bytesAt(slot);
    return this.#make(key, new SlotOrder(key, collection, readSettled), bytesExpected);
  }

  #makeColumn(name: ColumnName): IndexEntry | null {
    const row = COLUMN_ROWS[name];
    const bytesExpected = this.#reserve(`${name}-column`, row.bytesPerBook);
    if (bytesExpected === null) return null;
    return this.#make(`${name}-column`, new ValueColumn(row), bytesExpected);
  }

  /** Has an index made in the background. */
  #make(name: IndexName, index: BookIndex, bytesExpected: number): IndexEntry {
    const group = this.#nextGroup ?? this.#beginGroup();
    const usedMs = name === 'words' ? Infinity : this.#nowMs();
    const entry = { name, index, group, bytesExpected, isReady: false, usedMs };
    group.entries.add(entry);
    this.#entries.set(name, entry);
    this.#unsubscribe ??= this.#options.collection.onChange((_, slot) => this.#onChange(slot));
    return entry;
  }

  #beginGroup(): MakingGroup {
    const progress = { filledEnd: 0, pendingStart: Infinity };
    const entries = new Set<IndexEntry>();
    const group = { entries, progress, steps: this.#makeAll(entries, progress) };
    this.#nextGroup = group;
    this.#runInBackground(this.#advance(group));
    return group;
  }

  /**
   * Takes the steps that are left of making the indexes of a group. Others may take steps of the
   * same generator in between.
   */
  * #advance({ entries, steps }: MakingGroup): Steps<void> {
    try {
      // The first step closes the group.
      while (steps.next().done !== true && entries.size > 0) yield;
    } catch (error) {
      this.#fail(entries, error);
    }
  }

  * #makeAll(entries: ReadonlySet<IndexEntry>, progress: MakingProgress): Steps<void> {
    this.#nextGroup = null;
    for (const entry of entries) yield* this.#workOn(entry, (index) => index.prepare());
    // Books that are added from now on become pending, and the indexes get them from there.
    progress.pendingStart = this.#options.collection.slotBound;
    yield* this.#fill(entries, progress);
    let settling = [...entries].map((entry) =>
      ({ entry, steps: this.#workOn(entry, (index) => index.settle()) }));
    while (settling.length > 0) {
      settling = settling.filter(({ entry, steps }) => {
        entry.isReady = steps.next().done === true;
        if (entry.isReady) this.fit();
        return !entry.isReady;
      });
      yield;
    }
  }

  /** Has an index do some work, until that is done or the index is dropped. */
  * #workOn(entry: IndexEntry, begin: (index: BookIndex) => Steps<void>): Steps<void> {
    const steps = this.askOrDrop([entry.index], () => begin(entry.index));
    while (this.#keeps(entry) && steps.next().done !== true) yield;
  }

  * #fill(entries: ReadonlySet<IndexEntry>, progress: MakingProgress): Steps<void> {
    let work = 0;
    while (progress.filledEnd < progress.pendingStart) {
      const bytes = this.#readFor(entries, progress.filledEnd);
      for (const entry of entries) this.#set(entry, progress.filledEnd, bytes);
      progress.filledEnd += 1;
      for (const entry of entries) {
        if (entry.index.isFull === true) yield* this.#workOn(entry, (index) => index.settle());
      }
      work += (SLOT_WORK + (bytes?.length ?? 0)) * entries.size;
      if (work < WORK_PER_YIELD) continue;
      work = 0;
      this.fit();
      yield;
    }
  }

  /** The book in a slot; undefined as well where it cannot be read, and the indexes fail. */
  #readFor(entries: Iterable<IndexEntry>, slot: number): Buffer | undefined {
    try {
      return this.#options.collection.bytesAt(slot);
    } catch (error) {
      this.#fail(entries, error);
      return undefined;
    }
  }

  /** Tells an index that is still kept of the book that a slot has now. */
  #set(entry: IndexEntry, slot: number, bytes: Buffer | undefined): void {
    if (!this.#keeps(entry)) return;
    try {
      entry.index.set(slot, bytes);
    } catch (error) {
      this.#fail([entry], error);
    }
  }

  #mayMake(name: IndexName): boolean {
    const failedMs = this.#failedMs.get(name) ?? -Infinity;
    return !this.#isClosed && this.#nowMs() - failedMs >= RETRY_MS;
  }

  /** The memory that an index which was given up needs at least; 0 of another one. */
  #bytesNeeded(name: IndexName): number {
    return (this.#bytesPerBook.get(name) ?? 0) * this.#options.collection.size;
  }

  /** Makes room for an index. Null when it may not be made, or there is none. */
  #reserve(name: IndexName, bytesPerBook: number): number | null {
    if (!this.#mayMake(name)) return null;
    const { collection, bytesMax } = this.#options;
    const bytesExpected = Math.max(bytesPerBook * collection.slotBound, this.#bytesNeeded(name));
    const bytesLeft = bytesMax - bytesExpected;
    const beforeMs = this.#inUseSinceMs();
    let bytesInUse = 0;
    for (const entry of this.#entries.values()) {
      if (entry.usedMs >= beforeMs) bytesInUse += bytesOf(entry);
    }
    if (bytesInUse > bytesLeft) return null;
    while (this.bytes > bytesLeft) this.#dropLeastUsed(beforeMs);
    return bytesExpected;
  }

  /** Drops one that was last used before that time. Whether there was one. */
  #dropLeastUsed(beforeMs: number): boolean {
    let least: IndexEntry | null = null;
    for (const entry of this.#entries.values()) {
      if (entry.usedMs < (least?.usedMs ?? beforeMs)) least = entry;
    }
    if (least !== null) this.#drop(least);
    return least !== null;
  }

  /** Ignores entries that were dropped already. */
  #fail(entries: Iterable<IndexEntry>, error: unknown): void {
    const failedEntries = [...entries].filter((entry) => this.#keeps(entry));
    for (const entry of failedEntries) {
      this.#failedMs.set(entry.name, this.#nowMs());
      this.#drop(entry);
    }
    if (failedEntries.length === 0) return;
    this.#options.onFailure(failedEntries.map(({ name }) => name), error);
  }

  /** Drops an index that takes more memory than there is for it. */
  #giveUp(entry: IndexEntry): void {
    const { name, index: { bytes } } = entry;
    const { bytesMax, collection } = this.#options;
    const isOutgrown = bytes > bytesMax;
    const bytesNeeded = isOutgrown ? bytes / RETURN_SHARE : bytes;
    this.#bytesPerBook.set(name, bytesNeeded / Math.max(1, collection.size));
    if (!isOutgrown) this.#failedMs.set(name, this.#nowMs());
    this.#drop(entry);
  }

  #drop(entry: IndexEntry): void {
    this.#entries.delete(entry.name);
    entry.group.entries.delete(entry);
    if (this.#entries.size > 0) return;
    this.#unsubscribe?.();
    this.#unsubscribe = null;
    this.#pending = new BitSet();
    this.#pendingCount = 0;
  }

  #keeps(entry: IndexEntry): boolean {
    return this.#entries.get(entry.name) === entry;
  }

  /** Runs inside a commit, so it does as little as possible. */
  #onChange(slot: number): void {
    if (!this.#pending.add(slot)) return;
    this.#pendingCount += 1;
    this.#startSettling();
  }

  #startSettling(): void {
    if (this.#isSettling) return;
    this.#isSettling = true;
    this.#runInBackground(this.#settleAll());
  }

  * #settleAll(): Steps<void> {
    try {
      while (this.#pendingCount > 0) {
        yield* this.#applySome();
        for (const entry of this.#entries.values()) {
          if (entry.isReady) yield* this.#workOn(entry, (index) => index.settle());
        }
        this.fit();
      }
    } finally {
      this.#isSettling = false;
    }
  }

  * #applySome(): Steps<void> {
    // The next round begins with the slots after these, or one could wait for ever.
    for (let count = 0; count < SLOTS_PER_ROUND && this.#pendingCount > 0; count += 1) {
      const next = this.#pending.next(this.#lastApplied + 1);
      this.#lastApplied = next;
      if (next >= 0) this.#apply(next);
      yield;
    }
  }

  #apply(slot: number): void {
    const bytes = this.#readFor(this.#entries.values(), slot);
    for (const entry of this.#entries.values()) {
      // The others get it from the walk through all slots.
      const { filledEnd, pendingStart } = entry.group.progress;
      if (slot < filledEnd || slot >= pendingStart) this.#set(entry, slot, bytes);
    }
    if (this.#pending.delete(slot)) this.#pendingCount -= 1;
  }

  /** Runs steps that see to the failures of an index themselves. */
  #runInBackground(steps: Steps<unknown>, isWanted?: () => boolean): void {
    this.#options.turns.runLater(steps, isWanted)
      .catch((error: unknown) => this.#fail(this.#entries.values(), error));
  }

  /** An index that was last used before this is not in use. */
  #inUseSinceMs(): number {
    return this.#nowMs() - IN_USE_MS;
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }
}

/** The slots that an index that is being made is still to come to. */
function listUnseen({ progress }: MakingGroup, slotBound: number): BitSet {
  const [seen, unseen] = [new BitSet(), new BitSet()];
  seen.addBelow(progress.filledEnd);
  unseen.addBelow(Math.min(progress.pendingStart, slotBound));
  unseen.subtract(seen);
  return unseen;
}

function bytesOf({ isReady, index: { bytes }, bytesExpected }: IndexEntry): number {
  return isReady ? bytes : Math.max(bytes, bytesExpected);
}

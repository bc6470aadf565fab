/**
 * The indexes of the catalog beside the word index: the ordered slot sets, the columns and the
 * value tables. They live in memory and are made from the collection alone.
 *
 * An index is made in the background when a query first asks for it, and queries do without it
 * until it is ready. From then on the indexes follow the changes that the collection applies. A
 * slot that changes is pending until a later turn has told the indexes. Until then they know its
 * book as it was: a copy of that is kept, by which the value tables take its values away. Queries
 * look at the books of pending slots by themselves.
 *
 * The indexes share one part of the memory with the word index, which comes first. While all
 * together take more, the index that was used longest ago is dropped. A new one is made where it
 * has room: others are dropped for it if nothing has asked for them in the last minute. If more
 * changes are pending than an eighth of the catalog, or more than 16 MiB of copies, as in a large
 * import, it takes less to make all of the indexes anew, so they are dropped. What was dropped is
 * made again at the next need. While an order is made it takes seven times its memory, which no
 * limit counts.
 */
import type { Clock } from '../../base/clock.ts';
import type { Turns, Steps } from '../../base/turns.ts';
import type { Change, Collection } from '../../store/store-port.ts';
import type { SortOrder } from '../query/book-sort.ts';
import { createColumn } from './columns.ts';
import type { BookColumn, ColumnName } from './book-column.ts';
import type { IndexReport } from './index-report.ts';
import { SlotOrder } from './slot-order.ts';
import type { ValueTable } from './value-table.ts';
import { createValueTable } from './value-tables.ts';
import type { TableName } from './value-tables.ts';

export type CatalogIndexesOptions = {
  readonly collection: Collection;
  readonly turns: Turns;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** The memory that all indexes of the catalog may take. */
  readonly bytesMax: number;
  /** What the word index takes of it. */
  readonly readWordBytes: () => number;
};

type OrderName = SortOrder['key'];
type IndexName = OrderName | `${ColumnName}-column` | `${TableName}-values`;

type OrderEntry = EntryState & { readonly order: SlotOrder };
type ColumnEntry = EntryState & { readonly column: BookColumn };
type ValuesEntry = EntryState & {
  readonly table: ValueTable;
  /** While it is made: its slots below `filledEnd`, and those from `slotBound` on, are in it. */
  filledEnd: number;
  readonly slotBound: number;
};
type IndexEntry = OrderEntry | ColumnEntry | ValuesEntry;
type EntryState = { isReady: boolean; usedMs: number; readonly bytesExpected: number };

// What an index is expected to take of memory for each book.
const ORDER_BYTES = 4.5;
const COLUMN_BYTES = 4;
const TABLE_BYTES = 32;
// For so long an index is not dropped for another one: both would be made again and again.
const IN_USE_MS = 60_000;
const PENDING_MIN = 10_000;
const PENDING_SHARE = 1 / 8;
// Copies of books as the indexes know them.
const COPIED_BYTES_MAX = 16 * 2 ** 20;
const SLOTS_PER_YIELD = 16;

export class CatalogIndexes {
  readonly #options: CatalogIndexesOptions;
  readonly #orders = new Map<OrderName, OrderEntry>();
  readonly #columns = new Map<ColumnName, ColumnEntry>();
  readonly #tables = new Map<TableName, ValuesEntry>();
  /** The books of pending slots as the indexes know them; null where they know none. */
  readonly #pending = new Map<number, Buffer | null>();
  #copiedBytes = 0;
  #unsubscribe: (() => void) | null = null;
  #isApplying = false;
  #isClosed = false;
  /** The error that the next query throws; null while there is none. */
  #failure: { readonly reason: unknown } | null = null;

  constructor(options: CatalogIndexesOptions) {
    this.#options = options;
  }

  /** The slots whose changes the indexes have not taken in. */
  get pendingSlots(): { readonly size: number; keys(): IterableIterator<number> } {
    return this.#pending;
  }

  /** About how much memory the indexes take, and those that are being made will take. */
  get bytes(): number {
    let bytes = 0;
    for (const entry of this.#entries()) bytes += bytesOf(entry);
    return bytes;
  }

  /** What there is, for metrics and status. */
  reports(): readonly IndexReport[] {
    const report = (index: IndexName, entry: IndexEntry): IndexReport =>
      ({ index, bytes: Math.round(bytesOf(entry)), state: entry.isReady ? 'ready' : 'making' });
    return [
      ...[...this.#orders].map(([name, entry]) => report(name, entry)),
      ...[...this.#columns].map(([name, entry]) => report(`${name}-column`, entry)),
      ...[...this.#tables].map(([name, entry]) => report(`${name}-values`, entry)),
    ];
  }

  /** The slots in the order of a key; null while there is no such index. */
  findOrder(key: OrderName): SlotOrder | null {
    return this.#use(this.#orders.get(key) ?? this.#makeOrder(key))?.order ?? null;
  }

  /** The values of a member by slot; null while there is no such index. */
  findColumn(name: ColumnName): BookColumn | null {
    return this.#use(this.#columns.get(name) ?? this.#makeColumn(name))?.column ?? null;
  }

  /** The values of a member; null while there is no such index, or where it is too large. */
  findTable(name: TableName): ValueTable | null {
    const table = this.#use(this.#tables.get(name) ?? this.#makeTable(name))?.table ?? null;
    return table?.isTooLarge === true ? null : table;
  }

  /** Tells the indexes of the slots that are pending now, for answers that look at no book. */
  * settle(): Steps<void> {
    for (const slot of [...this.#pending.keys()]) {
      const known = this.#pending.get(slot);
      if (known !== undefined) this.#apply(slot, known);
      yield;
    }
  }

  /** Drops what has no room any more. To be called when the word index has grown. */
  fit(): void {
    const { bytesMax, readWordBytes } = this.#options;
    while (this.bytes + readWordBytes() > bytesMax && this.#dropLeastUsed(Infinity));
  }

  /** Drops all indexes; none is made from now on. */
  close(): void {
    this.#isClosed = true;
    this.#dropAll();
  }

  /** The entry if it is ready; notes that it was asked for. */
  #use<Entry extends EntryState>(entry: Entry | null): Entry | null {
    this.#assertSound();
    if (entry === null) return null;
    entry.usedMs = this.#nowMs();
    return entry.isReady ? entry : null;
  }

  #makeOrder(key: OrderName): OrderEntry | null {
    const bytesExpected = this.#reserve(ORDER_BYTES);
    if (bytesExpected === null) return null;
    const entry: OrderEntry = {
      order: new SlotOrder(key, this.#options.collection, (slot) => this.#readSettled(slot)),
      isReady: false, usedMs: this.#nowMs(), bytesExpected,
    };
    this.#orders.set(key, entry);
    this.#runInBackground(this.#fillOrder(entry), () => this.#orders.get(key) === entry);
    return entry;
  }

  * #fillOrder(entry: OrderEntry): Steps<void> {
    yield* entry.order.prepare();
    // Books that are added meanwhile become pending, and the order gets them from there.
    const { slotBound } = this.#options.collection;
    for (let slot = 0; slot < slotBound; slot += 1) {
      entry.order.set(slot, this.#options.collection.bytesAt(slot));
      if (slot % SLOTS_PER_YIELD === 0) yield;
    }
    yield* entry.order.settle();
    entry.isReady = true;
    this.fit();
  }

  #makeColumn(name: ColumnName): ColumnEntry | null {
    const bytesExpected = this.#reserve(COLUMN_BYTES);
    if (bytesExpected === null) return null;
    const entry: ColumnEntry = {
      column: createColumn(name, this.#options.collection.slotBound),
      isReady: false, usedMs: this.#nowMs(), bytesExpected,
    };
    this.#columns.set(name, entry);
    this.#runInBackground(this.#fillColumn(entry), () => this.#columns.get(name) === entry);
    return entry;
  }

  * #fillColumn(entry: ColumnEntry): Steps<void> {
    // Books that are added meanwhile become pending, and the column gets them from there.
    const { slotBound } = this.#options.collection;
    for (let slot = 0; slot < slotBound; slot += 1) {
      entry.column.set(slot, this.#readKnown(slot));
      if (slot % SLOTS_PER_YIELD === 0) yield;
    }
    entry.isReady = true;
    this.fit();
  }

  #makeTable(name: TableName): ValuesEntry | null {
    const bytesExpected = this.#reserve(TABLE_BYTES);
    if (bytesExpected === null) return null;
    const { collection: { slotBound }, bytesMax, readWordBytes } = this.#options;
    const entry: ValuesEntry = {
      table: createValueTable(name, bytesMax - readWordBytes() - this.bytes),
      filledEnd: 0, slotBound, isReady: false, usedMs: this.#nowMs(), bytesExpected,
    };
    this.#tables.set(name, entry);
    this.#runInBackground(this.#fillTable(entry), () => this.#tables.get(name) === entry);
    return entry;
  }

  * #fillTable(entry: ValuesEntry): Steps<void> {
    while (entry.filledEnd < entry.slotBound) {
      const known = this.#readKnown(entry.filledEnd);
      if (known !== undefined) entry.table.add(known);
      entry.filledEnd += 1;
      if (entry.filledEnd % SLOTS_PER_YIELD === 0) yield;
    }
    entry.isReady = true;
    this.fit();
  }

  /** Makes room for an index, and follows the collection. Null when there is no room. */
  #reserve(bytesPerBook: number): number | null {
    if (this.#isClosed) return null;
    const { collection, bytesMax, readWordBytes } = this.#options;
    const bytesExpected = bytesPerBook * collection.slotBound;
    const bytesLeft = bytesMax - readWordBytes() - bytesExpected;
    const beforeMs = this.#nowMs() - IN_USE_MS;
    let bytesInUse = 0;
    for (const entry of this.#entries()) if (entry.usedMs >= beforeMs) bytesInUse += bytesOf(entry);
    if (bytesInUse > bytesLeft) return null;
    while (this.bytes > bytesLeft) this.#dropLeastUsed(beforeMs);
    this.#unsubscribe ??= collection.onChange((change, slot) => this.#onChange(change, slot));
    return bytesExpected;
  }

  /** Drops one that was last used before that time. Whether there was one. */
  #dropLeastUsed(beforeMs: number): boolean {
    let least: { readonly usedMs: number; readonly drop: () => void } | null = null;
    for (const map of [this.#orders, this.#columns, this.#tables]) {
      for (const [name, { usedMs }] of map) {
        if (usedMs >= (least?.usedMs ?? beforeMs)) continue;
        least = { usedMs, drop: () => (map as Map<string, unknown>).delete(name) };
      }
    }
    least?.drop();
    if (this.#orders.size + this.#columns.size + this.#tables.size === 0) this.#dropAll();
    return least !== null;
  }

  #dropAll(): void {
    this.#orders.clear();
    this.#columns.clear();
    this.#tables.clear();
    this.#unsubscribe?.();
    this.#unsubscribe = null;
    this.#pending.clear();
    this.#copiedBytes = 0;
  }

  /** The book in a slot as the indexes know it. */
  #readKnown(slot: number): Buffer | undefined {
    const copy = this.#pending.get(slot);
    if (copy !== undefined) return copy ?? undefined;
    return this.#options.collection.bytesAt(slot);
  }

  /** The book in a slot, unless a change of it is pending. */
  #readSettled(slot: number): Buffer | undefined {
    return this.#pending.has(slot) ? undefined : this.#options.collection.bytesAt(slot);
  }

  /** Runs inside a commit, so it does as little as possible. */
  #onChange({ before }: Change, slot: number): void {
    if (this.#pending.has(slot)) return;
    // A copy, because a view would keep a whole block of the store in memory.
    this.#pending.set(slot, before === null ? null : Buffer.from(before));
    this.#copiedBytes += before?.length ?? 0;
    const pendingMax = Math.max(PENDING_MIN, this.#options.collection.size * PENDING_SHARE);
    if (this.#pending.size > pendingMax || this.#copiedBytes > COPIED_BYTES_MAX) this.#dropAll();
    else this.#startApplying();
  }

  #startApplying(): void {
    if (this.#isApplying) return;
    this.#isApplying = true;
    this.#runInBackground(this.#applyPending(), () => true);
  }

  * #applyPending(): Steps<void> {
    // A slot that becomes pending meanwhile comes last in the map, and so in its turn.
    for (const [slot, known] of this.#pending) {
      this.#apply(slot, known);
      yield;
    }
    this.#isApplying = false;
    for (const { order, isReady } of this.#orders.values()) if (isReady) yield* order.settle();
    this.fit();
  }

  #apply(slot: number, known: Buffer | null): void {
    const bytes = this.#options.collection.bytesAt(slot);
    for (const { order } of this.#orders.values()) order.set(slot, bytes);
    this.#pending.delete(slot);
    this.#copiedBytes -= known?.length ?? 0;
    for (const { column } of this.#columns.values()) column.set(slot, bytes);
    for (const { table, filledEnd, slotBound } of this.#tables.values()) {
      if (slot >= filledEnd && slot < slotBound) continue;
      // In this order: a value that the book keeps stays in the table.
      if (bytes !== undefined) table.add(bytes);
      if (known !== null) table.remove(known);
    }
  }

  /** A failure here is a bug: a broken index must not be used. */
  #runInBackground(steps: Steps<void>, isWanted: () => boolean): void {
    this.#options.turns.runLater(steps, isWanted).catch((reason: unknown) => {
      this.#failure ??= { reason };
      this.close();
    });
  }

  /** Throws a failure once, so that it becomes known; later queries do without indexes. */
  #assertSound(): void {
    const failure = this.#failure;
    this.#failure = null;
    if (failure !== null) throw failure.reason;
  }

  * #entries(): Iterable<IndexEntry> {
    yield* this.#orders.values();
    yield* this.#columns.values();
    yield* this.#tables.values();
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }
}

function bytesOf(entry: IndexEntry): number {
  const { bytes } = pickIndex(entry);
  return entry.isReady ? bytes : Math.max(bytes, entry.bytesExpected);
}

function pickIndex(entry: IndexEntry): { readonly bytes: number } {
  if ('order' in entry) return entry.order;
  return 'column' in entry ? entry.column : entry.table;
}

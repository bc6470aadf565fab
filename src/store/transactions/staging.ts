/**
 * Staged operations, which are not on disk yet, over the committed state. Transactions are checked
 * against both: else two of them could pass a check on the same version of a record while the batch
 * of the first is still syncing. Readers never see staged operations.
 */
import { assert } from '../../base/assert.ts';
import { AppError } from '../../base/errors.ts';
import { listCommittedIds } from '../find-record.ts';
import type { RecordSpan } from '../records/arena.ts';
import type { StoredCollection } from '../records/collection.ts';
import { isKey } from '../records/record-table.ts';
import type { FoundRecord, Operation, StoredRecord, Transaction } from '../store-port.ts';
import { NO_VALUES, type UniqueValue } from '../records/unique-index.ts';

// Upper bounds of the bytes in the journal that are not records or removed keys.
const OPERATION_BYTES = 64;
const TRANSACTION_BYTES = 96;
/** From so many operations on, a transaction finds the holders of unique values by an index. */
const INDEXED_OPERATIONS = 64;
const ENDED = 'a transaction that has ended stages no more';
const QUOTE = 0x22;
const CLOSING_BRACE = 0x7d;
const LINE_FEED = 0x0a;

type StagedOperation = Operation & {
  readonly isImplied: boolean;
  readonly area: StagingArea;
  readonly owner: StagedTransaction;
  readonly span: RecordSpan | null;
  readonly record: StoredRecord | null;
  readonly uniqueValues: readonly UniqueValue[];
  /** The record that it removes; null: it is a put. */
  readonly removedBytes: Buffer | null;
  /** The operation of the same batch that it replaces; undefined once its transaction joined. */
  replacedOperation: StagedOperation | undefined;
};

type StagingArea = {
  readonly committedRecords: StoredCollection;
  readonly stagedRecords: StagedRecords<StagedOperation>;
};

export class Staging {
  /** By resource, what the staged transactions reserve together. */
  readonly reserved = new Map<string, number>();
  readonly #areas = new Map<string, StagingArea>();

  constructor(collections: Iterable<StoredCollection>) {
    for (const committedRecords of collections) {
      const stagedRecords = new StagedRecords<StagedOperation>();
      this.#areas.set(committedRecords.spec.name, { committedRecords, stagedRecords });
    }
  }

  getArea(name: string): StagingArea {
    const area = this.#areas.get(name);
    assert(area !== undefined, `no collection ${name}`);
    return area;
  }

  get recordBytes(): number {
    return [...this.#areas.values()]
      .reduce((sum, { committedRecords }) => sum + committedRecords.bytesTotal, 0);
  }

  /** The batch that gathers is going to be written; another one begins. */
  startNextBatch(): void {
    for (const { stagedRecords } of this.#areas.values()) stagedRecords.startNextBatch();
  }

  /** The batch that was written has been applied. */
  dropCommitted(): void {
    for (const { stagedRecords } of this.#areas.values()) stagedRecords.dropCommitted();
  }

  /** Discards everything staged. `transactions` have joined a batch, and are all that have. */
  abandonAll(transactions: readonly StagedTransaction[]): void {
    for (const transaction of transactions) {
      transaction.endReservations();
      transaction.operations.forEach(releaseBytes);
    }
    for (const { stagedRecords } of this.#areas.values()) stagedRecords.clear();
  }
}

/** A transaction that stages operations until it joins a batch, or is undone. */
export class StagedTransaction implements Transaction {
  readonly operations: StagedOperation[] = [];
  /** At least the length of its journal line. */
  bytes = TRANSACTION_BYTES;
  /** The latest batch whose staged records this transaction has read; null for none. */
  dependsOn: number | null = null;
  /** The batch it will be written with; null before `join`. */
  #batchNumber: number | null = null;
  readonly #staging: Staging;
  /**
   * The staged holders of unique values, for a transaction of many records: to look for each of
   * 10,000 names among all that is staged took 18 s. Others stage nothing while the transaction
   * runs. Null until it has that many operations.
   */
  #holders: Map<StagingArea, Map<string, StagedOperation>> | null = null;
  /** By resource, what this transaction reserves; null: nothing. */
  #reserved: Map<string, number> | null = null;
  #isOpen = true;

  constructor(staging: Staging) {
    this.#staging = staging;
  }

  find(collection: string, id: string): Buffer | undefined {
    const { committedRecords, stagedRecords } = this.#staging.getArea(collection);
    const operation = stagedRecords.get(id);
    if (operation === undefined) return committedRecords.findBytes(id);
    this.#recordDependency(operation);
    return operation.bytes ?? undefined;
  }

  findId(collection: string, name: string): string | undefined {
    if (this.find(collection, name) !== undefined) return name;
    const { spec } = this.#staging.getArea(collection).committedRecords;
    return spec.hasNames === true ? this.#findHolder(collection, name)?.id : undefined;
  }

  listIds(collection: string, prefix = ''): readonly string[] {
    const { committedRecords, stagedRecords } = this.#staging.getArea(collection);
    const ids = new Set(listCommittedIds(committedRecords, prefix));
    for (const operation of stagedRecords.values()) {
      this.#recordDependency(operation);
      if (operation.id === prefix || !operation.id.startsWith(prefix)) continue;
      if (operation.bytes === null) ids.delete(operation.id);
      else ids.add(operation.id);
    }
    return [...ids].sort();
  }

  * listStaged(collection: string): Generator<Operation> {
    for (const operation of this.#staging.getArea(collection).stagedRecords.values()) {
      this.#recordDependency(operation);
      yield operation;
    }
  }

  put(
    collection: string, id: string, json: string | Buffer, isImplied = false,
  ): StoredRecord {
    assert(this.#isOpen, ENDED);
    assert(!isImplied || this.#mayImply(), 'the operation before implies no record');
    const area = this.#staging.getArea(collection);
    const { table: { arena }, unique } = area.committedRecords;
    assert(isRecordFor(json, area.committedRecords, id));
    const lineFeedAt = typeof json === 'string' ? json.indexOf('\n') : json.indexOf(LINE_FEED);
    assert(lineFeedAt === -1, 'a record is one line');
    const uniqueValues = unique.isUsed ? unique.parseValues(json) : NO_VALUES;
    for (const uniqueValue of uniqueValues) this.#checkUnique(collection, id, uniqueValue);
    const span = typeof json === 'string' ? arena.append(json) : arena.appendBytes(json);
    const end = span.offset + span.length;
    const bytes = arena.chunk(span.chunk).subarray(span.offset, end);
    const record: StoredRecord = { bytes, representation: undefined };
    this.#stage({
      area, collection, id, bytes, isImplied, span, record, uniqueValues, owner: this,
      removedBytes: null, replacedOperation: undefined,
    });
    return record;
  }

  delete(collection: string, id: string): boolean {
    assert(this.#isOpen, ENDED);
    const removedBytes = this.find(collection, id);
    if (removedBytes === undefined) return false;
    this.#stage({
      area: this.#staging.getArea(collection), collection, id, bytes: null, isImplied: false,
      span: null, record: null, uniqueValues: NO_VALUES, owner: this, removedBytes,
      replacedOperation: undefined,
    });
    return true;
  }

  listRemoved(): readonly FoundRecord[] {
    return this.operations.flatMap((operation) => {
      const { area, collection, id, removedBytes } = operation;
      const isLast = area.stagedRecords.get(id) === operation;
      return removedBytes === null || !isLast ? [] : [{ collection, id, bytes: removedBytes }];
    });
  }

  reserve(resource: string, amount: number): void {
    assert(this.#isOpen, ENDED);
    this.#reserved ??= new Map();
    add(this.#reserved, resource, amount);
    add(this.#staging.reserved, resource, amount);
  }

  countReserved(resource: string): number {
    return this.#staging.reserved.get(resource) ?? 0;
  }

  endReservations(): void {
    if (this.#reserved === null) return;
    for (const [resource, amount] of this.#reserved) add(this.#staging.reserved, resource, -amount);
    this.#reserved = null;
  }

  /**
   * The transaction will be written with the batch of that number. Numbers rise from batch to
   * batch, which are written in that order.
   */
  join(batchNumber: number): void {
    assert(this.#isOpen, 'a transaction joins one batch');
    this.#isOpen = false;
    this.#holders = null;
    for (const operation of this.operations) operation.replacedOperation = undefined;
    this.#batchNumber = batchNumber;
  }

  /** Unstages all operations, and ends the reservations. */
  undo(): void {
    assert(this.#isOpen, 'a transaction of a batch is discarded with all of them');
    while (true) {
      const operation = this.operations.pop();
      if (operation === undefined) break;
      operation.area.stagedRecords.undo(operation.id, operation.replacedOperation);
      releaseBytes(operation);
    }
    this.endReservations();
    this.#isOpen = false;
    this.#holders = null;
  }

  /** Whether the last operation is a put that may imply others, or is implied itself. */
  #mayImply(): boolean {
    const last = this.operations.at(-1);
    return last !== undefined && last.bytes !== null
      && (last.isImplied || last.area.committedRecords.spec.imply !== undefined);
  }

  #checkUnique(collection: string, id: string, { member, value }: UniqueValue): void {
    const holder = this.#findHolder(collection, value);
    if (holder === undefined || holder.id === id) return;
    const members = holder.values.filter((unique) => unique.value === value)
      .map((unique) => unique.member);
    const other = members.includes(member) ? '' : `, as another's ${members.join(' and ')}`;
    throw new AppError('conflict', `${member} ${JSON.stringify(value)} is already taken${other}: `
      + 'choose another, or change what has it');
  }

  /** The record that holds a unique value, and all unique values of it. */
  #findHolder(
    collection: string, value: string,
  ): { readonly id: string; readonly values: readonly UniqueValue[] } | undefined {
    const area = this.#staging.getArea(collection);
    const { committedRecords, stagedRecords } = area;
    const holder = this.#findStagedHolder(area, value);
    if (holder !== undefined) {
      this.#recordDependency(holder);
      return { id: holder.id, values: holder.uniqueValues };
    }
    const id = committedRecords.unique.findId(value);
    if (id === undefined) return undefined;
    const stagedOperation = stagedRecords.get(id);
    if (stagedOperation === undefined) {
      return { id, values: committedRecords.unique.findValues(id) };
    }
    // The operation that is staged for that record gives the value up.
    this.#recordDependency(stagedOperation);
    return undefined;
  }

  #findStagedHolder(area: StagingArea, value: string): StagedOperation | undefined {
    const { stagedRecords } = area;
    if (this.operations.length < INDEXED_OPERATIONS) {
      for (const operation of stagedRecords.values()) {
        if (operation.uniqueValues.some((unique) => unique.value === value)) return operation;
      }
      return undefined;
    }
    this.#holders ??= new Map();
    let holders = this.#holders.get(area);
    if (holders === undefined) {
      holders = new Map();
      this.#holders.set(area, holders);
      for (const operation of stagedRecords.values()) addHolder(holders, operation);
    }
    return holders.get(value);
  }

  #stage(operation: StagedOperation): void {
    const { area: { stagedRecords }, id } = operation;
    const holders = this.#holders?.get(operation.area);
    if (holders !== undefined) {
      for (const { value } of stagedRecords.get(id)?.uniqueValues ?? []) holders.delete(value);
      addHolder(holders, operation);
    }
    operation.replacedOperation = stagedRecords.put(id, operation);
    this.operations.push(operation);
    this.bytes += OPERATION_BYTES + (operation.bytes ?? operation.id).length;
  }

  // Batches are committed in order, so it is enough to wait for the latest one. Operations come in
  // no order, hence the comparison.
  #recordDependency({ owner }: StagedOperation): void {
    const batchNumber = owner.#batchNumber;
    if (owner === this || batchNumber === null) return;
    if (this.dependsOn === null || batchNumber > this.dependsOn) this.dependsOn = batchNumber;
  }
}

/** A resource of which nothing is reserved has no entry: there may be many (see resend.ts). */
function add(amounts: Map<string, number>, resource: string, amount: number): void {
  const sum = (amounts.get(resource) ?? 0) + amount;
  if (sum === 0) amounts.delete(resource);
  else amounts.set(resource, sum);
}

function addHolder(holders: Map<string, StagedOperation>, operation: StagedOperation): void {
  for (const { value } of operation.uniqueValues) holders.set(value, operation);
}

function isRecordFor(
  json: string | Buffer, { table: { recordPrefix, keyStart }, table }: StoredCollection, id: string,
): boolean {
  if (typeof json !== 'string') {
    return table.hasKey(json, id) && json[json.length - 1] === CLOSING_BRACE;
  }
  // In parts, so that no text has to be built for each record.
  return isKey(id) && json.startsWith(recordPrefix) && json.startsWith(id, keyStart)
    && json.charCodeAt(keyStart + id.length) === QUOTE
    && json.charCodeAt(json.length - 1) === CLOSING_BRACE;
}

/**
 * Whether the records take more room after these operations. This is rough: each operation is
 * compared with the committed record, also where another staged operation changes it before.
 */
export function growsRecords(operations: readonly StagedOperation[]): boolean {
  return operations.reduce((sum, { bytes, area, id }) =>
    sum + (bytes?.length ?? 0) - (area.committedRecords.findBytes(id)?.length ?? 0), 0) > 0;
}

function releaseBytes({ area, span }: StagedOperation): void {
  if (span !== null) area.committedRecords.table.arena.release(span.chunk, span.length);
}

/**
 * The staged records of one collection, in one map for each batch: the batch that gathers, over the
 * batch that is being written.
 *
 * A batch's map is dropped as a whole. A Map that is emptied entry by entry and filled again links
 * each of its former tables to the next one. Tables that have reached the old generation then keep
 * all later entries alive until the next full garbage collection: that took a tenth of the time of
 * every write.
 */
class StagedRecords<T> {
  #gathering = new Map<string, T>();
  #inFlight = new Map<string, T>();

  /** The latest item for `id`. */
  get(id: string): T | undefined {
    return this.#gathering.get(id) ?? this.#inFlight.get(id);
  }

  /** Stages `item`. Returns the item it replaces in the batch that gathers, for `undo`. */
  put(id: string, item: T): T | undefined {
    const previousItem = this.#gathering.get(id);
    this.#gathering.set(id, item);
    return previousItem;
  }

  /** Undoes `put`, which has returned `previousItem`. */
  undo(id: string, previousItem: T | undefined): void {
    if (previousItem === undefined) this.#gathering.delete(id);
    else this.#gathering.set(id, previousItem);
  }

  /** The latest item of every id, in no order. */
  * values(): Generator<T> {
    yield* this.#gathering.values();
    for (const [id, item] of this.#inFlight) {
      if (!this.#gathering.has(id)) yield item;
    }
  }

  /** The batch that gathers is going to be written; another one begins. */
  startNextBatch(): void {
    assert(this.#inFlight.size === 0, 'one batch is written at a time');
    if (this.#gathering.size === 0) return;
    this.#inFlight = this.#gathering;
    this.#gathering = new Map();
  }

  /** The batch that was written is committed. */
  dropCommitted(): void {
    if (this.#inFlight.size > 0) this.#inFlight = new Map();
  }

  clear(): void {
    this.#gathering = new Map();
    this.#inFlight = new Map();
  }
}

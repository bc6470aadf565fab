/**
 * What has been staged and is not on disk yet, over the committed state. Writers are checked
 * against both, so that two of them cannot pass on the same version of a record because the first
 * one's batch is still syncing. Readers never see it.
 */
import { assert } from '../../base/assert.ts';
import { AppError } from '../../base/errors.ts';
import type { Span } from '../records/arena.ts';
import type { StoredCollection } from '../records/collection.ts';
import { isKey } from '../records/record-table.ts';
import type { Operation } from '../journal/journal-port.ts';
import type { CommittedChange, StoredRecord, Transaction } from '../store-port.ts';
import type { UniqueValue } from '../records/unique-index.ts';
import { StagedRecords } from './staged-records.ts';
import type { Submission } from './submission.ts';

// At least what an operation and a transaction add in the journal to records and deleted keys.
const OPERATION_BYTES = 64;
const TRANSACTION_BYTES = 96;
const QUOTE = 0x22;
const CLOSING_BRACE = 0x7d;
const LINE_FEED = 0x0a;

/** Transactions that go to disk together. */
export type Batch = {
  /** Rises from batch to batch. */
  readonly number: number;
  /** Those that are not on disk yet. */
  transactions: StagedTransaction[];
  /** Told how it ended, after the transactions: what had read their staged records. */
  readonly followers: ((isCommitted: boolean) => void)[];
  bytes: number;
};

export function createBatch(number: number): Batch {
  return { number, transactions: [], followers: [], bytes: 0 };
}

type StagedOperation = Operation & {
  readonly collection: StoredCollection;
  readonly owner: StagedTransaction;
  readonly span: Span | null;
  readonly record: StoredRecord | null;
  readonly uniqueValues: readonly UniqueValue[];
  /** What it replaces of its own batch, until its transaction has ended. */
  replaced: StagedOperation | undefined;
};

type StagingArea = {
  readonly collection: StoredCollection;
  readonly staged: StagedRecords<StagedOperation>;
};

export class Staging {
  readonly #areas = new Map<string, StagingArea>();

  readonly #onListenerError: (error: unknown) => void;

  constructor(
    collections: Iterable<StoredCollection>, onListenerError: (error: unknown) => void,
  ) {
    this.#onListenerError = onListenerError;
    for (const collection of collections) {
      this.#areas.set(collection.spec.name, { collection, staged: new StagedRecords() });
    }
  }

  area(name: string): StagingArea {
    const area = this.#areas.get(name);
    assert(area !== undefined, `no collection ${name}`);
    return area;
  }

  /** Of all committed records. */
  get recordBytes(): number {
    return [...this.#areas.values()]
      .reduce((sum, { collection }) => sum + collection.bytesTotal, 0);
  }

  /** What has gathered goes to disk. */
  startNextBatch(): void {
    for (const { staged } of this.#areas.values()) staged.startNextBatch();
  }

  /** What was sealed has been applied. */
  dropCommitted(): void {
    for (const { staged } of this.#areas.values()) staged.dropCommitted();
  }

  /** Makes a transaction's operations the committed state; `note` is told what each does. */
  apply(
    transaction: StagedTransaction, onChange: ((change: CommittedChange) => void) | null = null,
  ): void {
    for (const operation of transaction.operations) {
      const { collection, collectionName, id, bytes, span, record } = operation;
      onChange?.({
        collection: collectionName, id, before: collection.findBytes(id) ?? null, after: bytes,
      });
      try {
        if (span === null) collection.applyDelete(id);
        else collection.applyPut(id, span, record);
      } catch (error) {
        // A listener's bug: the record itself is in place.
        this.#onListenerError(error);
      }
    }
  }

  /** Forgets everything that is staged in these batches, which are all there are. */
  abandonAll(batches: readonly Batch[]): void {
    for (const { operations } of batches.flatMap(({ transactions }) => transactions)) {
      operations.forEach(releaseBytes);
    }
    for (const { staged } of this.#areas.values()) staged.clear();
  }
}

export class StagedTransaction implements Transaction {
  readonly submission: Submission;
  readonly operations: StagedOperation[] = [];
  /** No less than its line in the journal has. */
  bytes = TRANSACTION_BYTES;
  /** Null until it joins one. */
  batch: Batch | null = null;
  /** The latest batch of another transaction whose staged record this one has read. */
  dependsOn: Batch | null = null;
  readonly #staging: Staging;
  #isSealed = false;

  constructor(staging: Staging, submission: Submission) {
    this.#staging = staging;
    this.submission = submission;
  }

  find(collectionName: string, id: string): Buffer | undefined {
    const { collection, staged } = this.#staging.area(collectionName);
    const operation = staged.get(id);
    if (operation === undefined) return collection.findBytes(id);
    this.#recordDependency(operation);
    return operation.bytes ?? undefined;
  }

  findId(collectionName: string, name: string): string | undefined {
    if (this.find(collectionName, name) !== undefined) return name;
    const { spec } = this.#staging.area(collectionName).collection;
    return spec.hasNames === true ? this.#findHolder(collectionName, name)?.id : undefined;
  }

  put(collectionName: string, id: string, json: string | Buffer): StoredRecord {
    assert(!this.#isSealed);
    const { collection, staged } = this.#staging.area(collectionName);
    const { arena } = collection.table;
    assert(isRecordFor(json, collection, id));
    const feedAt = typeof json === 'string' ? json.indexOf('\n') : json.indexOf(LINE_FEED);
    assert(feedAt === -1, 'a record is one line');
    const uniqueValues = collection.unique.parseValues(json);
    for (const unique of uniqueValues) this.#checkUnique(collectionName, id, unique);
    const span = typeof json === 'string' ? arena.append(json)
      : arena.appendBytes(json, 0, json.length);
    const end = span.offset + span.length;
    const bytes = arena.chunk(span.chunk).subarray(span.offset, end);
    const record: StoredRecord = { bytes, derived: undefined };
    this.#stage(staged, {
      collection, collectionName, id, bytes, span, record, uniqueValues, owner: this,
      replaced: undefined,
    });
    return record;
  }

  delete(collectionName: string, id: string): boolean {
    assert(!this.#isSealed);
    if (this.find(collectionName, id) === undefined) return false;
    const { collection, staged } = this.#staging.area(collectionName);
    this.#stage(staged, {
      collection, collectionName, id, bytes: null, span: null, record: null,
      uniqueValues: [], owner: this, replaced: undefined,
    });
    return true;
  }

  /** No more operations; `prepare` has returned. */
  seal(): void {
    this.#isSealed = true;
    for (const operation of this.operations) operation.replaced = undefined;
  }

  /**
   * Goes to disk with `batch`. Batches go in order, so it rests on nothing any more: each batch
   * would else hold the one before it, and all of them memory for as long as writing goes on.
   */
  join(batch: Batch): void {
    this.batch = batch;
    this.dependsOn = null;
    batch.transactions.push(this);
    batch.bytes += this.bytes;
  }

  /** Takes back everything that `prepare` staged before it threw. */
  undo(): void {
    while (true) {
      const operation = this.operations.pop();
      if (operation === undefined) break;
      const { collectionName, id, replaced } = operation;
      this.#staging.area(collectionName).staged.undo(id, replaced);
      releaseBytes(operation);
    }
    this.seal();
  }

  #checkUnique(collectionName: string, id: string, { member, value }: UniqueValue): void {
    const holder = this.#findHolder(collectionName, value);
    if (holder === undefined || holder.id === id) return;
    const members = holder.values.filter((held) => held.value === value).map((held) => held.member);
    const other = members.includes(member) ? '' : `, as another's ${members.join(' and ')}`;
    throw new AppError('conflict', `${member} ${JSON.stringify(value)} is already taken${other}`);
  }

  /** The record that holds a unique value, and all unique values of it. */
  #findHolder(
    collectionName: string, value: string,
  ): { readonly id: string; readonly values: readonly UniqueValue[] } | undefined {
    const { collection, staged } = this.#staging.area(collectionName);
    for (const operation of staged.values()) {
      const { id, uniqueValues } = operation;
      if (!uniqueValues.some((held) => held.value === value)) continue;
      this.#recordDependency(operation);
      return { id, values: uniqueValues };
    }
    const id = collection.unique.findId(value);
    if (id === undefined) return undefined;
    const stagedOperation = staged.get(id);
    if (stagedOperation === undefined) return { id, values: collection.unique.findValues(id) };
    // Its holder has given it up, or is gone.
    this.#recordDependency(stagedOperation);
    return undefined;
  }

  #stage(staged: StagingArea['staged'], operation: StagedOperation): void {
    operation.replaced = staged.put(operation.id, operation);
    this.operations.push(operation);
    this.bytes += OPERATION_BYTES + (operation.bytes ?? operation.id).length;
  }

  // Batches are committed in order, so the latest one is enough to wait for: one that is being
  // gathered beats one that is syncing, and operations are met in no order.
  #recordDependency({ owner }: StagedOperation): void {
    if (owner === this || owner.batch === null) return;
    if (this.dependsOn === null || owner.batch.number > this.dependsOn.number) {
      this.dependsOn = owner.batch;
    }
  }
}

function isRecordFor(
  json: string | Buffer, { table: { recordPrefix, keyStart }, table }: StoredCollection, id: string,
): boolean {
  if (typeof json !== 'string') {
    return table.hasKey(json, id) && json[json.length - 1] === CLOSING_BRACE;
  }
  // Piece by piece: a text put together to compare with would be made for each record.
  return isKey(id) && json.startsWith(recordPrefix) && json.startsWith(id, keyStart)
    && json.charCodeAt(keyStart + id.length) === QUOTE
    && json.charCodeAt(json.length - 1) === CLOSING_BRACE;
}

/** Whether the records take more room after these operations. */
export function growsRecords(operations: readonly StagedOperation[]): boolean {
  return operations.reduce((sum, { bytes, collection, id }) =>
    sum + (bytes?.length ?? 0) - (collection.findBytes(id)?.length ?? 0), 0) > 0;
}

function releaseBytes({ collection, span }: StagedOperation): void {
  if (span !== null) collection.table.arena.release(span.chunk, span.length);
}

/**
 * The store without a journal: what is transacted is staged, and committed in the next turn of the
 * loop, so that tests see staged and committed state apart. Every transaction is run twice, as the
 * port allows, and has to stage the same both times. What is staged as implied has to be what the
 * record before it implies, byte for byte: a journal would not hold it.
 */
import assert from 'node:assert/strict';
import type { AppError } from '../../src/base/errors.ts';
import { createCollections, type StoredCollection } from '../../src/store/records/collection.ts';
import type {
  CollectionSpec, Operation, Store, Transaction,
} from '../../src/store/store-port.ts';
import { StagedTransaction, Staging } from '../../src/store/transactions/staging.ts';

export type MemoryStore = Store & {
  /** Makes the batch that is staged now, or next, fail. */
  failNextBatch(error: AppError): void;
  /** From here on every batch fails, until it is told null. */
  setFailure(error: AppError | null): void;
  /** Has batches wait, as for a slow disk, until the result is called. */
  holdBatches(): () => void;
  /** Every committed line: what each transaction staged. */
  readonly lines: readonly (readonly WrittenOperation[])[];
};

type WrittenOperation = {
  readonly collection: string; readonly id: string; readonly json: string | null;
};

type Waiting = {
  readonly transaction: StagedTransaction;
  readonly complete: () => void;
  readonly reject: (error: AppError) => void;
};

export function createMemoryStore(specs: readonly CollectionSpec[]): MemoryStore {
  const staging = new Staging(createCollections(specs).values());
  const lines: (readonly WrittenOperation[])[] = [];
  let batchNumber = 1;
  let waiting: Waiting[] = [];
  let batchError: AppError | null = null;
  let failure: AppError | null = null;
  const failureListeners = new Set<(reason: string | null) => void>();
  let isHeld = false;

  const get = (name: string): StoredCollection => staging.getArea(name).committedRecords;
  const flush = (): void => {
    if (isHeld) return;
    const callers = waiting;
    const error = failure ?? batchError;
    batchNumber += 1;
    waiting = [];
    batchError = null;
    if (error !== null) {
      staging.abandonAll(callers.map(({ transaction }) => transaction));
      for (const { reject } of callers) reject(error);
      return;
    }
    staging.startNextBatch();
    for (const { transaction, complete } of callers) {
      const { operations } = transaction;
      if (operations.length > 0) lines.push(operations.map(describe));
      transaction.endReservations();
      for (const operation of operations) get(operation.collection).apply(operation);
      complete();
    }
    staging.dropCommitted();
  };
  return {
    collection: get,
    replica: null,
    lines,
    failNextBatch(error) {
      batchError = error;
    },
    setFailure(error) {
      failure = error;
      for (const listener of failureListeners) listener(error?.message ?? null);
    },
    holdBatches() {
      isHeld = true;
      return () => {
        isHeld = false;
        flush();
      };
    },
    onFailure(listener) {
      failureListeners.add(listener);
      return () => void failureListeners.delete(listener);
    },
    async transact(run) {
      const rehearsal = new StagedTransaction(staging);
      const rehearsedOperations = stage(rehearsal, run).operations;
      rehearsal.undo();
      const transaction = new StagedTransaction(staging);
      const { result, operations } = stage(transaction, run);
      checkImplied(get, transaction.operations);
      assert.deepEqual(operations, rehearsedOperations,
        'a transaction that ran again staged something else');
      transaction.join(batchNumber);
      if (waiting.length === 0) setImmediate(flush);
      await new Promise<void>((resolve, reject) =>
        waiting.push({ transaction, complete: resolve, reject }));
      return result;
    },
    changes: {
      follow: () => () => {},
      since: async () => null,
    },
    get failure() { return failure?.message ?? null; },
    checkWritable() {
      if (failure !== null) throw failure;
    },
    get statistics() {
      return {
        sequence: lines.length, generation: 1, batches: lines.length, transactions: lines.length,
        journalBytes: 0, isCompacting: false, compactedMs: null,
      };
    },
    compact: async () => {},
    close: async () => {},
  };
}

/** Runs a transaction; one that throws is taken back. */
function stage<T>(transaction: StagedTransaction, run: (transaction: Transaction) => T): {
  readonly result: T; readonly operations: readonly WrittenOperation[];
} {
  try {
    const result = run(transaction);
    return { result, operations: transaction.operations.map(describe) };
  } catch (thrown) {
    transaction.undo();
    throw thrown;
  }
}

function describe({ collection, id, bytes }: Operation): WrittenOperation {
  return { collection, id, json: bytes === null ? null : String(bytes) };
}

function checkImplied(
  get: (name: string) => StoredCollection, operations: readonly Operation[],
): void {
  for (const [index, { collection, bytes, isImplied = false }] of operations.entries()) {
    if (isImplied || operations[index + 1]?.isImplied !== true) continue;
    const rest = operations.slice(index + 1);
    const end = rest.findIndex((other) => other.isImplied !== true);
    const impliedOperations = end === -1 ? rest : rest.slice(0, end);
    assert.deepEqual(impliedOperations.map(describe),
      get(collection).spec.imply?.(bytes ?? Buffer.alloc(0)).map(describe),
      `what a record of ${collection} implies`);
  }
}

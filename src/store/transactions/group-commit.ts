/**
 * Group commit: transactions become durable together. They gather in a batch while the last one is
 * written, and for as long as the next turns of the loop bring more (`BatchWindow`). A batch is
 * one append to the journal; then all its transactions are applied, and all callers get their
 * results in one turn. When a batch fails, everything that is staged fails with it.
 *
 * If other nodes write to the same journal, their transactions may have to be applied first.
 * Everything staged was checked against the state before them: it is discarded and runs again.
 * While that would happen to every batch (`isContended`), transactions are deferred: they run only
 * when the journal asks for the batch.
 */
import { assert } from '../../base/assert.ts';
import { AppError } from '../../base/errors.ts';
import type { AppendRequest, Journal } from '../journal/journal-port.ts';
import type { Operation, Transaction } from '../store-port.ts';
import type { StoredCollection } from '../records/collection.ts';
import type { ChangeFeed } from './change-feed.ts';
import { StagedTransaction, growsRecords, type Staging } from './staging.ts';

// Deferred transactions are counted, as their bytes are not known before they have run.
const DEFERRED_MAX = 512;
/** The estimated size of a deferred transaction. */
const DEFERRED_BYTES = 128 << 10;

/**
 * A call of `Store.transact`: its function, which may run several times, and its promise, which is
 * settled once the last run is durable. The type of the result matters to the caller alone.
 */
interface Submission {
  /** Whether the next run will be on a state that is no older than the call. */
  isFresh: boolean;
  /** Stages the operations. What it throws is for `reject`. */
  run(transaction: Transaction): void;
  /** Gives the caller the result of the last run. */
  resolve(): void;
  reject(error: unknown): void;
}

/** A submission with its last run. */
type StagedSubmission = {
  readonly submission: Submission; readonly transaction: StagedTransaction;
};

/** Submissions whose transactions go to disk together. */
type Batch = {
  /** The number rises from batch to batch. */
  readonly number: number;
  /** The submissions of the batch that are not on disk yet. */
  submissions: StagedSubmission[];
  /** Called at the end of the batch, for transactions that have read its staged records. */
  readonly dependents: ((isCommitted: boolean) => void)[];
  bytes: number;
};

type GroupCommitOptions = {
  readonly journal: Journal;
  readonly staging: Staging;
  readonly collections: ReadonlyMap<string, StoredCollection>;
  readonly feed: ChangeFeed;
  readonly stagedBytesMax: number;
};

export class GroupCommit implements AppendRequest {
  /** How many appends have been committed, and how many transactions in them. */
  batchCount = 0;
  transactionCount = 0;
  readonly feed: ChangeFeed;
  /** Called with each transaction that has staged something, to stage more with it. */
  onStaged: ((transaction: Transaction) => void) | null = null;
  readonly #options: GroupCommitOptions;
  readonly #window = new BatchWindow();
  /** The batch that new transactions join. */
  #gathering: Batch = createBatch(1);
  /** The batch that is being written; its first `#appendedCount` transactions in this append. */
  #inFlight: Batch | null = null;
  #appendedCount = 0;
  /** Transactions that have not run yet, in order; everything staged came before them. */
  #deferred: Submission[] = [];
  /** Whether the window is open, or a batch is being written. */
  #isBusy = false;
  #closing: Promise<void> | null = null;
  #onIdle: (() => void) | null = null;

  constructor(options: GroupCommitOptions) {
    this.feed = options.feed;
    this.#options = options;
  }

  /** See `Store.transact`. */
  submit<T>(run: (transaction: Transaction) => T): Promise<T> {
    const rejection = this.#findRejection();
    if (rejection !== null) return Promise.reject(rejection);
    return new Promise((resolve, reject) =>
      this.#admit(new TypedSubmission(run, resolve, reject)));
  }

  /**
   * Runs the transaction now, or defers it. Without deferral each transaction ran at least twice
   * among three busy nodes: an eighth of the cost of a POST there.
   */
  #admit(submission: Submission): void {
    const { journal, stagedBytesMax } = this.#options;
    const deferredMax = Math.min(DEFERRED_MAX, stagedBytesMax / DEFERRED_BYTES);
    if (journal.isContended && this.#deferred.length < deferredMax) {
      this.#deferred.push(submission);
      this.#openWindowIfIdle();
    } else {
      if (this.#deferred.length > 0) this.#stageDeferred();
      this.#stage(submission);
    }
  }

  #stageDeferred(): void {
    for (const submission of this.#deferred.splice(0)) this.#stage(submission);
  }

  /**
   * Calls `apply`, which changes the committed state, and runs everything staged once more. For
   * the transactions of other nodes: see `ReplicatedRecords.accept`.
   */
  rebase(apply: () => void): void {
    const batches = this.#abandonAll();
    apply();
    for (const { submissions } of batches) {
      for (const { submission } of submissions) this.#stage(submission);
    }
    notifyDependents(batches);
  }

  /**
   * Rejects everything staged and deferred. Called when the records must be loaded anew from the
   * log of several nodes, and only if nothing of that can have been written.
   */
  rejectAll(error: AppError): void {
    this.#failStaged(error, error);
  }

  /** Takes no more, and resolves when everything staged is written or has failed. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#waitUntilIdle();
    return this.#closing;
  }

  async #waitUntilIdle(): Promise<void> {
    if (!this.#isBusy) return;
    // It resolves in a turn of its own: the code that has completed the last batch goes on first.
    await new Promise<void>((resolve) => {
      this.#onIdle = () => void setImmediate(resolve);
    });
  }

  /** Why no transaction may run now; null when it may. */
  #findRejection(): AppError | null {
    if (this.#closing !== null) return new AppError('unavailable', 'the store is closed');
    const { journal, stagedBytesMax } = this.#options;
    if (journal.reloadError !== null) return journal.reloadError;
    const stagedBytes = this.#gathering.bytes + (this.#inFlight?.bytes ?? 0);
    if (stagedBytes < stagedBytesMax) return null;
    return new AppError('unavailable', 'too many writes are waiting', { retryAfterS: 1 });
  }

  /**
   * Runs a transaction on what is staged and committed. It joins the batch that gathers, unless it
   * has thrown, has written nothing or is refused: then it is completed here.
   */
  #stage(submission: Submission): void {
    const transaction = new StagedTransaction(this.#options.staging);
    try {
      submission.run(transaction);
      if (transaction.operations.length > 0) this.onStaged?.(transaction);
    } catch (error) {
      transaction.undo();
      this.#completeAfter(transaction.dependsOn, submission, () => submission.reject(error));
      return;
    }
    if (transaction.operations.length === 0) {
      transaction.undo();
      this.#completeAfter(transaction.dependsOn, submission, () => submission.resolve());
      return;
    }
    const rejection = this.#findTransactionRejection(transaction);
    // The rejection tells nothing of the records that were read, so these need not be durable.
    if (rejection !== null) {
      transaction.undo();
      submission.reject(rejection);
      return;
    }
    transaction.join(this.#gathering.number);
    this.#gathering.submissions.push({ submission, transaction });
    this.#gathering.bytes += transaction.bytes;
    this.#openWindowIfIdle();
  }

  /** Why a transaction that has run may not be written; null when it may. */
  #findTransactionRejection({ bytes, operations }: StagedTransaction): AppError | null {
    const { journal: { failure, batchBytesMax, recordBytesMax }, staging } = this.#options;
    // Any other failure may have passed when the batch is appended.
    if (failure?.code === 'unknown_outcome') return failure;
    if (recordBytesMax !== Infinity && staging.recordBytes > recordBytesMax
      && growsRecords(operations)) {
      const full = `the engine keeps ${recordBytesMax} bytes of records, and that many are there`;
      return new AppError('storage_full', `${full}: delete some, or move them with data:move`);
    }
    if (bytes <= batchBytesMax) return null;
    const most = `at most ${batchBytesMax} bytes can be written in one transaction`;
    return new AppError('too_large', `${most}, this one has about ${bytes}`);
  }

  /**
   * Completes a transaction that has written nothing, once all that it has read is durable. If it
   * has read staged records, it waits for their batch, `batchNumber`, and runs again if that fails.
   * If it has read committed records alone (null), it is completed at once, unless other nodes
   * write as well and its state may be older than the call: then it runs again on a newer state.
   */
  #completeAfter(
    batchNumber: number | null, submission: Submission, complete: () => void,
  ): void {
    if (batchNumber !== null) {
      const batch = batchNumber === this.#inFlight?.number ? this.#inFlight : this.#gathering;
      batch.dependents.push((isCommitted) => {
        if (isCommitted) complete();
        else this.#stageAgain(submission);
      });
      return;
    }
    const { journal } = this.#options;
    if (submission.isFresh || !journal.isShared) {
      complete();
      return;
    }
    submission.isFresh = true;
    journal.catchUp().then(() => this.#stageAgain(submission),
      (error: unknown) => submission.reject(error));
  }

  #stageAgain(submission: Submission): void {
    const rejection = this.#findRejection();
    if (rejection === null) this.#stage(submission);
    else submission.reject(rejection);
  }

  #openWindowIfIdle(): void {
    if (this.#isBusy || this.#waitingCount === 0) return;
    this.#isBusy = true;
    setImmediate(this.#checkWindow);
  }

  readonly #checkWindow = (): void => {
    if (this.#window.countTurn(this.#waitingCount, this.#gathering.bytes)) {
      this.#options.journal.append(this);
    } else {
      setImmediate(this.#checkWindow);
    }
  };

  get #waitingCount(): number {
    return this.#gathering.submissions.length + this.#deferred.length;
  }

  /** Called by the journal, as is `onEnded`: see `AppendRequest`. */
  collectOperations(): readonly (readonly Operation[])[] {
    if (this.#inFlight === null && this.#deferred.length > 0) this.#stageDeferred();
    const { submissions } = this.#inFlight ??= this.#startNextBatch();
    const { batchBytesMax } = this.#options.journal;
    this.#appendedCount = batchBytesMax === Infinity
      ? submissions.length : countWithin(submissions, batchBytesMax);
    const first = submissions.slice(0, this.#appendedCount);
    return first.map(({ transaction }) => transaction.operations);
  }

  #startNextBatch(): Batch {
    const batch = this.#gathering;
    this.#gathering = createBatch(batch.number + 1);
    this.#options.staging.startNextBatch();
    return batch;
  }

  onEnded(error: AppError | null): void {
    const batch = this.#inFlight;
    if (error !== null) this.#failStaged(error, this.#options.journal.failure ?? error);
    else if (batch !== null) this.#completeBatch(batch);
    // The rest of a batch that did not fit in one append is appended at once.
    if (this.#inFlight !== null) {
      this.#options.journal.append(this);
      return;
    }
    this.#isBusy = false;
    this.#openWindowIfIdle();
    if (!this.#isBusy) this.#onIdle?.();
  }

  #completeBatch(batch: Batch): void {
    const { submissions } = batch;
    const committedSubmissions = submissions.slice(0, this.#appendedCount);
    batch.submissions = submissions.slice(this.#appendedCount);
    this.batchCount += 1;
    this.transactionCount += committedSubmissions.length;
    this.#apply(committedSubmissions);
    for (const { transaction } of committedSubmissions) batch.bytes -= transaction.bytes;
    const isWhole = batch.submissions.length === 0;
    if (isWhole) {
      this.#inFlight = null;
      this.#options.staging.dropCommitted();
    }
    for (const { submission } of committedSubmissions) submission.resolve();
    if (isWhole) for (const complete of batch.dependents) complete(true);
  }

  #apply(submissions: readonly StagedSubmission[]): void {
    const { collections, feed, journal } = this.#options;
    // The journal counts these transactions already.
    let sequence = journal.sequence - submissions.length;
    for (const { transaction } of submissions) {
      sequence += 1;
      transaction.endReservations();
      feed.apply(collections, sequence, transaction.operations);
    }
  }

  /** Rejects the batch in flight with `error`, and all that came after it with `laterError`. */
  #failStaged(error: AppError, laterError: AppError): void {
    const inFlight = this.#inFlight;
    const batches = this.#abandonAll();
    for (const batch of batches) {
      const reason = batch === inFlight ? error : laterError;
      for (const { submission } of batch.submissions) submission.reject(reason);
    }
    for (const submission of this.#deferred.splice(0)) submission.reject(laterError);
    notifyDependents(batches);
  }

  /** Discards everything staged, and returns its batches. */
  #abandonAll(): readonly Batch[] {
    const batches = [...this.#inFlight === null ? [] : [this.#inFlight], this.#gathering];
    this.#inFlight = null;
    const submissions = batches.flatMap((batch) => batch.submissions);
    // Nothing is staged, and nobody depends on staged records: the batch may go on gathering.
    if (submissions.length === 0) return batches;
    this.#gathering = createBatch(this.#gathering.number + 1);
    this.#options.staging.abandonAll(submissions.map(({ transaction }) => transaction));
    return batches;
  }
}

/**
 * A submission with the type of its result. Each write makes one, so it is a class with plain
 * fields: three closures, with two more promises on the way of a body, took 3 % more instructions.
 */
class TypedSubmission<T> implements Submission {
  isFresh = false;
  readonly #run: (transaction: Transaction) => T;
  readonly #resolve: (result: T) => void;
  readonly #reject: (error: unknown) => void;
  #outcome: { readonly result: T } | null = null;

  constructor(
    run: (transaction: Transaction) => T, resolve: (result: T) => void,
    reject: (error: unknown) => void,
  ) {
    this.#run = run;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  run(transaction: Transaction): void {
    this.#outcome = { result: this.#run(transaction) };
  }

  resolve(): void {
    assert(this.#outcome !== null);
    this.#resolve(this.#outcome.result);
  }

  reject(error: unknown): void {
    this.#reject(error);
  }
}

function createBatch(number: number): Batch {
  return { number, submissions: [], dependents: [], bytes: 0 };
}

/** Notifies the transactions that have read staged records of these batches, now discarded. */
function notifyDependents(batches: readonly Batch[]): void {
  for (const { dependents } of batches) {
    for (const complete of dependents) complete(false);
  }
}

/** How many of the first transactions fit in `bytesMax` together; at least one. */
function countWithin(submissions: readonly StagedSubmission[], bytesMax: number): number {
  let bytes = 0;
  for (const [index, { transaction }] of submissions.entries()) {
    bytes += transaction.bytes;
    if (bytes > bytesMax) return Math.max(index, 1);
  }
  return submissions.length;
}

/** The window closes after so many turns of the event loop in a row without a new transaction. */
const QUIET_TURNS = 2;
/** The window closes after so many turns in any case. */
const TURNS_MAX = 8;
/** The window closes at so many bytes. A batch may be larger: one turn may bring more. */
const WINDOW_BYTES_MAX = 4 << 20;

/**
 * Decides when a batch has gathered enough transactions to be written. It sets no timer.
 *
 * Without the window 64 connections fall into cohorts that take turns. With one quiet turn they
 * still do, as the question is asked before the request bodies of the same turn arrive: that made a
 * third more batches, and a durable write took a twelfth more CPU time with 64 connections, a tenth
 * more with 8.
 */
export class BatchWindow {
  #lastCount = 0;
  #turns = 0;
  /** Turns in a row without a new transaction. */
  #quietTurns = 0;

  /**
   * Counts one turn, at whose end `transactions` have gathered, of `bytes` in all. Returns whether
   * the window closes with it; the next call opens another window.
   */
  countTurn(transactions: number, bytes: number): boolean {
    this.#turns += 1;
    this.#quietTurns = transactions === this.#lastCount ? this.#quietTurns + 1 : 0;
    const isOver = this.#quietTurns >= QUIET_TURNS || this.#turns >= TURNS_MAX
      || bytes >= WINDOW_BYTES_MAX;
    this.#lastCount = transactions;
    if (isOver) this.#lastCount = this.#turns = this.#quietTurns = 0;
    return isOver;
  }
}

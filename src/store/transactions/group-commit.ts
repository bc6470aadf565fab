/**
 * Transactions become durable together. They gather while the last batch syncs and for as long as
 * the next turns of the loop bring more (no timer): one write, one fdatasync, then all of them are
 * applied and all waiters answered in one turn.
 *
 * A batch ends committed, refused (surely not on disk: it was cut off again, service goes on), or
 * unknown (a sync failed: it is never tried again, and nothing in this process is acknowledged
 * any more). Where a batch fails, everything that was staged fails with it.
 */
import { assert } from '../../base/assert.ts';
import type { Clock, Timer } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { FailureLog } from './failure-log.ts';
import { GatherPace } from './batch-window.ts';
import { errorOf, type AppendFailure, type Journal } from '../journal/journal-file.ts';
import { LineEncoder } from '../journal/line.ts';
import type { Transaction, Urgency } from '../port.ts';
import { StagedTransaction, newBatch, rejectAll, urgencyOf } from './staging.ts';
import type { Batch, Staging } from './staging.ts';
import { SyncPolicy } from '../journal/sync-policy.ts';

const PAUSE_MS = 100;

export type GroupCommitOptions = {
  readonly journal: Journal;
  /** The last sequence on disk. */
  readonly sequence: number;
  readonly staging: Staging;
  readonly stagedBytesMax: number;
  readonly clock: Clock;
  readonly failureLog: FailureLog;
  readonly onCommit: () => void;
  /** The disk has other work: blocking for it would take long. */
  readonly isDiskBusy: () => boolean;
  /** Told when writing fails; `unknown` is for good. */
  readonly onFailure: (kind: AppendFailure['kind']) => void;
};

export class GroupCommit {
  commits = 0;
  transactions = 0;
  readonly #options: GroupCommitOptions;
  readonly #policy = new SyncPolicy();
  readonly #encoder = new LineEncoder();
  #journal: Journal;
  #sequence: number;
  #gathering: Batch = newBatch(1);
  #syncing: Batch | null = null;
  #isBusy = false;
  #isScheduled = false;
  readonly #pace = new GatherPace();
  #exclusives: (() => void)[] = [];
  #failure: AppError | null = null;
  #isClosed = false;
  #isMarked = true;
  #pauseTimer: Timer | null = null;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
    this.#journal = options.journal;
    this.#sequence = options.sequence;
  }

  get sequence(): number { return this.#sequence; }

  get journal(): Journal { return this.#journal; }

  /** Why nothing is written now: `unknown_outcome` stays, the others pass. */
  get failure(): AppError | null { return this.#failure; }

  /** See `Store.transact`. */
  submit<T>(prepare: (transaction: Transaction) => T, urgency?: Urgency): Promise<T> {
    const unfit = this.#findUnfitness();
    if (unfit !== null) return Promise.reject(unfit);
    const transaction = new StagedTransaction(this.#options.staging, urgency);
    let result: T;
    try {
      result = prepare(transaction);
    } catch (error) {
      transaction.undo();
      const fail = (): T => {
        throw error;
      };
      if (transaction.restsOn === null) return new Promise(fail);
      return this.#follow(transaction.restsOn, prepare, fail);
    }
    transaction.end();
    if (transaction.operations.length === 0) {
      if (transaction.restsOn === null) return Promise.resolve(result);
      return this.#follow(transaction.restsOn, prepare, () => result);
    }
    if (this.#failure?.code === 'unknown_outcome') {
      transaction.undo();
      return Promise.reject(this.#failure);
    }
    return new Promise((resolve, reject) => {
      transaction.resolve = () => resolve(result);
      transaction.reject = reject;
      this.#join(transaction);
    });
  }

  /** Runs while no batch is under way, and holds the next ones until it is done. */
  async exclusive<T>(run: () => Promise<T>): Promise<T> {
    if (this.#isBusy) await new Promise<void>((resolve) => this.#exclusives.push(resolve));
    this.#isBusy = true;
    try {
      return await run();
    } finally {
      this.#isBusy = false;
      this.#goOn();
    }
  }

  /** Goes on in another journal. Only inside `exclusive`. */
  async switchTo(journal: Journal): Promise<void> {
    assert(this.#isBusy);
    this.#encoder.clear();
    this.#encoder.addNext(this.#sequence, journal.generation);
    const failure = await this.#journal.append(this.#encoder.bytes);
    // The journals chain without the note too; it only tells when the new one is lost.
    if (failure?.kind === 'unknown') throw this.#failStaged(failure, []);
    this.#journal.close();
    this.#journal = journal;
    this.#isMarked = true;
  }

  /** Says that writing has paused; false when it could not be written. */
  mark(): Promise<boolean> {
    return this.#note(() => this.#encoder.addMark(this.#sequence));
  }

  /** Says that the journal's generation has all its snapshots. */
  noteSnapshots(collections: readonly string[]): Promise<boolean> {
    return this.#note(() => this.#encoder.addSnapshots(this.#sequence, collections));
  }

  /** There is room again. */
  recover(): void {
    if (this.#failure === null || this.#failure.code === 'unknown_outcome') return;
    this.#failure = null;
    this.#options.failureLog.note(null);
  }

  /** Lets what is staged end, leaves a mark, and takes no more. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#pauseTimer?.cancel();
    while (this.#gathering.transactions.length > 0 || this.#syncing !== null) {
      await new Promise(setImmediate);
    }
    if (!this.#isMarked) await this.mark();
    await this.exclusive(async () => this.#journal.close());
    this.#options.failureLog.close();
  }

  #note(encode: () => void): Promise<boolean> {
    return this.exclusive(async () => {
      if (this.#failure !== null) return false;
      this.#encoder.clear();
      encode();
      const failure = await this.#journal.append(this.#encoder.bytes);
      if (failure === null) this.#isMarked = true;
      else if (failure.kind === 'unknown') this.#failStaged(failure, []);
      else this.#fail(failure);
      return failure === null;
    });
  }

  #findUnfitness(): AppError | null {
    if (this.#isClosed) return new AppError('unavailable', 'the store is closed');
    const stagedBytes = this.#gathering.bytes + (this.#syncing?.bytes ?? 0);
    if (stagedBytes < this.#options.stagedBytesMax) return null;
    return new AppError('unavailable', 'too many writes are waiting', { retryAfterS: 1 });
  }

  /** What rests on a batch is told after it; if the batch fails, it runs again. */
  #follow<T>(
    batch: Batch, prepare: (transaction: Transaction) => T, settle: () => T,
  ): Promise<T> {
    return new Promise<boolean>((resolve) => batch.followers.push(resolve))
      .then((isCommitted) => isCommitted ? settle() : this.submit(prepare));
  }

  #join(transaction: StagedTransaction): void {
    transaction.join(this.#gathering);
    this.#goOn();
  }

  #goOn(): void {
    if (this.#isBusy || this.#isScheduled) return;
    const waiting = this.#exclusives.shift();
    if (waiting !== undefined) {
      this.#isBusy = true;
      waiting();
    } else if (this.#gathering.transactions.length > 0) {
      this.#isScheduled = true;
      setImmediate(() => this.#turn());
    }
  }

  #turn(): void {
    this.#isScheduled = false;
    if (this.#isBusy) return;
    const { transactions, bytes } = this.#gathering;
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#exclusives.length === 0 && !this.#pace.isOver(transactions.length, bytes, nowMs)) {
      this.#isScheduled = true;
      setImmediate(() => this.#turn());
      return;
    }
    this.#pace.reset();
    this.#commit();
  }

  #commit(): void {
    const batch = this.#gathering;
    this.#gathering = newBatch(batch.number + 1);
    this.#syncing = batch;
    this.#options.staging.seal();
    this.#isBusy = true;
    this.#encoder.clear();
    let sequence = this.#sequence;
    for (const { operations } of batch.transactions) {
      sequence += 1;
      this.#encoder.addTransaction(sequence, this.#sequence, operations);
    }
    const { bytes } = this.#encoder;
    const { clock, isDiskBusy } = this.#options;
    const startedMs = clock.monotonicMs();
    const finish = (failure: AppendFailure | null, tookMs: number): void => {
      this.#pace.noteSync(tookMs);
      this.#finish(batch, failure);
    };
    const way = this.#policy.choose(bytes.length, isDiskBusy(), urgencyOf(batch));
    if (way !== 'loop') {
      void this.#journal.append(bytes, way === 'pool')
        .then((failure) => finish(failure, clock.monotonicMs() - startedMs));
      return;
    }
    const failure = this.#journal.appendBlocking(bytes);
    const tookMs = clock.monotonicMs() - startedMs;
    this.#policy.record(tookMs);
    finish(failure, tookMs);
  }

  #finish(batch: Batch, failure: AppendFailure | null): void {
    this.#syncing = null;
    this.#isBusy = false;
    if (failure === null) this.#finishCommitted(batch);
    else this.#failStaged(failure, [batch]);
    this.#goOn();
  }

  #finishCommitted(batch: Batch): void {
    this.#sequence += batch.transactions.length;
    this.#isMarked = false;
    this.commits += 1;
    this.transactions += batch.transactions.length;
    this.recover();
    for (const transaction of batch.transactions) this.#options.staging.apply(transaction);
    this.#options.staging.dropSealed();
    for (const transaction of batch.transactions) transaction.resolve();
    for (const follower of batch.followers) follower(true);
    this.#expectPause();
    this.#options.onCommit();
  }

  /** With what was being synced, if anything was, all that has gathered on it fails. */
  #failStaged(failure: AppendFailure, syncing: readonly Batch[]): AppError {
    const batches = [...syncing, this.#gathering];
    this.#gathering = newBatch(this.#gathering.number + 1);
    this.#options.staging.abandonAll(batches);
    const error = this.#fail(failure);
    rejectAll(batches, error);
    return error;
  }

  #fail(failure: AppendFailure): AppError {
    const { kind } = failure;
    const error = errorOf(failure);
    this.#failure = error;
    this.#options.failureLog.note(error);
    this.#options.onFailure(kind);
    return error;
  }

  /** Leaves a mark once nothing has been written for a while. */
  #expectPause(): void {
    if (this.#pauseTimer !== null || this.#isClosed) return;
    const sequence = this.#sequence;
    this.#pauseTimer = this.#options.clock.startTimer(PAUSE_MS, () => {
      this.#pauseTimer = null;
      if (this.#isMarked || this.#isClosed || this.#failure !== null) return;
      if (this.#sequence !== sequence) this.#expectPause();
      else void this.mark();
    });
  }
}

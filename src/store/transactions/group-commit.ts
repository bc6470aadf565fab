/**
 * Transactions become durable together. They gather while the last batch is written and for as long
 * as the next turns of the loop bring more (no timer): one append to the journal, then all of them
 * are applied and all waiters answered in one turn. Where a batch fails, everything that was staged
 * fails with it.
 */
import { AppError } from '../../base/errors.ts';
import type { Journal, Operation } from '../journal/port.ts';
import type { CommittedChange, Transaction } from '../port.ts';
import { BatchWindow } from './batch-window.ts';
import type { ChangeFeed } from './change-feed.ts';
import { StagedTransaction, newBatch, rejectAll } from './staging.ts';
import type { Batch, Staging } from './staging.ts';

type GroupCommitOptions = {
  readonly journal: Journal;
  readonly staging: Staging;
  readonly feed: ChangeFeed;
  readonly stagedBytesMax: number;
};

export class GroupCommit {
  commits = 0;
  transactions = 0;
  readonly #options: GroupCommitOptions;
  readonly #window = new BatchWindow();
  #gathering: Batch = newBatch(1);
  #syncing: Batch | null = null;
  /** The window is open, or a batch is on its way. */
  #isBusy = false;
  #isClosed = false;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
  }

  /** See `Store.transact`. */
  submit<T>(prepare: (transaction: Transaction) => T): Promise<T> {
    const refusal = this.#findRefusal();
    if (refusal !== null) return Promise.reject(refusal);
    const transaction = new StagedTransaction(this.#options.staging);
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
    const { failure } = this.#options.journal;
    if (failure?.code === 'unknown_outcome') {
      transaction.undo();
      return Promise.reject(failure);
    }
    return new Promise((resolve, reject) => {
      transaction.resolve = () => resolve(result);
      transaction.reject = reject;
      transaction.join(this.#gathering);
      this.#goOn();
    });
  }

  /** Lets what is staged end, and takes no more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    while (this.#isBusy) await new Promise(setImmediate);
  }

  #findRefusal(): AppError | null {
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

  #goOn(): void {
    if (this.#isBusy || this.#gathering.transactions.length === 0) return;
    this.#isBusy = true;
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    const { transactions, bytes } = this.#gathering;
    if (this.#window.isOver(transactions.length, bytes)) {
      this.#options.journal.append({
        prepare: () => this.#seal(),
        settle: (error) => this.#settle(error),
      });
    } else {
      setImmediate(() => this.#turn());
    }
  }

  #seal(): readonly (readonly Operation[])[] {
    const batch = this.#gathering;
    this.#gathering = newBatch(batch.number + 1);
    this.#syncing = batch;
    this.#options.staging.seal();
    return batch.transactions.map(({ operations }) => operations);
  }

  #settle(error: AppError | null): void {
    const batch = this.#syncing;
    this.#syncing = null;
    this.#isBusy = false;
    if (error !== null) this.#failStaged(error, batch === null ? [] : [batch]);
    else if (batch !== null) this.#finish(batch);
    this.#goOn();
  }

  #finish(batch: Batch): void {
    this.commits += 1;
    this.transactions += batch.transactions.length;
    this.#apply(batch.transactions);
    this.#options.staging.dropSealed();
    for (const transaction of batch.transactions) transaction.resolve();
    for (const follower of batch.followers) follower(true);
  }

  #apply(transactions: readonly StagedTransaction[]): void {
    const { staging, feed, journal } = this.#options;
    let sequence = journal.sequence - transactions.length;
    for (const transaction of transactions) {
      sequence += 1;
      if (feed.isFollowed) {
        const changes: CommittedChange[] = [];
        staging.apply(transaction, (change) => changes.push(change));
        feed.tell(sequence, changes);
      } else {
        staging.apply(transaction);
      }
    }
  }

  /** With what was being written, if anything was, all that has gathered on it fails. */
  #failStaged(error: AppError, syncing: readonly Batch[]): void {
    const batches = [...syncing, this.#gathering];
    this.#gathering = newBatch(this.#gathering.number + 1);
    this.#options.staging.abandonAll(batches);
    rejectAll(batches, error);
  }
}

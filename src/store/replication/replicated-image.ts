/**
 * The records in memory as a prefix of the log: which one it is, and how entries are added to it.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { assert } from '../../base/assert.ts';
import { AppError } from '../../base/errors.ts';
import type { LogEntry, LogHead, LogPosition } from '../engines/engine.ts';
import type { StoredCollection } from '../records/collection.ts';
import type { ChangeFeed } from '../transactions/change-feed.ts';
import { applyTransactions, checkCollections } from './applier.ts';
import { findBreak, isSamePosition } from './log-chain.ts';
import { createClosedError, findClosing } from './log-closing.ts';
import type { LogClosing } from './log-closing.ts';
import { checkFormat, decodeEntries } from './log-entry.ts';

/** What of the store has to know when others' entries are applied. */
export interface Writers {
  readonly feed: ChangeFeed;
  readonly onListenerError: (error: unknown) => void;
  /** Calls `apply`; what is staged on the state before it runs again. */
  rebase(apply: () => void): void;
  /** What is staged fails. */
  rejectAll(error: AppError): void;
}

// Applied in some milliseconds.
const TURN_BYTES = 256 << 10;

type SequenceWaiter = { readonly sequence: number; readonly tell: () => void };

export class ReplicatedImage {
  readonly collections: ReadonlyMap<string, StoredCollection>;
  log: string;
  /** Of what is applied. */
  position: LogPosition;
  /** The highest sequence that was seen in the log. */
  headSequence: number;
  /** Bytes of the log that were applied since a snapshot was last made or loaded. */
  appliedBytes = 0;
  /** Why the log is not the one that was applied; null: it is, as far as is known. */
  divergence: string | null = null;
  /** What ended the log for good, directly after `position`; null: nothing has, as far as known. */
  closing: LogClosing | null = null;
  /** Null while the image is loaded, and nobody else knows it. */
  writers: Writers | null = null;
  /** Any client may add some, so that each must leave in no time. */
  readonly #waiters = new Set<SequenceWaiter>();

  constructor(
    collections: ReadonlyMap<string, StoredCollection>, log: string, position: LogPosition,
  ) {
    this.collections = collections;
    this.log = log;
    this.position = position;
    this.headSequence = position.sequence;
  }

  /**
   * Applies those of others' entries that are not yet; false, and nothing is, when they do not
   * continue what is applied. Throws `misconfigured` where the log is closed, once all that stands
   * before that is applied.
   */
  accept(read: readonly LogEntry[]): boolean {
    let { position } = this;
    const entries = read.filter(({ sequence }) => sequence > this.position.sequence);
    for (const entry of entries) {
      const reason = findBreak(position, entry);
      if (reason !== null) {
        this.divergence = reason;
        return false;
      }
      position = entry;
    }
    const transactions = decodeEntries(entries);
    if (transactions.length === 0) return true;
    const match = findClosing(transactions);
    if (match !== null) {
      this.accept(entries.filter(({ sequence }) => sequence < match.sequence));
      this.closing = match.closing;
      throw createClosedError(match.closing);
    }
    checkCollections(this.collections, transactions);
    const apply = (): void => {
      applyTransactions({
        collections: this.collections,
        feed: this.writers?.feed ?? null,
        onListenerError: (error) => {
          if (this.writers === null) throw error;
          this.writers.onListenerError(error);
        },
      }, transactions);
      for (const entry of entries) this.advance(entry);
    };
    if (this.writers === null) apply();
    else this.writers.rebase(apply);
    return true;
  }

  /**
   * The same for many entries, in turns between which others are served: 12 MiB at once held the
   * loop of a busy machine for more than a second.
   */
  async acceptInTurns(entries: readonly LogEntry[]): Promise<boolean> {
    for (let start = 0; start < entries.length;) {
      if (start > 0) await nextTurn();
      let bytes = 0;
      const last = entries.slice(start)
        .findIndex(({ lines }) => (bytes += lines.length) >= TURN_BYTES);
      const end = last < 0 ? entries.length : start + last + 1;
      if (!this.accept(entries.slice(start, end))) return false;
      start = end;
    }
    return true;
  }

  /** An entry is applied, or is about to be in this turn. */
  advance({ first, sequence, chain, lines }: LogEntry): void {
    assert(first === this.position.sequence + 1, 'an entry follows what is applied');
    this.#moveTo({ sequence, chain });
    this.appliedBytes += lines.length;
  }

  /** Everything was loaded anew. */
  reset(log: string, position: LogPosition): void {
    this.log = log;
    this.divergence = null;
    this.closing = null;
    this.headSequence = position.sequence;
    this.#moveTo(position);
    this.appliedBytes = 0;
  }

  /**
   * Whether the log may continue what is applied; false: it surely does not (`divergence`). Throws
   * `misconfigured` for one that only a newer version can read.
   */
  checkHead(head: LogHead | null): boolean {
    this.checkLog(head);
    const { sequence } = this.position;
    if (head.sequence < sequence) {
      this.divergence = `the log ends at ${head.sequence}, and ${sequence} was applied here`;
    } else if (head.sequence === sequence && !isSamePosition(head, this.position)) {
      this.divergence = `another transaction ${sequence} is in the log than was applied here`;
    } else if (head.floor > sequence) {
      this.divergence = `the log begins at ${head.floor}, and only ${sequence} was applied here`;
    } else {
      this.headSequence = Math.max(this.headSequence, head.sequence);
    }
    return this.divergence === null;
  }

  /**
   * Throws where it is not the log that was followed: what is held here may be all that is left of
   * that one, and is kept, and read, until somebody sees to it.
   */
  checkLog(head: LogHead | null): asserts head is LogHead {
    if (head === null) {
      throw new AppError('not_found', `the engine holds the log ${this.log} no more: put its `
        + 'backup back, or name the right database');
    }
    checkFormat(head);
    if (head.log === this.log) return;
    throw new AppError('misconfigured', `the engine holds another log (${head.log}) than this node `
      + `has followed (${this.log}): name the right database, or start this node again to take `
      + 'what is there');
  }

  /** Calls `tell` once what is committed up to `sequence` is applied. Returns what ends it. */
  whenReached(sequence: number, tell: () => void): () => void {
    const waiter = { sequence, tell };
    if (this.position.sequence >= sequence) tell();
    else this.#waiters.add(waiter);
    return () => void this.#waiters.delete(waiter);
  }

  #moveTo(position: LogPosition): void {
    this.position = position;
    this.headSequence = Math.max(this.headSequence, position.sequence);
    for (const waiter of this.#waiters) {
      if (waiter.sequence > position.sequence) continue;
      this.#waiters.delete(waiter);
      waiter.tell();
    }
  }
}

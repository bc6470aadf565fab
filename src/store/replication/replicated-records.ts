/**
 * The records of a node in memory, which are always a whole prefix of the log: all that its entries
 * up to `position` have written. Entries are applied only if they continue that prefix.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { assert } from '../../base/assert.ts';
import { AppError } from '../../base/errors.ts';
import type { LogEntry, LogHead, LogPosition } from '../engines/engine.ts';
import type { RecoverySource } from '../generations/recovery.ts';
import { createCollections } from '../records/collection.ts';
import type { StoredCollection } from '../records/collection.ts';
import { UNFOLLOWED, checkCollections } from '../transactions/change-feed.ts';
import type { GroupCommit } from '../transactions/group-commit.ts';
import { checkFormat, decodeEntries, findBreak, isSamePosition, LOG_START } from './log-entry.ts';
import { createClosedError, findClosing } from './log-closing.ts';
import type { LogClosing } from './log-closing.ts';

/**
 * Bytes of lines that are applied in one turn of the event loop. It takes 3 ms where each implies
 * one delivery, and 6 where each implies 250.
 */
const TURN_BYTES = 64 << 10;

type SequenceWaiter = { readonly sequence: number; readonly notify: () => void };

export class ReplicatedRecords {
  readonly collections: ReadonlyMap<string, StoredCollection>;
  /** The UUID of the log. */
  logId: string;
  /** The position of the last entry that is applied. */
  position: LogPosition;
  headSequence: number;
  /** Bytes of the log that were applied since a snapshot was last written or loaded. */
  appliedBytes = 0;
  /** Why the log does not continue the records; null: it does, as far as is known. */
  divergence: string | null = null;
  /** The entry directly after `position` that ends the log for good; null: none was read. */
  closing: LogClosing | null = null;
  /** This node's transactions; null until the records are loaded: nobody uses them before. */
  commit: GroupCommit | null = null;
  /** A set, since any client may add a waiter, which must be removed in constant time. */
  readonly #waiters = new Set<SequenceWaiter>();

  constructor(
    collections: ReadonlyMap<string, StoredCollection>, logId: string, position: LogPosition,
  ) {
    this.collections = collections;
    this.logId = logId;
    this.position = position;
    this.headSequence = position.sequence;
  }

  /**
   * Applies other nodes' entries, but for those that are applied already. Returns false if they do
   * not continue the records (`divergence`): nothing is applied then. Throws `misconfigured` if an
   * entry closes the log, once the entries before it are applied.
   */
  accept(entriesRead: readonly LogEntry[]): boolean {
    let { position } = this;
    const entries = entriesRead.filter(({ sequence }) => sequence > this.position.sequence);
    for (const entry of entries) {
      const reason = findBreak(position, entry);
      if (reason !== null) {
        this.divergence = reason;
        return false;
      }
      position = entry;
    }
    const transactions = decodeEntries(entries, this.collections);
    if (transactions.length === 0) return true;
    const logEnd = findClosing(transactions);
    if (logEnd !== null) {
      this.accept(entries.filter(({ sequence }) => sequence < logEnd.sequence));
      this.closing = logEnd.closing;
      throw createClosedError(logEnd.closing);
    }
    checkCollections(this.collections, transactions);
    const apply = (): void => {
      const feed = this.commit?.feed ?? UNFOLLOWED;
      for (const { sequence, operations } of transactions) {
        feed.apply(this.collections, sequence, operations);
      }
      for (const entry of entries) this.advance(entry);
    };
    if (this.commit === null) apply();
    else this.commit.rebase(apply);
    return true;
  }

  /**
   * Does as `accept` does for many entries, in turns between which requests are served: 12 MiB at
   * once held the event loop of a busy machine for more than a second.
   */
  async acceptInTurns(entries: readonly LogEntry[]): Promise<boolean> {
    for (let start = 0; start < entries.length;) {
      if (start > 0) await nextTurn();
      const end = findTurnEnd(entries, start);
      if (!this.accept(entries.slice(start, end))) return false;
      start = end;
    }
    return true;
  }

  /**
   * Moves `position` to the end of an entry, and calls those who wait for it. `accept` calls it
   * after it has applied the entry. The appender calls it for this node's own entry, and then has
   * the group commit apply that entry synchronously (`onEnded`), so that no code sees the new
   * position without the entry's changes but the callbacks of `whenReached`.
   */
  advance({ first, sequence, chain, lines }: LogEntry): void {
    assert(first === this.position.sequence + 1, 'an entry follows what is applied');
    this.#moveTo({ sequence, chain });
    this.appliedBytes += lines.length;
  }

  /** Starts again from `position`, whose records were loaded. */
  reset(logId: string, position: LogPosition): void {
    this.logId = logId;
    this.divergence = null;
    this.closing = null;
    this.headSequence = position.sequence;
    this.#moveTo(position);
    this.appliedBytes = 0;
  }

  /**
   * Returns false if the log surely does not continue the records (`divergence`): it ends before
   * them, has another entry at their position, or lacks entries that would follow them, since these
   * were removed (`LogHead.floor`). Throws as `checkLog` does.
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
   * Throws `not_found` if there is no log, and `misconfigured` for another log or another format.
   * The records here may be all that is left of the log then, so they stay, and are read, until
   * somebody mends the engine.
   */
  checkLog(head: LogHead | null): asserts head is LogHead {
    if (head === null) {
      throw new AppError('not_found', `the engine holds the log ${this.logId} no more: put its `
        + 'backup back, or name the right database');
    }
    checkFormat(head);
    if (head.log === this.logId) return;
    throw new AppError('misconfigured', `the engine holds another log (${head.log}) than this node `
      + `has followed (${this.logId}): name the right database, or start this node again to take `
      + 'what is there');
  }

  /**
   * Calls `notify` once `position` has reached `sequence`, which may be within this call. `notify`
   * reads no records itself: it resolves a promise, so that all changes up to there are applied
   * before anybody goes on (see `advance`). Returns a function that ends the wait.
   */
  whenReached(sequence: number, notify: () => void): () => void {
    const waiter = { sequence, notify };
    if (this.position.sequence >= sequence) notify();
    else this.#waiters.add(waiter);
    return () => void this.#waiters.delete(waiter);
  }

  #moveTo(position: LogPosition): void {
    this.position = position;
    this.headSequence = Math.max(this.headSequence, position.sequence);
    for (const waiter of this.#waiters) {
      if (waiter.sequence > position.sequence) continue;
      this.#waiters.delete(waiter);
      waiter.notify();
    }
  }
}

/** The records at the start of a log: none. */
export function createEmptyRecords(
  { specs, limits }: Pick<RecoverySource, 'specs' | 'limits'>, log: string,
): ReplicatedRecords {
  return new ReplicatedRecords(createCollections(specs, limits), log, LOG_START);
}

/** The index behind the entries from `start` on that one turn applies: at least one of them. */
function findTurnEnd(entries: readonly LogEntry[], start: number): number {
  let end = start;
  for (let bytes = 0; end < entries.length && bytes < TURN_BYTES; end += 1) {
    bytes += entries[end]?.lines.length ?? 0;
  }
  return end;
}

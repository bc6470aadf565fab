/**
 * Says which process may attempt which queue. Where several processes share one log, each queue (of
 * a webhook, or of the forwards to one host) is attempted by one process at a time. A single
 * process owns all queues, and asking costs nothing.
 */
import type { Transaction } from '../../store/store-port.ts';

/** The right to attempt the tasks of some queues, until it ends. */
export interface QueueLease {
  /** Whether an attempt may begin now. If so, the caller must call `endAttempt` after it. */
  beginAttempt(): boolean;
  endAttempt(): void;
  /** Whether the attempt may go on, asked just before its request is written. */
  mayContinue(): boolean;
  /** Aborted when no attempt may be under way any more. null: the lease never ends. */
  readonly endSignal: AbortSignal | null;
  /** Whether the lease is held in this transaction. If not, no result may be written. */
  isHeld(transaction: Transaction): boolean;
}

export interface Ownership {
  findLease(key: string): QueueLease | null;
  /** False while no attempt may begin at all. `onChange` tells when that is over. */
  mayBegin(): boolean;
  /** Whether this node does what one node does for all: it removes old records and runs jobs. */
  isMaintainer(): boolean;
  /** Calls `listener` when leases came or went, or attempts may begin again. */
  onChange(listener: () => void): () => void;
}

const PERMANENT_LEASE: QueueLease = {
  beginAttempt: () => true, endAttempt() {}, mayContinue: () => true, endSignal: null,
  isHeld: () => true,
};

export const ALL_OWNED: Ownership = {
  findLease: () => PERMANENT_LEASE, mayBegin: () => true, isMaintainer: () => true,
  onChange: () => () => {},
};

/** Owns all as well, and begins nothing: what is due waits. */
export const PAUSED: Ownership = { ...ALL_OWNED, mayBegin: () => false };

/** Resolves with null as soon as `cutOff` aborts: nobody can use the result after that. */
export function unlessCutOff<T>(promise: Promise<T>, cutOff: AbortSignal): Promise<T | null> {
  if (cutOff.aborted) {
    promise.catch(() => {});
    return Promise.resolve(null);
  }
  return new Promise((resolve, reject) => {
    const onCutOff = (): void => resolve(null);
    cutOff.addEventListener('abort', onCutOff);
    promise.then(resolve, reject).finally(() => cutOff.removeEventListener('abort', onCutOff));
  });
}

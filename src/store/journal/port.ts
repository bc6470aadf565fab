/**
 * The journal as the store sees it: the committed transactions in their order, and snapshots to
 * start from. Files in one directory are its one implementation (generations/file-journal.ts);
 * nothing here names a file, so that the replicated log of an existing engine can stand there too.
 * A journal is opened by replaying what it holds: for files, `assess` of generations/recovery.ts.
 */
import type { AppError } from '../../base/errors.ts';
import type { LogReader } from '../port.ts';

/** Puts a record in the place of its id, or deletes it. */
export type Operation = {
  readonly collectionName: string;
  readonly id: string;
  /** The record; null deletes it. */
  readonly bytes: Buffer | null;
};

export type Append = {
  /** The operations of each transaction. Called once what was committed before has been applied. */
  prepare(): readonly (readonly Operation[])[];
  /**
   * Told how it ended, before anything else is committed. Null: committed, to be applied now. An
   * error: refused, so that nothing of it is written, or with the code `unknown_outcome`, after
   * which the journal takes no more. `prepare` has not been called when it had come to that before.
   */
  settle(error: AppError | null): void;
};

export interface Journal {
  /** That of the last transaction committed. */
  readonly sequence: number;
  /** Why nothing can be written now: `unknown_outcome` is for good, the others pass. */
  readonly failure: AppError | null;
  /** Commits what `prepare` returns, all or nothing, directly after what is committed. */
  append(append: Append): void;
  /** Reads what was committed after `sequence`; null when that is no longer there. */
  read(sequence: number): Promise<LogReader | null>;
  readonly snapshots: Snapshots;
  /** Idempotent; nothing may be appended any more. */
  close(): Promise<void>;
}

export interface Snapshots {
  readonly isRunning: boolean;
  /** When this process last wrote one, in milliseconds since the epoch; null: not yet. */
  readonly writtenMs: number | null;
  /** Resolves when one that holds everything committed before the call is durable. */
  write(): Promise<void>;
}

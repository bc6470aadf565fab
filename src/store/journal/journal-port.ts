/**
 * The journal as the store sees it: the committed transactions in order, and snapshots to start
 * from. The files of one directory hold it (store/generations/file-journal.ts), or an engine that
 * several nodes share (store/replication/engine-journal.ts).
 */
import type { AppError } from '../../base/errors.ts';
import type { LogReader, Operation } from '../store-port.ts';

export type JournalAppend = {
  /**
   * Returns the operations of each transaction to write. Called when everything committed has been
   * applied; called again when another node's transactions were committed and applied meanwhile,
   * and may then return others.
   */
  collectOperations(): readonly (readonly Operation[])[];
  /**
   * Called when the append has ended, before anything else is committed. Null: the transactions are
   * committed, and must be applied now. An error: nothing of them is written, or the code is
   * `unknown_outcome`. If `Journal.failure` is another error, later transactions are refused with
   * that one. `collectOperations` may not have been called if nothing could be written at all.
   */
  onWritten(error: AppError | null): void;
};

export interface Journal {
  /** The last transaction committed. */
  readonly sequence: number;
  /** Why nothing can be written now. `unknown_outcome` is permanent, other errors pass. */
  readonly failure: AppError | null;
  /** Why no transaction may run now: the records are being loaded anew. Null otherwise. */
  readonly rejection: AppError | null;
  /** Whether other nodes write to it as well. */
  readonly isShared: boolean;
  /** Whether others will probably commit before the next append, so that staged work is lost. */
  readonly isContended: boolean;
  /** The maximum of an append, in bytes of lines. A transaction that is larger is refused. */
  readonly maxBatchBytes: number;
  /** The maximum of all records together; at it, transactions that add to them are refused. */
  readonly maxRecordBytes: number;
  /** Resolves when everything that any node had committed before the call is applied. */
  catchUp(): Promise<void>;
  /** Commits what `collectOperations` returns, all or nothing. */
  append(append: JournalAppend): void;
  /** A reader of what was committed after `sequence`; null when that is no longer there. */
  read(sequence: number): Promise<LogReader | null>;
  readonly snapshots: Snapshots;
  /** Idempotent. Nothing may be appended after it. */
  close(): Promise<void>;
}

export interface Snapshots {
  readonly isRunning: boolean;
  /** When this process last wrote one, in milliseconds since the epoch; null before. */
  readonly writtenMs: number | null;
  /** Writes one. Resolves when it is durable; it holds all that was committed before the call. */
  write(): Promise<void>;
}

/**
 * The journal as the store sees it: the committed transactions in their order, and snapshots to
 * start from. It is kept in the files of one directory (generations/file-journal.ts), or by an
 * engine that several nodes share (replication/engine-journal.ts).
 */
import type { AppError } from '../../base/errors.ts';
import type { LogReader, Operation } from '../store-port.ts';

export type JournalAppend = {
  /**
   * The operations of each transaction. Called once what was committed before has been applied;
   * called again, perhaps for others, when something else was committed and applied meanwhile.
   */
  collectOperations(): readonly (readonly Operation[])[];
  /**
   * Told how it ended, before anything else is committed. Null: committed, to be applied now. An
   * error: refused, so that nothing of it is written, or with the code `unknown_outcome`. Where
   * `failure` differs, that is why what was not handed over yet is refused too. `prepare` has not
   * been called when nothing could be written to begin with.
   */
  onWritten(error: AppError | null): void;
};

export interface Journal {
  /** That of the last transaction committed. */
  readonly sequence: number;
  /** Why nothing can be written now: `unknown_outcome` is for good, the others pass. */
  readonly failure: AppError | null;
  /** Why no transaction may run now: what it would read is being loaded anew. */
  readonly rejection: AppError | null;
  /** Whether others write to it as well. */
  readonly isShared: boolean;
  /** Others are likely to commit before the next append: what is staged for it would run again. */
  readonly isContended: boolean;
  /** At most so many bytes of lines go in one append; the lines of one transaction fit in it. */
  readonly maxBatchBytes: number;
  /** What all records may take together; what adds to them is refused from then on. */
  readonly maxRecordBytes: number;
  /** Resolves when all that anybody had committed before the call is applied. */
  catchUp(): Promise<void>;
  /** Commits what `prepare` returns, all or nothing, directly after what is committed. */
  append(append: JournalAppend): void;
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

/**
 * The journal as the store sees it: the committed transactions in order, and snapshots to start
 * from. The files of one directory hold it (store/generations/file-journal.ts), or an engine that
 * several nodes share (store/replication/engine-journal.ts).
 */
import type { AppError } from '../../base/errors.ts';
import type { LogReader, Operation } from '../store-port.ts';

export interface AppendRequest {
  /**
   * Runs the transactions, and returns the operations of each one that writes something. Called
   * when everything that is committed has been applied; called again when another node's
   * transactions were committed and applied meanwhile, and may then return others. Not called if
   * nothing can be written at all.
   */
  collectOperations(): readonly (readonly Operation[])[];
  /**
   * Called once, when the append has ended and before anything else is committed:
   *
   * - null: the transactions are committed, and must be applied now;
   * - `unknown_outcome`: they may be committed or not;
   * - any other error: they are refused, and nothing of them is written.
   *
   * `Journal.failure` says whether later transactions are refused as well.
   */
  onEnded(error: AppError | null): void;
}

export interface Journal {
  /**
   * The sequence of the last committed transaction; 0 before the first. All up to it are applied,
   * but within `onEnded`: that counts the transactions of the append, which it must apply now.
   */
  readonly sequence: number;
  /**
   * The error with which appends are refused now; null: they are taken. Transactions still run, and
   * transactions that only read succeed. `unknown_outcome` is permanent, other errors pass.
   */
  readonly failure: AppError | null;
  /** Set while the records are being loaded anew: no transaction may run, not even to read. */
  readonly reloadError: AppError | null;
  /** Whether other nodes write to the journal as well. */
  readonly isShared: boolean;
  /** Other nodes will probably commit before the next append, and transactions run twice then. */
  readonly isContended: boolean;
  /** The limit of one append, in bytes of lines: a larger transaction is refused. */
  readonly batchBytesMax: number;
  /** The limit of all records together, at which transactions that add records are refused. */
  readonly recordBytesMax: number;
  /** Resolves when everything that any node had committed before the call is applied. */
  catchUp(): Promise<void>;
  /**
   * Commits what `collectOperations` returns, all or nothing. The next append may begin once
   * `onEnded` is called.
   */
  append(request: AppendRequest): void;
  /** Opens a reader of what was committed after `sequence`; null: some of it is removed by now. */
  read(sequence: number): Promise<LogReader | null>;
  readonly snapshots: Snapshots;
  /** Idempotent. Nothing may be appended after it. */
  close(): Promise<void>;
}

export interface Snapshots {
  readonly isRunning: boolean;
  /** When this process last wrote a snapshot, in milliseconds since the epoch; null before. */
  readonly writtenMs: number | null;
  /** Writes a snapshot of all that was committed before the call. Resolves when it is durable. */
  write(): Promise<void>;
}

/**
 * The port of an engine that keeps the log for several nodes: an existing database (PostgreSQL,
 * etcd), spoken to by one client behind this. An engine appends, reads, watches and keeps parts of
 * snapshots; it knows nothing of transactions, collections or leases, and looks into no line.
 *
 * Every method that rejects does so with an AppError, whose code says what is known:
 * - `unknown_outcome`: the connection is lost, the answer did not come, or the engine could not
 *   say that what it did will last (PostgreSQL's WARNING of a wait that was cancelled). What was
 *   asked may have happened, or may happen yet. The session is not asked again but to close.
 * - any other code (`unavailable`, `misconfigured`, `damaged`, `too_large`, `storage_full`):
 *   refused. Surely nothing was written, and the message says how to mend it.
 *
 * Methods may be called while others are under way, but for `append` and `appendLocked`: one of
 * them at a time. An append that was sent is never cancelled.
 */

/** A place in the log. `chain` is that of the batch that ends there; at sequence 0 it is `''`. */
export type LogPosition = {
  /** Of the last transaction. */
  readonly sequence: number;
  /** SHA-256 in hex of the chain before it, the batch's id, and its lines. */
  readonly chain: string;
};

/** A batch as the log keeps it: the transactions `first` to `sequence`, a line for each. */
export type LogEntry = LogPosition & {
  readonly first: number;
  /** A UUID that its writer has drawn: the same when it is sent again. */
  readonly batchId: string;
  /** Lines of journal/journal-line.ts, each with its line feed: UTF-8 without a NUL. */
  readonly lines: Buffer;
};

/** Where the log ends, and what can be read of it. */
export type LogHead = LogPosition & {
  /** A UUID; the same for as long as it is the same log. */
  readonly log: string;
  /** Of what is in the log; a node refuses one that it does not know. */
  readonly format: number;
  /** Sequence of the oldest entry that is left, which follows a snapshot; 0: all are. */
  readonly floor: number;
};

/** 8 MiB of lines: an answer that has them may end there. */
export const PAGE_BYTES = 8 << 20;

export interface Engine {
  readonly kind: 'postgres' | 'etcd';
  /** For people, without credentials: `postgres://host:5432/db`. */
  readonly name: string;
  /** Bytes of an entry's lines; no larger ones are given to `append`. */
  readonly maxBatchBytes: number;
  /** Bytes of a snapshot's parts together. */
  readonly maxSnapshotBytes: number;
  /**
   * One attempt, that ends within seconds. What the engine needs for a log (tables) is made if
   * missing, or, where `mayCreate` is false, `not_found` is thrown.
   */
  connect(mayCreate?: boolean): Promise<EngineSession>;
  /** Looks and changes nothing: the promise that a session would find. Throws as `connect` does. */
  inspect(): Promise<string>;
}

/** Makes the entry that follows `head`, told the entries before it that were missed; null: none. */
export type BuildEntry = (missed: readonly LogEntry[], head: LogHead) => LogEntry | null;

/** A connection, or some; of no use any more once it was lost. */
export interface EngineSession {
  /** The durability that was found, in words, for the line at the start and for `doctor`. */
  readonly durability: string;
  /** Null while there is no log. */
  head(): Promise<LogHead | null>;
  /** Makes the log; false: another node was first. */
  create(head: LogHead): Promise<boolean>;
  /**
   * Writes something of this node's own durably, and resolves then with the head as it had been
   * read before that write was durable: it is neither stale nor a phantom, that an engine's
   * machine shows and its followers lack. Waits for as long as the quorum is away.
   */
  barrier(node: string): Promise<LogHead | null>;
  /**
   * Commits directly after `expected`. False: the log has gone on, or is another; nothing was
   * written, and nothing that was sent for the same place before can be written any more.
   */
  append(log: string, expected: LogPosition, entry: LogEntry): Promise<boolean>;
  /**
   * For after a conflict. Keeps others from appending, or tries until none came between; calls
   * `build` with the head, and all entries since `from` in order, and commits what it returns
   * directly after that head. Null commits nothing. When `build` is called again, it is told of
   * entries that it was not told of before. Resolves with the entry that was committed. Refused
   * after 2 s in which the others were always first.
   */
  appendLocked(log: string, from: LogPosition, build: BuildEntry): Promise<LogEntry | null>;
  /** The entry of a batch, if it is in the log. */
  findBatch(batchId: string): Promise<LogEntry | null>;
  /**
   * The first `maxEntries` entries with a higher `sequence`, in order, from a primary alone. Fewer
   * only where the log ends, or once they have `PAGE_BYTES`.
   */
  readAfter(sequence: number, maxEntries: number): Promise<readonly LogEntry[]>;
  /**
   * Calls `wake` when others have appended, and where it takes a while to begin, once it has: a
   * hint, which may be lost. Returns what ends it.
   */
  watch(wake: () => void): () => void;
  readonly snapshots: EngineSnapshots;
  /** Removes the entries with a `sequence` below `floor`, and makes that the head's. */
  trim(floor: number): Promise<void>;
  /** Told once when the session is lost while nothing was asked of it. */
  onLost(listener: (error: Error) => void): void;
  /** Idempotent; what is under way ends as `unknown_outcome`. */
  close(): Promise<void>;
}

export interface EngineSnapshots {
  /** Those that are complete, newest first. */
  list(): Promise<readonly EngineSnapshot[]>;
  readPart(at: LogPosition, part: number): Promise<SnapshotPart>;
  /** Parts count from 0; one that is there, of an attempt that was given up, is replaced. */
  writePart(at: LogPosition, part: number, content: SnapshotPart): Promise<void>;
  /** Once all parts are written. */
  complete(at: LogPosition, parts: number): Promise<void>;
  remove(at: LogPosition): Promise<void>;
}

export type EngineSnapshot = LogPosition & { readonly parts: number };

/** Up to 1 MiB, and their SHA-256 in hex, which the engine keeps and need not check. */
export type SnapshotPart = { readonly sha256: string; readonly bytes: Buffer };

/** Whether more may follow what `readAfter` has given of `maxEntries`. */
export function isPageFull(entries: readonly LogEntry[], maxEntries: number): boolean {
  return entries.length === maxEntries
    || entries.reduce((bytes, { lines }) => bytes + lines.length, 0) >= PAGE_BYTES;
}

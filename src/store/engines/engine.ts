/**
 * The port of an engine: an existing database (PostgreSQL, etcd) that keeps the log for several
 * nodes. An engine appends, reads and watches entries, and keeps parts of snapshots. It knows
 * nothing of transactions, collections or leases, and never looks into a line.
 *
 * A method rejects only with an AppError, whose code says what is known:
 * - `unknown_outcome`: the connection is lost, no response came, or the engine could not say that
 *   the write will last (PostgreSQL's WARNING of a wait that was cancelled). The write may have
 *   happened, or may happen later. Nothing but `close` may be called on the session after that.
 * - any other code (`unavailable`, `misconfigured`, `damaged`, `too_large`, `storage_full`): the
 *   call was refused. Surely nothing was written, and the message says how to mend it.
 *
 * Methods may be called while others are under way, except that only one `append` or
 * `appendLocked` may be. An append that was sent is never cancelled.
 */

/** A position in the log: the end of an entry, or the log's start (sequence 0, chain `''`). */
export type LogPosition = {
  /** Sequence of the last transaction before the position. */
  readonly sequence: number;
  /** SHA-256 in hex of the chain before it, the batch's id, and its lines. */
  readonly chain: string;
};

/** A batch in the log: the transactions `first` to `sequence`, with a line for each. */
export type LogEntry = LogPosition & {
  readonly first: number;
  /** A UUID from the batch's writer, which stays the same when the batch is sent again. */
  readonly batchId: string;
  /** Lines of journal/journal-line.ts, each with its line feed: UTF-8 without a NUL. */
  readonly lines: Buffer;
};

/** The end of the log, and the oldest entry that can still be read. */
export type LogHead = LogPosition & {
  /** The log's UUID, which never changes. */
  readonly log: string;
  /** Version of lines and records in the log; a node refuses a newer one than it knows. */
  readonly format: number;
  /** Sequence of the oldest entry that is left, at which a snapshot is; 0: nothing was removed. */
  readonly floor: number;
};

/** 8 MiB of lines, after which a page of entries may end early. */
export const PAGE_BYTES = 8 << 20;

export interface Engine {
  readonly kind: 'postgres' | 'etcd';
  /** For people, without credentials: `postgres://host:5432/db`. */
  readonly name: string;
  /** Most bytes that an entry's lines may have; the caller of `append` sees to it. */
  readonly batchBytesMax: number;
  /** Most bytes that all parts of a snapshot may have together. */
  readonly maxSnapshotBytes: number;
  /**
   * Makes one attempt, which ends within seconds. Tables that the engine needs for a log are
   * created if they are missing; where `mayCreate` is false, `not_found` is thrown instead.
   */
  connect(mayCreate?: boolean): Promise<EngineSession>;
  /** Resolves with the durability of a session, and changes nothing. Throws as `connect` does. */
  inspect(): Promise<string>;
}

/**
 * Builds the entry that follows `head`. `missed` are the entries up to `head` that it was not given
 * before. Returns null to append nothing.
 */
export type BuildEntry = (missed: readonly LogEntry[], head: LogHead) => LogEntry | null;

/** One or several connections to an engine. A session that is lost never comes back. */
export interface EngineSession {
  /** How durable a write is, in words, for the log line at the start and for `doctor`. */
  readonly durability: string;
  /** Null while there is no log. */
  head(): Promise<LogHead | null>;
  /** Creates the log. Returns false if another node was first. */
  create(head: LogHead): Promise<boolean>;
  /**
   * Writes a row of this node durably, and then resolves with the head that was read before that
   * write was durable. So the head is neither stale nor a phantom (an entry that one machine of the
   * engine shows, but its followers lack). Waits for as long as the quorum is away.
   */
  barrier(node: string): Promise<LogHead | null>;
  /**
   * Commits `entry` directly after `expected`. Returns false if the log ends elsewhere, or is
   * another log: nothing was written then, and no entry that was sent for the same position before
   * can be written any more.
   */
  append(log: string, expected: LogPosition, entry: LogEntry): Promise<boolean>;
  /**
   * Appends after a conflict. It keeps other nodes from appending, or tries again until none came
   * first. It calls `build` with the head and, in order, all entries since `from` that `build` was
   * not given before, and commits the entry that `build` returns directly after that head. Resolves
   * with that entry; null: `build` returned null, and nothing was committed. Rejects with
   * `unavailable` after 2 s in which others were always first.
   */
  appendLocked(log: string, from: LogPosition, build: BuildEntry): Promise<LogEntry | null>;
  /** Whether the log holds this entry, which may have been sent in an earlier session. */
  holds(entry: LogEntry): Promise<boolean>;
  /**
   * Reads the first `maxEntries` entries after `sequence`, in order, and from a primary only.
   * Returns fewer only at the end of the log, or once they have `PAGE_BYTES` together.
   */
  readAfter(sequence: number, maxEntries: number): Promise<readonly LogEntry[]>;
  /**
   * Calls `wake` when others have appended. It is a hint, which may be lost, or come with no
   * entry behind it. Returns a function that ends the watch.
   */
  watch(wake: () => void): () => void;
  readonly snapshots: EngineSnapshots;
  /** Raises the head's `floor`, and removes the entries with a lower `sequence`. */
  trim(floor: number): Promise<void>;
  /** Adds a listener, which is called once if the session is lost, but not if it is closed. */
  onLost(listener: (error: Error) => void): void;
  /** Idempotent. Calls under way reject with `unknown_outcome`. */
  close(): Promise<void>;
}

export interface EngineSnapshots {
  /** Lists the complete snapshots, newest first. */
  list(): Promise<readonly EngineSnapshot[]>;
  readPart(at: LogPosition, part: number): Promise<SnapshotPart>;
  /** Writes part number `part`, from 0. Replaces one that an earlier attempt has left. */
  writePart(at: LogPosition, part: number, content: SnapshotPart): Promise<void>;
  /** Marks the snapshot as complete, once all of its parts are written. */
  complete(at: LogPosition, parts: number): Promise<void>;
  remove(at: LogPosition): Promise<void>;
}

export type EngineSnapshot = LogPosition & { readonly parts: number };

/** Up to 1 MiB of bytes, with their SHA-256 in hex, which the engine stores without checking it. */
export type SnapshotPart = { readonly sha256: string; readonly bytes: Buffer };

/** Whether more entries may follow those that `readAfter` has returned for `maxEntries`. */
export function isPageFull(entries: readonly LogEntry[], maxEntries: number): boolean {
  return entries.length === maxEntries
    || entries.reduce((bytes, { lines }) => bytes + lines.length, 0) >= PAGE_BYTES;
}

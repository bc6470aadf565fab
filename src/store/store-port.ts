/**
 * What the rest of the program sees of the store: records in collections, and transactions over
 * them. Whether files keep them, or a log that several nodes share, makes no difference here but
 * for `Replica`.
 */

/**
 * A record as it is stored: one line of JSON in UTF-8 that begins with its key member, so that it
 * can be found and ordered without being parsed. The bytes never change.
 */
export interface StoredRecord {
  readonly bytes: Buffer;
  /** Room for a reader to keep what it made of `bytes`; the store never looks at it. */
  derived: unknown;
}

export type CollectionSpec = {
  /** `[a-z-]+`; names the snapshot files. */
  readonly name: string;
  /** The first member of every record; its value is 1-128 of `[A-Za-z0-9._~-]`. */
  readonly key: 'id' | 'identifier';
  /** Members (of string type) whose values no two records may share, not even in two of them. */
  readonly unique?: readonly string[];
  /** The unique values name a record as its key does. */
  readonly hasNames?: boolean;
};

/** One put or removal of a record, as a transaction stages it and the journal holds it. */
export type Operation = {
  readonly collection: string;
  readonly id: string;
  /** The whole record; null removes it. */
  readonly bytes: Buffer | null;
};

/** What an applied operation did to a record. */
export type Change = {
  readonly collection: string;
  readonly id: string;
  readonly before: Buffer | null;
  readonly after: Buffer | null;
};

/** Committed records. Every method is synchronous and sees one consistent state. */
export interface Collection {
  readonly spec: CollectionSpec;
  readonly size: number;
  /** Sum of the records' bytes. */
  readonly bytesTotal: number;
  find(id: string): StoredRecord | undefined;
  /** The bytes of a record; unlike `find` it does not take it for one that is asked for often. */
  findBytes(id: string): Buffer | undefined;
  /** Ids by the other names that records have; empty unless the collection `hasNames`. */
  readonly idByName: ReadonlyMap<string, string>;
  /** Walks in id order (ASCII). `after` is exclusive and need not exist. */
  walk(from?: WalkStart): Walk;
  /** All slots are below this. */
  readonly slotBound: number;
  findSlot(id: string): number;
  /** The bytes of the record in a slot, or undefined when the slot is empty. Not copied. */
  bytesAt(slot: number): Buffer | undefined;
  idAt(slot: number): string | undefined;
  /** Negative, zero or positive, as the id in `left` sorts before, like or after `right`'s. */
  compareSlots(left: number, right: number): number;
  /**
   * Calls `listener` for each change as it is applied, in commit order. `slot` is the record's,
   * stable while the record lives. Returns what ends it.
   */
  onChange(listener: (change: Change, slot: number) => void): () => void;
}

export type WalkStart = { readonly after?: string | null; readonly isDescending?: boolean };

/**
 * A walk goes on where it stopped, whatever was written meanwhile: it sees every record that exists
 * throughout exactly once.
 */
export interface Walk {
  /** The next record's slot, or -1 at the end. */
  next(): number;
  /**
   * The next records joined by `,` and white space, up to about `bytesMax` (at least one record),
   * as few slices as they lie in; an empty array at the end. Ascending walks only.
   */
  nextSlices(bytesMax: number): readonly Buffer[];
}

/** Sees committed state with everything staged before it on top, its own writes included. */
export interface Transaction {
  find(collection: string, id: string): Buffer | undefined;
  /** The id of the record that has this id or, where they have names, this name; the id first. */
  findId(collection: string, name: string): string | undefined;
  /**
   * Stages the whole record; `json` is one line that begins `{"<key>":"<id>"`, as text or in UTF-8,
   * which is copied. Throws `conflict` when a unique value of it is taken.
   */
  put(collection: string, id: string, json: string | Buffer): StoredRecord;
  /** Whether there was one to delete. */
  delete(collection: string, id: string): boolean;
}

/** What a transaction must not draw itself, as it may run again: drawn once for all its runs. */
export type TransactionInputs = {
  readonly nowMs: number;
  /** A UUIDv7 to derive all ids from that are made in the transaction: see `deriveIds`. */
  readonly seed: string;
  /** Hops of the chain that led to it: see base/chain.ts. */
  readonly hops: number;
};

/** `changes` are those of the transaction of that sequence, in their order; one or more. */
export type CommitListener = (sequence: number, changes: readonly Change[]) => void;

export type LoggedTransaction = {
  readonly sequence: number;
  readonly operations: readonly Operation[];
};

/** A place in the log of committed transactions, from which it is read in order. */
export interface LogReader {
  /** Of the last transaction given. */
  readonly sequence: number;
  /**
   * The next few, none later than `applied`, which has been applied: an empty array once all of
   * them were given. Rejects with `gone` when they are no longer known.
   */
  next(applied: number): Promise<readonly LoggedTransaction[]>;
  /** Idempotent. */
  close(): void;
}

/** The committed transactions in their order: each has a sequence, one more than the one before. */
export interface ChangeLog {
  /** Calls `listener` for each transaction as it is applied. Returns what ends it. */
  follow(listener: CommitListener): () => void;
  /** Reads what was committed after `sequence`; null when the log no longer goes back so far. */
  since(sequence: number): Promise<LogReader | null>;
}

export interface Store {
  collection(name: string): Collection;
  /**
   * Commits what `prepare` stages as one journal line, all or nothing, and resolves with its result
   * once that is on disk and seen by readers. `prepare` is synchronous, has no effect outside its
   * transaction and may run again. What it throws rejects the promise and stages nothing; when it
   * had read staged records, only after their batch is on disk. Nothing staged: resolves when what
   * it read is on disk. Throws `storage_full`, `unknown_outcome` or `unavailable` when the batch
   * fails.
   */
  transact<T>(prepare: (transaction: Transaction) => T): Promise<T>;
  readonly changes: ChangeLog;
  /** Null while the store is this process's alone. */
  readonly replica: Replica | null;
  /** null while the store takes writes, else why it does not. */
  readonly failure: string | null;
  /** Throws what `transact` would while the store takes no writes. */
  checkWritable(): void;
  /**
   * Calls `listener` when writing stops, with why, and with null when it goes on; near the edge of
   * a full disk at most once a second. Returns what ends it.
   */
  onFailure(listener: (reason: string | null) => void): () => void;
  readonly statistics: StoreStatistics;
  /** Writes a new generation beside traffic; resolves when it is durable. */
  compact(): Promise<void>;
  close(): Promise<void>;
}

export type StoreStatistics = {
  readonly sequence: number;
  readonly generation: number;
  readonly commits: number;
  readonly transactions: number;
  readonly journalBytes: number;
  readonly isCompacting: boolean;
  /** When this process last compacted, in milliseconds since the epoch; null: not yet. */
  readonly compactedMs: number | null;
};

/** What a store shares with those of other nodes, through the log of an engine. */
export interface Replica {
  /** The engine, for people: without credentials. */
  readonly engine: string;
  /** The durability that was found there, in words. */
  readonly durability: string;
  readonly log: string;
  /** Of the last transaction that is applied here. */
  readonly sequence: number;
  /** Of the last one that was seen in the log. */
  readonly headSequence: number;
  /** When the engine last answered, on the monotonic clock. */
  readonly lastResponseMs: number;
  /** Why there is no session with it; null while there is one. */
  readonly disconnectReason: string | null;
  /** What readers see is being loaded anew: they are to be told to come again. */
  readonly isReloading: boolean;
  /** Since the start of the process. */
  readonly figures: {
    readonly appends: number;
    readonly transactions: number;
    readonly conflicts: number;
    /** From the first attempt to the answer, of all appends together. */
    readonly durationMs: number;
  };
  /** An engine that takes a transaction of so many bytes has room again, if it had none. */
  readonly probeBytes: number;
  /** True once `sequence` is applied here, false after `timeoutMs`. */
  waitFor(sequence: number, timeoutMs: number): Promise<boolean>;
  /**
   * Whether this process stood still before `nowMs`, which is about now, and may still be behind:
   * until it has caught up, or the engine is known to be away.
   */
  isBehindSincePause(nowMs: number): boolean;
  /** Resolves when that is over; rejects with `unavailable` when it takes more than 2 s. */
  waitAfterPause(): Promise<void>;
  /** Calls `listener` when a reload begins (false), and when it is over (true). */
  onReload(listener: (isOver: boolean) => void): () => void;
  /** Tells which node gives the engine its snapshots: asked when one is due. */
  maintainWhen(mayMaintain: () => boolean): void;
}

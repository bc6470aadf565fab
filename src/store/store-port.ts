/**
 * The store as the rest of the program sees it: records in collections, and transactions over them.
 * The files of one directory keep them, or a log that several nodes share; only `Replica` shows
 * which.
 */

/**
 * A record as it is stored: one line of JSON in UTF-8 that begins with its key member, so that it
 * can be found and ordered without being parsed. The bytes never change.
 */
export interface StoredRecord {
  readonly bytes: Buffer;
  /**
   * The form that callers of the API get. The repository (resources/repository.ts) makes it from
   * `bytes` and caches it here, so that it goes when the record goes; the store never reads it.
   */
  representation: RecordRepresentation | undefined;
}

/**
 * A record as callers of the API see it, with its version; see resources/representation.ts. Its
 * bytes are the record's own where all members are public.
 */
interface RecordRepresentation {
  readonly bytes: Buffer;
  readonly etag: string;
}

export type CollectionSpec = {
  /** `[a-z-]+`; names the snapshot files. */
  readonly name: string;
  /** The first member of every record; its value is 1-128 of `[A-Za-z0-9._~-]`. */
  readonly key: 'id' | 'identifier';
  /**
   * String members with unique values: no two records share one, not even in two members. So no
   * incoming webhook may have the name that is another's path segment.
   */
  readonly unique?: readonly string[];
  /** Whether callers may name a record by a unique value in place of its key. */
  readonly hasNames?: boolean;
  /**
   * Makes the operations that a put of these bytes may imply: see `Operation.isImplied`. They
   * follow from the bytes alone, and are part of the format of the journal: a version that makes
   * others would read another history. Absent: none.
   */
  readonly imply?: (bytes: Buffer) => readonly Operation[];
};

/** One put or removal of a record, as a transaction stages it. */
export type Operation = {
  readonly collection: string;
  readonly id: string;
  /** The whole record; null removes it. */
  readonly bytes: Buffer | null;
  /**
   * Whether it is one of those that the put before them implies. A line of the journal does not
   * hold it, as whoever decodes the line makes it again; in memory it is an operation like any
   * other.
   */
  readonly isImplied?: boolean;
};

/** The change of a record by an applied operation; null stands for no record. */
export type Change = {
  readonly collection: string;
  readonly id: string;
  readonly before: Buffer | null;
  readonly after: Buffer | null;
};

/**
 * Committed records. Every method is synchronous and sees one consistent state. A slot is a number
 * under which a record is found without its id for as long as it lives; later another record gets
 * it.
 */
export interface Collection {
  readonly spec: CollectionSpec;
  readonly size: number;
  readonly bytesTotal: number;
  find(id: string): StoredRecord | undefined;
  /** The bytes of a record, as `Transaction.find` returns them; unlike `find` it caches nothing. */
  findBytes(id: string): Buffer | undefined;
  /** Ids by unique value; empty unless the collection `hasNames`. */
  readonly idByName: ReadonlyMap<string, string>;
  /** Walks in id order (ASCII). `after` is exclusive and need not exist. */
  walk(from?: WalkStart): Walk;
  /** All slots are below this. */
  readonly slotBound: number;
  /** The slot of a record, or -1. */
  findSlot(id: string): number;
  /** The bytes of the record in a slot, or undefined when the slot is empty. Not copied. */
  bytesAt(slot: number): Buffer | undefined;
  /** The id of the record in a slot, or undefined when the slot is empty. */
  idAt(slot: number): string | undefined;
  /**
   * Calls `listener` for each change as it is applied, in commit order: so projections, the word
   * index and the workers follow a collection. Returns a function that ends it.
   */
  onChange(listener: (change: Change, slot: number) => void): () => void;
}

export type WalkStart = { readonly after?: string | null; readonly isDescending?: boolean };

/**
 * A walk over a collection in id order. It may be interrupted by writes: it visits each record that
 * exists throughout exactly once.
 */
export interface Walk {
  /** The next record's slot, or -1 at the end. */
  next(): number;
  /**
   * The next records joined by `,` and white space, up to about `bytesMax` but at least one, in as
   * few slices as possible; an empty array at the end. Ascending walks only.
   */
  nextSlices(bytesMax: number): readonly Buffer[];
}

/** The bytes of a record, with its place. */
export type FoundRecord = {
  readonly collection: string; readonly id: string; readonly bytes: Buffer;
};

/** Finds the bytes of a record, as committed or as a transaction sees it. */
export type FindRecord = (collection: string, id: string) => Buffer | undefined;

/** A transaction sees the committed state, what is staged before it, and its own writes. */
export interface Transaction {
  /** The bytes of a record. */
  find(collection: string, id: string): Buffer | undefined;
  /** The id of the record with this id or, where the collection `hasNames`, with this name. */
  findId(collection: string, name: string): string | undefined;
  /**
   * The ids of all records, or of those that begin with `prefix` and are longer, in their order. It
   * takes time with their number, and with that of the staged operations: not for the many.
   */
  listIds(collection: string, prefix?: string): readonly string[];
  /**
   * The latest operation of each record of a collection that is staged, before the transaction or
   * by it, in no order: what its index of the committed records does not know.
   */
  listStaged(collection: string): Iterable<Operation>;
  /**
   * Stages the whole record. `json` is one line that begins `{"<key>":"<id>"`, as text or in UTF-8;
   * it is copied. Returns the record with the copy, so that its representation can be cached at
   * once. Throws `conflict` when another record has one of its unique values.
   *
   * `isImplied`: the put before it implies this one. All that `CollectionSpec.imply` makes of that
   * record must be staged directly after it, with the same bytes in the same order.
   */
  put(collection: string, id: string, json: string | Buffer, isImplied?: boolean): StoredRecord;
  /** Stages the removal of a record. False when there is none. */
  delete(collection: string, id: string): boolean;
  /** The records that the transaction has removed, as they were, in the order of their removal. */
  listRemoved(): readonly FoundRecord[];
  /**
   * Reserves some of a resource that a projection of the committed records counts, or gives some
   * back (a negative amount): until the transaction is applied, which the projection sees, or
   * discarded.
   */
  reserve(resource: string, amount: number): void;
  /** How much of a resource is reserved, by what is staged before the transaction and by it. */
  countReserved(resource: string): number;
}

/**
 * Time, ids and hops for a transaction that makes events: the hooks of a repository and the event
 * publisher take them. They are drawn once before it, as it may run several times.
 */
export type TransactionInputs = {
  readonly nowMs: number;
  /** A UUIDv7 from which all ids made in the transaction are derived: see `deriveIds`. */
  readonly seed: string;
  /** Hops of the chain that led to it: see base/webhook-chain.ts. */
  readonly hops: number;
};

/** Receives the changes of the transaction `sequence`, one or more, in order. */
export type CommitListener = (sequence: number, changes: readonly Change[]) => void;

export type LoggedTransaction = {
  readonly sequence: number;
  readonly operations: readonly Operation[];
};

/** Reads committed transactions in order, from one position of the log on. */
export interface LogReader {
  /** The last transaction that `next` has returned. */
  readonly sequence: number;
  /**
   * The next few transactions up to `appliedSequence`, which must have been applied; an empty array
   * after that one. Rejects with `gone` when compaction has deleted them.
   */
  next(appliedSequence: number): Promise<readonly LoggedTransaction[]>;
  /** Idempotent. */
  close(): void;
}

/** The committed transactions in their order: each has a sequence, one more than the one before. */
export interface ChangeLog {
  /** Calls `listener` for each transaction as it is applied. Returns a function that ends it. */
  follow(listener: CommitListener): () => void;
  /** A reader of all after `sequence`; null when the log does not go back so far. */
  since(sequence: number): Promise<LogReader | null>;
}

export interface Store {
  collection(name: string): Collection;
  /**
   * Commits what `run` stages as one journal line, all or nothing, and resolves with its result
   * once that is on disk and readers see it. `run` is synchronous, has no effect outside its
   * transaction and may run several times. When it throws, nothing is staged and the promise
   * rejects with the same error. When it stages nothing, the promise resolves once all that it has
   * read is on disk. Rejects with `storage_full`, `unknown_outcome` or `unavailable` when the batch
   * fails.
   */
  transact<T>(run: (transaction: Transaction) => T): Promise<T>;
  readonly changes: ChangeLog;
  /** Null while the store is this process's alone. */
  readonly replica: Replica | null;
  /** Why the store takes no writes; null while it does. */
  readonly failure: string | null;
  /** Throws the error of `transact` while the store takes no writes. */
  checkWritable(): void;
  /**
   * Calls `listener` with the reason when writing stops, and with null when it resumes; at most
   * once a second near the edge of a full disk. Returns a function that ends it.
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
  /** Batches made durable since the start of the process; each holds one transaction or more. */
  readonly batches: number;
  readonly transactions: number;
  readonly journalBytes: number;
  readonly isCompacting: boolean;
  /** When this process last compacted, in milliseconds since the epoch; null before. */
  readonly compactedMs: number | null;
};

/** A reload may begin again before it has ended; that is not told twice. */
export type ReloadPhase = 'begin' | 'end';

/** The store as one node's replica of a log that an engine keeps for several nodes. */
export interface Replica {
  /** The engine's address for people, without credentials. */
  readonly engine: string;
  /** The durability that the engine has, in words. */
  readonly durability: string;
  /** A UUID. Another id means another log, whose sequences tell nothing of this one. */
  readonly logId: string;
  /** The last transaction that is applied here. */
  readonly sequence: number;
  /** The last transaction that was seen in the log. */
  readonly headSequence: number;
  /** When the engine last answered, on the monotonic clock. */
  readonly lastResponseMs: number;
  /** Why there is no session with the engine; null while there is one. */
  readonly disconnectReason: string | null;
  /** Whether the records are being loaded anew: readers must be asked to retry. */
  readonly isReloading: boolean;
  /** Since the start of the process. */
  readonly figures: {
    readonly appends: number;
    readonly transactions: number;
    readonly conflicts: number;
    /** From the first attempt to the answer, summed over all appends. */
    readonly durationMs: number;
  };
  /**
   * A full engine that takes a transaction of this size has room again: while the store takes no
   * writes, the membership pads this node's own record to it.
   */
  readonly probeBytes: number;
  /** Resolves with true once `sequence` is applied here, with false after `timeoutMs`. */
  waitFor(sequence: number, timeoutMs: number): Promise<boolean>;
  /**
   * Whether this process was paused before `nowMs`, which is about now, and may still be behind:
   * true until it has caught up, or the engine is known to be away. The caller passes the time, as
   * each request has read the monotonic clock already.
   */
  isBehindSincePause(nowMs: number): boolean;
  /** Resolves when it has caught up; rejects with `unavailable` after 2 s. */
  waitAfterPause(): Promise<void>;
  /** Calls `listener` when a reload begins and when it ends. Returns a function that ends it. */
  onReload(listener: (phase: ReloadPhase) => void): () => void;
  /** Sets who decides, when a snapshot is due, whether this node writes it to the engine. */
  writeSnapshotsWhen(mayWrite: () => boolean): void;
}

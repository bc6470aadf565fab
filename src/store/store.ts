/**
 * The store: transactions over collections that one journal makes durable. The journal lies in one
 * directory, or in an engine that several nodes share.
 */
import { join } from 'node:path';
import { assert } from '../base/assert.ts';
import { systemClock } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { AppError, systemCodeOf } from '../base/errors.ts';
import { lazyImport } from '../base/lazy-import.ts';
import type { Logger } from '../base/log.ts';
import { loadCrypto } from '../base/node-modules.ts';
import { openStateFiles, type BackupSources } from './backup/backup.ts';
import { checkContents, countRecords, findManifest } from './backup/manifest.ts';
import type { StoredCollection } from './records/collection.ts';
import { diskError } from './disk/disk-error.ts';
import type { Engine } from './engines/engine.ts';
import type { Journal } from './journal/journal-port.ts';
import type { JournalEnd } from './lock/directory-lock.ts';
import { MANIFEST_NAME } from './disk/inventory.ts';
import { makeDurableDirectory } from './disk/read-write.ts';
import type { Files } from './disk/files.ts';
import { ChangeFeed } from './transactions/change-feed.ts';
import { GroupCommit } from './transactions/group-commit.ts';
import { STANDARD_LIMITS } from './records/memory-limits.ts';
import type { MemoryLimits } from './records/memory-limits.ts';
import type {
  ChangeLog, Collection, CollectionSpec, Replica, Store, StoreStatistics, Transaction,
} from './store-port.ts';
import { EPOCHS, Epoch } from './epochs.ts';
import { FileJournal } from './generations/file-journal.ts';
import type { DirectoryJournal } from './generations/file-journal.ts';
import { createReadOnlyJournal } from './generations/read-only-journal.ts';
import { checkJournalEnd, recoverState } from './generations/recovery.ts';
import type { RecoveredState } from './generations/recovery.ts';
import { finishReplacements } from './generations/replacement.ts';
import { repairDirectory } from './generations/repair.ts';
import { Staging } from './transactions/staging.ts';

const loadReplica = lazyImport(() => import('./replication/replica.ts'));

type StoreOptions = {
  /** Created when missing. The caller holds its lock (directory-lock.ts), or gives `refusal`. */
  readonly directory: string;
  readonly files: Files;
  readonly specs: readonly CollectionSpec[];
  readonly logger: Logger;
  /** Is told when writing stops and goes on, in place of `logger`. */
  readonly failureLogger?: Logger;
  readonly clock?: Clock;
  readonly limits?: MemoryLimits;
  /** The log that this node shares with others; absent: the directory holds the journal. */
  readonly sharedLog?: SharedLog;
  /** Why nothing may be written in the directory, which is only read then; absent: all may be. */
  readonly refusal?: AppError | undefined;
  /** Opens for reading alone where a full disk keeps the directory from being repaired. */
  readonly mayOnlyRead?: boolean;
  /** The end of the journal that `lock` tells; null or absent: not known. */
  readonly journalEnd?: JournalEnd | null;
};

export type SharedLog = {
  readonly engine: Engine;
  /** The UUID of this node, which never changes. */
  readonly node: string;
  /** How much of the log is written between two snapshots. */
  readonly snapshotEveryBytes?: number;
  /** Whether a log is created where the engine holds none; else `not_found` is thrown. */
  readonly mayCreate?: boolean;
};

/**
 * Opens the store of a directory (recovery.ts) or of an engine (replica.ts). All that was replayed
 * is on disk when this resolves. Throws `damaged`, with file, line and offset, when acknowledged
 * data cannot be read back; then nothing on disk has changed.
 */
export async function openStore(options: StoreOptions): Promise<OpenedStore> {
  try {
    const { directory, files, sharedLog, refusal } = options;
    if (refusal !== undefined) {
      // A node keeps snapshots of its engine's log there, and writes them while it reads.
      if (sharedLog !== undefined) throw refusal;
      return await openReadOnly(options, refusal);
    }
    makeDurableDirectory(files, directory);
    if (sharedLog === undefined) return await openInDirectory(options);
    return await openInEngine(options, sharedLog);
  } catch (error) {
    if (!(error instanceof AppError) && systemCodeOf(error) === undefined) throw error;
    const failure = error instanceof AppError ? error
      : diskError(`the data directory ${options.directory} cannot be opened`, error);
    if (failure.code !== 'storage_full' || options.mayOnlyRead !== true) throw failure;
    return openReadOnly(options, failure);
  }
}

async function openInDirectory(options: StoreOptions): Promise<OpenedStore> {
  const { directory, files, logger, clock = systemClock } = options;
  await finishReplacements(files, directory);
  const state = await recoverState(options);
  if (await isRestored(options, state)) {
    files.unlinkSync(join(directory, MANIFEST_NAME));
    files.syncDirectorySync(directory);
  }
  const file = await repairDirectory(directory, files, logger, state);
  // `file` is the journal that goes on, its torn end cut off.
  const journal = new FileJournal({ ...options, clock }, state, file);
  try {
    await journal.completeRecovery(state);
    return createDirectoryStore(options, journal, state);
  } catch (error) {
    await journal.close();
    throw error;
  }
}

/** Opens a directory in which nothing can be written: it is neither locked nor repaired. */
async function openReadOnly(options: StoreOptions, refusal: AppError): Promise<OpenedStore> {
  const { clock = systemClock } = options;
  const state = await recoverState(options);
  await isRestored(options, state);
  const journal = createReadOnlyJournal({ ...options, clock }, state, refusal);
  return createDirectoryStore(options, journal, state);
}

function createDirectoryStore(
  options: StoreOptions, journal: DirectoryJournal, { collections }: RecoveredState,
): OpenedStore {
  const { directory, files } = options;
  return new OpenedStore(options, {
    collections, journal, replica: null,
    openStateSources: () => journal.runBetweenBatches(({ base, inUse }) => {
      const contents = { sequence: journal.sequence, records: countRecords(collections) };
      return openStateFiles(files, directory, base, inUse, contents);
    }),
  });
}

async function openInEngine(options: StoreOptions, sharedLog: SharedLog): Promise<OpenedStore> {
  const { clock = systemClock } = options;
  const journal = await loadReplica(({ openReplica }) =>
    openReplica({ ...options, ...sharedLog, clock }));
  const store = new OpenedStore(options, {
    collections: journal.records.collections, journal, replica: journal,
    openStateSources: () => journal.snapshots.openFiles(),
    onClosing: () => journal.hasten(),
  });
  journal.start(store.commit);
  return store;
}

/**
 * Returns whether the directory is a backup, which has a manifest. Throws `damaged` where the state
 * does not match that; or, of any other directory, the end of the journal that `lock` tells.
 */
async function isRestored(
  { directory, files, journalEnd = null }: StoreOptions, state: RecoveredState,
): Promise<boolean> {
  const hasManifest = files.listSync(directory).includes(MANIFEST_NAME);
  const manifest = hasManifest ? await findManifest(files, directory) : null;
  if (manifest === null) {
    checkJournalEnd(state, journalEnd);
    return false;
  }
  const { sequence, collections } = state;
  checkContents(manifest, { sequence, records: countRecords(collections) });
  return true;
}

type OpenedStoreDeps = {
  readonly collections: ReadonlyMap<string, StoredCollection>;
  readonly journal: Journal & Pick<FileJournal, 'failureLog' | 'generation' | 'bytes'>;
  readonly replica: Replica | null;
  readonly openStateSources: () => Promise<BackupSources>;
  /** Called first when the store closes. */
  readonly onClosing?: () => void;
};

/** Use `openStore`. */
export class OpenedStore implements Store {
  readonly directory: string;
  readonly changes: ChangeLog;
  readonly replica: Replica | null;
  /** The commit takes part when transactions of other nodes are applied. */
  readonly commit: GroupCommit;
  readonly #deps: OpenedStoreDeps;
  readonly #clock: Clock;
  /** Null where the log has no epochs: in an engine, and without their collection. */
  readonly #epoch: Epoch | null;
  readonly #earlierEnd: JournalEnd | null;
  /** When a backup was last begun, in milliseconds since the epoch; null before. */
  backupMs: number | null = null;
  #closing: Promise<void> | null = null;

  constructor(options: StoreOptions, deps: OpenedStoreDeps) {
    const { directory, logger, limits = STANDARD_LIMITS, journalEnd = null } = options;
    const { journal, collections } = deps;
    this.directory = directory;
    this.#earlierEnd = journalEnd;
    this.replica = deps.replica;
    this.#clock = options.clock ?? systemClock;
    this.#deps = deps;
    const feed = new ChangeFeed((error) => logger.error('a change listener failed', { error }));
    this.changes = {
      follow: (listener) => feed.follow(listener),
      since: async (sequence) => sequence > journal.sequence ? null : journal.read(sequence),
    };
    this.commit = new GroupCommit({
      journal, feed, collections,
      stagedBytesMax: limits.stagedBytesMax,
      staging: new Staging(collections.values()),
    });
    const epochs = deps.replica === null ? collections.get(EPOCHS.name) : undefined;
    this.#epoch = epochs === undefined ? null : new Epoch({
      collection: epochs, sequence: () => journal.sequence,
      makeId: () => loadCrypto().randomUUID(), commit: this.commit,
    });
  }

  get failure(): string | null {
    return this.#deps.journal.failure?.message ?? null;
  }

  checkWritable(): void {
    const { failure } = this.#deps.journal;
    if (failure !== null) throw failure;
  }

  onFailure(listener: (reason: string | null) => void): () => void {
    return this.#deps.journal.failureLog.onReport(listener);
  }

  get statistics(): StoreStatistics {
    const { batchCount, transactionCount } = this.commit;
    const { sequence, generation, bytes, snapshots } = this.#deps.journal;
    return {
      sequence, generation, batches: batchCount, transactions: transactionCount,
      journalBytes: bytes,
      isCompacting: snapshots.isRunning,
      compactedMs: snapshots.writtenMs,
    };
  }

  /**
   * All up to there is on disk. It is the end that was known before where an engine has the log, or
   * nothing can be written: what was read may not be on disk then.
   */
  get journalEnd(): JournalEnd | null {
    const { sequence, generation, failure } = this.#deps.journal;
    return this.replica === null && failure === null ? { generation, sequence } : this.#earlierEnd;
  }

  collection(name: string): Collection {
    const collection = this.#deps.collections.get(name);
    assert(collection !== undefined, `no collection ${name}`);
    return collection;
  }

  transact<T>(run: (transaction: Transaction) => T): Promise<T> {
    return this.commit.submit(run);
  }

  compact(): Promise<void> {
    return this.#deps.journal.snapshots.write();
  }

  /** Opens the files of the present state, to be copied (backup.ts) and then closed. */
  openStateSources(): Promise<BackupSources> {
    return this.#deps.openStateSources();
  }

  /** Opens the same files for a backup, which `backupMs` tells. */
  openBackupSources(): Promise<BackupSources> {
    this.backupMs = this.#clock.now();
    return this.openStateSources();
  }

  /** Has the log begin an epoch (epochs.ts) if it has none. Throws what `transact` throws. */
  async beginEpochs(): Promise<void> {
    const epoch = this.#epoch;
    if (epoch !== null) await this.transact((transaction) => epoch.begin(transaction));
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { journal, onClosing } = this.#deps;
    onClosing?.();
    await this.commit.close();
    await journal.close();
  }
}

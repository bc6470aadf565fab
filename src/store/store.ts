/**
 * The store: transactions over collections, durable through one journal: in one directory, or in an
 * engine that several nodes share.
 */
import { dirname, join } from 'node:path';
import { assert } from '../base/assert.ts';
import { systemClock } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { AppError, systemCodeOf } from '../base/errors.ts';
import { late } from '../base/late.ts';
import type { Logger } from '../base/log.ts';
import type { Backup } from './backup/backup.ts';
import type { StoredCollection } from './records/collection.ts';
import { diskError } from './disk/disk-error.ts';
import type { Engine } from './engines/engine.ts';
import type { Journal } from './journal/journal-port.ts';
import type { ImageKeeper } from './replication/image-keeper.ts';
import type { Writers } from './replication/replicated-image.ts';
import { MANIFEST_NAME } from './disk/inventory.ts';
import type { Files } from './disk/files.ts';
import { ChangeFeed } from './transactions/change-feed.ts';
import { GroupCommit } from './transactions/group-commit.ts';
import { STANDARD_LIMITS } from './records/memory-limits.ts';
import type { MemoryLimits } from './records/memory-limits.ts';
import type {
  ChangeLog, Collection, CollectionSpec, Replica, Store, StoreStatistics, Transaction,
} from './store-port.ts';
import { FileJournal } from './generations/file-journal.ts';
import { assessDirectory } from './generations/recovery.ts';
import type { Assessment } from './generations/recovery.ts';
import { repairDirectory } from './generations/repair.ts';
import { checkNothingPending } from './backup/pending.ts';
import { Staging } from './transactions/staging.ts';

const loadBackup = late(() => import('./backup/backup.ts'));
const loadManifest = late(() => import('./backup/manifest.ts'));
const loadReplica = late(() => import('./replication/replica.ts'));

type StoreOptions = {
  /** Made when missing. The caller holds its lock (lock.ts). */
  readonly directory: string;
  readonly files: Files;
  readonly specs: readonly CollectionSpec[];
  readonly logger: Logger;
  readonly clock?: Clock;
  readonly limits?: MemoryLimits;
  /** Keeps the log for this node and others; absent: the directory does, for this process alone. */
  readonly shared?: SharedLog;
};

export type SharedLog = {
  readonly engine: Engine;
  /** A UUID that is this node's own for good. */
  readonly node: string;
  /** A snapshot is written after so much of the log. */
  readonly snapshotEveryBytes?: number;
  /** False: `not_found` is thrown where the engine holds no log, and none is begun. */
  readonly mayCreate?: boolean;
};

export interface OpenedStore extends Store {
  readonly directory: string;
  /** What makes up the state of this moment, to be copied (backup.ts) and then closed. */
  openBackup(): Promise<Backup>;
  /** When that was last asked for, in milliseconds since the epoch; null: not yet. */
  readonly backupMs: number | null;
}

/**
 * Opens the store of a directory as recovery.ts says, or that of an engine as replica.ts does; what
 * was replayed is on disk when this resolves. Throws `damaged`, with file, line and offset, when
 * acknowledged data cannot be read back; nothing on disk has changed then.
 */
export async function openStore(options: StoreOptions): Promise<OpenedStore> {
  try {
    const { directory, files, shared } = options;
    makeDurableDirectory(files, directory);
    if (shared === undefined) return await openInDirectory(options);
    return await openInEngine(options, shared);
  } catch (error) {
    if (error instanceof AppError || systemCodeOf(error) === undefined) throw error;
    throw diskError(`the data directory ${options.directory} cannot be opened`, error);
  }
}

async function openInDirectory(options: StoreOptions): Promise<OpenedStore> {
  const { directory, files, logger, clock = systemClock } = options;
  checkNothingPending(files, directory);
  const assessment = await assessDirectory(options);
  await completeRestore(files, directory, assessment);
  const file = await repairDirectory(directory, files, logger, assessment);
  const journal = new FileJournal({ directory, files, logger, clock }, assessment, file);
  const { collections } = assessment;
  try {
    await journal.begin(assessment);
    return new JournaledStore(options, {
      collections, journal, replica: null,
      openBackup: async () => {
        const { openBackup } = await loadBackup((module) => module);
        const { countRecords } = await loadManifest((module) => module);
        return journal.runBetweenBatches(({ base, inUse }) => {
          const contents = { sequence: journal.sequence, records: countRecords(collections) };
          return openBackup(files, directory, base, inUse, contents);
        });
      },
    });
  } catch (error) {
    await journal.close();
    throw error;
  }
}

async function openInEngine(options: StoreOptions, shared: SharedLog): Promise<OpenedStore> {
  const { clock = systemClock, limits, files } = options;
  const { journal, image, replica } = await loadReplica(({ openReplica }) => openReplica({
    ...options, ...shared, clock, cachedRecordsMax: limits?.cachedRecordsMax,
  }));
  const store = new JournaledStore(options, {
    collections: image.collections, journal, replica,
    openBackup: () => openSharedBackup(files, journal.snapshots),
    onClosing: () => journal.hasten(),
  });
  journal.start(store.writers);
  return store;
}

/** Of a snapshot that is made for it: the files are those of a store without an engine. */
async function openSharedBackup(files: Files, snapshots: ImageKeeper): Promise<Backup> {
  const { openBackup } = await loadBackup((module) => module);
  return snapshots.withFiles(({ directory, generation, journalBytes, sequence, records }) =>
    openBackup(files, directory, generation, { generation, length: journalBytes },
      { sequence, records }));
}

// A start that was cut off may have made the directory and not synced its name, so the parent is
// synced each time; where it may not be read, it is not ours to have made.
function makeDurableDirectory(files: Files, directory: string): void {
  const parent = dirname(directory);
  if (!files.existsSync(directory)) {
    if (parent !== directory) makeDurableDirectory(files, parent);
    files.makeDirectorySync(directory);
  }
  try {
    files.syncDirectorySync(parent);
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EINVAL'].includes(systemCodeOf(error) ?? '')) throw error;
  }
}

/** A backup that is opened as a data directory must match its manifest, which is then removed. */
async function completeRestore(
  files: Files, directory: string, { sequence, collections }: Assessment,
): Promise<void> {
  if (!files.listSync(directory).includes(MANIFEST_NAME)) return;
  const { checkContents, countRecords, findManifest } = await loadManifest((module) => module);
  const manifest = await findManifest(files, directory);
  if (manifest === null) return;
  checkContents(manifest, { sequence, records: countRecords(collections) });
  files.unlinkSync(join(directory, MANIFEST_NAME));
  files.syncDirectorySync(directory);
}

type StoreDeps = {
  readonly collections: ReadonlyMap<string, StoredCollection>;
  readonly journal: Journal & Pick<FileJournal, 'failureLog' | 'generation' | 'bytes'>;
  readonly replica: Replica | null;
  readonly openBackup: () => Promise<Backup>;
  /** Told first when the store closes. */
  readonly onClosing?: () => void;
};

class JournaledStore implements OpenedStore {
  readonly directory: string;
  readonly changes: ChangeLog;
  readonly replica: Replica | null;
  /** What has to know when others' transactions are applied. */
  readonly writers: Writers;
  readonly #deps: StoreDeps;
  readonly #commit: GroupCommit;
  readonly #clock: Clock;
  backupMs: number | null = null;
  #closing: Promise<void> | null = null;

  constructor(options: StoreOptions, deps: StoreDeps) {
    const { directory, logger, limits = STANDARD_LIMITS } = options;
    const { journal, collections } = deps;
    this.directory = directory;
    this.replica = deps.replica;
    this.#clock = options.clock ?? systemClock;
    this.#deps = deps;
    const onListenerError = (error: unknown): void =>
      logger.error('a change listener failed', { error });
    const feed = new ChangeFeed(onListenerError);
    this.changes = {
      follow: (listener) => feed.follow(listener),
      since: async (sequence) => sequence > journal.sequence ? null : journal.read(sequence),
    };
    const commit = new GroupCommit({
      journal, feed,
      stagedBytesMax: limits.stagedBytesMax,
      staging: new Staging(collections.values(), onListenerError),
    });
    this.#commit = commit;
    this.writers = {
      feed, onListenerError,
      rebase: (apply) => commit.rebase(apply),
      refuseAll: (error) => commit.rejectAll(error),
    };
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
    const { commits, transactions } = this.#commit;
    const { sequence, generation, bytes, snapshots } = this.#deps.journal;
    return {
      sequence, commits, transactions, generation,
      journalBytes: bytes,
      isCompacting: snapshots.isRunning,
      compactedMs: snapshots.writtenMs,
    };
  }

  collection(name: string): Collection {
    const collection = this.#deps.collections.get(name);
    assert(collection !== undefined, `no collection ${name}`);
    return collection;
  }

  transact<T>(prepare: (transaction: Transaction) => T): Promise<T> {
    return this.#commit.submit(prepare);
  }

  compact(): Promise<void> {
    return this.#deps.journal.snapshots.write();
  }

  openBackup(): Promise<Backup> {
    this.backupMs = this.#clock.now();
    return this.#deps.openBackup();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { journal, onClosing } = this.#deps;
    onClosing?.();
    await this.#commit.close();
    await journal.close();
  }
}

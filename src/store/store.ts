/** The store: transactions over collections, durable through one journal, in one directory. */
import { dirname, join } from 'node:path';
import { assert } from '../base/assert.ts';
import { systemClock } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { AppError, systemCodeOf } from '../base/errors.ts';
import { late } from '../base/late.ts';
import type { Logger } from '../base/log.ts';
import type { Backup } from './backup/backup.ts';
import type { StoredCollection } from './records/collection.ts';
import { diskError } from './disk/error.ts';
import { MANIFEST_NAME } from './disk/inventory.ts';
import type { Files } from './disk/files.ts';
import { ChangeFeed } from './transactions/change-feed.ts';
import { GroupCommit } from './transactions/group-commit.ts';
import { STANDARD_LIMITS } from './records/memory-limits.ts';
import type { MemoryLimits } from './records/memory-limits.ts';
import type {
  ChangeLog, Collection, CollectionSpec, Store, StoreStatistics, Transaction,
} from './port.ts';
import { FileJournal } from './generations/file-journal.ts';
import { assess } from './generations/recovery.ts';
import type { Assessment } from './generations/recovery.ts';
import { repair } from './generations/repair.ts';
import { checkNothingPending } from './backup/pending.ts';
import { Staging } from './transactions/staging.ts';

const withBackup = late(() => import('./backup/backup.ts'));
const withManifest = late(() => import('./backup/manifest.ts'));

type StoreOptions = {
  /** Made when missing. The caller holds its lock (lock.ts). */
  readonly directory: string;
  readonly files: Files;
  readonly specs: readonly CollectionSpec[];
  readonly logger: Logger;
  readonly clock?: Clock;
  readonly limits?: MemoryLimits;
};

export interface OpenedStore extends Store {
  readonly directory: string;
  /** What makes up the state of this moment, to be copied (backup.ts) and then closed. */
  openBackup(): Promise<Backup>;
  /** When that was last asked for, in milliseconds since the epoch; null: not yet. */
  readonly backupMs: number | null;
}

/**
 * Opens the store of a directory as recovery.ts says; what was replayed is on disk when this
 * resolves. Throws `damaged`, with file, line and offset, when acknowledged data cannot be read
 * back; nothing on disk has changed then.
 */
export async function openStore(options: StoreOptions): Promise<OpenedStore> {
  try {
    return await open(options);
  } catch (error) {
    if (error instanceof AppError || systemCodeOf(error) === undefined) throw error;
    throw diskError(`the data directory ${options.directory} cannot be opened`, error);
  }
}

async function open(options: StoreOptions): Promise<OpenedStore> {
  const { directory, files, logger, clock = systemClock } = options;
  makeDurableDirectory(files, directory);
  checkNothingPending(files, directory);
  const assessment = await assess(options);
  await endBackup(files, directory, assessment);
  const file = await repair(directory, files, logger, assessment);
  const journal = new FileJournal({ directory, files, logger, clock }, assessment, file);
  try {
    await journal.begin(assessment);
    return new JournaledStore(options, assessment.collections, journal);
  } catch (error) {
    await journal.close();
    throw error;
  }
}

// A start that was cut off may have made the directory and not synced its name, so the parent is
// synced each time; where it may not be read, it is not ours to have made.
function makeDurableDirectory(files: Files, directory: string): void {
  const parent = dirname(directory);
  if (!files.exists(directory)) {
    if (parent !== directory) makeDurableDirectory(files, parent);
    files.makeDirectory(directory);
  }
  try {
    files.syncDirectory(parent);
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EINVAL'].includes(systemCodeOf(error) ?? '')) throw error;
  }
}

/** A backup that is opened as a data directory must match its manifest, which is then removed. */
async function endBackup(
  files: Files, directory: string, { sequence, collections }: Assessment,
): Promise<void> {
  if (!files.list(directory).includes(MANIFEST_NAME)) return;
  const { checkContents, countRecords, findManifest } = await withManifest((loaded) => loaded);
  const manifest = await findManifest(files, directory);
  if (manifest === null) return;
  checkContents(manifest, { sequence, records: countRecords(collections) });
  files.unlink(join(directory, MANIFEST_NAME));
  files.syncDirectory(directory);
}

class JournaledStore implements OpenedStore {
  readonly directory: string;
  readonly changes: ChangeLog;
  readonly #files: Files;
  readonly #collections: ReadonlyMap<string, StoredCollection>;
  readonly #journal: FileJournal;
  readonly #commit: GroupCommit;
  readonly #clock: Clock;
  backupMs: number | null = null;
  #closing: Promise<void> | null = null;

  constructor(
    options: StoreOptions, collections: ReadonlyMap<string, StoredCollection>,
    journal: FileJournal,
  ) {
    const { directory, files, logger, limits = STANDARD_LIMITS } = options;
    this.directory = directory;
    this.#clock = options.clock ?? systemClock;
    this.#files = files;
    this.#collections = collections;
    this.#journal = journal;
    const onListenerError = (error: unknown): void =>
      logger.error('a change listener failed', { error });
    const feed = new ChangeFeed(onListenerError);
    this.changes = {
      follow: (listener) => feed.follow(listener),
      since: async (sequence) => sequence > journal.sequence ? null : journal.read(sequence),
    };
    this.#commit = new GroupCommit({
      journal, feed,
      stagedBytesMax: limits.stagedBytesMax,
      staging: new Staging(collections.values(), onListenerError),
    });
  }

  get failure(): string | null {
    return this.#journal.failure?.message ?? null;
  }

  checkWritable(): void {
    const { failure } = this.#journal;
    if (failure !== null) throw failure;
  }

  onFailure(listener: (reason: string | null) => void): () => void {
    return this.#journal.failureLog.onSaid(listener);
  }

  get statistics(): StoreStatistics {
    const { commits, transactions } = this.#commit;
    const { sequence, generation, bytes, snapshots } = this.#journal;
    return {
      sequence, commits, transactions, generation,
      journalBytes: bytes,
      isCompacting: snapshots.isRunning,
      compactedMs: snapshots.writtenMs,
    };
  }

  collection(name: string): Collection {
    const collection = this.#collections.get(name);
    assert(collection !== undefined, `no collection ${name}`);
    return collection;
  }

  transact<T>(prepare: (transaction: Transaction) => T): Promise<T> {
    return this.#commit.submit(prepare);
  }

  compact(): Promise<void> {
    return this.#journal.snapshots.write();
  }

  async openBackup(): Promise<Backup> {
    this.backupMs = this.#clock.now();
    const { openBackup } = await withBackup((loaded) => loaded);
    const { countRecords } = await withManifest((loaded) => loaded);
    return this.#journal.betweenBatches(({ base, inUse }) => {
      const contents = {
        sequence: this.#journal.sequence, records: countRecords(this.#collections),
      };
      return openBackup(this.#files, this.directory, base, inUse, contents);
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#commit.close().then(() => this.#journal.close());
    return this.#closing;
  }
}

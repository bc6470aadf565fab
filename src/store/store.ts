/** The store: transactions over collections, durable through one journal, in one directory. */
import { dirname, join } from 'node:path';
import { assert } from '../base/assert.ts';
import { systemClock } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { AppError, systemCodeOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { openBackup } from './backup/backup.ts';
import type { Backup } from './backup/backup.ts';
import {
  MANIFEST_NAME, checkContents, countRecords, findManifest,
} from './backup/manifest.ts';
import type { Contents } from './backup/manifest.ts';
import type { StoredCollection } from './records/collection.ts';
import { Compaction } from './generations/compaction.ts';
import { diskError } from './disk/error.ts';
import type { Files } from './disk/files.ts';
import { FailureLog } from './transactions/failure-log.ts';
import { GroupCommit } from './transactions/group-commit.ts';
import { unsyncedName } from './disk/inventory.ts';
import type { Journal } from './journal/journal-file.ts';
import { STANDARD_LIMITS } from './records/memory-limits.ts';
import type { MemoryLimits } from './records/memory-limits.ts';
import type {
  Collection, CollectionSpec, Store, StoreStatistics, Transaction, Urgency,
} from './port.ts';
import { assess } from './generations/recovery.ts';
import type { Assessment } from './generations/recovery.ts';
import { repair } from './generations/repair.ts';
import { checkNothingPending } from './backup/pending.ts';
import { SpaceProbe } from './disk/space-probe.ts';
import { Staging } from './transactions/staging.ts';

export type StoreOptions = {
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
}

// After a failed compaction the next one is not tried at once: it would fail the same way.
const COMPACTION_RETRY_MS = 60_000;

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
  const { directory, files, logger } = options;
  makeDurableDirectory(files, directory);
  checkNothingPending(files, directory);
  const assessment = await assess(options);
  await endBackup(files, directory, assessment);
  const journal = await repair(directory, files, logger, assessment);
  const store = new FileStore(options, assessment, journal);
  try {
    await store.begin();
    return store;
  } catch (error) {
    await store.close();
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

/** A backup that a start goes on in is held to its manifest, and is no backup any more. */
async function endBackup(
  files: Files, directory: string, { sequence, collections }: Assessment,
): Promise<void> {
  const manifest = await findManifest(files, directory);
  if (manifest === null) return;
  checkContents(manifest, { sequence, records: countRecords(collections) });
  files.unlink(join(directory, MANIFEST_NAME));
  files.syncDirectory(directory);
}

class FileStore implements OpenedStore {
  readonly directory: string;
  readonly #options: StoreOptions;
  readonly #assessment: Assessment;
  readonly #collections: ReadonlyMap<string, StoredCollection>;
  readonly #clock: Clock;
  readonly #commit: GroupCommit;
  readonly #compaction: Compaction;
  readonly #probe: SpaceProbe;
  #compactionAfterMs = -Infinity;
  #closing: Promise<void> | null = null;

  constructor(options: StoreOptions, assessment: Assessment, journal: Journal) {
    const { directory, files, logger, clock = systemClock } = options;
    const { collections, inventory, journals, sequence } = assessment;
    this.directory = directory;
    this.#options = options;
    this.#assessment = assessment;
    this.#collections = collections;
    this.#clock = clock;
    this.#probe = new SpaceProbe(directory, files, clock, () => this.#commit.recover());
    this.#commit = new GroupCommit({
      journal, sequence, clock,
      failureLog: new FailureLog(clock, logger),
      stagedBytesMax: (options.limits ?? STANDARD_LIMITS).stagedBytesMax,
      staging: new Staging(collections.values(), (error) =>
        logger.error('a change listener failed', { error })),
      isDiskBusy: () => this.#compaction.isRunning,
      onCommit: () => this.#compactWhenDue(),
      onFailure: (kind) => kind === 'refused' ? this.#probe.start() : this.#leaveMarker(),
    });
    const generations = [journal.generation, ...inventory.journals, ...inventory.snapshots.keys()];
    const closed = journals.filter(({ generation }) => generation !== journal.generation);
    this.#compaction = new Compaction({
      directory, files, collections,
      commit: this.#commit,
      base: assessment.base,
      generation: Math.max(...generations),
      journalBytes: closed.reduce((sum, { replayed }) => sum + replayed.end, journal.length),
    });
  }

  get failure(): string | null {
    return this.#commit.failure?.message ?? null;
  }

  get statistics(): StoreStatistics {
    const { sequence, commits, transactions, journal } = this.#commit;
    return {
      sequence, commits, transactions,
      generation: journal.generation,
      journalBytes: this.#compaction.journalBytes,
      isCompacting: this.#compaction.isRunning,
    };
  }

  /** What opening writes once everything is in place. */
  async begin(): Promise<void> {
    const { base, damagedSets, inventory, journals } = this.#assessment;
    const last = journals.at(-1);
    const isNoted = last === undefined || last.replayed.snapshots.length > 0;
    if (base > 0 && base === this.#commit.journal.generation && !isNoted) {
      await this.#commit.noteSnapshots(inventory.snapshots.get(base) ?? []);
    } else if (last !== undefined && !last.replayed.isMarked) {
      await this.#commit.mark();
    }
    for (const error of damagedSets) {
      this.#options.logger.error('a snapshot is damaged; went back to the one before', { error });
    }
    // What a failed sync has left is copied as a whole before anything rests on it.
    if (inventory.unsynced.length > 0) await this.#compaction.run();
    else if (damagedSets.length > 0) this.#compactInBackground();
    else this.#compactWhenDue();
  }

  collection(name: string): Collection {
    const collection = this.#collections.get(name);
    assert(collection !== undefined, `no collection ${name}`);
    return collection;
  }

  transact<T>(prepare: (transaction: Transaction) => T, urgency?: Urgency): Promise<T> {
    return this.#commit.submit(prepare, urgency);
  }

  compact(): Promise<void> {
    return this.#compaction.run();
  }

  openBackup(): Promise<Backup> {
    const { files } = this.#options;
    return this.#commit.exclusive(async () => openBackup(
      files, this.directory, this.#compaction.base, this.#commit.journal, this.#contents()));
  }

  #contents(): Contents {
    const { sequence } = this.#commit;
    return { sequence, records: countRecords(this.#collections) };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#probe.stop();
    await this.#compaction.stop();
    await this.#commit.close();
  }

  #compactWhenDue(): void {
    if (this.#compaction.isRunning || this.#clock.monotonicMs() < this.#compactionAfterMs) return;
    if (this.#compaction.isDue) this.#compactInBackground();
  }

  #compactInBackground(): void {
    this.#compaction.run().catch((error: unknown) => {
      if (this.#compaction.isStopping) return;
      this.#compactionAfterMs = this.#clock.monotonicMs() + COMPACTION_RETRY_MS;
      this.#options.logger.error('compaction failed', { error });
    });
  }

  /** Tells the next start not to trust what it reads; best effort, as the disk is failing. */
  #leaveMarker(): void {
    const { files } = this.#options;
    const path = join(this.directory, unsyncedName(this.#commit.journal.generation));
    try {
      files.close(files.open(path, 'create'));
      files.syncDirectory(this.directory);
    } catch (error) {
      this.#options.logger.warning('could not mark the journal as not synced', { error });
    }
  }
}

/**
 * Compaction writes a new generation beside traffic. The order of its steps is such that a crash
 * between any two leaves a directory that opens with everything acknowledged (recovery.ts):
 *
 *  1. The name of the new journal, synced. Then, between two batches: its first line, synced; a
 *     `next` note in the old one; the state frozen. From here on, transactions go to the new one.
 *  2. The snapshots as `.tmp` files, each synced.
 *  3. All of them renamed, the directory synced.
 *  4. A `snapshots` note in the new journal: from here on a missing snapshot is damage.
 *  5. Everything older than the previous generation is deleted; that one stays as a fall-back. The
 *     newest of the older journals stay too, up to a size, for readers of past changes
 *     (journal-reader.ts). No start reads them.
 *
 * When a step fails the new journal stays in use, and the next attempt makes another generation.
 */
import { join } from 'node:path';
import { assert } from '../../base/assert.ts';
import { AppError } from '../../base/errors.ts';
import { freezeAll, measureGarbage } from '../records/collection.ts';
import type { StoredCollection } from '../records/collection.ts';
import { diskError } from '../disk/disk-error.ts';
import type { Files } from '../disk/files.ts';
import {
  journalName, snapshotName, readInventory, unsyncedName,
} from '../disk/inventory.ts';
import { nameJournalFile, startJournalFile } from '../journal/journal-file.ts';
import type { JournalFile } from '../journal/journal-file.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { JournalWriter } from '../journal/journal-writer.ts';
import type { Snapshots } from '../journal/journal-port.ts';
import { writeSnapshots } from './snapshot-writer.ts';

// A new generation is worth writing when the journals are larger than the live records, and than
// this; or when memory holds much garbage.
const JOURNAL_BYTES_MIN = 16 << 20;
// A disk frees the blocks of deleted files after their deletion: with ext4 and `discard`, a sync
// 10 ms later still took 14 ms. Nothing reports the end of it, so a fixed time is waited.
const SETTLE_MS = 1000;
/** Limits of the journals that only readers of past changes still need. */
const HISTORY_BYTES_MAX = 16 << 20;
const HISTORY_FILES_MAX = 16;

type CompactionOptions = {
  readonly directory: string;
  readonly files: Files;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly writer: JournalWriter;
  readonly collections: ReadonlyMap<string, StoredCollection>;
  readonly base: number;
  readonly newestGeneration: number;
  /** The bytes of the journals since the base. */
  readonly journalBytes: number;
};

export class Compaction implements Snapshots {
  isStopping = false;
  readonly #options: CompactionOptions;
  #base: number;
  #newestGeneration: number;
  /** The bytes of the journals since the base without the one in use. */
  #closedBytes: number;
  writtenMs: number | null = null;
  #running: Promise<void> | null = null;

  constructor(options: CompactionOptions) {
    this.#options = options;
    this.#base = options.base;
    this.#newestGeneration = options.newestGeneration;
    this.#closedBytes = options.journalBytes - options.writer.file.length;
  }

  get isRunning(): boolean {
    return this.#running !== null;
  }

  /** The newest complete generation, 0 when there is none. */
  get base(): number {
    return this.#base;
  }

  /** The bytes that a start would replay. */
  get journalBytes(): number {
    return this.#closedBytes + this.#options.writer.file.length;
  }

  /** Whether a compaction would pay now; false while one is under way. */
  get isDue(): boolean {
    if (this.#running !== null) return false;
    const { liveBytes, isWorthCompacting } = measureGarbage(this.#options.collections);
    return isWorthCompacting || this.journalBytes > Math.max(JOURNAL_BYTES_MIN, liveBytes);
  }

  /** Resolves when the generation is durable; it holds all that was committed before the call. */
  async write(): Promise<void> {
    // The caller of the compaction under way gets its error; this call makes another one.
    while (this.#running !== null) await this.#running.catch(() => {});
    const { clock, writer } = this.#options;
    writer.diskBusyUntilMs = Infinity;
    this.#running = this.#writeGeneration();
    try {
      await this.#running;
      this.writtenMs = clock.now();
    } catch (error) {
      if (error instanceof AppError) throw error;
      throw diskError('a new generation could not be written', error);
    } finally {
      this.#running = null;
      writer.diskBusyUntilMs = clock.monotonicMs() + SETTLE_MS;
    }
  }

  /** Cancels a running compaction; resolves when it has ended. */
  async stop(): Promise<void> {
    this.isStopping = true;
    // Its caller gets the error.
    await this.#running?.catch(() => {});
  }

  async #writeGeneration(): Promise<void> {
    const { writer, directory, files, collections, logger } = this.#options;
    if (writer.failure !== null) throw writer.failure;
    if (this.isStopping) throw new AppError('unavailable', 'the store is closing');
    await writer.file.checkPlace(directory);
    this.#newestGeneration += 1;
    const generation = this.#newestGeneration;
    // Writers wait during the switch, so as much as possible is done before it.
    const file = await nameJournalFile(files, directory, generation);
    const { frozen, sequence } = await writer.runExclusively(async () => {
      await this.#switchTo(file);
      return { frozen: freezeAll(collections), sequence: writer.sequence };
    });
    const isStopping = (): boolean => this.isStopping;
    try {
      await writeSnapshots(files, { directory, generation, sequence, frozen, isStopping });
    } catch (error) {
      await this.#removeTemporary();
      throw error;
    } finally {
      for (const collection of collections.values()) collection.thaw();
    }
    const previous = this.#base;
    assert(generation > previous, 'generations rise');
    // Before the note: a backup that has the note must have the snapshots.
    this.#base = generation;
    this.#closedBytes = 0;
    const isNoted = await writer.writeSnapshotsNote([...frozen.keys()]);
    if (!isNoted) throw writer.failure ?? new Error('not noted');
    await this.#deleteOld(generation, previous).catch((error: unknown) => {
      logger.warning('what a compaction has replaced could not be deleted whole; the next one '
        + 'tries again', { error });
    });
  }

  async #switchTo(file: JournalFile): Promise<void> {
    const { writer, directory, files } = this.#options;
    await startJournalFile(files, directory, file, writer.sequence);
    const previousFile = writer.file;
    try {
      await writer.switchTo(file);
    } catch (error) {
      file.close();
      throw error;
    }
    this.#closedBytes += previousFile.length;
  }

  /** Deletes all that belongs neither to the new generation nor to the one before it. */
  async #deleteOld(generation: number, previous: number): Promise<void> {
    const { directory, files } = this.#options;
    const inventory = readInventory(files, directory);
    for (const [other, names] of inventory.snapshots) {
      if (other === generation || other === previous) continue;
      for (const name of names) await this.#deleteFile(snapshotName(name, other));
    }
    const journals = inventory.journals.filter((other) => other < previous);
    for (const other of this.#findOldJournals(journals)) {
      await this.#deleteFile(journalName(other));
    }
    for (const other of inventory.unsynced) await this.#deleteFile(unsyncedName(other));
    for (const { name, generation: other } of inventory.torn) {
      if (other < previous) await this.#deleteFile(name);
    }
    await this.#removeTemporary();
  }

  /** A reader or a backup that has the file open goes on with it: its descriptor stays valid. */
  #deleteFile(name: string): Promise<void> {
    const { directory, files } = this.#options;
    return files.unlink(join(directory, name));
  }

  /** Finds the journals beyond the history limits. Argument and result rise. */
  #findOldJournals(generations: readonly number[]): number[] {
    const { directory, files } = this.#options;
    const oldGenerations: number[] = [];
    let bytes = 0;
    for (const [index, generation] of generations.toReversed().entries()) {
      const descriptor = files.openSync(join(directory, journalName(generation)), 'read');
      bytes += files.sizeSync(descriptor);
      files.closeSync(descriptor);
      if (bytes > HISTORY_BYTES_MAX || index >= HISTORY_FILES_MAX) oldGenerations.push(generation);
    }
    return oldGenerations.reverse();
  }

  async #removeTemporary(): Promise<void> {
    const { directory, files } = this.#options;
    for (const name of readInventory(files, directory).temporary) {
      // The next compaction, or the next start, tries again.
      await files.unlink(join(directory, name)).catch(() => {});
    }
  }
}

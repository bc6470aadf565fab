/**
 * The journal in the files of one directory: it owns the writer of the lines, the compaction, and
 * the probe that follows when the disk takes no more writes. It starts from the directory that
 * recovery.ts has read and repair.ts has repaired.
 */
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Files } from '../disk/files.ts';
import { unsyncedName } from '../disk/inventory.ts';
import { SpaceProbe } from '../disk/space-probe.ts';
import { FailureLog } from '../journal/failure-log.ts';
import type { JournalFile } from '../journal/journal-file.ts';
import { JournalWriter } from '../journal/journal-writer.ts';
import type { AppendRequest, Journal, Snapshots } from '../journal/journal-port.ts';
import type { LogReader } from '../store-port.ts';
import { Compaction } from './compaction.ts';
import { describeMendedDamage } from './damage-error.ts';
import { openReader } from './journal-reader.ts';
import type { RecoveredState } from './recovery.ts';

export type FileJournalOptions = {
  readonly directory: string;
  readonly files: Files;
  readonly logger: Logger;
  /** Is told when writing stops and goes on, in place of `logger`. */
  readonly failureLogger?: Logger;
  readonly clock: Clock;
};

/** The files of one state: a base, and the journals from there to a length of the last one. */
type JournalExtent = {
  readonly base: number;
  readonly inUse: { readonly generation: number; readonly length: number };
};

// A failed compaction is not tried again at once: it would fail the same way.
const COMPACTION_RETRY_MS = 60_000;

/** The journal in the files of one directory. */
export type DirectoryJournal =
  Journal & Pick<FileJournal, 'failureLog' | 'bytes' | 'generation' | 'runBetweenBatches'>;

export class FileJournal implements Journal {
  readonly failureLog: FailureLog;
  readonly reloadError = null;
  readonly isShared = false;
  readonly isContended = false;
  readonly batchBytesMax = Infinity;
  readonly recordBytesMax = Infinity;
  readonly #options: FileJournalOptions;
  readonly #collections: RecoveredState['collections'];
  readonly #writer: JournalWriter;
  readonly #compaction: Compaction;
  readonly #probe: SpaceProbe;
  #nextCompactionMs = -Infinity;

  constructor(options: FileJournalOptions, state: RecoveredState, file: JournalFile) {
    const { directory, files, logger, clock, failureLogger = logger } = options;
    const { base, collections, inventory, journals: replayedJournals, sequence } = state;
    this.#options = options;
    this.#collections = collections;
    this.failureLog = new FailureLog(clock, failureLogger, 'the disk');
    this.#probe = new SpaceProbe(directory, files, clock, () => this.#writer.clearFailure());
    this.#writer = new JournalWriter({
      file, sequence, clock,
      failureLog: this.failureLog,
      // `unknown`: a sync or the undoing of a write failed, so the bytes may be on disk or not.
      onFailure: (kind) => kind === 'refused' ? this.#probe.start() : this.#createUnsyncedFile(),
    });
    const generations = [file.generation, ...inventory.journals, ...inventory.snapshots.keys()];
    const closedJournals = replayedJournals.filter(({ generation }) =>
      generation !== file.generation);
    this.#compaction = new Compaction({
      directory, files, clock, logger, collections, base,
      writer: this.#writer,
      newestGeneration: Math.max(...generations),
      journalBytes: closedJournals.reduce(
        (sum, { replay }) => sum + replay.validEnd, file.length),
    });
  }

  get sequence(): number { return this.#writer.sequence; }

  get failure(): AppError | null { return this.#writer.failure; }

  get snapshots(): Snapshots { return this.#compaction; }

  get generation(): number { return this.#writer.file.generation; }

  /** Bytes that a start would replay. */
  get bytes(): number { return this.#compaction.journalBytes; }

  /** Writes what a crash or a failing disk has left unwritten: a note, or a whole generation. */
  async completeRecovery(state: RecoveredState): Promise<void> {
    const { base, snapshotErrors, inventory, journals: replayedJournals } = state;
    const last = replayedJournals.at(-1);
    const lacksSnapshotsNote = last !== undefined && last.replay.completeSnapshots.length === 0;
    if (base > 0 && base === this.generation && lacksSnapshotsNote) {
      // A crash came between the snapshots and the note that they are complete.
      await this.#writer.writeSnapshotsNote(inventory.snapshots.get(base) ?? []);
    } else if (last !== undefined && !last.replay.endsWithNote) {
      // The repair has put all lines on disk. The mark is a line that says so of those before it.
      await this.#writer.writeMark();
    }
    for (const error of snapshotErrors) {
      this.#options.logger.error('a snapshot is damaged or missing; went back to the one '
        + 'before, and lost nothing', { reason: describeMendedDamage(error) });
    }
    // After a failed sync everything is copied to a new generation before it is used.
    const hasUnsyncedJournal = inventory.unsynced.length > 0;
    if (hasUnsyncedJournal) await this.#compaction.write();
    if (snapshotErrors.length > 0 && !hasUnsyncedJournal) this.#compactInBackground();
    else this.#compactWhenDue();
  }

  async catchUp(): Promise<void> {}

  async append(request: AppendRequest): Promise<void> {
    await this.#writer.append(request);
    this.#compactWhenDue();
  }

  read(sequence: number): Promise<LogReader | null> {
    const { files, directory } = this.#options;
    return openReader(files, directory, sequence, this.#collections);
  }

  /**
   * Calls `run`, which may open the files of the extent, while no batch is written: all that is
   * committed has been applied to the collections in memory then.
   */
  runBetweenBatches<T>(run: (extent: JournalExtent) => T): Promise<T> {
    return this.#writer.runExclusively(async () => {
      const { file } = this.#writer;
      await file.checkPlace(this.#options.directory);
      return run({ base: this.#compaction.base, inUse: file });
    });
  }

  async close(): Promise<void> {
    await this.#probe.stop();
    await this.#compaction.stop();
    await this.#writer.close();
  }

  #compactWhenDue(): void {
    const { clock } = this.#options;
    if (this.failure !== null || clock.monotonicMs() < this.#nextCompactionMs) return;
    if (this.#compaction.isDue) this.#compactInBackground();
  }

  #compactInBackground(): void {
    const { clock, logger } = this.#options;
    this.#compaction.write().catch((error: unknown) => {
      if (this.#compaction.isStopping) return;
      this.#nextCompactionMs = clock.monotonicMs() + COMPACTION_RETRY_MS;
      logger.error('compaction failed', { error });
    });
  }

  /**
   * Creates the file beside the journal that warns the next start that the journal may not be on
   * disk. The disk is failing, so this may fail too.
   */
  #createUnsyncedFile(): void {
    const { directory, files, logger } = this.#options;
    try {
      files.closeSync(files.openSync(join(directory, unsyncedName(this.generation)), 'create'));
      files.syncDirectorySync(directory);
    } catch (error) {
      logger.warning('could not mark the journal as not synced', { error });
    }
  }
}

/**
 * Writes and loads snapshots of the records that several nodes share. Each node has one in its own
 * data directory (local-snapshot.ts) to start from. One of the nodes (`mayWriteToEngine`) sends its
 * snapshots to the engine as well, keeps two there, and trims the log before the older one.
 */
import type { Clock } from '../../base/clock.ts';
import { AppError, messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { EngineSession, LogHead, LogPosition } from '../engines/engine.ts';
import type { BackupSources } from '../backup/backup.ts';
import type { Snapshots } from '../journal/journal-port.ts';
import type { CollectionSpec } from '../store-port.ts';
import { measureGarbage } from '../records/collection.ts';
import type { MemoryLimits } from '../records/memory-limits.ts';
import { checkFormat, isSamePosition } from './log-entry.ts';
import type { EngineLink } from './engine-link.ts';
import { isDamage } from '../generations/damage-error.ts';
import { createUnreachableError } from './fresh-reads.ts';
import {
  receiveSnapshot, removeOldSnapshots, sendSnapshot, verifyParts,
} from './snapshot-transfer.ts';
import type { LocalSnapshot, WrittenSnapshot } from './local-snapshot.ts';
import { ReplicatedRecords, createEmptyRecords } from './replicated-records.ts';

/** Log bytes after which a snapshot is due: about the most that a start has to read. */
const LOG_BYTES_MAX = 256 << 20;
/** Entries that are read at a time. */
const ENTRIES_MAX = 64;
/** Pause after a failure, doubled with each further one: each try may write large local files. */
const RETRY_MS = 60_000;
const RETRY_MS_MAX = 3_600_000;

type SnapshotKeeperOptions = {
  readonly local: LocalSnapshot;
  readonly link: EngineLink;
  readonly specs: readonly CollectionSpec[];
  readonly limits?: MemoryLimits | undefined;
  readonly maxSnapshotBytes: number;
  readonly snapshotEveryBytes?: number | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
};

export class SnapshotKeeper implements Snapshots {
  /** Whether this node is the one that sends snapshots to the engine. */
  mayWriteToEngine: () => boolean = () => false;
  writtenMs: number | null = null;
  readonly #options: SnapshotKeeperOptions;
  #records: ReplicatedRecords | null = null;
  #running: Promise<void> | null = null;
  #isStopping = false;
  #retryAfterMs = -Infinity;
  #failures = 0;
  /** Bytes of the log since the last snapshot that was sent to the engine, up to the local one. */
  #unsentBytes = 0;

  constructor(options: SnapshotKeeperOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#running !== null;
  }

  /** Sets the records that snapshots are made of. */
  follow(records: ReplicatedRecords): void {
    this.#records = records;
  }

  /** Writes a snapshot and sends it to the engine, whichever node maintains it. */
  async write(): Promise<void> {
    await this.#runExclusively(() => this.#write(true));
  }

  /** Opens the files of a new snapshot: those of a store without an engine. */
  async openFiles(): Promise<BackupSources> {
    return this.#runExclusively(async () =>
      this.#options.local.openFiles(await this.#writeLocal()));
  }

  /** Begins to write a snapshot if one is due. It logs its failure, and tries again later. */
  writeWhenDue(): void {
    const { clock, logger } = this.#options;
    if (this.#running !== null || this.#isStopping || !this.#isDue()) return;
    if (clock.monotonicMs() < this.#retryAfterMs) return;
    this.#runExclusively(() => this.#write(this.mayWriteToEngine())).then(() => {
      this.#failures = 0;
    }, (error: unknown) => {
      if (this.#isStopping) return;
      const retryMs = Math.min(RETRY_MS_MAX, RETRY_MS * 2 ** this.#failures);
      this.#failures += 1;
      this.#retryAfterMs = clock.monotonicMs() + retryMs;
      logger.error('a snapshot could not be written', { error });
    });
  }

  /** Stops the snapshot that is being written, and writes no more. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#running;
  }

  /**
   * Loads the newest snapshot and all log entries after it: this node's own snapshot if it is still
   * part of the log, else the engine's. Throws `damaged` when the log needs one and has none.
   */
  load(session: EngineSession): Promise<ReplicatedRecords> {
    return this.#runExclusively(() => this.#load(session));
  }

  async #load(session: EngineSession): Promise<ReplicatedRecords> {
    const { link } = this.#options;
    const head = await link.ask(session, session.head());
    if (head === null) throw new AppError('unavailable', 'the log is gone from the engine');
    checkFormat(head);
    const records = await this.#loadLocal(session, head)
      ?? await this.#loadFromEngine(session, head)
      ?? this.#createFirst(head);
    while (true) {
      const { sequence } = records.position;
      const entries = await link.ask(session, session.readAfter(sequence, ENTRIES_MAX));
      if (entries.length === 0) return records;
      if (await records.acceptInTurns(entries)) continue;
      throw new AppError('damaged', `the log of the engine cannot be followed (${
        records.divergence}): ask data:verify, and put a backup of the engine back`);
    }
  }

  /** Runs one call at a time: all calls use the same local files. */
  async #runExclusively<T>(run: () => Promise<T>): Promise<T> {
    while (this.#running !== null) await this.#running;
    let end = (): void => {};
    this.#running = new Promise((resolve) => {
      end = resolve;
    });
    try {
      return await run();
    } finally {
      this.#running = null;
      end();
    }
  }

  #isDue(): boolean {
    if (this.#records === null) return false;
    const unsentBytes = this.mayWriteToEngine() ? this.#unsentBytes : 0;
    const logBytes = this.#records.appliedBytes + unsentBytes;
    return logBytes >= (this.#options.snapshotEveryBytes ?? LOG_BYTES_MAX)
      || measureGarbage(this.#records.collections).isWorthCompacting;
  }

  /** A snapshot of sequence 0 has no records, so it is not sent. */
  async #write(isForEngine: boolean): Promise<void> {
    const snapshot = await this.#writeLocal();
    if (!isForEngine || snapshot.sequence === 0) return;
    const { link, local, maxSnapshotBytes } = this.#options;
    const { session } = link;
    if (session === null) throw createUnreachableError('it gives no answer');
    const sums = await sendSnapshot(link, session, local, snapshot, maxSnapshotBytes,
      () => this.#isStopping);
    await verifyParts(link, session, snapshot, sums);
    await removeOldSnapshots(link, session);
    this.#unsentBytes = 0;
  }

  async #writeLocal(): Promise<WrittenSnapshot> {
    const source = this.#records;
    if (source === null || source.divergence !== null) {
      throw new AppError('unavailable', 'the records are loaded anew');
    }
    const { logId, position, collections, appliedBytes } = source;
    // Entries that are applied from now on count for the next snapshot.
    source.appliedBytes = 0;
    try {
      const snapshot = await this.#options.local.write({ log: logId, ...position }, collections,
        () => this.#isStopping);
      this.writtenMs = this.#options.clock.now();
      this.#unsentBytes += appliedBytes;
      return snapshot;
    } catch (error) {
      source.appliedBytes += appliedBytes;
      throw error;
    }
  }

  /** Returns null when there is no local snapshot, or it is not of this log, or is damaged. */
  async #loadLocal(session: EngineSession, head: LogHead): Promise<ReplicatedRecords | null> {
    const { local } = this.#options;
    const image = await local.find();
    if (image === null || image.log !== head.log) return null;
    if (!await this.#isInLog(session, image, head)) return null;
    try {
      const { sequence, chain } = image;
      return new ReplicatedRecords(await local.load(image), image.log, { sequence, chain });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      this.#options.logger.warning('the snapshot of this node cannot be read; taking the engine\'s',
        { reason: messageOf(error) });
      return null;
    }
  }

  /** Whether the log whose head is `head` has an entry at this position. */
  async #isInLog(
    session: EngineSession, { sequence, chain }: LogPosition, head: LogHead,
  ): Promise<boolean> {
    if (sequence < 1 || sequence > head.sequence) return false;
    const { link } = this.#options;
    const [entry] = await link.ask(session, session.readAfter(sequence - 1, 1));
    return entry !== undefined && isSamePosition(entry, { sequence, chain });
  }

  /** Loads the newest snapshot of the engine that is whole. Returns null when there is none. */
  async #loadFromEngine(session: EngineSession, head: LogHead): Promise<ReplicatedRecords | null> {
    const { link, local, logger } = this.#options;
    for (const snapshot of await link.ask(session, session.snapshots.list())) {
      if (!await this.#isInLog(session, snapshot, head)) {
        logger.warning('a snapshot of the engine does not belong to its log',
          { sequence: snapshot.sequence });
        continue;
      }
      try {
        return await receiveSnapshot(link, session, local, head.log, snapshot);
      } catch (error) {
        if (!isDamage(error)) throw error;
        logger.error('a snapshot of the engine is damaged; taking the one before',
          { sequence: snapshot.sequence, reason: error.message });
        await local.clear();
      }
    }
    return null;
  }

  /** Starts from no records, which is right only if no entry was trimmed from the log. */
  #createFirst(head: LogHead): ReplicatedRecords {
    if (head.floor === 0) return createEmptyRecords(this.#options, head.log);
    if (head.sequence < head.floor) {
      throw new AppError('unavailable', 'a data:move into this log is not done: wait for its end, '
        + 'or run it again if it was cut off');
    }
    throw new AppError('damaged', `the engine's log begins at ${head.floor}, and no snapshot of it `
      + 'can be read: put a backup of the engine back');
  }
}

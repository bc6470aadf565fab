/**
 * Backups that a server makes by itself, beside traffic. The next time counts from the newest
 * backup in the folder, so that restarts neither skip a backup nor make one more. A backup is
 * verified under a temporary name: a file with the name of a backup is whole. Old backups are
 * deleted only after that. One of several nodes over an engine makes the backups. Where there are
 * backups, none is made of empty data: its disk may be missing, and good backups would be deleted.
 */
import { join } from 'node:path';
import { formatTimestamp, formatTimestampOrNull } from '../base/clock.ts';
import type { Clock, Timer } from '../base/clock.ts';
import { AppError, systemCodeOf } from '../base/errors.ts';
import { explainFileError } from '../base/file-error.ts';
import type { Logger } from '../base/log.ts';
import { formatBackupName, writeBackup } from '../store/backup/backup.ts';
import { verifyTar } from '../store/backup/restore.ts';
import type { Files } from '../store/disk/files.ts';
import type { OpenedStore } from '../store/store.ts';
import {
  checkOutsideData, checkRoom, explainFailure, listBackups, makeBackupFolder,
  removeParts, toNameTime,
} from './backup-folder.ts';

export type BackupFailure = { readonly at: string; readonly to: string; readonly reason: string };

type BackupsStatus = {
  readonly to: string;
  readonly everyHours: number;
  /** When the newest verified backup was made; null: there is none, or another node makes them. */
  readonly newestAt: string | null;
  /** Why the last backup failed, and when; null once one was made. */
  readonly failure: { readonly at: string; readonly reason: string } | null;
};

type ScheduledBackupsDeps = {
  readonly store: Pick<OpenedStore, 'directory' | 'openStateSources' | 'replica'>;
  readonly files: Files;
  readonly clock: Clock;
  readonly log: Logger;
  readonly plan: { readonly to: string; readonly everyHours: number; readonly keep: number };
  /** Whether this node makes the backups: one of several nodes does. */
  readonly isMaker: () => boolean;
  /** Whether the store holds nothing that people keep there. */
  readonly isEmpty: () => boolean;
  /** Tells of a failure; must not throw. */
  readonly onFailure: (failure: BackupFailure) => Promise<void>;
};

const HOUR_MS = 3_600_000;
const CHECK_MS = 60_000;
const CHECK_MS_MIN = 100;
/** How often a node looks whether it makes the backups: that is not settled at its start. */
const MAKER_CHECK_MS = 5000;
const RETRY_MS_MAX = HOUR_MS;
/** Another node may still write a younger part; an older part was cut off. */
const FOREIGN_PART_MS = HOUR_MS;

export class ScheduledBackups {
  readonly #deps: ScheduledBackupsDeps;
  readonly #files: Files;
  readonly #everyMs: number;
  #timer: Timer | null = null;
  #running: Promise<void> = Promise.resolve();
  #isClosed = false;
  #newestMs: number | null = null;
  #failure: BackupsStatus['failure'] = null;
  /** The next attempt after one that failed or was skipped: at this monotonic time, or later. */
  #retryMonotonicMs = -Infinity;

  constructor(deps: ScheduledBackupsDeps) {
    this.#deps = deps;
    this.#everyMs = deps.plan.everyHours * HOUR_MS;
    this.#files = this.#createStoppableFiles(deps.files);
  }

  /** Idempotent. */
  start(): void {
    if (this.#timer === null && !this.#isClosed) this.#wait(0);
  }

  /** Gives up a backup that is being written, and removes its file. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#running;
  }

  /** When the newest verified backup was made, in milliseconds since the epoch. */
  get newestMs(): number | null {
    return this.#newestMs;
  }

  get status(): BackupsStatus {
    const { to, everyHours } = this.#deps.plan;
    return {
      to, everyHours, newestAt: formatTimestampOrNull(this.#newestMs), failure: this.#failure,
    };
  }

  #wait(delayMs: number): void {
    this.#timer = this.#deps.clock.startTimer(delayMs, () => {
      this.#running = this.#check().then((nextMs) => {
        if (!this.#isClosed) this.#wait(nextMs);
      });
    });
  }

  /**
   * Makes a backup if one is due, and resolves with the milliseconds until the next check. The wall
   * clock may be set meanwhile, so no wait is long.
   */
  async #check(): Promise<number> {
    const { isMaker, isEmpty } = this.#deps;
    if (!isMaker()) {
      this.#forget();
      return MAKER_CHECK_MS;
    }
    try {
      const dueMs = this.#findDueMs();
      if (dueMs <= 0 && this.#newestMs !== null && isEmpty()) return this.#skip();
      if (dueMs <= 0) await this.#make();
      return this.#limitWait(dueMs > 0 ? dueMs : this.#everyMs);
    } catch (thrown) {
      if (this.#isClosed) return CHECK_MS;
      const delayMs = this.#postpone();
      await this.#tellFailure(thrown);
      return delayMs;
    }
  }

  #skip(): number {
    const { log, plan: { to } } = this.#deps;
    log.warning('no backup is made, as there are backups and the data is empty now: see whether '
      + 'the data directory is the right one and its disk is mounted', { to });
    return this.#postpone();
  }

  /** Lets the next attempt wait, and returns the milliseconds until the next check. */
  #postpone(): number {
    const retryMs = Math.max(Math.min(this.#everyMs, RETRY_MS_MAX), CHECK_MS_MIN);
    this.#retryMonotonicMs = this.#deps.clock.monotonicMs() + retryMs;
    return this.#limitWait(retryMs);
  }

  /** Called when another node makes the backups: our last one would look like a late backup. */
  #forget(): void {
    this.#newestMs = null;
    this.#failure = null;
    this.#retryMonotonicMs = -Infinity;
  }

  #limitWait(delayMs: number): number {
    return Math.min(Math.max(delayMs, CHECK_MS_MIN), CHECK_MS);
  }

  /** Milliseconds until the next backup is due; 0 or less: it is. */
  #findDueMs(): number {
    const { clock, plan, store } = this.#deps;
    const nowMs = clock.now();
    checkOutsideData(plan.to, store.directory, 'backup.to');
    makeBackupFolder(plan.to);
    this.#newestMs = listBackups(this.#files, plan.to, nowMs).at(-1)?.madeMs ?? null;
    const retryMs = this.#retryMonotonicMs - clock.monotonicMs();
    if (this.#newestMs === null) return Math.max(retryMs, 0);
    // A name has whole seconds: two of the same second would be one.
    const dueMs = this.#newestMs + Math.max(this.#everyMs, 1000);
    return Math.max(dueMs - nowMs, retryMs, 0);
  }

  async #make(): Promise<void> {
    const { clock, plan: { to }, store, log } = this.#deps;
    const nowMs = clock.now();
    const startedMs = clock.monotonicMs();
    removeParts(this.#files, to, store.replica === null ? Infinity : nowMs - FOREIGN_PART_MS);
    const path = join(to, `${formatBackupName(nowMs)}.tar`);
    const sources = await store.openStateSources();
    const bytes = sources.files.reduce((sum, file) => sum + file.bytes, 0);
    try {
      await checkRoom(to, bytes);
      await writeBackup(this.#files, sources, path, nowMs, (part) => verifyTar(this.#files, part));
    } finally {
      sources.close();
    }
    this.#newestMs = toNameTime(nowMs);
    this.#failure = null;
    const tookMs = Math.round(clock.monotonicMs() - startedMs);
    log.info('backed up, and verified', { path, bytes, tookMs });
    await this.#deleteOldest(nowMs);
  }

  async #deleteOldest(nowMs: number): Promise<void> {
    const { plan: { to, keep }, log } = this.#deps;
    const backups = listBackups(this.#files, to, nowMs);
    for (const { name } of backups.slice(0, Math.max(backups.length - keep, 0))) {
      try {
        await this.#files.unlink(join(to, name));
      } catch (error) {
        log.error('an old backup cannot be deleted',
          { path: join(to, name), reason: explainFileError(error) });
      }
    }
  }

  async #tellFailure(thrown: unknown): Promise<void> {
    const { clock, plan: { to }, log, onFailure } = this.#deps;
    const reason = explainFailure(to, thrown);
    const at = formatTimestamp(clock.now());
    this.#failure = { at, reason };
    const isExpected = thrown instanceof AppError || systemCodeOf(thrown) !== undefined;
    log.error('the backup failed', { to, reason, ...isExpected ? {} : { error: thrown } });
    await onFailure({ at, to, reason });
  }

  /** Files that are not read or written any more once we close: a backup may be large. */
  #createStoppableFiles(files: Files): Files {
    const checkOpen = (): void => {
      if (this.#isClosed) throw new AppError('unavailable', 'the server stops');
    };
    return {
      ...files,
      read(descriptor, target, position) {
        checkOpen();
        return files.read(descriptor, target, position);
      },
      write(descriptor, source, position) {
        checkOpen();
        return files.write(descriptor, source, position);
      },
    };
  }
}

/**
 * The followers of this server's log: processes elsewhere that keep a copy of it (`data:follow`,
 * store/copy/copy.ts). Each follower gets the log from where its copy ends, and tells how much is
 * on its disk. The server remembers followers that have gone until this process ends.
 */
import type { Clock, Timer } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { createConcurrencyLimiter } from '../base/turns.ts';
import { encodeTar } from '../store/backup/backup.ts';
import type { Files } from '../store/disk/files.ts';
import { EPOCHS, isPartOfLog, listEpochs } from '../store/epochs.ts';
import type { EpochPosition } from '../store/epochs.ts';
import type { OpenedStore } from '../store/store.ts';
import { FollowedLog } from './followed-log.ts';
import { Follower } from './follower.ts';
import type { FollowerPlace, FollowerView } from './follower.ts';

type FollowersDeps = {
  readonly store: OpenedStore;
  readonly files: Files;
  readonly clock: Clock;
  readonly logger: Logger;
};

type FollowerConnection = {
  /** Whether its token is still good. */
  readonly mayFollow: () => boolean;
  /** Closes the connection at once. */
  readonly cut: () => void;
};

const CONNECTED_MAX = 16;
const REMEMBERED_MAX = 32;
const BACKUPS_MAX = 2;
/** A connection that broke unseen is taken over once; two followers of one copy do so for ever. */
const TAKEOVERS_MAX = 3;
const TAKEOVERS_MS = 10_000;
/** Transactions of this time are sent together, so that many small ones cost little. */
const GATHER_MS = 100;
/** A follower tells of itself every 10 s at the latest. */
const SILENCE_MS_MAX = 60_000;

type ConnectedFollower = {
  readonly follower: Follower;
  readonly log: FollowedLog;
  readonly cut: () => void;
  /** The times at which connections took the place of another connection of the same copy. */
  readonly takeoversMs: readonly number[];
};

export class Followers {
  readonly #deps: FollowersDeps;
  readonly #followers = new Map<string, Follower>();
  readonly #connections = new Map<string, ConnectedFollower>();
  /** Lets one piece at a time be made: a piece holds the event loop for some milliseconds. */
  readonly #gate = createConcurrencyLimiter(1);
  #backupCount = 0;
  #unfollow: (() => void) | null = null;
  #wakeTimer: Timer | null = null;
  #isClosed = false;

  constructor(deps: FollowersDeps) {
    this.#deps = deps;
  }

  /**
   * The log after `position`; `leave` must be called with it. Throws `precondition_failed` for a
   * position of another history, `gone` for one that the log does not go back to, `conflict` where
   * an engine keeps the log, and `unavailable`, also where two followers have the same copy.
   */
  async open(
    place: FollowerPlace, position: EpochPosition, { mayFollow, cut }: FollowerConnection,
  ): Promise<FollowedLog> {
    this.#checkOpen();
    const { store, clock } = this.#deps;
    this.#checkRoom(place);
    const epochs = listEpochs(store.collection(EPOCHS.name));
    if (!isPartOfLog(position, epochs, store.statistics.sequence)) {
      throw new AppError('precondition_failed', `transaction ${position.sequence} of the copy is `
        + 'not one of this server: it has another history, as after a restore');
    }
    const log = await store.changes.since(position.sequence);
    if (log === null) {
      throw new AppError('gone', 'the log does not go back so far any more: begin anew with a '
        + 'backup');
    }
    // Other followers may have come meanwhile, and the server may be stopping.
    try {
      this.#checkOpen();
      this.#checkRoom(place);
    } catch (thrown) {
      log.close();
      throw thrown;
    }
    const takeoversMs = this.#listTakeovers(place.copy);
    if (this.#cutConnection(place.copy)) takeoversMs.push(clock.monotonicMs());
    const follower = this.#findFollower(place, position.sequence);
    const followedLog = new FollowedLog({
      log, clock, gate: this.#gate, sequence: () => store.statistics.sequence,
      mayGoOn: () => mayFollow() && clock.monotonicMs() - follower.seenMs < SILENCE_MS_MAX,
    });
    follower.confirm(position.sequence, store.statistics.sequence, clock.monotonicMs(),
      clock.now());
    this.#remember(follower);
    this.#connections.set(place.copy, { follower, log: followedLog, cut, takeoversMs });
    this.#follow();
    return followedLog;
  }

  /** Idempotent. */
  leave(copy: string, log: FollowedLog): void {
    log.end();
    const connection = this.#connections.get(copy);
    // A newer connection of the same copy may have taken the place.
    if (connection?.log !== log) return;
    connection.follower.isConnected = false;
    this.#connections.delete(copy);
    if (this.#connections.size > 0) return;
    this.#unfollow?.();
    this.#unfollow = null;
    this.#wakeTimer?.cancel();
    this.#wakeTimer = null;
  }

  /** Called when the copy has everything up to `sequence` on its disk. Throws `not_found`. */
  confirm(copy: string, sequence: number): void {
    const { store, clock } = this.#deps;
    const follower = this.#connections.get(copy)?.follower;
    if (follower === undefined) {
      throw new AppError('not_found', 'no follower with this copy is connected');
    }
    const head = store.statistics.sequence;
    follower.confirm(Math.min(sequence, head), head, clock.monotonicMs(), clock.now());
  }

  /**
   * A backup as a tar archive, piece by piece, as long as `mayFollow`; `close` must be called.
   * Throws as `open`.
   */
  async openBackup({ mayFollow }: Pick<FollowerConnection, 'mayFollow'>): Promise<{
    readonly pull: () => Promise<readonly Buffer[] | null>; readonly close: () => void;
  }> {
    this.#checkOpen();
    const { store, files, clock } = this.#deps;
    if (this.#backupCount >= BACKUPS_MAX) {
      throw new AppError('unavailable', `${BACKUPS_MAX} followers are beginning, which is the `
        + 'limit', { retryAfterS: 5 });
    }
    this.#backupCount += 1;
    try {
      await store.beginEpochs();
      const sources = await store.openStateSources();
      const pieces = encodeTar(files, sources, clock.now(), []);
      let isOpen = true;
      const close = (): void => {
        if (!isOpen) return;
        isOpen = false;
        this.#backupCount -= 1;
        sources.close();
      };
      const pull = async (): Promise<readonly Buffer[] | null> => {
        if (this.#isClosed) throw createStoppingError();
        if (!mayFollow()) throw new AppError('forbidden', 'the token is not good any more');
        const { done, value } = await pieces.next();
        return done === true ? null : [value];
      };
      return { pull, close };
    } catch (thrown) {
      this.#backupCount -= 1;
      throw thrown;
    }
  }

  list(): readonly FollowerView[] {
    const { store, clock } = this.#deps;
    return [...this.#followers.values()].map((follower) =>
      follower.view(store.statistics.sequence, clock.monotonicMs()));
  }

  /** Ends all; idempotent. */
  close(): void {
    this.#isClosed = true;
    for (const [copy, { log }] of [...this.#connections]) this.leave(copy, log);
  }

  #checkOpen(): void {
    if (this.#isClosed) throw createStoppingError();
    const { replica } = this.#deps.store;
    if (replica === null) return;
    throw new AppError('conflict', `the records of this server are in ${replica.engine}, and a log `
      + 'there cannot be followed: its own standbys are its copies, every node has all records in '
      + 'memory, and data:backup makes a directory of them');
  }

  /** Throws `unavailable` where too many are connected, or two with the same copy. */
  #checkRoom({ copy }: FollowerPlace): void {
    const follower = this.#connections.get(copy)?.follower;
    if (follower === undefined) {
      if (this.#connections.size < CONNECTED_MAX) return;
      throw new AppError('unavailable', `${CONNECTED_MAX} followers are connected, which is the `
        + 'limit', { retryAfterS: 5 });
    }
    if (this.#listTakeovers(copy).length < TAKEOVERS_MAX) return;
    const { name, address } = follower.place;
    throw new AppError('unavailable', `the copy ${copy} is followed by another data:follow, `
      + `${name} at ${address}, which this one and that cut by turns: if the directory of the copy `
      + 'was cloned, begin one of them in a new directory', { retryAfterS: 5 });
  }

  /** When connections of a copy were taken over lately. */
  #listTakeovers(copy: string): number[] {
    const sinceMs = this.#deps.clock.monotonicMs() - TAKEOVERS_MS;
    return (this.#connections.get(copy)?.takeoversMs ?? []).filter((ms) => ms > sinceMs);
  }

  /** Returns whether there was a connection. */
  #cutConnection(copy: string): boolean {
    const connection = this.#connections.get(copy);
    if (connection === undefined) return false;
    this.leave(copy, connection.log);
    connection.cut();
    return true;
  }

  /** The lag of a copy that goes on does not begin anew with a connection. */
  #findFollower(place: FollowerPlace, sequence: number): Follower {
    const { clock } = this.#deps;
    const follower = this.#followers.get(place.copy);
    // A copy that has less than before was set back.
    if (follower === undefined || follower.sequence > sequence) {
      return new Follower(place, sequence, clock.monotonicMs(), clock.now());
    }
    follower.place = place;
    follower.isConnected = true;
    return follower;
  }

  #remember(follower: Follower): void {
    const { copy } = follower.place;
    // The last to come is the last of the map.
    this.#followers.delete(copy);
    this.#followers.set(copy, follower);
    if (this.#followers.size <= REMEMBERED_MAX) return;
    const oldest = [...this.#followers.values()].find(({ isConnected }) => !isConnected);
    if (oldest !== undefined) this.#followers.delete(oldest.place.copy);
  }

  #follow(): void {
    const { store: { changes }, clock } = this.#deps;
    this.#unfollow ??= changes.follow((sequence) => {
      const nowMs = clock.monotonicMs();
      for (const { follower } of this.#connections.values()) {
        follower.recordCommit(sequence, nowMs);
      }
      this.#wakeTimer ??= clock.startTimer(GATHER_MS, () => {
        this.#wakeTimer = null;
        this.#wakeAll(clock.monotonicMs());
      });
    });
  }

  #wakeAll(nowMs: number): void {
    for (const { follower, log, cut } of [...this.#connections.values()]) {
      if (nowMs - follower.seenMs < SILENCE_MS_MAX) {
        log.wake();
        continue;
      }
      this.#deps.logger.warning('a follower was silent for too long and is cut',
        { name: follower.place.name, copy: follower.place.copy });
      this.leave(follower.place.copy, log);
      cut();
    }
  }
}

function createStoppingError(): AppError {
  return new AppError('unavailable', 'the server is stopping', { retryAfterS: 1 });
}

/**
 * The journal that several nodes share, which an engine keeps. One loop (`#step`) does one thing
 * after the other: it connects, appends a batch of this node (appender.ts), or applies entries that
 * others have appended. So the records between two steps are always a whole prefix of the log.
 * While an append is under way, only the entries that it conflicts with are applied, or, as long as
 * nothing of it is sent, those that come while it waits for the lock.
 *
 * A barrier comes after connecting, before anything is read: what is read behind it is on the
 * quorum. Where the log does not continue the records, all of them are loaded anew (reload.ts):
 * staged transactions are refused, none runs meanwhile, and readers are told to wait.
 */
import { endsInTime } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError, messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { isPageFull } from '../engines/engine.ts';
import type { Engine, EngineSession } from '../engines/engine.ts';
import { FailureLog } from '../journal/failure-log.ts';
import type { AppendRequest, Journal } from '../journal/journal-port.ts';
import type { LogReader, ReloadPhase, Replica } from '../store-port.ts';
import { PROBE_BYTES } from './appending/append-refusals.ts';
import { createAppendWatch } from './appending/contention.ts';
import { Appender } from './appending/appender.ts';
import { ReconnectBackoff, TICK_MS } from './engine-link.ts';
import type { EngineLink } from './engine-link.ts';
import { openEngineReader } from './engine-reader.ts';
import { FreshReads, isUnreadable, createUnreachableError } from './fresh-reads.ts';
import type { SnapshotKeeper } from './snapshot-keeper.ts';
import { Reload } from './reload.ts';
import type { GroupCommit } from '../transactions/group-commit.ts';
import type { ReplicatedRecords } from './replicated-records.ts';
import { PauseDetector } from './pause-detector.ts';

/** 15 s: after this an append is given up, and the engine counts as away. */
const REPORT_TICKS = 15_000 / TICK_MS;
/** 2 s: the limit while the store closes, and where waiting does not help (`isUnreadable`). */
const HASTY_REPORT_TICKS = 2000 / TICK_MS;
/** Entries that are read at a time. */
const ENTRIES_MAX = 64;

type EngineJournalOptions = {
  readonly records: ReplicatedRecords;
  readonly link: EngineLink;
  readonly snapshots: SnapshotKeeper;
  readonly engine: Engine;
  /** The durability of the engine, in words. */
  readonly durability: string;
  readonly clock: Clock;
  readonly logger: Logger;
};

export class EngineJournal implements Journal, Replica {
  readonly failureLog: FailureLog;
  readonly records: ReplicatedRecords;
  readonly snapshots: SnapshotKeeper;
  readonly batchBytesMax: number;
  readonly recordBytesMax: number;
  readonly isShared = true;
  readonly engine: string;
  readonly durability: string;
  readonly probeBytes = PROBE_BYTES;
  /** An engine has no generations. */
  readonly generation = 0;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #link: EngineLink;
  readonly #appender: Appender;
  readonly #pauseDetector: PauseDetector;
  readonly #freshReads: FreshReads;
  readonly #reload: Reload;
  /** Why no append is taken: the engine is away, or the records are loaded anew; else null. */
  #failure: AppError | null = null;
  /** Whether there may be entries to read. */
  #isBehind = true;
  #isReadingAhead = false;
  /** Ticks since the engine last did what it was asked to. */
  #awayTicks = 0;
  readonly #backoff = new ReconnectBackoff();
  /** Why the last session was lost, or not opened; null once the engine works again. */
  #awayError: unknown = null;
  /** Ends `#wait`, if the loop waits. */
  #signal: () => void = () => {};
  readonly #updateWatch = createAppendWatch(() => this.#wake());
  #reportTicks = REPORT_TICKS;
  #isClosed = false;
  #running: Promise<void> | null = null;

  constructor(options: EngineJournalOptions) {
    const { clock, logger, records, link, snapshots, engine, durability } = options;
    this.#clock = clock;
    this.#logger = logger;
    this.records = records;
    this.#link = link;
    this.snapshots = snapshots;
    this.engine = engine.name;
    this.durability = durability;
    this.batchBytesMax = engine.batchBytesMax;
    this.recordBytesMax = engine.maxSnapshotBytes;
    this.failureLog = new FailureLog(clock, logger, 'the engine');
    this.#reload = new Reload(options);
    this.#appender = new Appender(records, link, clock);
    const { contention } = this.#appender;
    // While appends are steady the engine does not notify this node, so it has to look itself.
    contention.onUnexpected = () => contention.isSteady ? this.#wake() : this.#signal();
    this.#appender.onLockWait = () => this.#followMeanwhile();
    this.#appender.refusals.onLasting = () => this.failureLog.setFailure(this.failure);
    this.#freshReads = new FreshReads(() => this.#signal());
    const catchUp = (): Promise<void> => this.catchUp();
    this.#pauseDetector = new PauseDetector({ clock, catchUp, heardMs: () => link.heardMs });
    link.onTick = () => this.#tick();
  }

  get sequence(): number { return this.records.position.sequence; }
  get headSequence(): number { return this.records.headSequence; }
  get logId(): string { return this.records.logId; }
  get lastResponseMs(): number { return this.#link.heardMs; }
  get figures(): Replica['figures'] { return this.#appender.figures; }
  get isReloading(): boolean { return this.reloadError !== null; }
  get isContended(): boolean { return this.#appender.contention.isContended; }
  get failure(): AppError | null { return this.#failure ?? this.#appender.refusals.lasting; }
  get reloadError(): AppError | null { return this.#reload.error; }

  get disconnectReason(): string | null {
    return this.#link.session === null && this.#awayError !== null
      ? messageOf(this.#awayError) : null;
  }

  /** Bytes of the log that were applied since a snapshot was last written or loaded. */
  get bytes(): number { return this.records.appliedBytes; }

  /** Begins to follow the log. This node's transactions take part when entries are applied. */
  start(commit: GroupCommit): void {
    this.records.commit = commit;
    this.#useSession();
    this.#running = this.#run();
  }

  append(request: AppendRequest): void {
    if (this.#failure !== null) return request.onEnded(this.#failure);
    this.#appender.begin(request);
    this.#signal();
  }

  /** See `Journal.catchUp`. Rejects with the error for which nothing can be read or written. */
  catchUp(): Promise<void> {
    const reason = this.reloadError ?? this.#failure;
    return reason === null ? this.#freshReads.catchUp() : Promise.reject(reason);
  }

  async read(sequence: number): Promise<LogReader | null> {
    return openEngineReader(this.#link, sequence, this.records.collections);
  }

  async waitFor(sequence: number, timeoutMs: number): Promise<boolean> {
    let leave = (): void => {};
    const arrival = new Promise<void>((resolve) => {
      leave = this.records.whenReached(sequence, resolve);
    });
    const isReached = await endsInTime(this.#clock, timeoutMs, arrival);
    leave();
    return isReached;
  }

  isBehindSincePause(nowMs: number): boolean {
    return this.#pauseDetector.isBehind(nowMs);
  }

  waitAfterPause(): Promise<void> {
    return this.#pauseDetector.waitUntilCaughtUp();
  }

  onReload(listener: (phase: ReloadPhase) => void): () => void {
    return this.#reload.listen(listener);
  }

  writeSnapshotsWhen(mayWrite: () => boolean): void {
    this.snapshots.mayWriteToEngine = mayWrite;
  }

  /** Called when the store closes: appends are given up sooner. */
  hasten(): void { this.#reportTicks = HASTY_REPORT_TICKS; }

  async close(): Promise<void> {
    this.#isClosed = true;
    const snapshotsEnd = this.snapshots.stop();
    this.#link.close();
    this.#signal();
    await Promise.all([snapshotsEnd, this.#running]);
    this.failureLog.close();
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      try {
        await this.#step();
      } catch (error) {
        if (!this.#isClosed) this.#onSessionFailure(error);
      }
    }
    const closedError = new AppError('unavailable', 'the store is closed');
    this.#freshReads.failAll(closedError);
    this.#appender.giveUp(closedError);
  }

  async #step(): Promise<void> {
    const { session } = this.#link;
    this.#updateWatch(session, !this.#appender.contention.isSteady);
    if (session === null) {
      if (!this.#backoff.mayConnect) await this.#wait();
      else await this.#connect();
    } else if (this.records.divergence !== null) {
      await this.#reloadAll(session);
    } else if (this.reloadError !== null) {
      await this.#endReload(session);
    } else if (this.#appender.isPending) {
      if (await this.#freshReads.prove(() => this.#appender.attempt(session))) this.#onProgress();
    } else if (this.#freshReads.isAwaited) {
      if (await this.#freshReads.prove(() => this.#catchUp(session))) this.#onProgress();
    } else if (this.#isBehind && !this.#appender.contention.isExpected) {
      await this.#follow(session);
      this.#onProgress();
    } else {
      await this.#wait();
    }
  }

  /** Called when the engine has done what it was asked to. */
  #onProgress(): void {
    this.#awayTicks = 0;
    this.#awayError = null;
    this.#backoff.reset();
    this.snapshots.writeWhenDue();
    if (this.records.divergence === null) this.#failure = null;
    this.failureLog.setFailure(this.failure);
  }

  #onSessionFailure(error: unknown): void {
    this.#link.drop(this.#link.session);
    this.#appender.onSessionLost();
    this.#awayError = error;
    if (this.#backoff.hasNoLosses) {
      this.#logger.warning('the session with the engine was lost', { reason: messageOf(error) });
    }
    this.#backoff.onLost();
  }

  /** Resolves when `#signal` is called. */
  #wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#signal = () => {
        this.#signal = () => {};
        resolve();
      };
    });
  }

  /** Called when other nodes may have appended. */
  #wake(): void {
    this.#isBehind = true;
    this.#signal();
  }

  async #connect(): Promise<void> {
    this.records.checkHead(await this.#link.connect());
    this.#useSession();
  }

  #useSession(): void {
    this.#link.session?.onLost(() => this.#signal());
    this.#backoff.onConnected();
    this.#isBehind = true;
  }

  /** Applies all that is committed. Returns false if the log does not continue the records. */
  async #catchUp(session: EngineSession): Promise<boolean> {
    const head = await this.#link.barrier(session);
    this.records.checkHead(head);
    const sequence = head?.sequence ?? 0;
    const { records } = this;
    while (records.divergence === null && this.sequence < sequence) await this.#follow(session);
    return records.divergence === null;
  }

  /** Applies the next entries of the log, or checks that it ends where the records do. */
  async #follow(session: EngineSession): Promise<void> {
    // A notification that comes while this reads sets it again.
    this.#isBehind = false;
    const { records } = this;
    const { sequence } = records.position;
    const entries = await this.#link.ask(session, session.readAfter(sequence, ENTRIES_MAX));
    if (entries.length > 0) {
      this.#isBehind ||= isPageFull(entries, ENTRIES_MAX);
      await records.acceptInTurns(entries);
    } else {
      const head = await this.#link.ask(session, session.head());
      if (records.checkHead(head) && records.headSequence > sequence) this.#isBehind = true;
    }
  }

  /**
   * Applies others' entries while an append waits for the lock, so that readers are not behind. An
   * error needs no handling here: the append meets it as well.
   */
  #followMeanwhile(): void {
    const { session } = this.#link;
    const { isWaitingForLock } = this.#appender;
    if (session === null || this.#isReadingAhead || !isWaitingForLock) return;
    this.#isReadingAhead = true;
    this.#link.ask(session, session.readAfter(this.sequence, ENTRIES_MAX))
      .then((entries) => this.#appender.isWaitingForLock && this.records.acceptInTurns(entries))
      .catch(() => {}).finally(() => this.#isReadingAhead = false);
  }

  async #reloadAll(session: EngineSession): Promise<void> {
    this.records.checkLog(await this.#link.ask(session, session.head()));
    const error = this.#reload.begin();
    // This error replaces an earlier failure, which `#fail` would keep.
    this.#failure = null;
    this.#fail(error);
    this.records.commit?.rejectAll(error);
    await this.#reload.load(session);
  }

  async #endReload(session: EngineSession): Promise<void> {
    if (await this.#catchUp(session)) this.#reload.end(() => this.#onProgress());
  }

  /** Refuses what waits now with this error, and what comes from now on. */
  #fail(failure: AppError): void {
    this.#failure ??= failure;
    this.failureLog.setFailure(this.#failure);
    this.#freshReads.failAll(failure);
    this.#appender.giveUp(failure);
  }

  #tick(): void {
    this.#pauseDetector.tick();
    const waitedTicks = this.#appender.tick();
    this.#awayTicks += 1;
    this.#backoff.tick();
    const error = this.#awayError;
    const patienceTicks = isUnreadable(error) ? HASTY_REPORT_TICKS : this.#reportTicks;
    if (Math.max(waitedTicks, this.#awayTicks) > patienceTicks && this.#failure === null) {
      const { lasting } = this.#appender.refusals;
      this.#fail(lasting !== null && lasting === error ? lasting
        : createUnreachableError(error ?? 'it gives no answer'));
    }
    // A notification may be lost.
    this.#wake();
  }
}

/**
 * The journal that several nodes share, kept by an engine. One loop does one thing after the other:
 * it finds a session, appends a batch of this node's (appender.ts), or applies what others have
 * appended. So the records between two steps are always a whole prefix of the log. While an append
 * is on its way, nothing is applied but what it conflicts with or still waits for.
 *
 * After connecting, a barrier comes before anything is read: what is seen behind it is on the
 * quorum. Where the log does not continue what was applied, all records are loaded anew
 * (reload.ts): what is staged is refused, nothing runs meanwhile, and readers are told to wait.
 */
import type { Clock } from '../../base/clock.ts';
import { AppError, messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { isPageFull, type EngineSession } from '../engines/engine.ts';
import { FailureLog } from '../journal/failure-log.ts';
import type { JournalAppend, Journal } from '../journal/journal-port.ts';
import type { LogReader } from '../store-port.ts';
import { AppendWatch } from './appending/append-watch.ts';
import { Appender } from './appending/appender.ts';
import { ReconnectBackoff, TICK_MS } from './engine-link.ts';
import type { EngineLink } from './engine-link.ts';
import { openEngineReader } from './engine-reader.ts';
import { FreshReads, isUnreadable, createUnreachableError } from './fresh-reads.ts';
import type { SnapshotKeeper } from './snapshot-keeper.ts';
import { Reload } from './reload.ts';
import type { ReplicatedImage, Writers } from './replicated-image.ts';
import { PauseDetector } from './pause-detector.ts';

/** 15 s: who waits so long for a batch is told, and that the engine is away. */
const REPORT_TICKS = 15_000 / TICK_MS;
/** 2 s: the same once the store closes, and where somebody has to see to the engine. */
const HASTY_REPORT_TICKS = 2000 / TICK_MS;
/** What is read at a time. */
const ENTRIES_MAX = 64;

type EngineJournalOptions = {
  readonly image: ReplicatedImage;
  readonly link: EngineLink;
  readonly snapshots: SnapshotKeeper;
  readonly maxBatchBytes: number;
  readonly maxRecordBytes: number;
  readonly clock: Clock;
  readonly logger: Logger;
};

export class EngineJournal implements Journal {
  readonly failureLog: FailureLog;
  readonly appender: Appender;
  readonly image: ReplicatedImage;
  readonly snapshots: SnapshotKeeper;
  readonly pauseDetector: PauseDetector;
  readonly maxBatchBytes: number;
  readonly maxRecordBytes: number;
  readonly isShared = true;
  /** Of the snapshots: there are no files to count. */
  readonly generation = 0;
  readonly #logger: Logger;
  readonly #link: EngineLink;
  readonly #freshReads: FreshReads;
  readonly #reload: Reload;
  /** Why no append is taken: the engine is away, or all is loaded anew. */
  #failure: AppError | null = null;
  /** There may be something to read. */
  #isBehind = true;
  #isReadingAhead = false;
  /** Since the engine did last what it was asked to. */
  #awayTicks = 0;
  readonly #backoff = new ReconnectBackoff();
  #awayError: unknown = null;
  #signal: () => void = () => {};
  readonly #watch = new AppendWatch(() => this.#wake());
  #reportTicks = REPORT_TICKS;
  #isClosed = false;
  #running: Promise<void> | null = null;

  constructor(options: EngineJournalOptions) {
    const { clock, logger, image, link, snapshots, maxBatchBytes, maxRecordBytes } = options;
    this.#logger = logger;
    this.image = image;
    this.#link = link;
    this.snapshots = snapshots;
    this.maxBatchBytes = maxBatchBytes;
    this.maxRecordBytes = maxRecordBytes;
    this.failureLog = new FailureLog(clock, logger, 'the engine');
    this.#reload = new Reload(options);
    this.appender = new Appender(image, link, clock);
    const { contention } = this.appender;
    contention.onUnexpected = () => contention.isSteady ? this.#wake() : this.#signal();
    this.appender.onWaiting = () => this.#followMeanwhile();
    this.appender.rejections.onLasting = () => this.failureLog.setFailure(this.failure);
    this.#freshReads = new FreshReads(() => this.#signal());
    const catchUp = (): Promise<void> => this.catchUp();
    this.pauseDetector = new PauseDetector({ clock, catchUp, heardMs: () => link.heardMs });
    link.onTick = () => this.#tick();
  }

  get sequence(): number { return this.image.position.sequence; }
  get isContended(): boolean { return this.appender.contention.isContended; }
  get failure(): AppError | null { return this.#failure ?? this.appender.rejections.lasting; }
  get rejection(): AppError | null { return this.#reload.rejection; }

  get awayReason(): string | null {
    return this.#link.session === null && this.#awayError !== null
      ? messageOf(this.#awayError) : null;
  }

  /** Of the log since a snapshot was last made or loaded. */
  get bytes(): number { return this.image.appliedBytes; }

  /** Begins to follow the log, and to append for these. */
  start(writers: Writers): void {
    this.image.writers = writers;
    this.#useSession();
    this.#running = this.#run();
  }

  append(append: JournalAppend): void {
    if (this.#failure !== null) return append.onWritten(this.#failure);
    this.appender.begin(append);
    this.#signal();
  }

  /** Resolves when all that was committed before the call is applied; rejects with a refusal. */
  catchUp(): Promise<void> {
    const reason = this.rejection ?? this.#failure;
    return reason === null ? this.#freshReads.catchUp() : Promise.reject(reason);
  }

  async read(sequence: number): Promise<LogReader | null> {
    return openEngineReader(this.#link, sequence);
  }

  /** Calls `listener` when all records begin to be loaded anew, and when they may be read. */
  onReload(listener: (isOver: boolean) => void): () => void {
    return this.#reload.listen(listener);
  }

  /** The store closes: who waits is told sooner. */
  hasten(): void { this.#reportTicks = HASTY_REPORT_TICKS; }

  async close(): Promise<void> {
    this.#isClosed = true;
    const stopped = this.snapshots.stop();
    this.#link.close();
    this.#signal();
    await Promise.all([stopped, this.#running]);
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
    const closed = new AppError('unavailable', 'the store is closed');
    this.#freshReads.failAll(closed);
    this.appender.giveUp(closed);
  }

  async #step(): Promise<void> {
    const { session } = this.#link;
    this.#watch.update(session, !this.appender.contention.isSteady);
    if (session === null) {
      if (!this.#backoff.isOver) await this.#wait();
      else await this.#connect();
    } else if (this.image.divergence !== null) {
      await this.#reloadAll(session);
    } else if (this.rejection !== null) {
      await this.#endReload(session);
    } else if (this.appender.isPending) {
      if (await this.#freshReads.prove(() => this.appender.attempt(session))) this.#onProgress();
    } else if (this.#freshReads.isAwaited) {
      if (await this.#freshReads.prove(() => this.#catchUp(session))) this.#onProgress();
    } else if (this.#isBehind && !this.appender.contention.isExpected) {
      await this.#follow(session);
      this.#onProgress();
    } else {
      await this.#wait();
    }
  }

  /** The engine does what it is asked to. */
  #onProgress(): void {
    this.#awayTicks = 0;
    this.#awayError = null;
    this.#backoff.reset();
    this.snapshots.writeWhenDue();
    if (this.image.divergence === null) this.#failure = null;
    this.failureLog.setFailure(this.failure);
  }

  #onSessionFailure(error: unknown): void {
    this.#link.drop(this.#link.session);
    this.appender.onSessionLost();
    this.#awayError = error;
    if (this.#backoff.isFirst) {
      this.#logger.warning('the session with the engine was lost', { reason: messageOf(error) });
    }
    this.#backoff.onLost();
  }

  #wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#signal = () => {
        this.#signal = () => {};
        resolve();
      };
    });
  }

  #wake(): void {
    this.#isBehind = true;
    this.#signal();
  }

  async #connect(): Promise<void> {
    this.image.checkHead(await this.#link.connect());
    this.#useSession();
  }

  #useSession(): void {
    this.#link.session?.onLost(() => this.#signal());
    this.#backoff.onConnected();
    this.#isBehind = true;
  }

  async #catchUp(session: EngineSession): Promise<boolean> {
    const head = await this.#link.barrier(session);
    this.image.checkHead(head);
    const sequence = head?.sequence ?? 0;
    while (this.image.divergence === null && this.sequence < sequence) await this.#follow(session);
    return this.image.divergence === null;
  }

  async #follow(session: EngineSession): Promise<void> {
    this.#isBehind = false;
    const { sequence } = this.image.position;
    const entries = await this.#link.ask(session, session.readAfter(sequence, ENTRIES_MAX));
    if (entries.length > 0) {
      this.#isBehind ||= isPageFull(entries, ENTRIES_MAX);
      await this.image.acceptInTurns(entries);
    } else {
      const head = await this.#link.ask(session, session.head());
      if (this.image.checkHead(head) && this.image.headSequence > sequence) this.#isBehind = true;
    }
  }

  /** What is wrong with the session or the log, the append that waits is told as well. */
  #followMeanwhile(): void {
    const { session } = this.#link;
    const { isWaitingForLock } = this.appender;
    if (session === null || this.#isReadingAhead || !isWaitingForLock) return;
    this.#isReadingAhead = true;
    this.#link.ask(session, session.readAfter(this.sequence, ENTRIES_MAX))
      .then((entries) => this.appender.isWaitingForLock && this.image.acceptInTurns(entries))
      .catch(() => {}).finally(() => this.#isReadingAhead = false);
  }

  async #reloadAll(session: EngineSession): Promise<void> {
    this.image.checkLog(await this.#link.ask(session, session.head()));
    const rejection = this.#reload.begin();
    this.#failure = null;
    this.#fail(rejection);
    this.image.writers?.rejectAll(rejection);
    await this.#reload.load(session);
  }

  async #endReload(session: EngineSession): Promise<void> {
    if (await this.#catchUp(session)) this.#reload.end(() => this.#onProgress());
  }

  /** Who waits is told, and who comes from now on. */
  #fail(failure: AppError): void {
    this.#failure ??= failure;
    this.failureLog.setFailure(this.#failure);
    this.#freshReads.failAll(failure);
    this.appender.giveUp(failure);
  }

  #tick(): void {
    this.pauseDetector.tick();
    const waitedTicks = this.appender.tick();
    this.#awayTicks += 1;
    this.#backoff.tick();
    const error = this.#awayError;
    const patienceTicks = isUnreadable(error) ? HASTY_REPORT_TICKS : this.#reportTicks;
    if (Math.max(waitedTicks, this.#awayTicks) > patienceTicks && this.#failure === null) {
      const { lasting } = this.appender.rejections;
      this.#fail(lasting !== null && lasting === error ? lasting
        : createUnreachableError(error ?? 'it gives no answer'));
    }
    // Whatever is missed of what the engine tells is found so.
    this.#wake();
  }
}

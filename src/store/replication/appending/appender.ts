/**
 * Finds out how an append ends, whatever becomes of the session it is sent in. It ends in one of
 * these ways:
 *
 * - Committed: the engine says so, or the batch is found in the log later.
 * - A conflict: others were first. Under the engine's lock the missed entries are applied; the
 *   pending transactions run again on top, and are appended as a new batch.
 * - Rejected: surely not written. A rejection that lasts until an operator repairs the engine is
 *   reported to others by append-rejections.ts.
 * - Unknown: the session was lost. In the next one, behind a barrier, the batch is looked for. If
 *   it is not there, it is sent again for the same position, so that only one of the two can be
 *   written. If that conflicts, the conflicting entry may be our own first try: the missed entries,
 *   read under the lock, when nothing for that position is under way any more, tell.
 *
 * A caller that waits too long gets `unknown_outcome`, or a rejection if nothing was sent. Nothing
 * depends on the batch then: if it is in the log after all, it is applied from there, like another
 * node's.
 */
import type { Clock, Timer } from '../../../base/clock.ts';
import { AppError } from '../../../base/errors.ts';
import type { EngineSession, LogEntry, LogHead } from '../../engines/engine.ts';
import { JournalLineEncoder } from '../../journal/journal-line-encoder.ts';
import type { JournalAppend } from '../../journal/journal-port.ts';
import { findBreak, isSamePosition } from '../log-chain.ts';
import { isSurelyUnwritten } from '../engine-link.ts';
import type { EngineLink } from '../engine-link.ts';
import { encodeEntry } from '../log-entry.ts';
import type { ReplicatedImage } from '../replicated-image.ts';
import { Contention } from './contention.ts';
import { AppendRejections } from './append-rejections.ts';

/** Who has missed more transactions, as after an outage, applies them in pages of so many. */
const PAGE_ENTRIES = 64;
// Readers may be 250 ms behind. From 10 ms on, p99 was 34 and 51 ms; from 160 on, 73 and 208.
const WAIT_MS = 12;
const WAIT_MS_MAX = 160;

type PendingAppend = {
  readonly append: JournalAppend;
  readonly startedMs: number;
  ticks: number;
  /** What may be in the log; null: nothing is. */
  sent: LogEntry | null;
  /** It was sent in a session that was lost. */
  isDoubtful: boolean;
};

export class Appender {
  readonly figures = { appends: 0, transactions: 0, conflicts: 0, durationMs: 0 };
  readonly contention: Contention;
  readonly rejections: AppendRejections;
  /** Told again and again while nothing but the lock is waited for. */
  onWaiting: () => void = () => {};
  readonly #image: ReplicatedImage;
  readonly #link: EngineLink;
  readonly #clock: Clock;
  readonly #encoder = new JournalLineEncoder();
  #pending: PendingAppend | null = null;
  /** What was thrown while the engine held its lock for us. */
  #buildError: unknown = null;
  /** Counts attempts: a session that was lost may call back late. */
  #attempts = 0;
  #waitTimer: Timer | null = null;

  constructor(image: ReplicatedImage, link: EngineLink, clock: Clock) {
    this.#image = image;
    this.#link = link;
    this.#clock = clock;
    this.contention = new Contention(clock);
    this.rejections = new AppendRejections(clock);
  }

  get isPending(): boolean { return this.#pending !== null; }

  /** Nothing of what is pending is sent: what others commit may be applied meanwhile. */
  get isWaitingForLock(): boolean {
    return this.#waitTimer !== null && this.#pending?.sent === null;
  }

  /** One at a time. */
  begin(append: JournalAppend): void {
    this.contention.begin();
    this.#pending = {
      append, startedMs: this.#clock.monotonicMs(), ticks: 0, sent: null, isDoubtful: false,
    };
  }

  /** Counts a tick; how many the one that waits has seen. */
  tick(): number {
    return this.#pending === null ? 0 : this.#pending.ticks += 1;
  }

  /** The session was lost. */
  onSessionLost(): void {
    this.#attempts += 1;
    if (this.#pending !== null && this.#pending.sent !== null) this.#pending.isDoubtful = true;
  }

  /** Who waits is told so now: unknown if anything of it was sent. */
  giveUp(rejection: AppError): void {
    this.contention.end();
    if (this.#pending === null) return;
    const { message, details } = rejection;
    this.#finishUnwritten(this.#pending, this.#pending.sent === null ? rejection
      : new AppError('unknown_outcome', `it may be written or not: ${message}`, details));
  }

  /**
   * One attempt to bring what waits to its end. Rejects when the session is of no more use; the
   * next attempt goes on with what is left to do. True when something was committed that was first
   * sent in this attempt: nothing of others' was committed between.
   */
  async attempt(session: EngineSession): Promise<boolean> {
    const pending = this.#pending;
    if (pending === null) return false;
    try {
      await this.#applyMissed(session, pending);
      if (this.#pending !== pending || this.#image.divergence !== null) return false;
      if (pending.isDoubtful) {
        await this.#resolveDoubt(session, pending);
        return false;
      }
      const { appends } = this.figures;
      await this.#append(session, pending);
      return this.figures.appends > appends;
    } catch (error) {
      if (!isSurelyUnwritten(error)) throw error;
      const { startedMs, sent } = pending;
      const reported = this.rejections.record({ error, startedMs, bytes: sent?.lines.length ?? 0 });
      if (pending.isDoubtful) throw error;
      pending.sent = null;
      this.#finishUnwritten(pending, reported);
      return false;
    }
  }

  /**
   * Under the engine's lock all that was missed is read before any of it is applied: after hours
   * that would be more than memory holds, and others would wait for it.
   */
  async #applyMissed(session: EngineSession, pending: PendingAppend): Promise<void> {
    const image = this.#image;
    while (image.headSequence - image.position.sequence > PAGE_ENTRIES) {
      const { sequence } = image.position;
      const page = await this.#link.ask(session, session.readAfter(sequence, PAGE_ENTRIES));
      const [first] = page;
      if (this.#pending !== pending || first === undefined) return;
      // What was sent stands directly behind what is applied, or nowhere any more; a log that was
      // trimmed meanwhile cannot tell.
      if (first.batch === pending.sent?.batch || !await image.acceptInTurns(page)) return;
      pending.sent = null;
      pending.isDoubtful = false;
    }
  }

  async #append(session: EngineSession, pending: PendingAppend): Promise<void> {
    if (this.contention.takeLockFirst()) return this.#appendLocked(session, pending);
    const entry = this.#encode(pending);
    if (entry === null) return this.#finishUnwritten(pending, null);
    pending.sent = entry;
    const { log, position } = this.#image;
    const isCommitted = await this.#link.ask(session, session.append(log, position, entry));
    if (isCommitted) return this.#commit(pending, entry);
    pending.sent = null;
    this.figures.conflicts += 1;
    await this.#appendLocked(session, pending);
  }

  async #resolveDoubt(session: EngineSession, pending: PendingAppend): Promise<void> {
    const { sent } = pending;
    if (sent === null) return;
    const found = await this.#link.ask(session, session.findBatch(sent.batch));
    if (this.#pending !== pending) return;
    if (found !== null) {
      this.#commitFound(pending, found);
      return;
    }
    const { log, position } = this.#image;
    const isCommitted = await this.#link.ask(session, session.append(log, position, sent));
    if (isCommitted) this.#commit(pending, sent);
    else await this.#appendLocked(session, pending);
  }

  async #appendLocked(session: EngineSession, pending: PendingAppend): Promise<void> {
    if (this.#pending !== pending) return;
    this.#buildError = null;
    const attempt = this.#attempts += 1;
    const { log, position } = this.#image;
    this.#startWaiting(WAIT_MS);
    const locked = session.appendLocked(log, position, (missed, head) => {
      if (attempt !== this.#attempts || this.#link.session !== session) return null;
      this.#endWaiting();
      return this.#build(pending, missed, head);
    });
    const entry = await this.#link.ask(session, locked).finally(() => this.#endWaiting());
    if (this.#buildError !== null) throw this.#buildError;
    if (entry !== null) this.#commit(pending, entry);
  }

  #startWaiting(delayMs: number): void {
    this.#waitTimer = this.#clock.startTimer(delayMs, () => {
      this.#startWaiting(Math.min(delayMs * 2, WAIT_MS_MAX));
      this.onWaiting();
    });
  }

  #endWaiting(): void {
    this.#waitTimer?.cancel();
    this.#waitTimer = null;
  }

  /** What the engine's client calls must not throw into it. */
  #build(pending: PendingAppend, missed: readonly LogEntry[], head: LogHead): LogEntry | null {
    try {
      return this.#pending === pending ? this.#rebuild(pending, missed, head) : null;
    } catch (error) {
      this.#buildError = error;
      return null;
    }
  }

  #rebuild(pending: PendingAppend, missed: readonly LogEntry[], head: LogHead): LogEntry | null {
    const { sent } = pending;
    const own = sent === null ? undefined : missed.find(({ batch }) => batch === sent.batch);
    if (own !== undefined) {
      // What follows it is read later.
      this.#commitFound(pending, own);
      return null;
    }
    // A log that was trimmed meanwhile cannot tell that it does not have what was sent.
    if (!this.#image.accept(missed)) return null;
    if (missed.length > 0) this.contention.onConflict();
    pending.sent = null;
    pending.isDoubtful = false;
    this.#image.checkLog(head);
    if (!isSamePosition(head, this.#image.position)) {
      this.#image.divergence ??= 'the log does not end with its last entry';
      return null;
    }
    pending.sent = this.#encode(pending);
    if (pending.sent === null) this.#finishUnwritten(pending, null);
    return pending.sent;
  }

  #commitFound(pending: PendingAppend, found: LogEntry): void {
    const reason = findBreak(this.#image.position, found);
    if (reason === null) this.#commit(pending, found);
    else this.#image.divergence = reason;
  }

  #commit(pending: PendingAppend, entry: LogEntry): void {
    // Given up meanwhile, it comes back from the log.
    if (this.#pending !== pending) return;
    this.figures.appends += 1;
    this.figures.transactions += entry.sequence - entry.first + 1;
    this.figures.durationMs += this.#clock.monotonicMs() - pending.startedMs;
    this.contention.commit();
    this.rejections.onAccepted(entry.lines.length);
    this.#image.advance(entry);
    this.#finish(pending, null);
  }

  /** Nothing was committed: another append need not follow, which would tell what is missed. */
  #finishUnwritten(pending: PendingAppend, error: AppError | null): void {
    if (this.#pending !== pending) return;
    this.contention.end();
    this.#finish(pending, error);
  }

  #finish(pending: PendingAppend, error: AppError | null): void {
    if (this.#pending !== pending) return;
    // What has gathered meanwhile may begin at once.
    this.#pending = null;
    pending.append.onWritten(error);
  }

  #encode({ append }: PendingAppend): LogEntry | null {
    const transactions = append.collectOperations();
    return transactions.length === 0 ? null
      : encodeEntry(this.#encoder, this.#image.position, transactions);
  }
}

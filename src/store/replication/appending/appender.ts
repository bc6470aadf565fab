/**
 * Finds out how an append ends, whatever becomes of the session it is sent in. It ends in one of
 * these ways:
 *
 * - Committed: the engine says so, or the batch is found in the log later.
 * - A conflict: others were first. Under the engine's lock what was missed is applied, what waits
 *   runs again on that, and is appended as a new batch.
 * - Refused: surely not written. Of what will be so until somebody sees to the engine,
 *   refusals.ts tells others, too.
 * - Unknown: the session was lost. In the next one, behind a barrier, the batch is looked for. If
 *   it is not there, the same is sent again, to the same place, so that only one of the two can be
 *   written. If that is a conflict, the first may be what it conflicts with: the entries that were
 *   missed tell, which are read under the lock, when nothing for that place is under way any more.
 *
 * Who waits too long is told that it is unknown, or refused if nothing was sent. Nothing rests on
 * the batch then: if it is in the log after all, it is applied from there, like another node's.
 */
import type { Clock, Timer } from '../../../base/clock.ts';
import { AppError } from '../../../base/errors.ts';
import type { EngineSession, LogEntry, LogHead } from '../../engines/engine.ts';
import { JournalLineEncoder } from '../../journal/journal-line-encoder.ts';
import type { JournalAppend } from '../../journal/journal-port.ts';
import { findBreak, isSamePosition } from '../chain.ts';
import { isRefused } from '../engine-link.ts';
import type { EngineLink } from '../engine-link.ts';
import { encodeEntry } from '../entry.ts';
import type { ReplicatedImage } from '../replicated-image.ts';
import { Contention } from './contention.ts';
import { Refusals } from './refusals.ts';

/** Who has missed more transactions, as after an outage, applies them in pages of so many. */
const MISSED_MAX = 64;
// Readers may be 250 ms behind. From 10 ms on, p99 was 34 and 51 ms; from 160 on, 73 and 208.
const WAIT_MS = 12;
const WAIT_MS_MAX = 160;

type Pending = {
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
  readonly refusals: Refusals;
  /** Told again and again while nothing but the lock is waited for. */
  onWaiting: () => void = () => {};
  readonly #image: ReplicatedImage;
  readonly #link: EngineLink;
  readonly #clock: Clock;
  readonly #encoder = new JournalLineEncoder();
  #pending: Pending | null = null;
  /** What was thrown while the engine held its lock for us. */
  #thrown: unknown = null;
  /** Counts attempts: a session that was lost may call back late. */
  #attempts = 0;
  #waiting: Timer | null = null;

  constructor(image: ReplicatedImage, link: EngineLink, clock: Clock) {
    this.#image = image;
    this.#link = link;
    this.#clock = clock;
    this.contention = new Contention(clock);
    this.refusals = new Refusals(clock);
  }

  get isPending(): boolean { return this.#pending !== null; }

  /** Nothing of what is pending is sent: what others commit may be applied meanwhile. */
  get isWaitingForLock(): boolean {
    return this.#waiting !== null && this.#pending?.sent === null;
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
  doubt(): void {
    this.#attempts += 1;
    if (this.#pending !== null && this.#pending.sent !== null) this.#pending.isDoubtful = true;
  }

  /** Who waits is told so now: unknown if anything of it was sent. */
  giveUp(refusal: AppError): void {
    this.contention.end();
    if (this.#pending === null) return;
    const { message, details } = refusal;
    this.#endWithout(this.#pending, this.#pending.sent === null ? refusal
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
      await this.#approach(session, pending);
      if (this.#pending !== pending || this.#image.divergence !== null) return false;
      if (pending.isDoubtful) {
        await this.#findOut(session, pending);
        return false;
      }
      const { appends } = this.figures;
      await this.#append(session, pending);
      return this.figures.appends > appends;
    } catch (error) {
      if (!isRefused(error)) throw error;
      const { startedMs, sent } = pending;
      const told = this.refusals.note({ error, startedMs, bytes: sent?.lines.length ?? 0 });
      if (pending.isDoubtful) throw error;
      pending.sent = null;
      this.#endWithout(pending, told);
      return false;
    }
  }

  /**
   * Under the engine's lock all that was missed is read before any of it is applied: after hours
   * that would be more than memory holds, and others would wait for it.
   */
  async #approach(session: EngineSession, pending: Pending): Promise<void> {
    const image = this.#image;
    while (image.headSequence - image.position.sequence > MISSED_MAX) {
      const { sequence } = image.position;
      const page = await this.#link.ask(session, session.readAfter(sequence, MISSED_MAX));
      const [first] = page;
      if (this.#pending !== pending || first === undefined) return;
      // What was sent stands directly behind what is applied, or nowhere any more; a log that was
      // trimmed meanwhile cannot tell.
      if (first.batch === pending.sent?.batch || !await image.acceptInTurns(page)) return;
      pending.sent = null;
      pending.isDoubtful = false;
    }
  }

  async #append(session: EngineSession, pending: Pending): Promise<void> {
    if (this.contention.takesLock()) return this.#appendLocked(session, pending);
    const entry = this.#encode(pending);
    if (entry === null) return this.#endWithout(pending, null);
    pending.sent = entry;
    const { log, position } = this.#image;
    const isCommitted = await this.#link.ask(session, session.append(log, position, entry));
    if (isCommitted) return this.#commit(pending, entry);
    pending.sent = null;
    this.figures.conflicts += 1;
    await this.#appendLocked(session, pending);
  }

  async #findOut(session: EngineSession, pending: Pending): Promise<void> {
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

  async #appendLocked(session: EngineSession, pending: Pending): Promise<void> {
    if (this.#pending !== pending) return;
    this.#thrown = null;
    const attempt = this.#attempts += 1;
    const { log, position } = this.#image;
    this.#wait(WAIT_MS);
    const locked = session.appendLocked(log, position, (missed, head) => {
      if (attempt !== this.#attempts || this.#link.session !== session) return null;
      this.#endWaiting();
      return this.#build(pending, missed, head);
    });
    const entry = await this.#link.ask(session, locked).finally(() => this.#endWaiting());
    if (this.#thrown !== null) throw this.#thrown;
    if (entry !== null) this.#commit(pending, entry);
  }

  #wait(delayMs: number): void {
    this.#waiting = this.#clock.startTimer(delayMs, () => {
      this.#wait(Math.min(delayMs * 2, WAIT_MS_MAX));
      this.onWaiting();
    });
  }

  #endWaiting(): void {
    this.#waiting?.cancel();
    this.#waiting = null;
  }

  /** What the engine's client calls must not throw into it. */
  #build(pending: Pending, missed: readonly LogEntry[], head: LogHead): LogEntry | null {
    try {
      return this.#pending === pending ? this.#rebuild(pending, missed, head) : null;
    } catch (error) {
      this.#thrown = error;
      return null;
    }
  }

  #rebuild(pending: Pending, missed: readonly LogEntry[], head: LogHead): LogEntry | null {
    const { sent } = pending;
    const own = sent === null ? undefined : missed.find(({ batch }) => batch === sent.batch);
    if (own !== undefined) {
      // What follows it is read later.
      this.#commitFound(pending, own);
      return null;
    }
    // A log that was trimmed meanwhile cannot tell that it does not have what was sent.
    if (!this.#image.accept(missed)) return null;
    if (missed.length > 0) this.contention.meet();
    pending.sent = null;
    pending.isDoubtful = false;
    this.#image.checkLog(head);
    if (!isSamePosition(head, this.#image.position)) {
      this.#image.divergence ??= 'the log does not end with its last entry';
      return null;
    }
    pending.sent = this.#encode(pending);
    if (pending.sent === null) this.#endWithout(pending, null);
    return pending.sent;
  }

  #commitFound(pending: Pending, found: LogEntry): void {
    const reason = findBreak(this.#image.position, found);
    if (reason === null) this.#commit(pending, found);
    else this.#image.divergence = reason;
  }

  #commit(pending: Pending, entry: LogEntry): void {
    // Given up meanwhile, it comes back from the log.
    if (this.#pending !== pending) return;
    this.figures.appends += 1;
    this.figures.transactions += entry.sequence - entry.first + 1;
    this.figures.durationMs += this.#clock.monotonicMs() - pending.startedMs;
    this.contention.commit();
    this.refusals.end(entry.lines.length);
    this.#image.advance(entry);
    this.#settle(pending, null);
  }

  /** Nothing was committed: another append need not follow, which would tell what is missed. */
  #endWithout(pending: Pending, error: AppError | null): void {
    if (this.#pending !== pending) return;
    this.contention.end();
    this.#settle(pending, error);
  }

  #settle(pending: Pending, error: AppError | null): void {
    if (this.#pending !== pending) return;
    // What has gathered meanwhile may begin at once.
    this.#pending = null;
    pending.append.onWritten(error);
  }

  #encode({ append }: Pending): LogEntry | null {
    const transactions = append.collectOperations();
    return transactions.length === 0 ? null
      : encodeEntry(this.#encoder, this.#image.position, transactions);
  }
}

/**
 * Brings an append of this node to its end. It ends in one of three ways:
 *
 * - committed: the engine says so, or the batch is found in the log later;
 * - refused: it is surely not in the log, and never will be;
 * - unknown (`unknown_outcome`): it was sent, and the caller does not wait any longer for the
 *   reply. Nothing depends on the batch then: if it is in the log after all, it is applied from
 *   there, like another node's.
 *
 * On its way the append may meet:
 *
 * - a conflict: another node was first. Under the engine's lock the missed entries are applied, the
 *   transactions run again on top of them, and what they write is appended as a new batch;
 * - the loss of the session after the batch was sent: it is in doubt. The next session looks for it
 *   in the log, behind a barrier. If it is not there, the same batch is sent again for the same
 *   position, so that only one of the two can be written. If the second one conflicts, the entry it
 *   conflicts with may be the first one: the missed entries, which are read under the lock when
 *   nothing else for that position is under way, tell.
 */
import type { Clock, Timer } from '../../../base/clock.ts';
import { AppError } from '../../../base/errors.ts';
import type { EngineSession, LogEntry, LogHead } from '../../engines/engine.ts';
import { JournalLineEncoder } from '../../journal/journal-line-encoder.ts';
import type { AppendRequest } from '../../journal/journal-port.ts';
import { isRefusal } from '../engine-link.ts';
import type { EngineLink } from '../engine-link.ts';
import { encodeEntry, isSamePosition } from '../log-entry.ts';
import type { ReplicatedRecords } from '../replicated-records.ts';
import { Contention } from './contention.ts';
import { AppendRefusals } from './append-refusals.ts';

/**
 * A node that has missed more entries than this, as after an outage, reads and applies them in
 * pages of so many before it takes the lock: others wait for whoever holds it.
 */
const PAGE_ENTRIES = 64;
// While an append waits for the lock, `onLockWait` is called after WAIT_MS, and then after twice
// the time each time, up to WAIT_MS_MAX: readers may be 250 ms behind at most. Measured until
// others saw a write: with a first wait from 10 ms on, p99 was 34 and 51 ms; from 160 ms on, 73 and
// 208.
const WAIT_MS = 12;
const WAIT_MS_MAX = 160;

type PendingAppend = {
  readonly request: AppendRequest;
  readonly startedMs: number;
  /** Ticks of engine-link.ts since it began. */
  waitedTicks: number;
  /** The batch that may be in the log; null while nothing of the append can be in it. */
  sent: LogEntry | null;
  /** The session in which `sent` was sent is lost: it may be written or not. */
  isDoubtful: boolean;
  isCommitted: boolean;
};

export class Appender {
  /** For the metrics. */
  readonly figures = { appends: 0, transactions: 0, conflicts: 0, durationMs: 0 };
  readonly contention: Contention;
  readonly refusals: AppendRefusals;
  /** Called again and again while an append of which nothing is sent waits for the lock. */
  onLockWait: () => void = () => {};
  readonly #records: ReplicatedRecords;
  readonly #link: EngineLink;
  readonly #clock: Clock;
  readonly #encoder = new JournalLineEncoder();
  /** Null: there is nothing to append. */
  #pending: PendingAppend | null = null;
  /** Rises with each wait for the lock and each lost session: a lost session may call back late. */
  #lockEpoch = 0;
  /** Runs from the request for the lock until the engine has granted it; null at other times. */
  #lockTimer: Timer | null = null;

  constructor(records: ReplicatedRecords, link: EngineLink, clock: Clock) {
    this.#records = records;
    this.#link = link;
    this.#clock = clock;
    this.contention = new Contention(clock);
    this.refusals = new AppendRefusals(clock);
  }

  get isPending(): boolean { return this.#pending !== null; }

  /** Entries of other nodes may be applied meanwhile, since nothing of the append is sent. */
  get isWaitingForLock(): boolean {
    return this.#lockTimer !== null && this.#pending?.sent === null;
  }

  /** Takes an append, which `attempt` is to bring to its end. There may be only one at a time. */
  begin(request: AppendRequest): void {
    this.contention.onBegin();
    this.#pending = {
      request, startedMs: this.#clock.monotonicMs(), waitedTicks: 0, sent: null,
      isDoubtful: false, isCommitted: false,
    };
  }

  /**
   * Tries once to bring the pending append to its end; the next attempt does what is left. Returns
   * true only if a batch was committed that was first sent in this attempt: then no other node has
   * committed anything between what is applied here and that batch. Throws when the session is of
   * no more use.
   */
  async attempt(session: EngineSession): Promise<boolean> {
    const pending = this.#pending;
    if (pending === null) return false;
    try {
      await this.#applyMissed(session, pending);
      if (this.#pending !== pending || this.#records.divergence !== null) return false;
      if (pending.isDoubtful) {
        await this.#resolveDoubt(session, pending);
        return false;
      }
      await this.#append(session, pending);
      return pending.isCommitted;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const { startedMs, sent } = pending;
      const bytes = sent?.lines.length ?? 0;
      const callerError = this.refusals.record({ error, startedMs, bytes });
      // The engine has refused the second batch, or a read: the first may be written all the same.
      if (pending.isDoubtful) throw error;
      pending.sent = null;
      this.#finishWithoutCommit(pending, callerError);
      return false;
    }
  }

  /** Counts a tick. Returns how many the pending append has waited for; 0 when there is none. */
  tick(): number {
    return this.#pending === null ? 0 : this.#pending.waitedTicks += 1;
  }

  onSessionLost(): void {
    this.#lockEpoch += 1;
    if (this.#pending !== null && this.#pending.sent !== null) this.#pending.isDoubtful = true;
  }

  /** Ends the pending append now: refused with `refusal`, or unknown if anything of it was sent. */
  giveUp(refusal: AppError): void {
    this.contention.reset();
    if (this.#pending === null) return;
    const { message, details } = refusal;
    this.#finishWithoutCommit(this.#pending, this.#pending.sent === null ? refusal
      : new AppError('unknown_outcome', `it may be written or not: ${message}`, details));
  }

  /**
   * Applies the missed entries in pages until few are left. Under the engine's lock all of them are
   * read before any is applied: after hours that would be more than memory holds.
   */
  async #applyMissed(session: EngineSession, pending: PendingAppend): Promise<void> {
    const records = this.#records;
    while (records.headSequence - records.position.sequence > PAGE_ENTRIES) {
      const { sequence } = records.position;
      const page = await this.#link.ask(session, session.readAfter(sequence, PAGE_ENTRIES));
      const [first] = page;
      if (this.#pending !== pending || first === undefined) return;
      // The batch that was sent is this entry. `#resolveDoubt` finds it.
      if (first.batchId === pending.sent?.batchId) return;
      // A log that was trimmed meanwhile does not continue the records, and so cannot tell.
      if (!await records.acceptInTurns(page)) return;
      // Another node's entry is at the position the batch was sent for: it is not in the log.
      pending.sent = null;
      pending.isDoubtful = false;
    }
  }

  /** Appends without the lock, and again under it after a conflict, or at once if one is likely. */
  async #append(session: EngineSession, pending: PendingAppend): Promise<void> {
    if (this.contention.takeLockFirst()) return this.#appendLocked(session, pending);
    const entry = this.#runTransactions(pending);
    if (entry === null) return this.#finishWithoutCommit(pending, null);
    pending.sent = entry;
    const { logId, position } = this.#records;
    const isCommitted = await this.#link.ask(session, session.append(logId, position, entry));
    if (isCommitted) return this.#finishCommitted(pending, entry);
    pending.sent = null;
    this.figures.conflicts += 1;
    await this.#appendLocked(session, pending);
  }

  /** Finds out whether the batch of a lost session is in the log; sends it again if it is not. */
  async #resolveDoubt(session: EngineSession, pending: PendingAppend): Promise<void> {
    const { sent } = pending;
    if (sent === null) return;
    const isThere = await this.#link.ask(session, session.holds(sent));
    if (this.#pending !== pending) return;
    if (isThere) return this.#finishCommitted(pending, sent);
    const { logId, position } = this.#records;
    const isCommitted = await this.#link.ask(session, session.append(logId, position, sent));
    if (isCommitted) this.#finishCommitted(pending, sent);
    else await this.#appendLocked(session, pending);
  }

  async #appendLocked(session: EngineSession, pending: PendingAppend): Promise<void> {
    if (this.#pending !== pending) return;
    let buildError: unknown = null;
    const epoch = this.#lockEpoch += 1;
    const { logId, position } = this.#records;
    this.#startLockTimer(WAIT_MS);
    const reply = session.appendLocked(logId, position, (missed, head) => {
      if (epoch !== this.#lockEpoch || this.#link.session !== session) return null;
      this.#stopLockTimer();
      try {
        return this.#buildEntry(pending, missed, head);
      } catch (error) {
        // The engine's client, which calls this, must not see it: it has to give back the lock.
        buildError = error;
        return null;
      }
    });
    const entry = await this.#link.ask(session, reply).finally(() => this.#stopLockTimer());
    if (buildError !== null) throw buildError;
    if (entry !== null) this.#finishCommitted(pending, entry);
  }

  /**
   * Applies the missed entries, and returns the batch that is to follow them. Returns null where
   * nothing is to be committed: the append has ended, or the log does not continue the records.
   */
  #buildEntry(
    pending: PendingAppend, missed: readonly LogEntry[], head: LogHead,
  ): LogEntry | null {
    if (this.#pending !== pending) return null;
    const { sent } = pending;
    if (sent !== null && missed.some(({ chain }) => chain === sent.chain)) {
      // The entries after it are not applied here: the journal reads them again.
      this.#finishCommitted(pending, sent);
      return null;
    }
    // In a log that was trimmed meanwhile, the batch in doubt may be among the removed entries.
    if (!this.#records.accept(missed)) return null;
    if (missed.length > 0) this.contention.onConflict();
    pending.sent = null;
    pending.isDoubtful = false;
    this.#records.checkLog(head);
    if (!isSamePosition(head, this.#records.position)) {
      this.#records.divergence ??= 'the log does not end with its last entry';
      return null;
    }
    pending.sent = this.#runTransactions(pending);
    if (pending.sent === null) this.#finishWithoutCommit(pending, null);
    return pending.sent;
  }

  /**
   * Runs the transactions on what is applied now, and encodes what they write as the next entry.
   * Returns null when they write nothing, as when all of them are refused now.
   */
  #runTransactions({ request }: PendingAppend): LogEntry | null {
    const transactions = request.collectOperations();
    return transactions.length === 0 ? null
      : encodeEntry(this.#encoder, this.#records.position, transactions);
  }

  #finishCommitted(pending: PendingAppend, entry: LogEntry): void {
    // After `giveUp`, the entry is applied when it is read from the log.
    if (this.#pending !== pending) return;
    pending.isCommitted = true;
    this.figures.appends += 1;
    this.figures.transactions += entry.sequence - entry.first + 1;
    this.figures.durationMs += this.#clock.monotonicMs() - pending.startedMs;
    this.contention.onCommit();
    this.refusals.onAccepted(entry.lines.length);
    this.#records.advance(entry);
    this.#finish(pending, null);
  }

  /**
   * Ends the append as refused or unknown, with `error`. Null: its transactions write nothing.
   * Another append need not follow, so the engine has to notify this node of entries again.
   */
  #finishWithoutCommit(pending: PendingAppend, error: AppError | null): void {
    if (this.#pending !== pending) return;
    this.contention.reset();
    this.#finish(pending, error);
  }

  #finish(pending: PendingAppend, error: AppError | null): void {
    // `#pending` is cleared first: the caller may begin the next append within `onEnded`.
    this.#pending = null;
    pending.request.onEnded(error);
  }

  #startLockTimer(delayMs: number): void {
    this.#lockTimer = this.#clock.startTimer(delayMs, () => {
      this.#startLockTimer(Math.min(delayMs * 2, WAIT_MS_MAX));
      this.onLockWait();
    });
  }

  #stopLockTimer(): void {
    this.#lockTimer?.cancel();
    this.#lockTimer = null;
  }
}

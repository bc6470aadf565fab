/**
 * The loop that attempts the pending items of a queue; an `AttemptRunner` says what an attempt is.
 * The tasks of the scheduler follow the stored records and nothing else, so a restart builds the
 * same tasks again. The comment at the head of scheduler.ts tells the steps of an attempt.
 *
 * These must never happen: two attempts of one task at the same time; an accepted item for which no
 * task waits; a result that is written in two steps.
 */
import { setMaxListeners } from 'node:events';
import type { Clock, Timer } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { isPromised, type MaybePromise } from '../../base/when-done.ts';
import type { Store } from '../../store/store-port.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { AttemptHealth, RunningTask } from '../scheduler/task.ts';
import { BackgroundTasks } from './background-tasks.ts';
import type { QueueLease, Ownership } from './ownership.ts';
import type { WriteRetryDeps } from './write-retry.ts';
import { retryUntilWritten } from './write-retry.ts';

/** An attempt ends with a result to write, or it is postponed and the task waits as it is. */
export type AttemptResult<Result> = { readonly result: Result } | { readonly postponedMs: number };

/** Makes the attempts of one queue and writes their results. An `id` is that of a task. */
export interface AttemptRunner<Result> {
  /** The name of an attempt for messages, in the singular with its article. */
  readonly noun: string;
  /** Whether an attempt may begin. When that changes, `QueueWorker.requestRun` must be called. */
  mayBegin(): boolean;
  /**
   * Makes an attempt. Returns null when nothing was done or `cutOff` came first. Throws or rejects
   * when our own state kept it from having a result: then no attempt is counted, and the task is
   * due again after seconds, without end. The result is written only if `lease` is held then.
   * `onWaiting` is `Scheduler.setWaiting` for the attempt.
   */
  runAttempt(
    id: string, lease: QueueLease, cutOff: AbortSignal, onWaiting: (isWaiting: boolean) => void,
  ): MaybePromise<AttemptResult<Result> | null>;
  /** Counts the attempt as soon as it is over, before its result is written. */
  countAttempt(result: Result): void;
  /** Returns what the attempt showed of its queue or target; null for nothing. */
  assessHealth(result: Result): AttemptHealth | null;
  /**
   * Writes the result, unless the record is gone, the lease has ended, or the worker is closing.
   */
  writeResult(result: Result): Promise<unknown>;
  /** Finds when the task is due by its stored record; null when it is done. */
  findDueMs(id: string): number | null;
  /** The labels of a log line about the task. */
  logLabels(id: string): object;
}

type QueueWorkerDeps = {
  readonly store: Store;
  readonly scheduler: Scheduler;
  readonly ownership: Ownership;
  readonly clock: Clock;
  readonly log: Logger;
};

/** While the store takes no writes no attempt begins, and we check it at this interval. */
const STORE_CHECK_MS = 1000;
/** Most attempts under way that do not wait, and results not yet written, for one to begin. */
const UNWRITTEN_MAX = 1024;
/** Delays of the next attempt after the store failed, and after a bug of ours. */
const STORE_ERROR_DELAY_MS = 6000;
const BUG_DELAY_MS = 60_000;
/** Delay of an attempt whose lease ended at the moment it was to begin. */
const NO_LEASE_DELAY_MS = 1000;
/** Attempts may end at once and make room for more; after this long others get their turn. */
const TURN_MS_MAX = 5;

export class QueueWorker<Result> {
  readonly #deps: QueueWorkerDeps;
  readonly #runner: AttemptRunner<Result>;
  readonly #background: BackgroundTasks;
  readonly #closing = new AbortController();
  /** Aborts the attempts that are still under way when the time to close is over. */
  readonly #cutOff = new AbortController();
  /** For a lease that may end: the signal that aborts when it has ended, or `close` cuts off. */
  readonly #cutOffByLease = new WeakMap<QueueLease, AbortSignal>();
  #isStarted = false;
  /** Resolves when nothing is under way; null before `close`. */
  #whenClosed: Promise<void> | null = null;
  #isRunRequested = false;
  #storeTimer: Timer | null = null;

  constructor(deps: QueueWorkerDeps, runner: AttemptRunner<Result>) {
    this.#deps = deps;
    this.#runner = runner;
    this.#background = new BackgroundTasks(
      deps.log, `${runner.noun} failed unexpectedly`, () => this.requestRun());
    // Node warns above ten listeners, and here every attempt under way listens.
    setMaxListeners(0, this.#cutOff.signal);
  }

  get isStarted(): boolean {
    return this.#isStarted;
  }

  /** Aborted as soon as the worker closes. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  start(): void {
    this.#isStarted = true;
    this.#deps.scheduler.start(() => this.requestRun());
  }

  /**
   * Gives attempts `graceMs` to end. What is cut off after that counts as not attempted.
   * Idempotent: a later call has the time that the first one gave.
   */
  close(graceMs: number): Promise<void> {
    this.#whenClosed ??= this.#close(graceMs);
    return this.#whenClosed;
  }

  async #close(graceMs: number): Promise<void> {
    this.#closing.abort();
    this.#deps.scheduler.close();
    this.#storeTimer?.cancel();
    const timer = this.#deps.clock.startTimer(graceMs, () => this.#cutOff.abort());
    await this.#background.whenIdle();
    timer.cancel();
  }

  /** Repeats a write in the background until the store takes it, or the worker is closed. */
  writeLater(message: string, labels: object, write: () => Promise<void>): void {
    this.#background.run(retryUntilWritten(this.writeRetryDeps, message, labels, write));
  }

  get writeRetryDeps(): WriteRetryDeps {
    const { clock, log } = this.#deps;
    return { clock, log, closing: this.#closing.signal };
  }

  /**
   * Asks to start all tasks that may start. They start once in a turn of the event loop, after its
   * responses are read: requests that leave one by one wake the target each time, which halved the
   * measured rate.
   */
  requestRun(): void {
    if (this.#isRunRequested || !this.#isStarted || this.#closing.signal.aborted) return;
    this.#isRunRequested = true;
    setImmediate(() => {
      this.#isRunRequested = false;
      this.#startTasks();
    });
  }

  #startTasks(): void {
    if (this.#closing.signal.aborted) return;
    const { store, scheduler, ownership, clock } = this.#deps;
    // An attempt whose result cannot be written would be made again after a restart.
    if (store.failure !== null) return this.#checkStoreLater();
    if (!ownership.mayBegin()) return;
    const endMs = clock.monotonicMs() + TURN_MS_MAX;
    while (!this.#closing.signal.aborted
      && this.#background.count - scheduler.waitingCount < UNWRITTEN_MAX) {
      // The attempt before may have taken what the next one needs.
      if (!this.#runner.mayBegin()) return;
      const runningTask = scheduler.startNext();
      if (runningTask === null) return;
      const lease = ownership.findLease(runningTask.task.queue.key);
      if (lease?.beginAttempt() === true) {
        this.#background.run(this.#attempt(runningTask, lease));
      } else {
        scheduler.release(runningTask, null);
        scheduler.settle(runningTask.task.id, clock.now() + NO_LEASE_DELAY_MS);
      }
      if (clock.monotonicMs() >= endMs) return this.requestRun();
    }
  }

  #checkStoreLater(): void {
    this.#storeTimer ??= this.#deps.clock.startTimer(STORE_CHECK_MS, () => {
      this.#storeTimer = null;
      this.requestRun();
    });
  }

  /** Returns the signal that aborts when attempts under that lease must end. */
  #cutOffSignal(lease: QueueLease): AbortSignal {
    const { signal } = this.#cutOff;
    if (lease.endSignal === null) return signal;
    const existingSignal = this.#cutOffByLease.get(lease);
    if (existingSignal !== undefined) return existingSignal;
    const combinedSignal = AbortSignal.any([signal, lease.endSignal]);
    setMaxListeners(0, combinedSignal);
    this.#cutOffByLease.set(lease, combinedSignal);
    return combinedSignal;
  }

  async #attempt(runningTask: RunningTask, lease: QueueLease): Promise<void> {
    const { scheduler, clock } = this.#deps;
    const { id } = runningTask.task;
    try {
      let attemptResult: AttemptResult<Result> | null;
      try {
        const attempt = this.#runner.runAttempt(id, lease, this.#cutOffSignal(lease),
          (isWaiting) => scheduler.setWaiting(runningTask, isWaiting));
        attemptResult = isPromised(attempt) ? await attempt : attempt;
      } catch (thrown) {
        scheduler.release(runningTask, null);
        return this.#postpone(id, 'ended without a result', thrown);
      }
      if (attemptResult === null || 'postponedMs' in attemptResult) {
        scheduler.release(runningTask, null);
        return attemptResult === null ? this.#settleByRecord(id)
          : scheduler.settle(id, clock.now() + attemptResult.postponedMs);
      }
      const { result } = attemptResult;
      scheduler.release(runningTask, this.#countAndAssess(id, result));
      try {
        await this.#runner.writeResult(result);
      } catch (thrown) {
        return this.#postpone(id, 'could not be recorded', thrown);
      }
      this.#settleByRecord(id);
    } finally {
      lease.endAttempt();
    }
  }

  /** A bug in here is logged alone: the result must be written, or the attempt is made again. */
  #countAndAssess(id: string, result: Result): AttemptHealth | null {
    try {
      this.#runner.countAttempt(result);
      return this.#runner.assessHealth(result);
    } catch (thrown) {
      this.#logProblem(id, 'could not be counted', thrown);
      return null;
    }
  }

  /**
   * The record is asked although its applied change has told the scheduler: that changes nothing of
   * an unsettled task.
   */
  #settleByRecord(id: string): void {
    let dueAtMs: number | null;
    try {
      dueAtMs = this.#runner.findDueMs(id);
    } catch (thrown) {
      return this.#postpone(id, 'has an unreadable record', thrown);
    }
    this.#deps.scheduler.settle(id, dueAtMs);
  }

  #postpone(id: string, problem: string, thrown: unknown): void {
    const { scheduler, clock } = this.#deps;
    this.#logProblem(id, problem, thrown);
    const delayMs = thrown instanceof AppError ? STORE_ERROR_DELAY_MS : BUG_DELAY_MS;
    scheduler.settle(id, clock.now() + delayMs);
  }

  #logProblem(id: string, problem: string, thrown: unknown): void {
    const labels = this.#runner.logLabels(id);
    this.#deps.log.error(`${this.#runner.noun} ${problem}`, { ...labels, error: thrown });
  }
}

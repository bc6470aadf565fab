/**
 * Attempts what is pending. The scheduler's tasks follow the stored records and nothing else: what
 * is pending there waits, is ready or runs here, and a restart builds the same again.
 *
 * What must never happen: two attempts of one task at the same time; accepted work that nothing
 * waits for; a result that is written in two steps.
 */
import { setMaxListeners } from 'node:events';
import * as types from 'node:util/types';
import type { Clock, Timer } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Store } from '../../store/store-port.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { RunningTask, TargetHealth } from '../scheduler/task.ts';
import { BackgroundTasks } from './background-tasks.ts';
import type { Hold, Ownership } from './ownership.ts';
import type { WriteParts } from './until-written.ts';
import { untilWritten } from './until-written.ts';

/** What came of an attempt: a result to record, or that the task is to wait as it is. */
export type Attempt<Result> = { readonly result: Result } | { readonly postponedMs: number };

/** What a kind of work does; a task's `id` is the scheduler's. */
export interface Attempts<Result, Recorded> {
  /** In the singular with its article, for messages. */
  readonly noun: string;
  /** Whether an attempt may begin; when that changes, `Worker.askRun` is to be called. */
  mayBegin(): boolean;
  /**
   * null when nothing was done, or it was cut off. Throws, or rejects, when it could not be
   * prepared. What came of it is written only if `hold` is kept until then.
   */
  make(
    id: string, hold: Hold, cutOff: AbortSignal,
  ): Attempt<Result> | null | Promise<Attempt<Result> | null>;
  /** Called as soon as the attempt is over: what it showed of its host; null for nothing. */
  verdictOf(result: Result): TargetHealth | null;
  /** Writes the result; undefined when there is nothing more to write it to. */
  record(result: Result): Promise<Recorded | undefined>;
  /**
   * When the task is due, by its stored record; null when it is done. `recorded` may be older than
   * that.
   */
  dueTimeMs(id: string, recorded: Recorded | undefined): number | null;
  /** Labels of a line of the log about a task. */
  labels(id: string): object;
}

type WorkerParts = {
  readonly store: Store;
  readonly scheduler: Scheduler;
  readonly ownership: Ownership;
  readonly clock: Clock;
  readonly log: Logger;
};

/** While the store takes no writes nothing begins; this often we look whether it does again. */
const STORE_LOOK_MS = 1000;
/** Attempts under way and results not yet written, beyond which no attempt begins. */
const UNRECORDED_MAX = 1024;
/** When something could not be stored, or an attempt broke on a bug of ours, the next one waits. */
const UNSTORED_DELAY_MS = 6000;
const BUG_DELAY_MS = 60_000;
/** And so does one whose hold has ended in the moment it was to begin. */
const UNHELD_DELAY_MS = 1000;
/** Attempts that end at once give their slots back at once: others are to have a turn as well. */
const TURN_MS_MAX = 5;

export class Worker<Result, Recorded> {
  readonly #parts: WorkerParts;
  readonly #attempts: Attempts<Result, Recorded>;
  readonly #background: BackgroundTasks;
  readonly #closing = new AbortController();
  readonly #cutOff = new AbortController();
  /** For each hold that ends: aborted when it has ended, or we cut off what is under way. */
  readonly #cutOffs = new WeakMap<Hold, AbortSignal>();
  #isStarted = false;
  #isRunAsked = false;
  #storeTimer: Timer | null = null;

  constructor(parts: WorkerParts, attempts: Attempts<Result, Recorded>) {
    this.#parts = parts;
    this.#attempts = attempts;
    this.#background = new BackgroundTasks(
      parts.log, `${attempts.noun} failed unexpectedly`, () => this.askRun());
    // Every attempt under way listens.
    setMaxListeners(0, this.#cutOff.signal);
  }

  get isStarted(): boolean {
    return this.#isStarted;
  }

  /** Aborted when we are closed. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** From here on attempts are made. */
  start(): void {
    this.#isStarted = true;
    this.#parts.scheduler.start(() => this.askRun());
  }

  /** Lets what is under way end, for `graceMs`; what is cut off then counts as not made. */
  async close(graceMs: number): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    this.#parts.scheduler.close();
    this.#storeTimer?.cancel();
    const timer = this.#parts.clock.startTimer(graceMs, () => this.#cutOff.abort());
    await this.#background.idle();
    timer.cancel();
  }

  /** Repeats a write in the background until the store takes it, or we are closed. */
  writeLater(waiting: string, labels: object, write: () => Promise<void>): void {
    this.#background.run(untilWritten(this.writeParts, waiting, labels, write));
  }

  get writeParts(): WriteParts {
    const { clock, log } = this.#parts;
    return { clock, log, closing: this.#closing.signal };
  }

  // Once a turn of the loop, after its answers are read: requests that leave one by one wake the
  // target for each, and that took longer than all else an attempt costs (measured: half the rate).
  /** Lets tasks begin that may. */
  askRun(): void {
    if (this.#isRunAsked || !this.#isStarted || this.#closing.signal.aborted) return;
    this.#isRunAsked = true;
    setImmediate(() => {
      this.#isRunAsked = false;
      this.#run();
    });
  }

  #run(): void {
    const { store, scheduler, ownership, clock } = this.#parts;
    // What could not be written down would be done again after a restart.
    if (store.failure !== null) return this.#lookLater();
    if (!ownership.mayBegin()) return;
    const endMs = clock.monotonicMs() + TURN_MS_MAX;
    while (!this.#closing.signal.aborted && this.#background.count < UNRECORDED_MAX) {
      // One that began may have taken what the next one needs.
      if (!this.#attempts.mayBegin()) return;
      const slot = scheduler.startNext();
      if (slot === null) return;
      const hold = ownership.holdOf(slot.task.queue.key);
      if (hold?.begin() === true) {
        this.#background.run(this.#attempt(slot, hold));
      } else {
        scheduler.release(slot, null);
        scheduler.settle(slot.task.id, clock.now() + UNHELD_DELAY_MS);
      }
      if (clock.monotonicMs() >= endMs) return this.askRun();
    }
  }

  #lookLater(): void {
    this.#storeTimer ??= this.#parts.clock.startTimer(STORE_LOOK_MS, () => {
      this.#storeTimer = null;
      this.askRun();
    });
  }

  /** Aborted when the attempts of that hold that are under way have had their time. */
  #cutOffOf(hold: Hold): AbortSignal {
    const { signal } = this.#cutOff;
    if (hold.ended === null) return signal;
    let either = this.#cutOffs.get(hold);
    if (either === undefined) {
      either = AbortSignal.any([signal, hold.ended]);
      setMaxListeners(0, either);
      this.#cutOffs.set(hold, either);
    }
    return either;
  }

  async #attempt(slot: RunningTask, hold: Hold): Promise<void> {
    const { scheduler, clock } = this.#parts;
    const { id } = slot.task;
    try {
      let attempt: Attempt<Result> | null;
      try {
        const making = this.#attempts.make(id, hold, this.#cutOffOf(hold));
        attempt = types.isPromise(making) ? await making : making;
      } catch (thrown) {
        scheduler.release(slot, null);
        return this.#postpone(id, 'could not be prepared', thrown);
      }
      if (attempt === null || 'postponedMs' in attempt) {
        scheduler.release(slot, null);
        return scheduler.settle(id, attempt === null
          ? this.#attempts.dueTimeMs(id, undefined) : clock.now() + attempt.postponedMs);
      }
      scheduler.release(slot, this.#attempts.verdictOf(attempt.result));
      let recorded: Recorded | undefined;
      try {
        recorded = await this.#attempts.record(attempt.result);
      } catch (thrown) {
        return this.#postpone(id, 'could not be recorded', thrown);
      }
      scheduler.settle(id, this.#attempts.dueTimeMs(id, recorded));
    } finally {
      hold.end();
    }
  }

  #postpone(id: string, what: string, thrown: unknown): void {
    const { scheduler, clock, log } = this.#parts;
    const { noun } = this.#attempts;
    log.error(`${noun} ${what}`, { ...this.#attempts.labels(id), error: thrown });
    const delayMs = thrown instanceof AppError ? UNSTORED_DELAY_MS : BUG_DELAY_MS;
    scheduler.settle(id, clock.now() + delayMs);
  }
}

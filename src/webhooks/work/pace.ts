/**
 * The pace of a queue: when its attempts may start, so that no more than a limit start in any
 * window of that length, evenly spread (the generic cell rate algorithm).
 *
 * Timers are no finer than a millisecond, and a busy process serves them late. So attempts that
 * follow each other within a tick may start together; they follow more slowly by as much, and the
 * limit holds in each window all the same.
 */
import type { Clock, Timer } from '../../base/clock.ts';
import type { Task } from './task.ts';

export type StartLimit = { readonly limit: number; readonly windowMs: number };

/** The pace of a queue, and the timer until its next start; null: a task may start. */
type PacedQueue = { readonly pace: Pace; timer: Timer | null };

const TICK_MS = 20;

/** The queues that have a pace. */
export class Paces {
  readonly #clock: Clock;
  readonly #isPaced: (task: Task) => boolean;
  readonly #onFree: (key: string) => void;
  readonly #queues = new Map<string, PacedQueue>();
  #isClosed = false;

  /** `isPaced`: whether the pace counts the next start of a task. `onFree`: one may start now. */
  constructor(clock: Clock, isPaced: (task: Task) => boolean, onFree: (key: string) => void) {
    this.#clock = clock;
    this.#isPaced = isPaced;
    this.#onFree = onFree;
  }

  /** See `Scheduler.setPace`. */
  set(key: string, startLimit: StartLimit | null, firstWaitMs: number): void {
    const existing = this.#queues.get(key);
    if (startLimit === null) {
      if (existing === undefined) return;
      existing.timer?.cancel();
      this.#queues.delete(key);
      return this.#onFree(key);
    }
    const firstMs = this.#clock.monotonicMs() + firstWaitMs;
    const pacedQueue: PacedQueue = existing ?? { pace: new Pace(startLimit, firstMs), timer: null };
    this.#queues.set(key, pacedQueue);
    pacedQueue.pace.change(startLimit);
    pacedQueue.pace.postpone(firstMs);
    this.#restartTimer(key, pacedQueue);
  }

  mustWait(task: Task): boolean {
    return this.#queues.size > 0 && this.#queues.get(task.queue.key)?.timer != null
      && this.#isPaced(task);
  }

  /** Milliseconds until the pace lets the task start; null: the task does not wait for that. */
  findWaitMs(task: Task): number | null {
    const pace = this.#queues.get(task.queue.key)?.pace;
    return pace !== undefined && this.mustWait(task)
      ? pace.getWaitMs(this.#clock.monotonicMs()) : null;
  }

  countStart(task: Task): void {
    const { key } = task.queue;
    const pacedQueue = this.#queues.size === 0 ? undefined : this.#queues.get(key);
    if (pacedQueue === undefined || !this.#isPaced(task)) return;
    pacedQueue.pace.countStart(this.#clock.monotonicMs());
    this.#restartTimer(key, pacedQueue);
  }

  close(): void {
    this.#isClosed = true;
    for (const { timer } of this.#queues.values()) timer?.cancel();
  }

  #restartTimer(key: string, pacedQueue: PacedQueue): void {
    pacedQueue.timer?.cancel();
    pacedQueue.timer = null;
    const waitMs = pacedQueue.pace.getWaitMs(this.#clock.monotonicMs());
    if (waitMs === 0) return this.#onFree(key);
    if (this.#isClosed) return;
    // A timer may come a part of a millisecond early: then this waits for the rest.
    pacedQueue.timer = this.#clock.startTimer(
      Math.ceil(waitMs), () => this.#restartTimer(key, pacedQueue));
  }
}

/** Reads no clock: times are milliseconds of a clock that is never set. */
export class Pace {
  #startLimit: StartLimit;
  #intervalMs: number;
  #leadMs: number;
  /** When the next attempt is due by the interval; it may start `#leadMs` earlier. */
  #nextMs: number;
  #hasStarted = false;

  constructor(startLimit: StartLimit, firstMs: number) {
    this.#startLimit = startLimit;
    this.#leadMs = computeLeadMs(startLimit);
    this.#intervalMs = computeIntervalMs(startLimit);
    this.#nextMs = firstMs + this.#leadMs;
  }

  /** Changes the limit. Attempts that have started count by the new one. */
  change(startLimit: StartLimit): void {
    const { limit, windowMs } = this.#startLimit;
    if (limit === startLimit.limit && windowMs === startLimit.windowMs) return;
    const firstMs = this.#nextMs - this.#leadMs;
    const lastMs = this.#nextMs - this.#intervalMs;
    this.#startLimit = startLimit;
    this.#leadMs = computeLeadMs(startLimit);
    this.#intervalMs = computeIntervalMs(startLimit);
    this.#nextMs = this.#hasStarted ? lastMs + this.#intervalMs : firstMs + this.#leadMs;
  }

  /** Milliseconds until an attempt may start; 0: it may now. */
  getWaitMs(nowMs: number): number {
    return Math.max(0, this.#nextMs - this.#leadMs - nowMs);
  }

  countStart(nowMs: number): void {
    this.#nextMs = Math.max(this.#nextMs, nowMs) + this.#intervalMs;
    this.#hasStarted = true;
  }

  postpone(firstMs: number): void {
    this.#nextMs = Math.max(this.#nextMs, firstMs + this.#leadMs);
  }
}

function computeLeadMs({ limit, windowMs }: StartLimit): number {
  return Math.max(0, TICK_MS - windowMs / limit);
}

/** `limit` intervals less the lead make a whole window: then one attempt more may start. */
function computeIntervalMs(startLimit: StartLimit): number {
  const { limit, windowMs } = startLimit;
  return (windowMs + computeLeadMs(startLimit)) / limit;
}

/** Holds what waits until it is due: a priority queue, and one timer for its head. */
import type { Clock, Timer } from '../../base/clock.ts';
import { PriorityQueue } from '../../base/structures/priority-queue.ts';
import type { Task } from './task.ts';

export type TimedTask = Pick<Task, 'state' | 'dueAtMs' | 'place'>;

type Wait<T extends TimedTask> = {
  readonly task: T;
  readonly atMs: number;
  /** The time of day less the monotonic time when the wait began. */
  readonly clockAheadMs: number;
};

/** The longest timer: timers stand still in a sleeping machine, and clocks may be set. */
const TIMER_MS_MAX = 60_000;
const READY_MAX = 1000;
/** Stale waits are removed when there are more than this many, and more than half of all. */
const STALE_MAX = 1000;
/** A clock that was set back by less is not corrected: the wait is longer by that. */
export const SET_BACK_MS_MIN = 1000;

export class DueTimes<T extends TimedTask> {
  readonly #clock: Clock;
  readonly #onDue: (task: T) => void;
  readonly #waits = new PriorityQueue<Wait<T>>(isSooner);
  /** The time of day less the monotonic time when last seen: falls when the clock is set back. */
  #clockAheadMs: number;
  #timer: Timer | null = null;
  #timerAtMs = Infinity;
  #staleCount = 0;
  #isStarted = false;

  constructor(clock: Clock, onDue: (task: T) => void) {
    this.#clock = clock;
    this.#onDue = onDue;
    this.#clockAheadMs = clock.now() - clock.monotonicMs();
  }

  start(): void {
    this.#isStarted = true;
    this.#startTimer();
  }

  close(): void {
    this.#isStarted = false;
    this.#timer?.cancel();
    this.#timer = null;
    this.#timerAtMs = Infinity;
  }

  wait(task: T, dueAtMs: number): void {
    this.#correctForClockStep();
    // A new task has the state already, and no wait yet.
    const hasWait = task.state === 'waiting' && task.dueAtMs !== 0;
    if (hasWait && task.dueAtMs === dueAtMs) return;
    if (hasWait) this.countStaleWait();
    task.state = 'waiting';
    task.dueAtMs = dueAtMs;
    this.#waits.push({ task, atMs: dueAtMs, clockAheadMs: this.#clockAheadMs });
    if (this.#isStarted && dueAtMs < this.#timerAtMs) this.#startTimer();
  }

  /** Must be called before a task that is not due stops waiting: its wait stays, stale. */
  countStaleWait(): void {
    if (this.#staleCount > STALE_MAX && this.#staleCount * 2 > this.#waits.size) {
      this.#waits.prune(isCurrent);
      this.#staleCount = 0;
    }
    this.#staleCount += 1;
  }

  #startTimer(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#timerAtMs = Infinity;
    const head = this.#waits.peek();
    if (head === undefined || !this.#isStarted) return;
    const delayMs = Math.min(Math.max(0, head.atMs - this.#clock.now()), TIMER_MS_MAX);
    this.#timerAtMs = head.atMs;
    this.#timer = this.#clock.startTimer(delayMs, () => this.#fire());
  }

  #fire(): void {
    this.#correctForClockStep();
    const nowMs = this.#clock.now();
    for (let count = 0; count < READY_MAX; count += 1) {
      const head = this.#waits.peek();
      if (head === undefined || head.atMs > nowMs) break;
      this.#waits.pop();
      if (isCurrent(head)) this.#onDue(head.task);
      // A task that was made ready otherwise when it was due was not counted.
      else this.#staleCount = Math.max(0, this.#staleCount - 1);
    }
    this.#startTimer();
  }

  /** Moves due times back when the clock was set back, so that each wait keeps its length. */
  #correctForClockStep(): void {
    const clockAheadMs = this.#clock.now() - this.#clock.monotonicMs();
    const isSetBack = this.#clockAheadMs - clockAheadMs >= SET_BACK_MS_MIN;
    this.#clockAheadMs = clockAheadMs;
    if (!isSetBack) return;
    const waits: Wait<T>[] = [];
    for (let wait = this.#waits.pop(); wait !== undefined; wait = this.#waits.pop()) {
      if (isCurrent(wait)) waits.push(wait);
    }
    this.#staleCount = 0;
    for (const wait of waits) {
      // A wait from before the clock was set ahead is right again when that is put right.
      const stepMs = wait.clockAheadMs - clockAheadMs;
      const movedWait = stepMs < SET_BACK_MS_MIN ? wait
        : { task: wait.task, atMs: wait.atMs - stepMs, clockAheadMs };
      movedWait.task.dueAtMs = movedWait.atMs;
      this.#waits.push(movedWait);
    }
  }
}

/** At one time tasks become ready in the order of their starts: one turn may not suffice. */
function isSooner(left: Wait<TimedTask>, right: Wait<TimedTask>): boolean {
  return left.atMs === right.atMs ? left.task.place < right.task.place : left.atMs < right.atMs;
}

function isCurrent({ task, atMs }: Wait<TimedTask>): boolean {
  return task.state === 'waiting' && task.dueAtMs === atMs;
}

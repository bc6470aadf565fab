/** A clock that a test moves: timers run when it is told, in their order. */
import type { Clock, Timer } from '../../src/base/clock.ts';
import { PriorityQueue } from '../../src/base/structures/priority-queue.ts';
import { someTurns } from './turns.ts';

type Waiting = {
  readonly atMs: number; readonly number: number; readonly run: () => void; isOver: boolean;
};

export class ManualClock implements Clock {
  /** What every look at the monotonic clock takes: the disk seems that slow. */
  tickMs = 0;
  /** The number of timers that have neither run nor been cancelled. */
  timerCount = 0;
  readonly #turns: number;
  readonly #waiting = new PriorityQueue<Waiting>((left, right) => left.atMs < right.atMs
    || (left.atMs === right.atMs && left.number < right.number));
  #nowMs: number;
  #behindMs = 0;
  #startedCount = 0;

  /** `turns` of the loop must be enough for all that a timer starts. */
  constructor({ startMs = Date.UTC(2026, 0, 1), turns = 20 } = {}) {
    this.#nowMs = startMs;
    this.#turns = turns;
  }

  now(): number {
    return this.#nowMs - this.#behindMs;
  }

  monotonicMs(): number {
    this.#nowMs += this.tickMs;
    return this.#nowMs;
  }

  startTimer(delayMs: number, run: () => void): Timer {
    const atMs = this.#nowMs + Math.max(delayMs, 0);
    const waiting = { atMs, number: this.#startedCount++, run, isOver: false };
    this.#waiting.push(waiting);
    this.timerCount += 1;
    return { cancel: () => void this.#end(waiting) };
  }

  /** Somebody corrects the time of day; timers go on as they were. */
  setBack(byMs: number): void {
    this.#behindMs += byMs;
  }

  /** Time passes, and no timer runs: this process stands still. */
  standStill(durationMs: number): void {
    this.#nowMs += durationMs;
  }

  /** Runs what is due in the next `durationMs`; what timers start gets turns of the loop to end. */
  async advance(durationMs: number): Promise<void> {
    const endMs = this.#nowMs + durationMs;
    await someTurns(this.#turns);
    for (let next = this.#waiting.peek(); next !== undefined && next.atMs <= endMs;
      next = this.#waiting.peek()) {
      this.#waiting.pop();
      if (!this.#end(next)) continue;
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.run();
      await someTurns(this.#turns);
    }
    this.#nowMs = endMs;
  }

  /** Returns whether the timer was still to run. */
  #end(waiting: Waiting): boolean {
    if (waiting.isOver) return false;
    waiting.isOver = true;
    this.timerCount -= 1;
    return true;
  }
}

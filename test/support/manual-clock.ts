/** A clock that a test moves: timers run when it is told, in their order. */
import type { Clock, Timer } from '../../src/base/clock.ts';

type Waiting = { readonly atMs: number; readonly run: () => void };

export class ManualClock implements Clock {
  /** What every look at the monotonic clock takes: the disk seems that slow. */
  tickMs = 0;
  #nowMs: number;
  #waiting: readonly Waiting[] = [];

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#nowMs = startMs;
  }

  /** The number of timers that have neither run nor been cancelled. */
  get timerCount(): number {
    return this.#waiting.length;
  }

  now(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    this.#nowMs += this.tickMs;
    return this.#nowMs;
  }

  startTimer(delayMs: number, run: () => void): Timer {
    const waiting = { atMs: this.#nowMs + Math.max(delayMs, 0), run };
    this.#waiting = [...this.#waiting, waiting].sort((left, right) => left.atMs - right.atMs);
    return {
      cancel: () => {
        this.#waiting = this.#waiting.filter((timer) => timer !== waiting);
      },
    };
  }

  /** Time passes, and no timer runs: this process stands still. */
  standStill(durationMs: number): void {
    this.#nowMs += durationMs;
  }

  /** Runs what is due in the next `durationMs`; what timers start gets turns of the loop to end. */
  async advance(durationMs: number): Promise<void> {
    const endMs = this.#nowMs + durationMs;
    await turns();
    for (;;) {
      const [next, ...later] = this.#waiting;
      if (next === undefined || next.atMs > endMs) break;
      this.#waiting = later;
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.run();
      await turns();
    }
    this.#nowMs = endMs;
  }
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) {
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  }
}

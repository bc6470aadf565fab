/**
 * Runs a sweep in the background: at the start, a minute after the last one has ended, and when it
 * is asked for, never twice at once. A sweep that fails is logged, and the next sweep tries again.
 */
import type { Clock, Timer } from './clock.ts';
import type { Logger } from './log.ts';

type SweeperDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  /** The records that a sweep removes, in the plural, for messages. */
  readonly noun: string;
};

const SWEEP_MS = 60_000;

export class Sweeper {
  readonly #deps: SweeperDeps;
  readonly #sweepAll: () => Promise<void>;
  #timer: Timer | null = null;
  #sweep: Promise<void> | null = null;
  #isStarted = false;

  /** `sweepAll` ends early once `isStarted` is false. */
  constructor(deps: SweeperDeps, sweepAll: () => Promise<void>) {
    this.#deps = deps;
    this.#sweepAll = sweepAll;
  }

  get isStarted(): boolean {
    return this.#isStarted;
  }

  start(): void {
    this.#isStarted = true;
    this.sweep();
  }

  /** Begins a sweep, unless one is running or the sweeper is not started. */
  sweep(): void {
    if (this.#sweep !== null || !this.#isStarted) return;
    this.#timer?.cancel();
    // The sweep begins later: the caller may be applying a transaction whose rest is to come.
    this.#sweep = Promise.resolve().then(this.#sweepAll).catch((thrown: unknown) => {
      const { log, noun } = this.#deps;
      log.error(`old ${noun} could not be removed`, { error: thrown });
    }).finally(() => {
      this.#sweep = null;
      if (this.#isStarted) {
        this.#timer = this.#deps.clock.startTimer(SWEEP_MS, () => this.sweep());
      }
    });
  }

  /** Begins no further sweep. Resolves once the one that is running has ended. */
  async close(): Promise<void> {
    this.#isStarted = false;
    this.#timer?.cancel();
    await this.#sweep;
  }
}

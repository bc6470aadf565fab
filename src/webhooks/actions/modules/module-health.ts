/**
 * Switches an action module off for a minute when it has ended the worker three times within a
 * minute: each end fails the runs of all other modules, too.
 */
import type { Clock } from '../../../base/clock.ts';

const ENDS_MAX = 3;
const WINDOW_MS = 60_000;
const SWITCHED_OFF_MS = 60_000;

export class ModuleHealth {
  readonly #clock: Clock;
  #endTimesMs: readonly number[] = [];
  #untilMs = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** 0: it is not switched off. */
  get remainingMs(): number {
    return Math.max(0, this.#untilMs - this.#clock.monotonicMs());
  }

  /** The time of day until which it is switched off; null: it is not. */
  get untilMs(): number | null {
    const { remainingMs } = this;
    return remainingMs === 0 ? null : Math.ceil(this.#clock.now() + remainingMs);
  }

  /** Counts an end of the worker. Returns whether that has switched the module off. */
  countEnd(): boolean {
    const nowMs = this.#clock.monotonicMs();
    this.#endTimesMs = [...this.#endTimesMs.filter((endMs) => endMs > nowMs - WINDOW_MS), nowMs];
    if (this.#endTimesMs.length < ENDS_MAX) return false;
    this.switchOff();
    return true;
  }

  switchOff(): void {
    this.#endTimesMs = [];
    this.#untilMs = this.#clock.monotonicMs() + SWITCHED_OFF_MS;
  }
}

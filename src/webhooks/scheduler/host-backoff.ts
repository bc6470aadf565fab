/**
 * A host that cannot be reached, again and again, is not tried for every delivery that waits for it
 * as fast as it refuses: attempts at it come at growing intervals, until one gets an answer. Each
 * of them costs as much as a delivery that arrives.
 */
import type { Clock, Timer } from '../../base/clock.ts';

/** Failures in a row before the first pause: a handful of deliveries is tried at once. */
const FAILURES_FREE = 32;
const PAUSE_MS_BASE = 10;
const PAUSE_MS_MAX = 250;

export class HostPacer<Host extends object> {
  readonly #clock: Clock;
  readonly #failures = new WeakMap<Host, number>();
  readonly #timers = new Set<Timer>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds to leave the host alone after an attempt; 0 mostly. */
  judge(host: Host, isAnswered: boolean): number {
    const failures = isAnswered ? 0 : (this.#failures.get(host) ?? 0) + 1;
    this.#failures.set(host, failures);
    const over = failures - FAILURES_FREE;
    return over < 0 ? 0 : Math.min(PAUSE_MS_BASE * 2 ** Math.min(over, 10), PAUSE_MS_MAX);
  }

  after(delayMs: number, run: () => void): void {
    const timer = this.#clock.startTimer(delayMs, () => {
      this.#timers.delete(timer);
      run();
    });
    this.#timers.add(timer);
  }

  close(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }
}

/** Counts the calls in flight, so that a close can wait for their end. */
import type { Clock } from './clock.ts';

export class InFlightCounter {
  #count = 0;
  readonly #onIdle: (() => void)[] = [];

  begin(): void {
    this.#count += 1;
  }

  end(): void {
    this.#count -= 1;
    if (this.#count > 0) return;
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  async track<T>(work: Promise<T>): Promise<T> {
    this.begin();
    try {
      return await work;
    } finally {
      this.end();
    }
  }

  /** Resolves when no call is in flight, or after `graceMs`. */
  async waitUntilIdle(graceMs: number, clock: Clock): Promise<void> {
    if (this.#count === 0) return;
    await new Promise<void>((resolve) => {
      const timer = clock.startTimer(graceMs, resolve);
      this.#onIdle.push(() => {
        timer.cancel();
        resolve();
      });
    });
  }
}

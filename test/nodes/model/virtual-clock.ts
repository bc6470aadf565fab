/** Time that passes only when everything waits for it: hours in moments, the same each time. */
type Timer = { readonly atMs: number; readonly number: number; readonly wake: () => void };

export class VirtualClock {
  #nowMs = 0;
  #count = 0;
  readonly #timers: Timer[] = [];

  get nowMs(): number {
    return this.#nowMs;
  }

  sleep(ms: number): Promise<void> {
    return new Promise((wake) => {
      this.#count += 1;
      const timer = { atMs: this.#nowMs + ms, number: this.#count, wake };
      const index = this.#timers.findIndex(({ atMs }) => atMs > timer.atMs);
      this.#timers.splice(index < 0 ? this.#timers.length : index, 0, timer);
    });
  }

  /** Lets everything happen that is due before `endMs`. */
  async run(endMs: number): Promise<void> {
    for (;;) {
      const next = this.#timers[0];
      if (next === undefined || next.atMs >= endMs) break;
      this.#timers.shift();
      this.#nowMs = next.atMs;
      next.wake();
      // All that follows from it without waiting.
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#nowMs = endMs;
  }
}

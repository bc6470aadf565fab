/**
 * The pace of a queue: when its attempts may start, so that no more than a limit start in any
 * window of that length, evenly spread (the generic cell rate algorithm). Reads no clock: times are
 * milliseconds of a clock that is never set.
 *
 * Timers are no finer than a millisecond, and a busy process serves them late. So attempts that
 * follow each other within a tick may start together; they follow more slowly by as much, and the
 * limit holds in each window all the same.
 */
export type StartLimit = { readonly limit: number; readonly windowMs: number };

const TICK_MS = 20;

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

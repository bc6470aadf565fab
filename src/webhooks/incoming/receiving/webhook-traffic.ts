/** The traffic of one incoming webhook: its rate limit, its running actions, and its counters. */
import type { Rejections } from './rejections.ts';

/** A token bucket that holds one second's worth, so that a burst of a second's rate passes. */
export class TokenBucket {
  readonly ratePerS: number;
  readonly #capacity: number;
  #tokens: number;
  #refilledAtMs: number;

  constructor(ratePerS: number, nowMs: number) {
    this.ratePerS = ratePerS;
    this.#capacity = Math.max(1, ratePerS);
    this.#tokens = this.#capacity;
    this.#refilledAtMs = nowMs;
  }

  /** Takes a token. Gives 0 if there was one, else the whole seconds until there is. */
  take(nowMs: number): number {
    const refill = Math.max(0, nowMs - this.#refilledAtMs) / 1000 * this.ratePerS;
    this.#tokens = Math.min(this.#capacity, this.#tokens + refill);
    this.#refilledAtMs = nowMs;
    if (this.#tokens >= 1) {
      this.#tokens -= 1;
      return 0;
    }
    return Math.max(1, Math.ceil((1 - this.#tokens) / this.ratePerS));
  }
}

/** The figures of one webhook, in memory. They outlive changes of the webhook. */
export class WebhookTraffic {
  /** null: no limit. */
  bucket: TokenBucket | null = null;
  /** Logs and counts rejected requests. */
  readonly rejections: Rejections;
  /** Requests that are being handled. */
  running = 0;
  /** Requests that wait for another request of the same event. */
  waiting = 0;
  /** Requests that no payload could be made of, each counted once. */
  unparsedCount = 0;

  constructor(rejections: Rejections) {
    this.rejections = rejections;
  }
}

/** One call of the client: its attempts, one after the other, and the waits between them. */
import type { Clock, Timer } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { HttpAttempt } from './http-attempt.ts';
import type { HttpOutcome, PreparedRequest } from './http-attempt.ts';
import { HttpResponse } from './http-response.ts';
import { NetworkError } from './network-error.ts';
import {
  isTransientError, isTransientStatus, nextDelayMs, parseRetryAfter,
} from './policy/retry.ts';
import type { RetryPolicy } from './policy/retry.ts';
import type { Destination } from './policy/request-target.ts';

type HttpCallOptions = {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly timeoutMs: number;
  readonly policy: RetryPolicy;
  /** The client's calls that wait to try again, so that its close can end them. */
  readonly waitingCalls: Set<HttpCall>;
};

export class HttpCall {
  /** How many attempts have begun. */
  attemptCount = 0;
  readonly #request: PreparedRequest;
  readonly #options: HttpCallOptions;
  readonly #startedMs: number;
  readonly #onEnd: (outcome: HttpOutcome) => void;
  #attempt: HttpAttempt | null = null;
  #retryTimer: Timer | null = null;

  constructor(
    request: PreparedRequest, options: HttpCallOptions, onEnd: (outcome: HttpOutcome) => void,
  ) {
    this.#request = request;
    this.#options = options;
    this.#startedMs = options.clock.monotonicMs();
    this.#onEnd = onEnd;
  }

  get destination(): Destination {
    return this.#request.pool.destination;
  }

  /** Begins the first attempt, and after each wait the next. */
  start(): void {
    const { clock, timeoutMs, policy } = this.#options;
    // A time-out error names the milliseconds that the attempt had. Nothing is subtracted for the
    // first attempt, so that its error names the timeout that was set, and not some less.
    const leftMs = policy.totalTimeoutMs - (this.attemptCount === 0 ? 0 : this.#elapsedMs());
    this.attemptCount += 1;
    this.#attempt = new HttpAttempt(this.#request, clock, (outcome) => this.#onOutcome(outcome));
    // A wait may end late, with no time left: the attempt that was promised begins even so.
    this.#attempt.start(Math.max(1, Math.min(timeoutMs, leftMs)));
  }

  /**
   * Ends the call with `error`, in the midst of an attempt or of a wait. Does nothing before the
   * start of the call and after its end.
   */
  abandon(error: NetworkError): void {
    if (this.#retryTimer === null) {
      // The attempt hands the error to `#onOutcome`, which finds it final.
      this.#attempt?.abandon(error);
      return;
    }
    this.#retryTimer.cancel();
    this.#stopWaiting();
    this.#finish(error);
  }

  #stopWaiting(): void {
    this.#retryTimer = null;
    this.#options.waitingCalls.delete(this);
  }

  #onOutcome(outcome: HttpOutcome): void {
    const delayMs = this.#computeDelay(outcome);
    if (delayMs === null) {
      this.#finish(outcome);
      return;
    }
    this.#options.logger.debug('trying again', {
      host: this.#request.pool.destination.authority,
      because: outcome instanceof HttpResponse ? outcome.statusCode : outcome.code,
      attempts: this.attemptCount,
      delayMs,
    });
    this.#options.waitingCalls.add(this);
    this.#retryTimer = this.#options.clock.startTimer(delayMs, () => {
      this.#stopWaiting();
      this.start();
    });
  }

  /** Milliseconds until the next attempt; null when the outcome is final. */
  #computeDelay(outcome: HttpOutcome): number | null {
    const { clock, policy } = this.#options;
    if (outcome instanceof HttpResponse) {
      if (!isTransientStatus(outcome.statusCode)) return null;
      const retryAfterMs = parseRetryAfter(outcome.headers['retry-after'], clock.now());
      return nextDelayMs(this.attemptCount, this.#elapsedMs(), retryAfterMs, policy);
    }
    if (!isTransientError(outcome)) return null;
    return nextDelayMs(this.attemptCount, this.#elapsedMs(), null, policy);
  }

  #elapsedMs(): number {
    return this.#options.clock.monotonicMs() - this.#startedMs;
  }

  #finish(outcome: HttpOutcome): void {
    // The last attempt, whose outcome this is, knows nothing of those before it.
    outcome.attempts = this.attemptCount;
    this.#attempt = null;
    this.#onEnd(outcome);
  }
}

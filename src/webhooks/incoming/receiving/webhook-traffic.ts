/**
 * The traffic of one incoming webhook: its rate limit, its running actions, and its rejected
 * requests, which are logged and counted. The sender is told little; the webhook's owner has to
 * know. No secret is logged.
 */
import { RateLimitedLog } from '../../../base/rate-limited-log.ts';
import type { RelayContext } from '../../relay-context.ts';
import { AppError, type ErrorCode, type ErrorDetails } from '../../../base/errors.ts';
import type { LogFields } from '../../../base/log.ts';
import { findStatus } from '../../../server/problem.ts';
import type { Exchange } from '../../../server/http-route.ts';
import type { CheckName } from '../../senders/verification/verdict.ts';
import type { OnOutcome } from '../../outcome-listeners.ts';

/** The figures of one webhook, in memory. They outlive changes of the webhook. */
export class WebhookTraffic {
  readonly rejections: Rejections;
  /** null: no limit. */
  bucket: TokenBucket | null = null;
  /** Requests that are being handled. */
  running = 0;
  /** Requests that wait for another request of the same event. */
  waiting = 0;
  /** Requests that no payload could be made of, each counted once. */
  unparsedCount = 0;

  constructor(rejections: Rejections) {
    this.rejections = rejections;
  }

  /** 0: no limit. The tokens stay as they are as long as the limit does. */
  limitRate(ratePerS: number, nowMs: number): void {
    if ((this.bucket?.ratePerS ?? 0) === ratePerS) return;
    this.bucket = ratePerS > 0 ? new TokenBucket(ratePerS, nowMs) : null;
  }
}

/** A token bucket that holds the tokens of a second, so that a burst of a second's rate passes. */
class TokenBucket {
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

  /** Takes a token. Returns 0 if there was a token, else the whole seconds until there is. */
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

/** The check that a request failed, by which it is counted. In metrics its label is `reason`. */
export type RejectionCheck = CheckName | 'address' | 'method' | 'rate' | 'size' | 'unavailable';

export type Rejection = {
  readonly code: ErrorCode;
  /** The text for the sender. */
  readonly message: string;
  /** The explanation for the webhook's owner. */
  readonly finding: string;
  readonly details?: ErrorDetails;
  /** null: the rejection is not counted. */
  readonly check: RejectionCheck | null;
  /** At most so many log lines a second. */
  readonly linesMax?: number;
};

type RejectingWebhook = { readonly pathSegment: string; readonly labels: LogFields };

const REJECTED = 'a call of an incoming webhook was rejected';
const MORE_REJECTED = 'more calls of an incoming webhook were rejected';

export class Rejections {
  readonly counts = new Map<RejectionCheck, number>();
  readonly #webhookId: string | null;
  /** The webhook's labels when it last rejected a request. */
  #labels: LogFields;
  readonly #clock: RelayContext['clock'];
  readonly #onOutcome: OnOutcome;
  readonly #lines: RateLimitedLog;

  /** `webhookId` is null for requests to paths that no webhook has. */
  constructor(
    webhookId: string | null, { clock, log }: Pick<RelayContext, 'clock' | 'log'>,
    onOutcome: OnOutcome,
  ) {
    this.#webhookId = webhookId;
    this.#labels = { hook: webhookId };
    this.#clock = clock;
    this.#onOutcome = onOutcome;
    this.#lines = new RateLimitedLog(clock, (leftOut) =>
      log.warning(MORE_REJECTED, { ...this.#labels, leftOut }));
  }

  /** Counts, logs and throws the rejection; `status` is what the caller is sent. */
  reject(
    exchange: Exchange, webhook: RejectingWebhook | null, rejection: Rejection,
    status = findStatus(rejection.code),
  ): never {
    const { code, message, finding, details = {}, check, linesMax } = rejection;
    if (check !== null) this.counts.set(check, (this.counts.get(check) ?? 0) + 1);
    if (webhook !== null) this.#labels = webhook.labels;
    const durationMs = this.#clock.monotonicMs() - exchange.startedMs;
    this.#onOutcome('requests', this.#webhookId, 'rejected', durationMs);
    this.#lines.warning(exchange, REJECTED, {
      ...this.#labels, ...webhook === null ? {} : { path: webhook.pathSegment },
      status,
      // The log calls the finding `reason`.
      ...check === null ? {} : { check }, reason: finding, client: exchange.clientAddress,
    }, linesMax);
    throw new AppError(code, message, details);
  }

  close(): void {
    this.#lines.close();
  }
}

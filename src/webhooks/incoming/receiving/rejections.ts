/**
 * Calls of one incoming webhook that were rejected: what the log says of them, and how many there
 * were. Their senders are told little, the webhook's owner has to know. Nothing secret is written.
 */
import { RateLimitedLog } from '../../../base/rate-limited-log.ts';
import type { Clock } from '../../../base/clock.ts';
import { AppError, type ErrorCode, type ErrorDetails } from '../../../base/errors.ts';
import type { LogFields, Logger } from '../../../base/log.ts';
import { statusOf } from '../../../server/problem.ts';
import type { Exchange } from '../../../server/http-route.ts';
import type { CheckName } from '../../senders/verification/verdict.ts';
import type { OnOutcome } from '../../outcome-listeners.ts';

/** What a call is counted under: the check that it did not pass. */
export type RejectionReason = CheckName | 'address' | 'method' | 'rate' | 'size';

export type Rejection = {
  readonly code: ErrorCode;
  /** For the caller. */
  readonly message: string;
  /** For the owner. */
  readonly finding: string;
  readonly details?: ErrorDetails;
  /** null: not counted. */
  readonly reason: RejectionReason | null;
  /** Lines of the log a second. */
  readonly linesMax?: number;
};

/** What a rejection tells of its webhook. */
type RejectingWebhook = { readonly pathSegment: string; readonly labels: LogFields };

export type RejectionDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly onOutcome: OnOutcome;
};

const REJECTED = 'a call of an incoming webhook was rejected';
const MORE_REJECTED = 'more calls of an incoming webhook were rejected';

export class Rejections {
  readonly counts = new Map<RejectionReason, number>();
  readonly #webhookId: string | null;
  /** As the webhook was called when it last rejected a call. */
  #labels: LogFields;
  readonly #clock: Clock;
  readonly #onOutcome: OnOutcome;
  readonly #lines: RateLimitedLog;

  /** `hook` is null for calls of webhooks that are not there. */
  constructor(webhookId: string | null, { clock, log, onOutcome }: RejectionDeps) {
    this.#webhookId = webhookId;
    this.#labels = { hook: webhookId };
    this.#clock = clock;
    this.#onOutcome = onOutcome;
    this.#lines = new RateLimitedLog(clock, (leftOut) =>
      log.warning(MORE_REJECTED, { ...this.#labels, leftOut }));
  }

  /** Counts and logs the rejection, and gives what is to be thrown. */
  reject(exchange: Exchange, webhook: RejectingWebhook | null, rejection: Rejection): AppError {
    const { code, message, finding, details = {}, reason, linesMax } = rejection;
    if (reason !== null) this.counts.set(reason, (this.counts.get(reason) ?? 0) + 1);
    if (webhook !== null) this.#labels = webhook.labels;
    const durationMs = this.#clock.monotonicMs() - exchange.startedMs;
    this.#onOutcome('requests', this.#webhookId, 'rejected', durationMs);
    this.#lines.warning(exchange, REJECTED, {
      ...this.#labels, ...webhook === null ? {} : { path: webhook.pathSegment },
      status: statusOf(code),
      ...reason === null ? {} : { check: reason }, reason: finding, client: exchange.clientAddress,
    }, linesMax);
    return new AppError(code, message, details);
  }

  close(): void {
    this.#lines.close();
  }
}

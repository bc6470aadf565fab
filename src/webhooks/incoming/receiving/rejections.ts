/**
 * Logs and counts the rejected calls of one incoming webhook. The sender is told little; the
 * webhook's owner has to know. No secret is logged.
 */
import { RateLimitedLog } from '../../../base/rate-limited-log.ts';
import type { Clock } from '../../../base/clock.ts';
import { AppError, type ErrorCode, type ErrorDetails } from '../../../base/errors.ts';
import type { LogFields, Logger } from '../../../base/log.ts';
import { statusOf } from '../../../server/problem.ts';
import type { Exchange } from '../../../server/http-route.ts';
import type { CheckName } from '../../senders/verification/verdict.ts';
import type { OnOutcome } from '../../outcome-listeners.ts';

/** The check that a call failed, by which it is counted. */
export type RejectionReason = CheckName | 'address' | 'method' | 'rate' | 'size';

export type Rejection = {
  readonly code: ErrorCode;
  /** The text for the caller. */
  readonly message: string;
  /** The explanation for the webhook's owner. */
  readonly finding: string;
  readonly details?: ErrorDetails;
  /** null: the rejection is not counted. */
  readonly reason: RejectionReason | null;
  /** At most so many log lines a second. */
  readonly linesMax?: number;
};

/** The members of a webhook that its rejections are logged with. */
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
  /** The webhook's labels when it last rejected a call. */
  #labels: LogFields;
  readonly #clock: Clock;
  readonly #onOutcome: OnOutcome;
  readonly #lines: RateLimitedLog;

  /** `webhookId` is null for calls of paths that no webhook has. */
  constructor(webhookId: string | null, { clock, log, onOutcome }: RejectionDeps) {
    this.#webhookId = webhookId;
    this.#labels = { hook: webhookId };
    this.#clock = clock;
    this.#onOutcome = onOutcome;
    this.#lines = new RateLimitedLog(clock, (leftOut) =>
      log.warning(MORE_REJECTED, { ...this.#labels, leftOut }));
  }

  /** Counts and logs the rejection, and gives the error to throw. */
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

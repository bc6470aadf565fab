/**
 * Writes what came of an attempt: the result and the time of the next one are one record, so a
 * crash loses neither. While the store takes no writes the result is held and written later: what
 * has arrived must not be sent again.
 */
import { sleep, type Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import {
  afterAttempt, finished, stamped, type Delivery, type KnownDelivery, type Outcome,
} from '../deliveries/delivery.ts';
import type { ResultBatch } from './result-batch.ts';
import type { Retirement } from './retirement.ts';

export type RecorderParts = {
  readonly results: ResultBatch;
  readonly clock: Clock;
  readonly log: Logger;
  readonly schedule: readonly number[];
  /** In [0, 1). */
  readonly random: () => number;
  readonly retirement: Pick<Retirement, 'run'>;
  /** True once nothing more is to be waited for. */
  readonly isClosed: () => boolean;
};

const RETRY_MS = 1000;

/** What came of the attempt of a delivery, and what was known of it before. */
export type Attempted = {
  readonly identifier: string;
  readonly outcome: Outcome;
  /** The payload itself went out. */
  readonly isPayload: boolean;
  readonly known: KnownDelivery | null;
};

/** Resolves when it is written, or the delivery is gone, or we are closed first. */
export async function recordOutcome(parts: RecorderParts, attempted: Attempted): Promise<void> {
  for (let isFirst = true; ; isFirst = false) {
    try {
      tell(parts.log, attempted, await record(parts, attempted));
      return;
    } catch (thrown) {
      if (!(thrown instanceof AppError)) throw thrown;
      if (isFirst) {
        parts.log.error('the result of an attempt waits to be written', {
          delivery: attempted.identifier, error: thrown,
        });
      }
    }
    if (parts.isClosed()) break;
    await sleep(parts.clock, RETRY_MS);
  }
  tell(parts.log, attempted, undefined);
}

function tell(
  log: Logger, { identifier, outcome }: Attempted, recorded: Delivery | undefined,
): void {
  const { statusCode, error, durationMs } = outcome.attempt;
  const level = outcome.kind === 'delivered' ? 'info' : 'warning';
  log[level]('a delivery was attempted', {
    delivery: identifier, hook: recorded?.hook ?? null, event: recorded?.event ?? null,
    statusCode, error, durationMs, status: recorded?.status ?? null,
    attempt: recorded?.attempts.length ?? null, nextAttemptAt: recorded?.nextAttemptAt ?? null,
  });
}

function record(
  parts: RecorderParts, { identifier, outcome, isPayload, known }: Attempted,
): Promise<Delivery | undefined> {
  const { clock, schedule } = parts;
  const nowMs = clock.now();
  const random = parts.random();
  const change = (before: Delivery): Delivery => {
    const after = before.status === 'pending'
      ? afterAttempt(before, outcome, schedule, nowMs, random)
      : afterLateAttempt(before, outcome, nowMs);
    return isPayload && after.status === 'pending' ? { ...after, isPayload: true } : after;
  };
  const write = (): Promise<Delivery | undefined> =>
    parts.results.write(identifier, change, known);
  if (outcome.kind !== 'gone') return write();
  return parts.retirement.run(identifier, nowMs, change)
    .then((retired) => retired === null ? write() : retired.delivery);
}

/** It was cancelled, or failed with its hook, while the attempt was under way. */
function afterLateAttempt(before: Delivery, outcome: Outcome, nowMs: number): Delivery {
  const counted = { ...before, attempts: [...before.attempts, outcome.attempt] };
  return outcome.kind === 'delivered'
    ? finished(counted, 'delivered', nowMs) : stamped(counted, nowMs);
}

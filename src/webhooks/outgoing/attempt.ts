/** One attempt of a delivery: sent, written down, told to the log, and what it says of the host. */
import type { Logger } from '../../base/log.ts';
import type { Outcome } from './delivery.ts';
import type { Verdict } from './lanes.ts';
import { recordOutcome, type RecorderParts } from './recorder.ts';
import type { Sender } from './sender.ts';
import { failureOf, type Prepared, type ShippingParts } from './shipping.ts';

type SendParts = Pick<ShippingParts, 'clock'> & {
  readonly sender: Pick<Sender, 'attempt'>;
  readonly log: Logger;
};

/** A target that takes longer holds slots that others could use: it counts as not well. */
const SLOW_MS = 1000;
/** null: nothing was sent, or it was cut off by the signal. */
export async function sendPrepared(
  { sender, log, clock }: SendParts, prepared: Prepared | null, signal: AbortSignal,
): Promise<Outcome | null> {
  if (prepared === null || signal.aborted) return null;
  if ('failure' in prepared) return prepared.failure;
  try {
    return await sender.attempt(prepared.shipment, signal);
  } catch (thrown) {
    log.error('an attempt failed unexpectedly', { error: thrown });
    return failureOf(clock, 'internal error');
  }
}

export async function recordAndTell(
  parts: RecorderParts, identifier: string, outcome: Outcome, isPayload: boolean,
): Promise<void> {
  const recorded = await recordOutcome(parts, identifier, outcome, isPayload);
  const { statusCode, error, durationMs } = outcome.attempt;
  const level = outcome.kind === 'delivered' ? 'info' : 'warning';
  parts.log[level]('a delivery was attempted', {
    delivery: identifier, hook: recorded?.hook ?? null, event: recorded?.event ?? null,
    statusCode, error, durationMs, status: recorded?.status ?? null,
    attempt: recorded?.attempts.length ?? null, nextAttemptAt: recorded?.nextAttemptAt ?? null,
  });
}

/** What an outcome says of the target's host. */
export function verdictOf({ kind, attempt, isUnsent = false }: Outcome): Verdict {
  if (kind === 'proxy' || isUnsent) return null;
  if (attempt.statusCode === null) return 'dead';
  return attempt.durationMs < SLOW_MS ? 'well' : 'slow';
}

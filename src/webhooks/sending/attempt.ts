/** One attempt of a delivery: prepared, sent, written down; and what it says of the host. */
import { types } from 'node:util';
import type { Outcome } from '../deliveries/delivery.ts';
import type { Verdict } from '../scheduler/run-queue.ts';
import { recordOutcome, type RecorderParts } from './recorder.ts';
import type { Sender } from './sender.ts';
import {
  failureOf, prepareShipment, type Prepared, type ShippingParts,
} from './request-builder.ts';

export type AttemptParts = ShippingParts & RecorderParts & {
  readonly sender: Pick<Sender, 'attempt'>;
  /** Cuts attempts off. */
  readonly signal: AbortSignal;
};

/** A target that takes longer holds slots that others could use: it counts as not well. */
const SLOW_MS = 1000;

/**
 * Resolves when what came of it is written. `onSent` is called before, when nothing is under way
 * any more; with null when nothing was sent, or it was cut off. Rejects without that call when the
 * attempt could not be prepared.
 */
export async function runAttempt(
  parts: AttemptParts, identifier: string, onSent: (outcome: Outcome | null) => void,
): Promise<void> {
  const preparing = prepareShipment(parts, identifier);
  const prepared = types.isPromise(preparing)
    ? await unlessCutOff(preparing, parts.signal) : preparing;
  const outcome = prepared === null ? null : await send(parts, prepared);
  onSent(outcome);
  if (prepared === null || outcome === null) return;
  const { isPayload, known } = prepared;
  await recordOutcome(parts, { identifier, outcome, isPayload, known });
}

/** An action may take longer than we have; what comes of it then is of no use to anybody. */
function unlessCutOff<T>(work: Promise<T>, signal: AbortSignal): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const cutOff = (): void => resolve(null);
    signal.addEventListener('abort', cutOff);
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', cutOff));
  });
}

async function send(parts: AttemptParts, prepared: Prepared): Promise<Outcome | null> {
  if (parts.signal.aborted) return null;
  if ('failure' in prepared) return prepared.failure;
  try {
    return await parts.sender.attempt(prepared.shipment, parts.signal);
  } catch (thrown) {
    parts.log.error('an attempt failed unexpectedly', { error: thrown });
    return failureOf(parts.clock, 'internal error');
  }
}

/** What an outcome says of the target's host. */
export function verdictOf({ kind, attempt, isUnsent = false }: Outcome): Verdict {
  if (kind === 'proxy' || isUnsent) return null;
  if (attempt.statusCode === null) return 'dead';
  return attempt.durationMs < SLOW_MS ? 'well' : 'slow';
}

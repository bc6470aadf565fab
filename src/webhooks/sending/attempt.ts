/** One attempt of a delivery: prepared and sent; and what it shows of the host. */
import * as types from 'node:util/types';
import type { AttemptOutcome } from '../deliveries/delivery.ts';
import type { TargetHealth } from '../scheduler/task.ts';
import { unlessCutOff, type QueueLease } from '../durable-queue/ownership.ts';
import type { Attempted } from './recorder.ts';
import {
  failureOf, HELD_BACK, prepareRequest, type Prepared, type RequestParts,
} from './request-builder.ts';
import type { Sender } from './sender.ts';

export type AttemptParts = RequestParts & {
  readonly sender: Pick<Sender, 'attempt'>;
};

/** A target that takes longer holds slots that others could use: it counts as slow. */
const SLOW_MS = 1000;

/**
 * Null when nothing was sent, or `cutOff` was aborted; `HELD_BACK` when there is no room for its
 * body. Rejects when it could not be prepared.
 */
export async function makeAttempt(
  parts: AttemptParts, identifier: string, hold: QueueLease, cutOff: AbortSignal,
): Promise<Attempted | typeof HELD_BACK | null> {
  const preparing = prepareRequest(parts, identifier);
  const prepared = types.isPromise(preparing)
    ? await unlessCutOff(preparing, cutOff) : preparing;
  if (prepared === null || prepared === HELD_BACK) return prepared;
  // To prepare it may have taken long.
  if (!hold.mayBegin()) return null;
  const outcome = await send(parts, prepared, cutOff);
  if (outcome === null) return null;
  const { sent, known } = prepared;
  // Where the proxy failed the target got nothing.
  return { outcome, sent: outcome.kind === 'proxy' ? null : sent, known, hold };
}

/** What an outcome shows of the target's host; null: nothing. */
export function verdictOf(
  { kind, attempt, isUnsent = false }: AttemptOutcome,
): TargetHealth | null {
  if (kind === 'proxy' || isUnsent) return null;
  if (attempt.statusCode === null) return 'unreachable';
  return attempt.durationMs < SLOW_MS ? 'healthy' : 'slow';
}

async function send(
  parts: AttemptParts, prepared: Prepared, cutOff: AbortSignal,
): Promise<AttemptOutcome | null> {
  if (cutOff.aborted) return null;
  if ('failure' in prepared) return prepared.failure;
  try {
    return await parts.sender.attempt(prepared.request, cutOff);
  } catch (thrown) {
    parts.log.error('an attempt failed unexpectedly', { error: thrown });
    return failureOf(parts.clock, 'internal error');
  }
}

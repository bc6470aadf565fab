/** One attempt of a delivery: prepared and sent; and what it shows of the host. */
import { isPromised } from '../../base/when-done.ts';
import type { AttemptOutcome } from '../deliveries/delivery.ts';
import type { TargetHealth } from '../scheduler/task.ts';
import { unlessCutOff, type QueueLease } from '../durable-queue/ownership.ts';
import type { FinishedAttempt } from './attempt-recorder.ts';
import {
  createFailure, NO_BODY_ROOM, prepareRequest, type PreparedAttempt, type RequestDeps,
} from './request-builder.ts';
import type { WebhookSender } from './webhook-sender.ts';

export type AttemptDeps = RequestDeps & {
  readonly sender: Pick<WebhookSender, 'attempt'>;
};

/** A target that takes longer holds slots that others could use: it counts as slow. */
const SLOW_MS = 1000;

/**
 * Null when nothing was sent, or `cutOff` was aborted; `NO_BODY_ROOM` when there is none for its
 * body. Rejects when it could not be prepared.
 */
export async function attemptDelivery(
  deps: AttemptDeps, identifier: string, lease: QueueLease, cutOff: AbortSignal,
): Promise<FinishedAttempt | typeof NO_BODY_ROOM | null> {
  const preparing = prepareRequest(deps, identifier);
  const prepared = isPromised(preparing)
    ? await unlessCutOff(preparing, cutOff) : preparing;
  if (prepared === null || prepared === NO_BODY_ROOM) return prepared;
  // To prepare it may have taken long.
  if (!lease.mayBegin()) return null;
  const outcome = await send(deps, prepared, cutOff);
  if (outcome === null) return null;
  const { sent, stored } = prepared;
  // Where the proxy failed the target got nothing.
  return { outcome, sent: outcome.kind === 'proxy' ? null : sent, stored, lease };
}

/** What an outcome shows of the target's host; null: nothing. */
export function assessTargetHealth(
  { kind, attempt, isUnsent = false }: AttemptOutcome,
): TargetHealth | null {
  if (kind === 'proxy' || isUnsent) return null;
  if (attempt.statusCode === null) return 'unreachable';
  return attempt.durationMs < SLOW_MS ? 'healthy' : 'slow';
}

async function send(
  deps: AttemptDeps, prepared: PreparedAttempt, cutOff: AbortSignal,
): Promise<AttemptOutcome | null> {
  if (cutOff.aborted) return null;
  if ('failure' in prepared) return prepared.failure;
  try {
    return await deps.sender.attempt(prepared.request, cutOff);
  } catch (thrown) {
    deps.log.error('an attempt failed unexpectedly', { error: thrown });
    return createFailure(deps.clock, 'internal error');
  }
}

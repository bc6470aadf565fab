/** Makes one attempt of a delivery, and says what it shows of its webhook and host. */
import type { SendOutcome, SentHead } from '../delivery.ts';
import type { Responsiveness } from '../../work/task.ts';
import { unlessCutOff, type QueueLease } from '../../work/ownership.ts';
import type { AttemptResult } from '../../work/queue-worker.ts';
import type { FinishedAttempt } from './attempt-recorder.ts';
import {
  createFailure, prepareRequest, type PreparedAttempt,
} from './request-builder.ts';
import type { DeliveryContext } from './delivery-context.ts';

/**
 * Prepares and sends the request. Resolves with null when the delivery must not be attempted any
 * more, its lease has ended or `cutOff` came first. Rejects when it could not be prepared.
 */
export async function attemptDelivery(
  context: DeliveryContext, identifier: string, lease: QueueLease, cutOff: AbortSignal,
): Promise<AttemptResult<FinishedAttempt> | null> {
  const preparedAttempt = await unlessCutOff(prepareRequest(context, identifier), cutOff);
  if (preparedAttempt === null || 'postponedMs' in preparedAttempt) return preparedAttempt;
  // The lease may have ended while the request was prepared.
  if (!lease.mayContinue()) return null;
  const { sent, isPayload, storedDelivery } = preparedAttempt;
  const { hook: webhookId } = storedDelivery.item;
  const isProbe = webhookId !== null && context.webhooks.find(webhookId)?.isProbed === true;
  const outcome = await sendPrepared(context, preparedAttempt, cutOff);
  if (outcome === null) return null;
  // A target that was not asked got no request.
  const isUnsent = outcome.end === 'notAsked' || outcome.isUnsent === true;
  const head = isUnsent ? null : addShownParts(sent, outcome);
  const targetUrl = 'request' in preparedAttempt ? preparedAttempt.request.url : null;
  return {
    result: { outcome, sent: head, targetUrl, isPayload, isProbe, storedDelivery, lease },
  };
}

/** The head with what another sender's dialect made of the request. */
function addShownParts(sent: SentHead | null, { shown = null }: SendOutcome): SentHead | null {
  if (sent === null || shown === null) return sent;
  return { method: sent.method, url: shown.url, headers: [...sent.headers, ...shown.headers] };
}

/** Returns what an outcome shows of the webhook, or of its host; null for nothing. */
export function assessResponsiveness(
  { end, attempt, isUnsent = false, isUnreachable = false }: SendOutcome,
): Responsiveness | null {
  if (end === 'notAsked' || isUnsent) return null;
  if (isUnreachable) return 'unreachable';
  return attempt.statusCode === null ? 'silent' : 'answered';
}

async function sendPrepared(
  context: DeliveryContext, preparedAttempt: PreparedAttempt, cutOff: AbortSignal,
): Promise<SendOutcome | null> {
  if (cutOff.aborted) return null;
  if ('failure' in preparedAttempt) return preparedAttempt.failure;
  try {
    return await context.sender.attempt(preparedAttempt.request, cutOff);
  } catch (thrown) {
    // The request may have left, but counts as unsent: nothing is concluded about the target.
    context.log.error('an attempt failed unexpectedly', { error: thrown });
    return createFailure(context.clock, 'internal error');
  }
}

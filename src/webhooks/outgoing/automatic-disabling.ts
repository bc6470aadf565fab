/**
 * Disables outgoing webhooks that do not work, in the transaction that writes the result of an
 * attempt, and enables webhooks that work again. `failurePeriod` of the health says how long a
 * webhook with `disableAfterHours` has failed.
 */
import { parseTimestamp } from '../../base/clock.ts';
import type { JsonObject } from '../../base/schema.ts';
import { decodeRecord, putNextVersion } from '../../resources/record.ts';
import type { Transaction } from '../../store/store-port.ts';
import { markDisabled, markEnabled } from '../health/disabled-members.ts';
import type { FailurePeriod } from '../health/health.ts';
import { isProbed } from '../health/probe.ts';
import { outgoingCollection, type StoredOutgoingWebhook } from './outgoing-webhook.ts';

const HOUR_MS = 3_600_000;

/** Disables a webhook after a 410; returns false for a removed one, or one off and not probed. */
export function disableGoneWebhook(
  transaction: Transaction, identifier: string, nowMs: number,
): boolean {
  return changeWebhook(transaction, identifier, nowMs, (webhook) =>
    webhook['enabled'] === false && !isProbed(webhook) ? null
      : markDisabled(webhook, 'gone', nowMs));
}

/**
 * Disables a webhook whose attempts have all failed for its `disableAfterHours`. Returns when the
 * failures began; null: the time is shorter, or somebody has changed or removed the webhook since,
 * or it is disabled already.
 */
export function disableFailingWebhook(
  transaction: Transaction, { identifier, disableAfterHours = 0 }: StoredOutgoingWebhook,
  period: FailurePeriod | null, nowMs: number,
): string | null {
  if (period === null) return null;
  const { since, webhookVersion } = period;
  if (nowMs - parseTimestamp(since) < disableAfterHours * HOUR_MS) return null;
  const wasDisabled = changeWebhook(transaction, identifier, nowMs, (webhook) =>
    webhook['enabled'] !== false && webhook['updatedAt'] === webhookVersion
      ? markDisabled(webhook, 'failing', nowMs) : null);
  return wasDisabled ? since : null;
}

/** Returns false for a webhook that is not probed. */
export function enableProbedWebhook(
  transaction: Transaction, identifier: string, nowMs: number,
): boolean {
  return changeWebhook(transaction, identifier, nowMs, (webhook) =>
    isProbed(webhook) ? markEnabled(webhook) : null);
}

/** Returns false if the webhook is removed, or `change` returns null. */
function changeWebhook(
  transaction: Transaction, identifier: string, nowMs: number,
  change: (webhook: JsonObject) => JsonObject | null,
): boolean {
  const bytes = transaction.find(outgoingCollection.name, identifier);
  const changedWebhook = bytes === undefined ? null : change(decodeRecord(bytes));
  if (bytes === undefined || changedWebhook === null) return false;
  putNextVersion(transaction, outgoingCollection, identifier, bytes, changedWebhook, nowMs);
  return true;
}

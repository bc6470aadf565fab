/**
 * Disables outgoing webhooks that do not work, in the transaction that writes the result of an
 * attempt.
 *
 * A webhook with `disableAfterHours` is disabled when all its attempts have failed for so many
 * hours. The collection `failing-webhooks` has the time of the first of these failures, also over
 * restarts:
 *
 *     {"identifier":"<the webhook's>","since":"<RFC 3339, UTC, milliseconds>"}
 *
 * The first failed attempt creates the record. It is deleted when an attempt succeeds, when a
 * person changes or removes the webhook, when its failures disable it, and when a probe enables it.
 */
import { formatTimestamp } from '../../base/clock.ts';
import { decodeRecord, decodeRecordAs, putNextVersion } from '../../resources/record.ts';
import type { CollectionSpec, Transaction } from '../../store/store-port.ts';
import { markDisabled, markEnabled } from '../health/disabled-members.ts';
import { isProbed } from '../health/probe.ts';
import { outgoingCollection, type OutgoingWebhook } from './outgoing-webhook.ts';

export const failingCollection: CollectionSpec = { name: 'failing-webhooks', key: 'identifier' };

const HOUR_MS = 3_600_000;

/**
 * Disables a webhook. Returns false for a webhook that is removed or disabled already. One that is
 * off for failing, and probed, becomes `gone` all the same when its target says so.
 */
export function disableWebhook(
  transaction: Transaction, identifier: string, reason: 'gone' | 'failing', nowMs: number,
): boolean {
  const bytes = transaction.find(outgoingCollection.name, identifier);
  if (bytes === undefined) return false;
  const webhook = decodeRecord(bytes);
  if (webhook['enabled'] === false && (reason !== 'gone' || !isProbed(webhook))) return false;
  putNextVersion(transaction, outgoingCollection, identifier, bytes,
    markDisabled(webhook, reason, nowMs), nowMs);
  return true;
}

/** Enables a webhook that is probed. Returns false for any other. */
export function enableProbedWebhook(
  transaction: Transaction, identifier: string, nowMs: number,
): boolean {
  const bytes = transaction.find(outgoingCollection.name, identifier);
  if (bytes === undefined) return false;
  const webhook = decodeRecord(bytes);
  if (!isProbed(webhook)) return false;
  stageFailingReset(transaction, identifier);
  putNextVersion(
    transaction, outgoingCollection, identifier, bytes, markEnabled(webhook), nowMs);
  return true;
}

/**
 * Whether the results of its attempts go to `stageAttemptResult`: of all that its target was asked
 * in, but failed probes.
 */
export function disablesWhenFailing({ disableAfterHours = 0 }: OutgoingWebhook): boolean {
  return disableAfterHours > 0;
}

/**
 * Remembers since when the attempts of a webhook fail, and disables it after its
 * `disableAfterHours`. Returns when the failures began if this call disabled it, else null.
 */
export function stageAttemptResult(
  transaction: Transaction, { identifier, disableAfterHours = 0 }: OutgoingWebhook,
  isSuccess: boolean, nowMs: number,
): string | null {
  if (isSuccess) {
    stageFailingReset(transaction, identifier);
    return null;
  }
  // The webhook may have been removed by now, on disk or in this transaction.
  if (transaction.find(outgoingCollection.name, identifier) === undefined) return null;
  const since = findFailingSince(transaction, identifier);
  const failingMs = since === null ? 0 : nowMs - Date.parse(since);
  // A time in the future means that the clock was set back: the time begins again.
  if (since === null || failingMs < 0) {
    const json = JSON.stringify({ identifier, since: formatTimestamp(nowMs) });
    transaction.put(failingCollection.name, identifier, json);
    return null;
  }
  if (failingMs < disableAfterHours * HOUR_MS) return null;
  stageFailingReset(transaction, identifier);
  return disableWebhook(transaction, identifier, 'failing', nowMs) ? since : null;
}

/** Forgets the failures. `stageWithChange` (webhook-resources.ts) does so for a person's change. */
export function stageFailingReset(transaction: Transaction, identifier: string): void {
  transaction.delete(failingCollection.name, identifier);
}

function findFailingSince(transaction: Transaction, identifier: string): string | null {
  const bytes = transaction.find(failingCollection.name, identifier);
  return bytes === undefined ? null : decodeRecordAs<{ readonly since: string }>(bytes,
    ({ since }) => typeof since === 'string' && !Number.isNaN(Date.parse(since))).since;
}

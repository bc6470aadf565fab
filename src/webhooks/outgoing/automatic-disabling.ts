/**
 * Outgoing webhooks that the service itself disables, staged with the result of an attempt.
 *
 * A webhook with `disableAfterHours` is disabled when every attempt has failed for so long. Since
 * when is a record of the `failing-webhooks` collection, `{"identifier": <the webhook's>, "since":
 * <RFC 3339, UTC, milliseconds>}`: there from the first attempt that failed until one succeeds,
 * somebody changes or removes the webhook, or it is disabled. So it is known after a restart, too.
 */
import { formatTimestamp } from '../../base/clock.ts';
import {
  decodeRecord, decodeRecordAs, encodeRecord, nextTimestamps,
} from '../../resources/record.ts';
import type { CollectionSpec, Transaction } from '../../store/store-port.ts';
import { markDisabled } from '../health/disabled-members.ts';
import { outgoingCollection, type OutgoingWebhook } from './outgoing-webhook.ts';

export const failingCollection: CollectionSpec = { name: 'failing-webhooks', key: 'identifier' };

const HOUR_MS = 3_600_000;

/** Disables a webhook as it is stored. Whether it was enabled. */
export function disableHook(
  transaction: Transaction, identifier: string, reason: 'gone' | 'failing', nowMs: number,
): boolean {
  const bytes = transaction.find(outgoingCollection.name, identifier);
  if (bytes === undefined) return false;
  const { identifier: _, createdAt: __, updatedAt: ___, ...fields } = decodeRecord(bytes);
  if (fields['enabled'] === false) return false;
  const stamps = nextTimestamps('identifier', identifier, bytes, nowMs);
  const json = encodeRecord('identifier', identifier, stamps, markDisabled(fields, reason, nowMs));
  transaction.put(outgoingCollection.name, identifier, json);
  return true;
}

/** Whether what comes of its attempts is to be staged with `stageAttempt`. */
export function disablesWhenFailing({ disableAfterHours = 0 }: OutgoingWebhook): boolean {
  return disableAfterHours > 0;
}

/**
 * Keeps since when the attempts of a webhook have failed, and disables it after its time. Since
 * when they had, if it is disabled now; else null.
 */
export function stageAttemptResult(
  transaction: Transaction, { identifier, disableAfterHours = 0 }: OutgoingWebhook,
  isSuccess: boolean, nowMs: number,
): string | null {
  if (isSuccess) {
    stageFailuresForgotten(transaction, identifier);
    return null;
  }
  // Its removal may be on disk or staged by now.
  if (transaction.find(outgoingCollection.name, identifier) === undefined) return null;
  const since = findSince(transaction, identifier);
  const failedMs = since === null ? -1 : nowMs - Date.parse(since);
  // Without a beginning, or with one that lies ahead as the clock was set back, it begins now.
  if (since === null || failedMs < 0) {
    const json = JSON.stringify({ identifier, since: formatTimestamp(nowMs) });
    transaction.put(failingCollection.name, identifier, json);
    return null;
  }
  if (failedMs < disableAfterHours * HOUR_MS) return null;
  stageFailuresForgotten(transaction, identifier);
  return disableHook(transaction, identifier, 'failing', nowMs) ? since : null;
}

/** To be staged with every change that somebody makes to a webhook. */
export function stageFailuresForgotten(transaction: Transaction, identifier: string): void {
  transaction.delete(failingCollection.name, identifier);
}

function findSince(transaction: Transaction, identifier: string): string | null {
  const bytes = transaction.find(failingCollection.name, identifier);
  return bytes === undefined ? null : decodeRecordAs<{ readonly since: string }>(bytes,
    ({ since }) => typeof since === 'string' && !Number.isNaN(Date.parse(since))).since;
}

/**
 * The collection `webhook-health`: what is known of the tries and rejected requests of a webhook. A
 * webhook that was never tried has no record.
 *
 *     {"identifier":"<the webhook's>","direction":"incoming"|"outgoing","failedTries":<n>,
 *      "firstFailedAt":<time>|null,"isFailing":true|false,
 *      "failurePeriod":{"since":<time>,"webhookVersion":<time>}|null,
 *      "rejectingSince":<time>|null,"healthySince":<time>|null,"lastSuccessAt":<time>|null,
 *      "lastFailure":{"at":<time>,"reason":"<at most 200 characters>"}|null,"lastRefusal":<same>}
 *
 * Times are RFC 3339 in UTC with milliseconds; the type `Health` says what each member means. A
 * record is valid when its members have these types, and `firstFailedAt` is not null when
 * `isFailing` is true. Records of earlier versions have no `failurePeriod`: it is null.
 *
 * It is written
 * - in the transaction that writes the result of a try, when that try changes the state: the stored
 *   attempt or request and the state of its webhook never contradict each other; for a webhook with
 *   a `rate` with each result, as its next attempt follows from the time of the last;
 * - at once in a transaction of its own, when a try or a request changes the state and is not
 *   stored itself, and when somebody switches the webhook on;
 * - else at most once in ten seconds, all webhooks together, while there is something new;
 * - at a clean stop.
 *
 * No response waits for these writes but one that waits for the result of the try. After a crash
 * the state is that of the last try that is on disk; `lastSuccessAt`, `lastFailure` and the number
 * of failed tries may be up to ten seconds old. The window of requests that decides on `rejecting`
 * is only in memory.
 *
 * The record is removed in the transaction that removes its webhook. Of several nodes, the one that
 * holds the webhook's shard counts attempts and background runs, as it alone makes them; the node
 * that answers a request counts its rejection, or the run that its sender waits for. Each node goes
 * on from the last written record.
 */
import { parseTimestamp, formatTimestamp, formatTimestampOrNull } from '../../base/clock.ts';
import { isCount, isJsonObject } from '../../base/fields.ts';
import type { JsonObject, JsonValue } from '../../base/schema.ts';
import { decodeRecordAs } from '../../resources/record.ts';
import type { CollectionSpec } from '../../store/store-port.ts';
import type { WebhookDirection } from '../webhook-label.ts';
import type { Failure, FailurePeriod, Health } from './health.ts';

export const healthCollection: CollectionSpec = { name: 'webhook-health', key: 'identifier' };

type StoredFailure = { readonly at: string; readonly reason: string };

type HealthRecord = {
  readonly identifier: string;
  readonly direction: WebhookDirection;
  readonly failedTries: number;
  readonly firstFailedAt: string | null;
  readonly isFailing: boolean;
  readonly failurePeriod?: FailurePeriod | null;
  readonly rejectingSince: string | null;
  readonly healthySince: string | null;
  readonly lastSuccessAt: string | null;
  readonly lastFailure: StoredFailure | null;
  readonly lastRefusal: StoredFailure | null;
};

export function encodeHealth(
  identifier: string, direction: WebhookDirection, health: Health,
): string {
  const record: HealthRecord = {
    identifier, direction, failedTries: health.failedTries,
    firstFailedAt: formatTimestampOrNull(health.firstFailedMs), isFailing: health.isFailing,
    failurePeriod: health.failurePeriod,
    rejectingSince: formatTimestampOrNull(health.rejectingSinceMs),
    healthySince: formatTimestampOrNull(health.healthySinceMs),
    lastSuccessAt: formatTimestampOrNull(health.lastSuccessMs),
    lastFailure: encodeFailure(health.lastFailure),
    lastRefusal: encodeFailure(health.lastRejection),
  };
  return JSON.stringify(record);
}

/** Throws `damaged` for a record that is not valid. */
export function decodeHealth(
  bytes: Buffer,
): { readonly direction: WebhookDirection; readonly health: Health } {
  const record = decodeRecordAs<HealthRecord>(bytes, isHealthRecord);
  return {
    direction: record.direction,
    health: {
      failedTries: record.failedTries, firstFailedMs: parseMsOrNull(record.firstFailedAt),
      isFailing: record.isFailing, failurePeriod: record.failurePeriod ?? null,
      rejectingSinceMs: parseMsOrNull(record.rejectingSince),
      healthySinceMs: parseMsOrNull(record.healthySince),
      lastSuccessMs: parseMsOrNull(record.lastSuccessAt),
      lastFailure: decodeFailure(record.lastFailure),
      lastRejection: decodeFailure(record.lastRefusal),
    },
  };
}

export function encodeFailure(failure: Failure | null): StoredFailure | null {
  return failure === null ? null : { at: formatTimestamp(failure.atMs), reason: failure.reason };
}

function decodeFailure(failure: StoredFailure | null): Failure | null {
  return failure === null ? null : { atMs: parseTimestamp(failure.at), reason: failure.reason };
}

function parseMsOrNull(time: string | null): number | null {
  return time === null ? null : parseTimestamp(time);
}

function isHealthRecord(record: JsonObject): boolean {
  const { direction, failedTries, firstFailedAt = null, isFailing } = record;
  const times = [firstFailedAt, record['rejectingSince'], record['healthySince'],
    record['lastSuccessAt']];
  return (direction === 'incoming' || direction === 'outgoing') && isCount(failedTries)
    && typeof isFailing === 'boolean' && (!isFailing || firstFailedAt !== null)
    && times.every((time) => time === null || isTime(time))
    && isFailurePeriod(record['failurePeriod'])
    && isFailure(record['lastFailure']) && isFailure(record['lastRefusal']);
}

function isFailure(value: JsonValue | undefined): boolean {
  return value === null
    || (isJsonObject(value) && isTime(value['at']) && typeof value['reason'] === 'string');
}

function isFailurePeriod(value: JsonValue = null): boolean {
  return value === null
    || (isJsonObject(value) && isTime(value['since']) && isTime(value['webhookVersion']));
}

function isTime(value: JsonValue | undefined): boolean {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value));
}

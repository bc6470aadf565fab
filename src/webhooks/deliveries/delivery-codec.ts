/**
 * A stored delivery is one JSON object on one line, which is written with each attempt, so it is
 * small. Its first members, in this order, are read without parsing (durable-queue/record-head.ts):
 *
 *     {"identifier":"<id>","status":"<status>","updatedAt":"<time>","message":"<event>",…
 *
 * `message` is the id of the record of `events` that has its event. Beside the members that callers
 * see it has:
 *
 * - `queuedAt`: the time of its place in the queue, if that is not `createdAt`;
 * - `failures`: how many attempts of the schedule are used up;
 * - `proxyFailures`: how many attempts in a row did not reach the target, as the proxy failed or
 *   our own client was busy;
 * - `sent`: the head of the last request, as an array of method, URL, and header names and values
 *   in turn;
 * - `resendOf`: the delivery that was sent again as this one;
 * - `isPayload`: whether the payload itself was sent last, and no body that was made of it, which
 *   is a record of its own (delivery-body.ts). Absent where that follows: true if there is `sent`,
 *   else false.
 *
 * `encodeDelivery` leaves out what follows from other members, such as a `createdAt` that is
 * `updatedAt`. A finished delivery keeps what it sent, so that it can be shown and sent again.
 *
 * The deliveries of a request to its routes are records of the same collection, of another form
 * (route-record.ts), which begins with the same head.
 */
import { encodeString } from '../../base/json/encode.ts';
import type { JsonObject } from '../../base/schema.ts';
import { decodeRecordAs } from '../../resources/record.ts';
import { RecordHead } from '../durable-queue/record-head.ts';
import { DELIVERY_STATUSES, deliveryCollection, type Delivery, type SentHead } from './delivery.ts';

/** The head of a stored delivery of any kind. */
export const deliveryHead = new RecordHead(deliveryCollection, DELIVERY_STATUSES);

/** Decodes a stored delivery, and fills in the members that are left out. */
export function decodeDelivery(bytes: Buffer): Delivery {
  const record = decodeRecordAs<DeliveryRecord>(bytes, isDeliveryRecord, JSON.parse);
  const { identifier, status, updatedAt, createdAt = updatedAt } = record;
  // Member by member: a spread of the record costs as much as parsing it.
  return {
    identifier, createdAt, status, updatedAt,
    hook: record.hook ?? null,
    event: record.event ?? null,
    eventId: record.message,
    queuedAt: record.queuedAt ?? null,
    nextAttemptAt: record.nextAttemptAt ?? (status === 'pending' ? createdAt : null),
    failures: record.failures ?? 0,
    proxyFailures: record.proxyFailures ?? 0,
    resendOf: record.resendOf ?? null,
    isPayload: record.isPayload ?? record.sent !== undefined,
    sent: record.sent === undefined ? null : decodeSentHead(record.sent),
    attempts: record.attempts ?? [],
  };
}

type DeliveryRecord =
  Partial<Omit<Delivery, 'sent' | 'eventId'>>
  & Pick<Delivery, 'identifier' | 'status' | 'updatedAt'>
  & { readonly message: string; readonly sent?: readonly string[] };

function decodeSentHead([method = '', url = '', ...headers]: readonly string[]): SentHead {
  return { method, url, headers };
}

function isDeliveryRecord({ identifier, status, updatedAt, message }: JsonObject): boolean {
  return typeof identifier === 'string' && typeof updatedAt === 'string'
    && typeof message === 'string'
    && DELIVERY_STATUSES.some((candidate) => candidate === status);
}

/**
 * Encodes a delivery as one line, with the members in a fixed order. What follows from other
 * members is left out, so that a hundred thousand pending deliveries fit in memory. The text is
 * made member by member, because an object for JSON.stringify takes twice as long.
 */
export function encodeDelivery(delivery: Delivery): string {
  const { identifier, createdAt, updatedAt, status, hook, event, eventId } = delivery;
  const { queuedAt, nextAttemptAt, failures, proxyFailures, resendOf } = delivery;
  const { isPayload, sent, attempts } = delivery;
  let json = `${deliveryHead.encode(identifier, status, updatedAt)},"message":"${eventId}"`;
  if (createdAt !== updatedAt) json += `,"createdAt":"${createdAt}"`;
  if (hook !== null) json += `,"hook":${encodeString(hook)}`;
  if (event !== null) json += `,"event":${encodeString(event)}`;
  if (queuedAt !== null) json += `,"queuedAt":"${queuedAt}"`;
  if (nextAttemptAt !== (status === 'pending' ? createdAt : null)) {
    json += `,"nextAttemptAt":${JSON.stringify(nextAttemptAt)}`;
  }
  if (failures !== 0) json += `,"failures":${failures}`;
  if (proxyFailures !== 0) json += `,"proxyFailures":${proxyFailures}`;
  if (resendOf !== null) json += `,"resendOf":"${resendOf}"`;
  if (isPayload !== (sent !== null)) json += `,"isPayload":${isPayload}`;
  if (sent !== null) json += `,"sent":${JSON.stringify([sent.method, sent.url, ...sent.headers])}`;
  if (attempts.length > 0) json += `,"attempts":${JSON.stringify(attempts)}`;
  return `${json}}`;
}

const QUOTE = 0x22;
const EVENT_ID_MARK_LENGTH = ',"message":"'.length;

/** Reads the id of the event of a delivery to a webhook, or of a forward, without parsing. */
export function readEventId(bytes: Buffer): string {
  const start = deliveryHead.findEnd(bytes) + EVENT_ID_MARK_LENGTH;
  return bytes.toString('latin1', start, bytes.indexOf(QUOTE, start));
}

/**
 * A stored delivery is one JSON object on one line, which is written with each attempt, so it is
 * small. Its first members, in this order, are read without parsing (records/record-head.ts):
 *
 *     {"identifier":"<id>","status":"<status>","updatedAt":"<time>","message":"<event>",…
 *     {"identifier":"<request>.<n>","status":"<status>","updatedAt":"<time>","route":"<name>",…
 *
 * `message` is the id of the record of `events` that has what is sent. The delivery of a request to
 * a route of its webhook has the name of the route instead; its request is known by its id
 * (route-delivery-id.ts). Beside the members that callers see it has:
 *
 * - `queuedAt`: the time of its place in the queue; absent: `createdAt`;
 * - `failures`: how many attempts of the schedule are used up;
 * - `proxyFailures`: how many attempts in a row did not reach the target, as the proxy failed or
 *   our own client was busy;
 * - `sent`: the head of the last request, as an array of method, URL, and header names and values
 *   in turn;
 * - `resendOf`: the delivery that was sent again as this one;
 * - `isPayload`: whether the payload itself was sent last, and no body that was made of it, which
 *   is a record of its own (delivery-body.ts). Absent where that follows: true if there is `sent`,
 *   else false;
 * - `attemptCount`: the number of all attempts, if not all are kept;
 * - in an attempt of a route, `callerData`: what its caller got, where `data` has more; empty where
 *   that is too long. Absent: the caller got `data`.
 *
 * `encodeDelivery` leaves out what follows from other members, such as a `createdAt` that is
 * `updatedAt`; in the attempts of a route also a message that is null and data that is empty. A
 * finished delivery keeps what it sent, so that it can be shown and sent again.
 */
import { encodeJson, encodeString, isEmptyObject } from '../../base/json/encode.ts';
import { parseJsonText } from '../../base/json/exact-parser.ts';
import type { JsonObject } from '../../base/schema.ts';
import { decodeRecordAs } from '../../resources/record.ts';
import type { Operation, Store } from '../../store/store-port.ts';
import type { TaskRecords } from '../work/queue-worker.ts';
import { RecordHead } from '../records/record-head.ts';
import {
  DELIVERY_STATUSES, OUTGOING_STATUSES, computeDeliveryDueMs, deliveryCollection, deriveKind,
  type Attempt, type Delivery, type SentHead,
} from './delivery.ts';
import { parseRequestId } from './route-delivery-id.ts';

export const deliveryHead = new RecordHead(deliveryCollection, DELIVERY_STATUSES);
/** The head of a delivery to a webhook, and of a forward: neither is ever coalesced. */
export const outgoingHead = new RecordHead(deliveryCollection, OUTGOING_STATUSES);

export function createTaskRecords(
  store: Pick<Store, 'collection'>, isTask: (id: string) => boolean,
): TaskRecords<Delivery> {
  return {
    collection: store.collection(deliveryCollection.name),
    isTask,
    isPending: (bytes) => deliveryHead.readStatus(bytes) === 'pending',
    decode: decodeDelivery,
    computeDueMs: computeDeliveryDueMs,
  };
}

export function decodeDelivery(bytes: Buffer): Delivery {
  // The data of runs may hold numbers that keep their digits. All else is parsed faster.
  const parse = isToRoute(bytes) ? parseJsonText : JSON.parse;
  const record = decodeRecordAs<DeliveryRecord>(bytes, isDeliveryRecord, parse);
  const { identifier, status, updatedAt, createdAt = updatedAt, hook = null } = record;
  const { route = null, attempts = [] } = record;
  // Not by a spread of the record, which costs as much as parsing it.
  return {
    identifier, kind: deriveKind(hook, route), createdAt, updatedAt, status, hook,
    event: record.event ?? null,
    eventId: record.message ?? null,
    request: route === null ? null : parseRequestId(identifier),
    route,
    queuedAt: record.queuedAt ?? null,
    nextAttemptAt: record.nextAttemptAt ?? (status === 'pending' ? createdAt : null),
    failures: record.failures ?? 0,
    notAskedCount: record.proxyFailures ?? 0,
    resendOf: record.resendOf ?? null,
    isPayload: record.isPayload ?? record.sent !== undefined,
    sent: record.sent === undefined ? null : decodeSentHead(record.sent),
    attempts: route === null ? attempts : attempts.map(decodeRun),
    attemptCount: record.attemptCount ?? attempts.length,
  };
}

type DeliveryRecord =
  Partial<Omit<Delivery, 'sent' | 'eventId' | 'notAskedCount'>>
  & Pick<Delivery, 'identifier' | 'status' | 'updatedAt'>
  & {
    readonly message?: string; readonly sent?: readonly string[]; readonly proxyFailures?: number;
  };

function decodeSentHead([method = '', url = '', ...headers]: readonly string[]): SentHead {
  return { method, url, headers };
}

function decodeRun(
  { at, durationMs, success = false, message = null, data = {}, callerData }: Attempt,
): Attempt {
  const attempt = { at, durationMs, success, message, data };
  return callerData === undefined ? attempt : { ...attempt, callerData };
}

function isDeliveryRecord(
  { identifier, status, updatedAt, message, route, hook }: JsonObject,
): boolean {
  return typeof identifier === 'string' && typeof updatedAt === 'string'
    && (typeof message === 'string' || (typeof route === 'string' && typeof hook === 'string'))
    && DELIVERY_STATUSES.some((candidate) => candidate === status);
}

/**
 * Encodes a delivery as one line, its members in a fixed order. Members that follow from others are
 * left out, so that a hundred thousand pending deliveries fit in memory. The text is made member by
 * member: an object for JSON.stringify takes twice as long.
 */
export function encodeDelivery(delivery: Delivery): string {
  const { identifier, createdAt, updatedAt, status, hook, event, eventId, route } = delivery;
  const { queuedAt, nextAttemptAt, failures, notAskedCount, resendOf } = delivery;
  const { isPayload, sent, attempts, attemptCount } = delivery;
  let json = deliveryHead.encode(identifier, status, updatedAt);
  json += route === null ? `,"message":"${eventId}"` : `,"route":${encodeString(route)}`;
  if (createdAt !== updatedAt) json += `,"createdAt":"${createdAt}"`;
  if (hook !== null) json += `,"hook":${encodeString(hook)}`;
  if (event !== null) json += `,"event":${encodeString(event)}`;
  if (queuedAt !== null) json += `,"queuedAt":"${queuedAt}"`;
  if (nextAttemptAt !== (status === 'pending' ? createdAt : null)) {
    json += `,"nextAttemptAt":${JSON.stringify(nextAttemptAt)}`;
  }
  if (failures !== 0) json += `,"failures":${failures}`;
  if (notAskedCount !== 0) json += `,"proxyFailures":${notAskedCount}`;
  if (resendOf !== null) json += `,"resendOf":"${resendOf}"`;
  if (isPayload !== (sent !== null)) json += `,"isPayload":${isPayload}`;
  if (sent !== null) json += `,"sent":${JSON.stringify([sent.method, sent.url, ...sent.headers])}`;
  if (attemptCount !== attempts.length) json += `,"attemptCount":${attemptCount}`;
  if (attempts.length === 0) return `${json}}`;
  const attemptsJson = route === null ? JSON.stringify(attempts)
    : `[${attempts.map(encodeRun).join(',')}]`;
  return `${json},"attempts":${attemptsJson}}`;
}

export function createPuts(deliveries: readonly Delivery[]): Operation[] {
  return deliveries.map((delivery) => ({
    collection: deliveryCollection.name, id: delivery.identifier,
    bytes: Buffer.from(encodeDelivery(delivery)),
  }));
}

function encodeRun(
  { at, durationMs, success, message = null, data = {}, callerData }: Attempt,
): string {
  let json = `{"at":"${at}","durationMs":${durationMs},"success":${success}`;
  if (message !== null) json += `,"message":${encodeString(message)}`;
  if (!isEmptyObject(data)) json += `,"data":${encodeJson(data)}`;
  if (callerData !== undefined) json += `,"callerData":${encodeJson(callerData)}`;
  return `${json}}`;
}

const QUOTE = 0x22;
const LETTER_R = 0x72;
const ROUTE_LETTER_AT = ',"'.length;
const EVENT_ID_MARK_LENGTH = ',"message":"'.length;

// These three read a record without parsing it.

function isToRoute(bytes: Buffer): boolean {
  return bytes[deliveryHead.findEnd(bytes) + ROUTE_LETTER_AT] === LETTER_R;
}

export function readEventId(bytes: Buffer): string {
  const start = deliveryHead.findEnd(bytes) + EVENT_ID_MARK_LENGTH;
  return bytes.toString('latin1', start, bytes.indexOf(QUOTE, start));
}

const WEBHOOK_MARK = Buffer.from(',"hook":"');

/** null for a forward, and for a route. */
export function readWebhookId(bytes: Buffer): string | null {
  if (isToRoute(bytes)) return null;
  // An unescaped quote is never inside a string, and no other member has one of that name.
  const markAt = bytes.indexOf(WEBHOOK_MARK);
  if (markAt === -1) return null;
  const start = markAt + WEBHOOK_MARK.length;
  return bytes.toString('latin1', start, bytes.indexOf(QUOTE, start));
}

/**
 * A stored delivery is one JSON object on one line, which is written with each attempt, so it is
 * small. Beside the members that callers see it has:
 *
 * - `message`: the id of the record of `events` that has its event; absent if it is its own id;
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
 * `status` stands before any free text, so that it is found without parsing. `encodeDelivery`
 * leaves out what follows from other members. A finished delivery keeps what it sent, so that it
 * can be shown and sent again.
 *
 * The deliveries of a request to its routes are records of the same collection, of another form
 * (route-record.ts). `readStatus` and `readUpdatedMs` read these too.
 */
import { encodeString } from '../../base/json/encode.ts';
import type { JsonObject } from '../../base/schema.ts';
import { TIME_LENGTH, decodeRecordAs } from '../../resources/record.ts';
import {
  DELIVERY_STATUSES, type Delivery, type DeliveryStatus, type SentHead,
} from './delivery.ts';
import { findTextEnd, readPlainText, readText } from '../durable-queue/record-text.ts';

/** Decodes a stored delivery, and fills in the members that are left out. */
export function decodeDelivery(bytes: Buffer): Delivery {
  const record = decodeRecordAs<DeliveryRecord>(bytes, isDeliveryRecord);
  const { identifier, createdAt, status } = record;
  // Member by member: a spread of the record costs as much as parsing it.
  return {
    identifier, createdAt, status,
    updatedAt: record.updatedAt ?? createdAt,
    hook: record.hook ?? null,
    event: record.event ?? null,
    eventId: record.message ?? identifier,
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
  & Pick<Delivery, 'identifier' | 'createdAt' | 'status'>
  & { readonly message?: string; readonly sent?: readonly string[] };

function decodeSentHead([method = '', url = '', ...headers]: readonly string[]): SentHead {
  return { method, url, headers };
}

function isDeliveryRecord({ identifier, status, createdAt }: JsonObject): boolean {
  return typeof identifier === 'string' && typeof createdAt === 'string'
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
  let json = `{"identifier":"${identifier}","createdAt":"${createdAt}"`;
  if (updatedAt !== createdAt) json += `,"updatedAt":"${updatedAt}"`;
  json += `,"status":"${status}"`;
  if (hook !== null) json += `,"hook":${encodeString(hook)}`;
  if (event !== null) json += `,"event":${encodeString(event)}`;
  if (eventId !== identifier) json += `,"message":"${eventId}"`;
  if (queuedAt !== null) json += `,"queuedAt":"${queuedAt}"`;
  if (nextAttemptAt !== (status === 'pending' ? createdAt : null)) {
    json += `,"nextAttemptAt":${JSON.stringify(nextAttemptAt)}`;
  }
  if (failures !== 0) json += `,"failures":${failures}`;
  if (proxyFailures !== 0) json += `,"proxyFailures":${proxyFailures}`;
  if (resendOf !== null) json += `,"resendOf":"${resendOf}"`;
  if (isPayload !== (sent !== null)) json += `,"isPayload":${isPayload}`;
  // It is an array, because a header may have the name of a member that is searched for.
  if (sent !== null) json += `,"sent":${JSON.stringify([sent.method, sent.url, ...sent.headers])}`;
  if (attempts.length > 0) json += `,"attempts":${JSON.stringify(attempts)}`;
  return `${json}}`;
}

const IDENTIFIER_START = '{"identifier":"'.length;
const EVENT_ID_MARK = Buffer.from('"message":"');
const CREATED_MARK = Buffer.from('"createdAt":"');
const UPDATED_MARK = Buffer.from('","updatedAt":"');
const STATUS_MARK = Buffer.from('"status":"');
const UNTRIED_MARK = Buffer.from('"status":"pending","hook":"');
// `readUntriedWebhookId` expects these members, in this order, behind the webhook.
const OPTIONAL_MARKS = [Buffer.from(',"event":"'), Buffer.from(',"message":"')] as const;
const POSTPONED_MARKS = [Buffer.from(',"queuedAt":"'), Buffer.from(',"nextAttemptAt":"')] as const;
/** The webhook of a delivery, to a route as well. */
export const WEBHOOK_MARK = Buffer.from('"hook":"');
const STATUS_BY_LETTER = new Map(DELIVERY_STATUSES.map((status) => [status.charCodeAt(0), status]));
// Identifiers are UUIDs, so these members mostly stand at fixed positions. Looking there costs a
// tenth of a search, and it is done many times for each delivery.
const AFTER_CREATED_AT = '{"identifier":"","createdAt":"",'.length + 36 + TIME_LENGTH;
const AFTER_UPDATED_AT = AFTER_CREATED_AT + '"updatedAt":"",'.length + TIME_LENGTH;

function readMember(bytes: Buffer, mark: Buffer): string | null {
  // Only the member itself reads like the mark, because quotes inside strings are escaped.
  const at = bytes.indexOf(mark);
  return at === -1 ? null : readText(bytes, at + mark.length);
}

/** Reads the status of a stored delivery, without parsing: its first letter identifies it. */
export function readStatus(bytes: Buffer): DeliveryStatus {
  const letter = bytes[findMarkEnd(bytes, STATUS_MARK)];
  const status = letter === undefined ? undefined : STATUS_BY_LETTER.get(letter);
  if (status === undefined) throw new TypeError('a stored delivery has no status');
  return status;
}

/**
 * Reads the webhook of a stored delivery that was never attempted, and is due since its creation;
 * null for any other delivery, and for a queued forward. It does not parse, because parsing took a
 * fifteenth of the time of an event.
 */
export function readUntriedWebhookId(bytes: Buffer): string | null {
  if (!hasMarkAt(bytes, UNTRIED_MARK, AFTER_CREATED_AT)) return null;
  const start = AFTER_CREATED_AT + UNTRIED_MARK.length;
  let at = findTextEnd(bytes, start) + 1;
  for (const mark of OPTIONAL_MARKS) {
    if (hasMarkAt(bytes, mark, at)) at = findTextEnd(bytes, at + mark.length) + 1;
  }
  // It looks at the only possible position: searching the record took 2,200 of the 190,000 cycles
  // of an event.
  for (const mark of POSTPONED_MARKS) if (hasMarkAt(bytes, mark, at)) return null;
  return readPlainText(bytes, start);
}

/** Reads the id of a stored delivery's event. */
export function readEventId(bytes: Buffer): string {
  return readMember(bytes, EVENT_ID_MARK) ?? readPlainText(bytes, IDENTIFIER_START);
}

/** Reads the milliseconds since the epoch of the last change, without parsing. */
export function readUpdatedMs(bytes: Buffer): number {
  const createdStart = findMarkEnd(bytes, CREATED_MARK);
  const createdEnd = createdStart + TIME_LENGTH;
  // A result of a route, which anybody may make, can have a member of the same name.
  const isUpdated = hasMarkAt(bytes, UPDATED_MARK, createdEnd);
  return decodeTimeMs(bytes, isUpdated ? createdEnd + UPDATED_MARK.length : createdStart);
}

function decodeTimeMs(bytes: Buffer, start: number): number {
  return Date.parse(bytes.toString('latin1', start, start + TIME_LENGTH));
}

// A mark's unescaped quotes are never inside a string, so its first match is the member, if the
// record has it before the objects of others: an attempt's data.
function findMarkEnd(bytes: Buffer, mark: Buffer): number {
  if (hasMarkAt(bytes, mark, AFTER_CREATED_AT)) return AFTER_CREATED_AT + mark.length;
  if (hasMarkAt(bytes, mark, AFTER_UPDATED_AT)) return AFTER_UPDATED_AT + mark.length;
  const at = bytes.indexOf(mark);
  return at === -1 ? -1 : at + mark.length;
}

function hasMarkAt(bytes: Buffer, mark: Buffer, at: number): boolean {
  for (let index = 0; index < mark.length; index += 1) {
    if (bytes[at + index] !== mark[index]) return false;
  }
  return true;
}

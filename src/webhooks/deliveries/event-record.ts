/**
 * The event of a delivery, stored once however many deliveries share it. It is encoded as the last
 * members of a record:
 *
 * - an event: `"depth", "deliveries", "payload"`. `depth` is the number of hops. The payload comes
 *   last, so that its bytes are a slice of the record, as they were received. A payload with line
 *   breaks, which a record cannot hold, is the string `payloadText` instead;
 * - a queued forward: `"depth", "deliveries", "forward": {"url", "method", "headers",
 *   "hiddenParameters", "encoding"}, "text"`. `text` is the received body in UTF-8, or in base64 if
 *   `encoding` says so, or null.
 *
 * A short event of a single delivery is embedded in the delivery's record, and the list
 * `deliveries` is empty. Any other event is a record of the `events` collection, `{"identifier",
 * "createdAt", "name", …}`, that lists its deliveries; so an attempt does not write it again. It is
 * deleted with its last delivery. Once all its deliveries are delivered or cancelled, a finished
 * mark `{"identifier": "<the event's>~", "bytes": <the event's length>}` stands beside it: then the
 * event counts as finished, and no longer as queued.
 */
import { isUtf8 } from 'node:buffer';
import { isJsonObject } from '../../base/fields.ts';
import { CHAIN_HEADER, parseHops } from '../../base/webhook-chain.ts';
import type { CollectionSpec, Store } from '../../store/store-port.ts';
import type { Forward } from '../actions/http-forward-action.ts';
import { decodeRecordAs } from '../../resources/record.ts';
import type { StoredDelivery } from './delivery.ts';

export const eventCollection: CollectionSpec = { name: 'events', key: 'identifier' };

type ForwardRecord = {
  readonly forward: Omit<Forward, 'body'> & { readonly encoding?: 'base64' };
  readonly text: string | null;
};

// Unescaped quotes are never inside a string, so a mark is found where the member is.
const START_MARK = Buffer.from(',"depth":');
const DELIVERIES_MARK = Buffer.from('"deliveries":');
const PAYLOAD_MARK = Buffer.from('],"payload":');
const PAYLOAD_TEXT_MARK = Buffer.from('],"payloadText":');
const FORWARD_URL_MARK = Buffer.from('],"forward":{"url":"');
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const CLOSING_BRACKET = 0x5d;

/** A longer event is a record of its own. */
export const EMBEDDED_LENGTH_MAX = 16 * 1024;

const FINISHED_SUFFIX = '~';

/** The id of an event's finished mark. */
export function finishedMarkId(eventId: string): string {
  return `${eventId}${FINISHED_SUFFIX}`;
}

export function isFinishedMarkId(id: string): boolean {
  return id.endsWith(FINISHED_SUFFIX);
}

export function encodeFinishedMark(eventId: string, bytes: number): string {
  return `{"identifier":"${finishedMarkId(eventId)}","bytes":${bytes}}`;
}

/** Reads from a finished mark how long its event is. */
export function readFinishedBytes(record: Buffer): number {
  return decodeRecordAs<{ bytes: number }>(record, ({ bytes }) =>
    Number.isSafeInteger(bytes)).bytes;
}

/** Encodes the members of an event. `payloadJson` is valid JSON, whose bytes are preserved. */
export function encodeEventMembers(
  hops: number, deliveries: readonly string[], payloadJson: string,
): string {
  const isOneLine = !/[\r\n]/.test(payloadJson);
  const payload = isOneLine
    ? `"payload":${payloadJson}` : `"payloadText":${JSON.stringify(payloadJson)}`;
  return `"depth":${hops},"deliveries":${JSON.stringify(deliveries)},${payload}`;
}

/** Encodes the members of a queued forward. */
export function encodeForwardMembers(
  { body, ...forward }: Forward, deliveries: readonly string[] = [],
): string {
  const encoding = body === null || isUtf8(body) ? 'utf8' : 'base64';
  const request = JSON.stringify(encoding === 'utf8' ? forward : { ...forward, encoding });
  const text = JSON.stringify(body === null ? null : body.toString(encoding));
  return `"depth":0,"deliveries":${JSON.stringify(deliveries)},"forward":${request},"text":${text}`;
}

/** Encodes the record of an event that is not embedded. */
export function encodeEventRecord(
  identifier: string, createdAt: string, name: string | null, members: string,
): string {
  return `${JSON.stringify({ identifier, createdAt, name }).slice(0, -1)},${members}}`;
}

/** Finds where the embedded event begins, with its comma; -1 in a record without one. */
export function findEventStart(bytes: Buffer): number {
  return bytes.indexOf(START_MARK);
}

/** Reads how many hops led to an event, without parsing, because the event may be large. */
export function readHops(bytes: Buffer): number {
  const start = findEventStart(bytes) + START_MARK.length;
  return Number(bytes.toString('latin1', start, bytes.indexOf(COMMA, start)));
}

/** Reads an event's payload, mostly as a slice of its record; null for a queued forward. */
export function readPayloadBytes(bytes: Buffer): Buffer | null {
  const start = bytes.indexOf(PAYLOAD_MARK);
  if (start !== -1) return bytes.subarray(start + PAYLOAD_MARK.length, bytes.length - 1);
  const textStart = bytes.indexOf(PAYLOAD_TEXT_MARK);
  if (textStart === -1) return null;
  const text: unknown = JSON.parse(
    bytes.toString('utf8', textStart + PAYLOAD_TEXT_MARK.length, bytes.length - 1));
  return Buffer.from(String(text), 'utf8');
}

/** Decodes the request that a queued forward sends. */
export function decodeForward(bytes: Buffer): Forward {
  const record = decodeRecordAs<ForwardRecord>(bytes, ({ forward }) =>
    isJsonObject(forward) && typeof forward['url'] === 'string');
  const { forward: { encoding = 'utf8', ...forward }, text } = record;
  return { ...forward, body: text === null ? null : Buffer.from(text, encoding) };
}

/** Finds the URL of a queued forward without parsing, as it may be large; null for an event. */
export function findForwardUrl(bytes: Buffer): string | null {
  const start = bytes.indexOf(FORWARD_URL_MARK) + FORWARD_URL_MARK.length;
  if (start < FORWARD_URL_MARK.length) return null;
  let end = start;
  while (end < bytes.length && bytes[end] !== QUOTE) end += bytes[end] === BACKSLASH ? 2 : 1;
  return String(JSON.parse(`"${bytes.toString('utf8', start, end)}"`));
}

/** Encodes the members of the same event for other deliveries. */
export function copyEventMembers(bytes: Buffer, deliveries: readonly string[]): string {
  const payload = readPayloadBytes(bytes);
  return payload === null ? encodeForwardMembers(decodeForward(bytes), deliveries)
    : encodeEventMembers(readHops(bytes), deliveries, payload.toString());
}

/** Counts the deliveries that an event lists, without parsing. */
export function countListedDeliveries(bytes: Buffer): number {
  const start = bytes.indexOf(DELIVERIES_MARK) + DELIVERIES_MARK.length;
  const end = bytes.indexOf(CLOSING_BRACKET, start);
  // Each is a UUID of 36 characters, with two quotes and a comma.
  return Math.round((end - start) / 39);
}

/** Whether `isMatch` holds for a delivery that an event lists. The newest is asked for first. */
export function someListedDelivery(
  bytes: Buffer, isMatch: (identifier: string) => boolean,
): boolean {
  const start = bytes.indexOf(DELIVERIES_MARK) + DELIVERIES_MARK.length;
  let end = bytes.lastIndexOf(QUOTE, bytes.indexOf(CLOSING_BRACKET, start));
  while (end > start) {
    const open = bytes.lastIndexOf(QUOTE, end - 1);
    if (isMatch(bytes.toString('latin1', open + 1, end))) return true;
    end = bytes.lastIndexOf(QUOTE, open - 1);
  }
  return false;
}

/** Finds the record that has a delivery's event; undefined when it is gone. */
export function findEventRecord(store: Store, { bytes, item }: StoredDelivery): Buffer | undefined {
  return item.embeddedEvent === null
    ? store.collection(eventCollection.name).findBytes(item.eventId) : bytes;
}

/** Finds the length of the chain that a delivery belongs to; 0 when its event is gone. */
export function findHops(store: Store, delivery: StoredDelivery): number {
  const bytes = findEventRecord(store, delivery);
  if (bytes === undefined) return 0;
  return readPayloadBytes(bytes) === null
    ? parseHops(decodeForward(bytes).headers[CHAIN_HEADER]) : readHops(bytes);
}

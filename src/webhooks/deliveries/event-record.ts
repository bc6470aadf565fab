/**
 * A message is what deliveries carry; it is kept once, however many deliveries share it.
 *
 * An event's is `"depth", "deliveries", "payload"`; the payload is the last member, so that its
 * bytes, as they were given, are a slice of the record. Where they hold line breaks, which a record
 * cannot, `payloadText` stands there instead: a string of them. A queued forward's is `"depth",
 * "deliveries", "forward": {"url", "method", "headers", "hiddenParameters", "encoding"}, "text"`;
 * the text is the received body, byte for byte in UTF-8, or in base64 where `encoding` says so, or
 * null.
 *
 * These are the last members of a record. A delivery that is alone with a short message carries it
 * in its own record, and the list is empty. Any other message is a record of the `events`
 * collection, `{"identifier", "createdAt", "name", …}`, and lists its deliveries: it is not written
 * again with each attempt. It goes with the last of them. Once all have been delivered or cancelled
 * `{"identifier": "<the message's>~", "bytes": <its length>}` stands beside it: it has left the
 * queue, and counts among what is kept of the finished ones.
 */
import { isUtf8 } from 'node:buffer';
import { isJsonObject } from '../../base/fields.ts';
import { CHAIN_HEADER, parseHops } from '../../base/webhook-chain.ts';
import type { CollectionSpec, Store } from '../../store/store-port.ts';
import type { QueuedForward } from '../actions/http-forward-action.ts';
import { decodeRecordAs } from '../../resources/record.ts';
import type { StoredDelivery } from './delivery.ts';

export const eventCollection: CollectionSpec = { name: 'events', key: 'identifier' };

type ForwardRecord = {
  readonly forward: Omit<QueuedForward, 'body'> & { readonly encoding?: 'base64' };
  readonly text: string | null;
};

// Plain quotes cannot stand inside a string, so a mark is found where the member is.
const START_MARK = Buffer.from(',"depth":');
const DELIVERIES_MARK = Buffer.from('"deliveries":');
const PAYLOAD_MARK = Buffer.from('],"payload":');
const PAYLOAD_TEXT_MARK = Buffer.from('],"payloadText":');
const FORWARD_URL_MARK = Buffer.from('],"forward":{"url":"');
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const CLOSING_BRACKET = 0x5d;

/** A longer message is a record of its own. */
export const EMBEDDED_LENGTH_MAX = 16 * 1024;

const FINISHED_SUFFIX = '~';

/** The record that says of a message that it has left the queue. */
export function finishedMarkId(eventId: string): string {
  return `${eventId}${FINISHED_SUFFIX}`;
}

export function isFinishedMarkId(id: string): boolean {
  return id.endsWith(FINISHED_SUFFIX);
}

export function encodeFinishedMark(eventId: string, bytes: number): string {
  return `{"identifier":"${finishedMarkId(eventId)}","bytes":${bytes}}`;
}

/** How long the message is that has left the queue. */
export function readFinishedBytes(record: Buffer): number {
  return decodeRecordAs<{ bytes: number }>(record, ({ bytes }) =>
    Number.isSafeInteger(bytes)).bytes;
}

/** An event's message. `payloadJson` is valid JSON; its bytes are kept. */
export function encodeEventMembers(
  hops: number, deliveries: readonly string[], payloadJson: string,
): string {
  const isOneLine = !/[\r\n]/.test(payloadJson);
  const payload = isOneLine
    ? `"payload":${payloadJson}` : `"payloadText":${JSON.stringify(payloadJson)}`;
  return `"depth":${hops},"deliveries":${JSON.stringify(deliveries)},${payload}`;
}

/** A queued forward's message. */
export function encodeForwardMembers(
  { body, ...forward }: QueuedForward, deliveries: readonly string[] = [],
): string {
  const encoding = body === null || isUtf8(body) ? 'utf8' : 'base64';
  const request = JSON.stringify(encoding === 'utf8' ? forward : { ...forward, encoding });
  const text = JSON.stringify(body === null ? null : body.toString(encoding));
  return `"depth":0,"deliveries":${JSON.stringify(deliveries)},"forward":${request},"text":${text}`;
}

/** The record of a message that several deliveries share. */
export function encodeEventRecord(
  identifier: string, createdAt: string, name: string | null, members: string,
): string {
  return `${JSON.stringify({ identifier, createdAt, name }).slice(0, -1)},${members}}`;
}

/** Where the message begins, with its comma, in a record that may carry one; else -1. */
export function findEventStart(bytes: Buffer): number {
  return bytes.indexOf(START_MARK);
}

/** How many hops led to a message. Found without parsing, as a message may be large. */
export function readHops(bytes: Buffer): number {
  const start = findEventStart(bytes) + START_MARK.length;
  return Number(bytes.toString('latin1', start, bytes.indexOf(COMMA, start)));
}

/** The bytes of an event's payload, mostly a slice of its record; null for a queued forward. */
export function readPayloadBytes(bytes: Buffer): Buffer | null {
  const start = bytes.indexOf(PAYLOAD_MARK);
  if (start !== -1) return bytes.subarray(start + PAYLOAD_MARK.length, bytes.length - 1);
  const textStart = bytes.indexOf(PAYLOAD_TEXT_MARK);
  if (textStart === -1) return null;
  const text: unknown = JSON.parse(
    bytes.toString('utf8', textStart + PAYLOAD_TEXT_MARK.length, bytes.length - 1));
  return Buffer.from(String(text), 'utf8');
}

/** What a queued forward is to send. */
export function decodeForward(bytes: Buffer): QueuedForward {
  const record = decodeRecordAs<ForwardRecord>(bytes, ({ forward }) =>
    isJsonObject(forward) && typeof forward['url'] === 'string');
  const { forward: { encoding = 'utf8', ...forward }, text } = record;
  return { ...forward, body: text === null ? null : Buffer.from(text, encoding) };
}

/** Where a queued forward goes; null of an event. Found without parsing, as it may be large. */
export function findForwardUrl(bytes: Buffer): string | null {
  const start = bytes.indexOf(FORWARD_URL_MARK) + FORWARD_URL_MARK.length;
  if (start < FORWARD_URL_MARK.length) return null;
  let end = start;
  while (end < bytes.length && bytes[end] !== QUOTE) end += bytes[end] === BACKSLASH ? 2 : 1;
  return String(JSON.parse(`"${bytes.toString('utf8', start, end)}"`));
}

/** The same message for other deliveries. */
export function copyEventMembers(bytes: Buffer, deliveries: readonly string[]): string {
  const payload = readPayloadBytes(bytes);
  return payload === null ? encodeForwardMembers(decodeForward(bytes), deliveries)
    : encodeEventMembers(readHops(bytes), deliveries, payload.toString());
}

/** How many deliveries a message lists. Found without parsing. */
export function countListedDeliveries(bytes: Buffer): number {
  const start = bytes.indexOf(DELIVERIES_MARK) + DELIVERIES_MARK.length;
  const end = bytes.indexOf(CLOSING_BRACKET, start);
  // Identifiers are UUIDs, with their quotes and a comma.
  return Math.round((end - start) / 39);
}

/** Whether any of a message's deliveries is sought; the newest is asked for first. */
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

/** The record that has a delivery's message; undefined when it is not there any more. */
export function findEventRecord(store: Store, { bytes, item }: StoredDelivery): Buffer | undefined {
  return item.embeddedEvent === null
    ? store.collection(eventCollection.name).findBytes(item.eventId) : bytes;
}

/** The length of the chain that a delivery is a hop of; 0 when its message is gone. */
export function findHops(store: Store, delivery: StoredDelivery): number {
  const bytes = findEventRecord(store, delivery);
  if (bytes === undefined) return 0;
  return readPayloadBytes(bytes) === null
    ? parseHops(decodeForward(bytes).headers[CHAIN_HEADER]) : readHops(bytes);
}

/**
 * An event is written once, however many deliveries and attempts it has. It is a record of the
 * `events` collection, one JSON object with its members in this order:
 *
 *     {"identifier":"<UUIDv7>","createdAt":"<time>","name":"<name>","source":"<source>",
 *      "key":"<key>"?,"deliverAt":"<time>"?,"to":"<webhook>"?,
 *      "traceparent":"<trace>"?,"tracestate":"<state>"?,"hooks":["<webhook>",…],
 *      "depth":<hops>,"deliveries":["<delivery>",…],"payload":<JSON>}
 *
 * - `to` is the only webhook that an event is for, if it was sent to that one;
 * - `traceparent` and `tracestate` are the trace that it belongs to (base/trace-context.ts);
 * - `hooks` and `deliveries` are parallel: the deliveries that were made with the event, and their
 *   webhooks. What is made later is in the collection `event-receivers` (late-deliveries.ts);
 * - `depth` is the number of hops that led to the event: see `readHops`;
 * - the payload comes last, so that its bytes are a slice of the record, as they were received. A
 *   payload with line breaks, which a record cannot hold, is the string `payloadText` instead.
 *
 * The request of a queued forward is a record of the same collection. Nobody hears it, and it is
 * deleted with its one delivery:
 *
 *     {"identifier":"<UUIDv7>","createdAt":"<time>","name":null,"source":"action","depth":0,
 *      "deliveries":["<delivery>"],
 *      "forward":{"url","method","headers","hiddenParameters","encoding"},"text":"<body>"}
 *
 * `text` is the received body in UTF-8, or in base64 if `encoding` says so, or null. The `depth` of
 * a forward says nothing: its hops are in a header of the request, where `findHops` finds them.
 *
 * The head is what stands before `depth`. What is searched in it is in no payload.
 */
import { isUtf8 } from 'node:buffer';
import { isJsonObject } from '../../base/fields.ts';
import { encodeString } from '../../base/json/encode.ts';
import { readTraceContext, type TraceContext } from '../../base/trace-context.ts';
import { CHAIN_HEADER, parseHops } from '../../base/webhook-chain.ts';
import type { CollectionSpec, FindRecord, Transaction } from '../../store/store-port.ts';
import type { Forward } from '../actions/http-forward-action.ts';
import { decodeRecordAs } from '../../resources/record.ts';
import { QUOTE, readPlainText, readText } from '../durable-queue/record-text.ts';
import { formatTargetLabel } from '../webhook-label.ts';
import type { Delivery } from './delivery.ts';
import { deleteLateDeliveries, lateDeliveryCollection } from './late-deliveries.ts';

export const eventCollection: CollectionSpec = { name: 'events', key: 'identifier' };

/**
 * Who made an event: a change of the catalog, a caller of the API, a command on this machine, an
 * action, or hookshelf itself.
 */
export type EventSource = typeof EVENT_SOURCE_NAMES[number];

export const EVENT_SOURCE_NAMES = ['catalog', 'api', 'command', 'action', 'own'] as const;

/** An event without its payload. */
export type EventHead = {
  readonly identifier: string;
  readonly createdAt: string;
  readonly name: string;
  readonly source: EventSource;
  readonly key?: string | undefined;
  /** When its deliveries begin, if later than it was made. */
  readonly deliverAt?: string | undefined;
  /** The only webhook that it is for. */
  readonly to?: string | undefined;
  readonly trace?: TraceContext | null | undefined;
  readonly hops: number;
  /** The identifiers of the deliveries made with it, and of their webhooks, in the same order. */
  readonly deliveries: readonly string[];
  readonly webhookIds: readonly string[];
};

/** What the record of an event or a queued forward says of it. No webhook hears a forward. */
export type DecodedEventHead = Pick<EventHead, 'createdAt' | 'deliveries' | 'webhookIds' | 'to'> & {
  /** null for a queued forward. */
  readonly name: string | null;
};

type EventHeadRecord = Pick<DecodedEventHead, 'createdAt' | 'deliveries' | 'name'> & {
  readonly to?: string; readonly hooks?: readonly string[];
};

type ForwardRecord = {
  readonly forward: Omit<Forward, 'body'> & { readonly encoding?: 'base64' };
  readonly text: string | null;
};

// Unescaped quotes are never inside a string, so a prefix is found where the member is.
const ID_PREFIX = Buffer.from('{"identifier":"');
const CREATED_PREFIX = Buffer.from('"createdAt":"');
const DEPTH_PREFIX = Buffer.from(',"depth":');
const NAME_PREFIX = Buffer.from(',"name":"');
const SOURCE_PREFIX = Buffer.from(',"source":"');
const KEY_PREFIX = Buffer.from(',"key":"');
const DELIVER_AT_PREFIX = Buffer.from(',"deliverAt":"');
const TRACE_PARENT_PREFIX = Buffer.from(',"traceparent":"');
const TRACE_STATE_PREFIX = Buffer.from(',"tracestate":"');
const DELIVERIES_PREFIX = Buffer.from(',"deliveries":[');
const PAYLOAD_PREFIX = Buffer.from('],"payload":');
const PAYLOAD_TEXT_PREFIX = Buffer.from('],"payloadText":');
const FORWARD_URL_PREFIX = Buffer.from('],"forward":{"url":"');
const COMMA = 0x2c;
const CLOSING_BRACKET = 0x5d;

/** Whether the record is that of an event. Queued forwards are none. */
export function isEvent(record: Buffer): boolean {
  return readEventName(record) !== null;
}

/** Whether an event has or had a delivery: one that was made with it, or later. */
export function isEventHeard(find: FindRecord, id: string, event: Buffer): boolean {
  return listsDeliveries(event) || find(lateDeliveryCollection.name, id) !== undefined;
}

/** Deletes an event, and what stands beside it. Its deliveries are the caller's. */
export function deleteEvent(transaction: Transaction, id: string): void {
  transaction.delete(eventCollection.name, id);
  deleteLateDeliveries(transaction, id);
}

/** Encodes an event. `payloadJson` is valid JSON, whose bytes are preserved. */
export function encodeEvent(event: EventHead, payloadJson: string): string {
  const { key, deliverAt, to, trace = null, webhookIds, hops, deliveries } = event;
  const isOneLine = !/[\r\n]/.test(payloadJson);
  const payload = isOneLine
    ? `"payload":${payloadJson}` : `"payloadText":${JSON.stringify(payloadJson)}`;
  let json = encodeHead(event);
  if (key !== undefined) json += `,"key":${encodeString(key)}`;
  if (deliverAt !== undefined) json += `,"deliverAt":"${deliverAt}"`;
  if (to !== undefined) json += `,"to":${encodeString(to)}`;
  if (trace !== null) {
    const { traceparent, tracestate } = trace;
    json += `,"traceparent":${encodeString(traceparent)}`;
    if (tracestate !== null) json += `,"tracestate":${encodeString(tracestate)}`;
  }
  return `${json},"hooks":${encodeTexts(webhookIds)},"depth":${hops}`
    + `,"deliveries":${encodeTexts(deliveries)},${payload}}`;
}

/** Encodes what the delivery of a queued forward sends. */
export function encodeForward(
  event: Pick<EventHead, 'identifier' | 'createdAt'>, delivery: string,
  { body, ...forward }: Forward,
): string {
  const encoding = body === null || isUtf8(body) ? 'utf8' : 'base64';
  const request = JSON.stringify(encoding === 'utf8' ? forward : { ...forward, encoding });
  const text = JSON.stringify(body === null ? null : body.toString(encoding));
  return `${encodeHead({ ...event, name: null, source: 'action' })},"depth":0`
    + `,"deliveries":["${delivery}"],"forward":${request},"text":${text}}`;
}

function encodeHead({ identifier, createdAt, name, source }: {
  readonly identifier: string; readonly createdAt: string; readonly name: string | null;
  readonly source: EventSource;
}): string {
  return `{"identifier":"${identifier}","createdAt":"${createdAt}"`
    + `,"name":${name === null ? null : encodeString(name)},"source":"${source}"`;
}

function encodeTexts(texts: readonly string[]): string {
  const [first] = texts;
  return texts.length === 1 && first !== undefined ? `[${encodeString(first)}]`
    : JSON.stringify(texts);
}

/** Decodes an event or a queued forward, without what it sends. */
export function decodeEventHead(bytes: Buffer): DecodedEventHead {
  const start = findListStart(bytes);
  const json = `${bytes.toString('utf8', 0, findListEnd(bytes, start))}]}`;
  const { createdAt, name, deliveries, to, hooks = [] } = decodeRecordAs<EventHeadRecord>(json,
    (record) => typeof record['createdAt'] === 'string');
  return { createdAt, name, deliveries, to, webhookIds: hooks };
}

/** Reads the milliseconds since the epoch of an event's creation, without parsing. */
export function readEventCreatedMs(bytes: Buffer): number {
  return Date.parse(readPlainText(bytes, bytes.indexOf(CREATED_PREFIX) + CREATED_PREFIX.length));
}

/** Reads the id of the event whose record it is, without parsing. */
export function readEventRecordId(bytes: Buffer): string {
  return readPlainText(bytes, bytes.indexOf(ID_PREFIX) + ID_PREFIX.length);
}

/** Reads the name of an event, mostly without parsing; null for a queued forward. */
export function readEventName(bytes: Buffer): string | null {
  return readHeadText(bytes, NAME_PREFIX);
}

/** Reads the source of an event or a queued forward. */
export function readEventSource(bytes: Buffer): EventSource {
  const text = readHeadText(bytes, SOURCE_PREFIX);
  const source = EVENT_SOURCE_NAMES.find((candidate) => candidate === text);
  if (source === undefined) throw new TypeError('a stored event has no source');
  return source;
}

/** Reads the key that an event was given; null: none. */
export function readEventKey(bytes: Buffer): string | null {
  return readHeadText(bytes, KEY_PREFIX);
}

/** Reads when the deliveries of an event begin; null: when it was made. */
export function readDeliverAt(bytes: Buffer): string | null {
  return readHeadText(bytes, DELIVER_AT_PREFIX);
}

/** Reads the trace that an event belongs to; null: none. */
export function readEventTrace(bytes: Buffer): TraceContext | null {
  const traceparent = readHeadText(bytes, TRACE_PARENT_PREFIX);
  if (traceparent === null) return null;
  return { traceparent, tracestate: readHeadText(bytes, TRACE_STATE_PREFIX) };
}

function readHeadText(bytes: Buffer, prefix: Buffer): string | null {
  const head = bytes.subarray(0, Math.max(0, bytes.indexOf(DEPTH_PREFIX)));
  const at = head.indexOf(prefix);
  return at === -1 ? null : readText(head, at + prefix.length);
}

/** Whether deliveries were made with an event. */
function listsDeliveries(bytes: Buffer): boolean {
  return bytes[findListStart(bytes)] === QUOTE;
}

/**
 * Reads how many hops led to an event, without parsing, because the event may be large. Not those
 * of a queued forward: see `findHops`.
 */
export function readHops(bytes: Buffer): number {
  const start = bytes.indexOf(DEPTH_PREFIX) + DEPTH_PREFIX.length;
  return Number(bytes.toString('latin1', start, bytes.indexOf(COMMA, start)));
}

/** Reads an event's payload, mostly as a slice of its record; null for a queued forward. */
export function readPayloadBytes(bytes: Buffer): Buffer | null {
  const start = bytes.indexOf(PAYLOAD_PREFIX);
  if (start !== -1) return bytes.subarray(start + PAYLOAD_PREFIX.length, bytes.length - 1);
  const textStart = bytes.indexOf(PAYLOAD_TEXT_PREFIX);
  if (textStart === -1) return null;
  const text: unknown = JSON.parse(
    bytes.toString('utf8', textStart + PAYLOAD_TEXT_PREFIX.length, bytes.length - 1));
  return Buffer.from(String(text), 'utf8');
}

/** Reads an event's payload as JSON text; `null` for a queued forward. */
export function readPayloadJson(bytes: Buffer): string {
  return readPayloadBytes(bytes)?.toString() ?? 'null';
}

/** Decodes the request that a queued forward sends. */
export function decodeForward(bytes: Buffer): Forward {
  const record = decodeRecordAs<ForwardRecord>(bytes, ({ forward }) =>
    isJsonObject(forward) && typeof forward['url'] === 'string');
  const { forward: { encoding = 'utf8', ...forward }, text } = record;
  return { ...forward, body: text === null ? null : Buffer.from(text, encoding) };
}

/** Reads the URL of a queued forward without parsing, as it may be large; null for an event. */
export function readForwardUrl(bytes: Buffer): string | null {
  const at = bytes.indexOf(FORWARD_URL_PREFIX);
  return at === -1 ? null : readText(bytes, at + FORWARD_URL_PREFIX.length);
}

/** Whether `isMatch` holds for a delivery that an event lists. The newest is asked for first. */
export function someListedDelivery(
  bytes: Buffer, isMatch: (identifier: string) => boolean,
): boolean {
  const start = findListStart(bytes);
  let end = bytes.lastIndexOf(QUOTE, findListEnd(bytes, start));
  while (end > start) {
    const open = bytes.lastIndexOf(QUOTE, end - 1);
    if (isMatch(bytes.toString('latin1', open + 1, end))) return true;
    end = bytes.lastIndexOf(QUOTE, open - 1);
  }
  return false;
}

/** Finds where the list of the deliveries begins, behind its bracket. */
function findListStart(bytes: Buffer): number {
  return bytes.indexOf(DELIVERIES_PREFIX) + DELIVERIES_PREFIX.length;
}

/** Finds the bracket that ends the list of the deliveries. */
function findListEnd(bytes: Buffer, start: number): number {
  return bytes.indexOf(CLOSING_BRACKET, start);
}

/** Finds the record that has a delivery's event; undefined when it is gone. */
export function findEventRecord(
  find: FindRecord, { eventId }: Pick<Delivery, 'eventId'>,
): Buffer | undefined {
  return find(eventCollection.name, eventId);
}

/** Finds the URL that a queued forward goes to; null when its event is gone. */
export function findForwardUrl(find: FindRecord, delivery: Delivery): string | null {
  const bytes = findEventRecord(find, delivery);
  return bytes === undefined ? null : readForwardUrl(bytes);
}

/** Finds the host and path that a queued forward goes to; null when its event is gone. */
export function findForwardTarget(find: FindRecord, delivery: Delivery): string | null {
  const url = findForwardUrl(find, delivery);
  return url === null ? null : formatTargetLabel(url);
}

/** Finds the trace that a delivery belongs to; null: none. */
export function findTrace(find: FindRecord, delivery: Delivery): TraceContext | null {
  const bytes = findEventRecord(find, delivery);
  if (bytes === undefined) return null;
  return readPayloadBytes(bytes) === null ? readTraceContext(decodeForward(bytes).headers)
    : readEventTrace(bytes);
}

/** Finds how many hops led to a delivery; 0 when its event is gone. */
export function findHops(find: FindRecord, delivery: Delivery): number {
  const bytes = findEventRecord(find, delivery);
  if (bytes === undefined) return 0;
  return readPayloadBytes(bytes) === null
    ? parseHops(decodeForward(bytes).headers[CHAIN_HEADER]) : readHops(bytes);
}

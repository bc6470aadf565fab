/**
 * An event is written once, however many deliveries and attempts it has. It is a record of the
 * `events` collection, one JSON object with its members in this order:
 *
 *     {"identifier":"<UUIDv7>","createdAt":"<time>","name":"<name>","source":"<source>",
 *      "depth":<hops>,"key":"<key>"?,"deliverAt":"<time>"?,"to":"<webhook>"?,"url":"<URL>"?,
 *      "traceparent":"<trace>"?,"tracestate":"<state>"?,
 *      "hooks":["<webhook>",…],"payload":<JSON>}
 *
 * - `depth` is the number of hops that led to the event;
 * - `to` is the only webhook that an event is for, if it was sent to that one;
 * - `traceparent` and `tracestate` are the trace that it belongs to (base/trace-context.ts);
 * - `hooks` are the webhooks of the deliveries that are made with the event. Their ids follow from
 *   its own, in this order. They are pending at first, so its put implies theirs: see
 *   `createEventDeliveries`. What is made later is in the collection `event-receivers`
 *   (late-deliveries.ts);
 * - the payload comes last, so that its bytes are a slice of the record, as they were received. A
 *   payload with line breaks, which a record cannot hold, is the string `payloadText` instead.
 *
 * The head is the part before `hooks`. An unescaped quote is never inside a string, so the marks
 * at which a record is cut into head, list and payload are first found there, whatever the payload
 * holds. Each part is parsed when it is asked for: list and payload may be large.
 *
 * A queued forward is a record of the same collection: see queued-forward.ts.
 */
import { assert } from '../../base/assert.ts';
import { encodeString } from '../../base/json/encode.ts';
import type { TraceContext } from '../../base/trace-context.ts';
import type { CollectionSpec, FindRecord, Transaction } from '../../store/store-port.ts';
import { decodeRecordAs } from '../../resources/record.ts';
import { createPuts } from './delivery-codec.ts';
import {
  createEventDeliveries, deriveDeliveryIds, type DeliveredEvent, type Delivery,
} from './delivery.ts';
import {
  deleteLateDeliveries, findLateDeliveries, lateDeliveryCollection,
} from './late-deliveries.ts';

export const eventCollection: CollectionSpec = {
  name: 'events', key: 'identifier',
  imply(record) {
    // Not by spreads: a start does this for each event of the journal (2.4 and 6.2 µs).
    const { identifier, createdAt, name, deliverAt, hooks: webhookIds } = parseWithList(record);
    const event = { identifier, createdAt, name, deliverAt, webhookIds };
    return createPuts(createEventDeliveries(event));
  },
};

/** The maker: the catalog, a caller of the API, a command here, an action, or hookshelf itself. */
export type EventSource = typeof EVENT_SOURCE_NAMES[number];

export const EVENT_SOURCE_NAMES = ['catalog', 'api', 'command', 'action', 'own'] as const;

/** The head of the record of an event or a queued forward. No webhook hears a forward. */
export type EventHead = {
  readonly identifier: string;
  readonly createdAt: string;
  /** null for a queued forward. */
  readonly name: string | null;
  readonly source: EventSource;
  readonly hops: number;
  readonly key: string | null;
  readonly deliverAt: string | null;
  readonly to: string | null;
  /** The target of a queued forward; null for an event. */
  readonly url: string | null;
  readonly trace: TraceContext | null;
};

type OptionalMember = 'key' | 'deliverAt' | 'to' | 'url' | 'trace';

/** An event, or a queued forward, that is to be stored. */
export type NewEvent = Omit<EventHead, OptionalMember>
  & { readonly [Name in OptionalMember]?: EventHead[Name] | undefined }
  & Pick<DeliveredEvent, 'webhookIds'>;

type HeadRecord = Omit<NewEvent, 'hops' | 'trace' | 'webhookIds'> & {
  readonly depth: number; readonly traceparent?: string; readonly tracestate?: string;
};

type RecordWithList = HeadRecord & { readonly hooks: NewEvent['webhookIds'] };

const LIST_MARK = Buffer.from(',"hooks":[');
const PAYLOAD_MARK = Buffer.from('],"payload":');
const PAYLOAD_TEXT_MARK = Buffer.from('],"payloadText":');
const QUOTE = 0x22;

export function isEvent(record: Buffer): boolean {
  return decodeEventHead(record).name !== null;
}

/** Whether an event has or had a delivery, made with it or later. */
export function isEventHeard(find: FindRecord, id: string, event: Buffer): boolean {
  const listsWebhooks = event[event.indexOf(LIST_MARK) + LIST_MARK.length] === QUOTE;
  return listsWebhooks || find(lateDeliveryCollection.name, id) !== undefined;
}

/**
 * The webhooks that an event has or had deliveries to, as the text of a JSON list without brackets:
 * nothing is parsed, and events for the same webhooks have the same text.
 */
export function readReceivers(find: FindRecord, id: string, event: Buffer): string {
  const start = event.indexOf(LIST_MARK) + LIST_MARK.length;
  const madeText = event.toString('latin1', start, event.indexOf(']', start));
  const { webhookIds } = findLateDeliveries({ find }, id);
  const lateText = JSON.stringify(webhookIds).slice(1, -1);
  return madeText === '' || lateText === '' ? `${madeText}${lateText}` : `${madeText},${lateText}`;
}

export function readReceiverIds(find: FindRecord, id: string, event: Buffer): readonly string[] {
  return parseReceivers(readReceivers(find, id, event));
}

/** The text of `readReceivers` has identifiers in quotes, and null of a forward. */
export function parseReceivers(receivers: string): readonly string[] {
  return receivers === '' ? [] : receivers.split(',').map((text) => text.slice(1, -1));
}

/** The deliveries of the event are the caller's. */
export function deleteEvent(transaction: Transaction, id: string): void {
  transaction.delete(eventCollection.name, id);
  deleteLateDeliveries(transaction, id);
}

/**
 * Encodes an event or a queued forward; the bytes of `payloadJson` are preserved. The text is made
 * member by member: JSON.stringify takes twice as long (0.6 and 1.4 µs).
 */
export function encodeEvent(event: NewEvent, payloadJson: string): string {
  const { name, key = null, deliverAt = null, to = null, url = null, trace = null } = event;
  const isOneLine = !/[\r\n]/.test(payloadJson);
  let json = `{"identifier":"${event.identifier}","createdAt":"${event.createdAt}"`
    + `,"name":${name === null ? null : encodeString(name)},"source":"${event.source}"`
    + `,"depth":${event.hops}`;
  if (key !== null) json += `,"key":${encodeString(key)}`;
  if (deliverAt !== null) json += `,"deliverAt":"${deliverAt}"`;
  if (to !== null) json += `,"to":${encodeString(to)}`;
  if (url !== null) json += `,"url":${encodeString(url)}`;
  if (trace !== null) {
    const { traceparent, tracestate } = trace;
    json += `,"traceparent":${encodeString(traceparent)}`;
    if (tracestate !== null) json += `,"tracestate":${encodeString(tracestate)}`;
  }
  json += `,"hooks":${JSON.stringify(event.webhookIds)}`;
  return isOneLine ? `${json},"payload":${payloadJson}}`
    : `${json},"payloadText":${JSON.stringify(payloadJson)}}`;
}

export function decodeEventHead(record: Buffer): EventHead {
  const json = `${record.toString('utf8', 0, record.indexOf(LIST_MARK))}}`;
  const head = decodeRecordAs<HeadRecord>(json, ({ identifier, createdAt, source }) =>
    typeof identifier === 'string' && typeof createdAt === 'string' && typeof source === 'string',
  JSON.parse);
  const { traceparent, tracestate = null } = head;
  return {
    identifier: head.identifier, createdAt: head.createdAt, name: head.name, source: head.source,
    hops: head.depth, key: head.key ?? null, deliverAt: head.deliverAt ?? null,
    to: head.to ?? null, url: head.url ?? null,
    trace: traceparent === undefined ? null : { traceparent, tracestate },
  };
}

export function decodeEventDeliveries(record: Buffer): {
  readonly deliveries: readonly string[]; readonly webhookIds: NewEvent['webhookIds'];
} {
  const { identifier, hooks } = parseWithList(record);
  return { deliveries: deriveDeliveryIds(identifier, hooks), webhookIds: hooks };
}

function parseWithList(record: Buffer): RecordWithList {
  const json = `${record.toString('utf8', 0, findPayload(record).markAt)}]}`;
  return decodeRecordAs<RecordWithList>(json, ({ identifier, createdAt, hooks }) =>
    typeof identifier === 'string' && typeof createdAt === 'string' && Array.isArray(hooks),
  JSON.parse);
}

/** The payload, mostly as a slice of the record. */
export function readPayloadBytes(record: Buffer): Buffer {
  const { markAt, isText } = findPayload(record);
  const mark = isText ? PAYLOAD_TEXT_MARK : PAYLOAD_MARK;
  const payload = record.subarray(markAt + mark.length, record.length - 1);
  return isText ? Buffer.from(String(JSON.parse(payload.toString()))) : payload;
}

function findPayload(record: Buffer): { readonly markAt: number; readonly isText: boolean } {
  const markAt = record.indexOf(PAYLOAD_MARK);
  if (markAt !== -1) return { markAt, isText: false };
  const textMarkAt = record.indexOf(PAYLOAD_TEXT_MARK);
  assert(textMarkAt !== -1, 'a stored event has a payload');
  return { markAt: textMarkAt, isText: true };
}

/** undefined when the event is gone, and for a route. */
export function findEventRecord(
  find: FindRecord, { eventId }: Pick<Delivery, 'eventId'>,
): Buffer | undefined {
  return eventId === null ? undefined : find(eventCollection.name, eventId);
}

export function findEventHead(find: FindRecord, delivery: Delivery): EventHead | null {
  const record = findEventRecord(find, delivery);
  return record === undefined ? null : decodeEventHead(record);
}

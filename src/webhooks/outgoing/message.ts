/**
 * What deliveries carry, kept once however many there are: a record of the `events` collection.
 *
 * An event: `{"identifier", "createdAt", "name", "depth", "deliveries", "payload"}`; the payload is
 * the last member, so that its bytes, as they were given, are a slice of the record. Where they
 * hold line breaks, which a record cannot, `payloadText` stands there instead: a string of them.
 * A queued forward: `{"identifier", "createdAt", "depth", "deliveries", "forward": {"url",
 * "method", "headers"}, "text"}`; the text is the received body, byte for byte in UTF-8, or null.
 */
import { isJsonObject } from '../../base/fields.ts';
import type { CollectionSpec } from '../../store/port.ts';
import type { QueuedForward } from '../actions/http-forward.ts';
import { readRecord } from '../follow.ts';

export const eventCollection: CollectionSpec = { name: 'events', key: 'identifier' };

export type Message = {
  readonly identifier: string;
  /** Events that led to it. */
  readonly depth: number;
  readonly deliveries: readonly string[];
};

type ForwardRecord = {
  readonly forward: Omit<QueuedForward, 'body'>;
  readonly text: QueuedForward['body'];
};

// Plain quotes cannot stand inside a string, so a mark is found where the member is.
const DEPTH_MARK = Buffer.from('"depth":');
const DELIVERIES_MARK = Buffer.from('"deliveries":');
const PAYLOAD_MARK = Buffer.from('],"payload":');
const PAYLOAD_TEXT_MARK = Buffer.from('],"payloadText":');
const QUOTE = 0x22;
const COMMA = 0x2c;
const CLOSING_BRACKET = 0x5d;

/** `payloadJson` is valid JSON; its bytes are kept. */
export function encodeEvent(
  event: Message, createdAt: string, name: string, payloadJson: string,
): string {
  const { identifier, depth, deliveries } = event;
  const head = JSON.stringify({ identifier, createdAt, name, depth, deliveries });
  const isOneLine = !/[\r\n]/.test(payloadJson);
  const member = isOneLine
    ? `"payload":${payloadJson}` : `"payloadText":${JSON.stringify(payloadJson)}`;
  return `${head.slice(0, -1)},${member}}`;
}

export function encodeForward(
  identifier: string, createdAt: string, delivery: string, { body, ...forward }: QueuedForward,
): string {
  return JSON.stringify({
    identifier, createdAt, depth: 0, deliveries: [delivery], forward, text: body,
  });
}

/** Events that led to a message. Found without parsing, as the rest is: a message may be large. */
export function depthOf(bytes: Buffer): number {
  const start = bytes.indexOf(DEPTH_MARK) + DEPTH_MARK.length;
  return Number(bytes.toString('latin1', start, bytes.indexOf(COMMA, start)));
}

/** The bytes of an event's payload, mostly a slice of its record; null for a queued forward. */
export function payloadOf(bytes: Buffer): Buffer | null {
  const start = bytes.indexOf(PAYLOAD_MARK);
  if (start !== -1) return bytes.subarray(start + PAYLOAD_MARK.length, bytes.length - 1);
  const textStart = bytes.indexOf(PAYLOAD_TEXT_MARK);
  if (textStart === -1) return null;
  const text: unknown = JSON.parse(
    bytes.toString('utf8', textStart + PAYLOAD_TEXT_MARK.length, bytes.length - 1));
  return Buffer.from(String(text), 'utf8');
}

/** What a queued forward is to send. */
export function readForward(bytes: Buffer): QueuedForward {
  const { forward, text } = readRecord<ForwardRecord>(bytes, (record) =>
    isJsonObject(record['forward']) && typeof record['forward']['url'] === 'string');
  return { ...forward, body: text };
}

/** Whether any of a message's deliveries is sought; the newest is asked for first. */
export function hasDelivery(bytes: Buffer, isSought: (identifier: string) => boolean): boolean {
  const start = bytes.indexOf(DELIVERIES_MARK) + DELIVERIES_MARK.length;
  let end = bytes.lastIndexOf(QUOTE, bytes.indexOf(CLOSING_BRACKET, start));
  while (end > start) {
    const open = bytes.lastIndexOf(QUOTE, end - 1);
    if (isSought(bytes.toString('latin1', open + 1, end))) return true;
    end = bytes.lastIndexOf(QUOTE, open - 1);
  }
  return false;
}

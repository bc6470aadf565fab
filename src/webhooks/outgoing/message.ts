/**
 * What deliveries carry, kept once however many there are: a record of the `events` collection.
 *
 * An event: `{"identifier", "createdAt", "name", "depth", "deliveries", "payload"}`; the payload is
 * the last member, so that its bytes are a slice of the record.
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
  readonly depth: number;
  readonly deliveries: readonly string[];
  readonly forward?: Omit<QueuedForward, 'body'>;
  readonly text?: string | null;
};

const PAYLOAD_MARK = Buffer.from('],"payload":');
const CLOSE = Buffer.from('}');

/** `payloadJson` is valid JSON on one line, as JSON.stringify makes it. */
export function encodeEvent(
  event: Pick<Message, 'identifier' | 'depth' | 'deliveries'>, createdAt: string, name: string,
  payloadJson: string,
): string {
  const { identifier, depth, deliveries } = event;
  const head = JSON.stringify({ identifier, createdAt, name, depth, deliveries });
  return `${head.slice(0, -1)},"payload":${payloadJson}}`;
}

export function encodeForward(
  identifier: string, createdAt: string, delivery: string, { body, ...forward }: QueuedForward,
): string {
  return JSON.stringify({
    identifier, createdAt, depth: 0, deliveries: [delivery], forward, text: body,
  });
}

/** What stands before an event's payload, which may be large, is all that is parsed of it. */
export function readMessage(bytes: Buffer): Message {
  const payloadAt = bytes.indexOf(PAYLOAD_MARK);
  const head = payloadAt === -1
    ? bytes : Buffer.concat([bytes.subarray(0, payloadAt + 1), CLOSE]);
  return readRecord<Message>(head, ({ identifier, depth, deliveries, forward }) =>
    typeof identifier === 'string' && typeof depth === 'number' && Array.isArray(deliveries)
    && (forward === undefined || isJsonObject(forward)));
}

/** The bytes of an event's payload within its record, not copied. */
export function payloadOf(bytes: Buffer): Buffer {
  const start = bytes.indexOf(PAYLOAD_MARK) + PAYLOAD_MARK.length;
  return bytes.subarray(start, bytes.length - 1);
}

const DELIVERIES_MARK = Buffer.from('"deliveries":');

/** The deliveries of a message, without parsing its payload. */
export function deliveriesOf(bytes: Buffer): readonly string[] {
  const start = bytes.indexOf(DELIVERIES_MARK) + DELIVERIES_MARK.length;
  const list: unknown = JSON.parse(bytes.toString('latin1', start, bytes.indexOf(0x5d, start) + 1));
  return Array.isArray(list) ? list.map(String) : [];
}

/**
 * The headers of a request in the format `cloudevents`: CloudEvents 1.0.2 over HTTP, binary mode
 * (cloudevents/spec, "HTTP Protocol Binding", §3.1). The body is the data, its Content-Type the
 * `datacontenttype`. Pure.
 */
import { decodePayload } from '../../actions/action-payload.ts';
import { findValueAt } from '../../../base/json/path.ts';
import type { Delivery } from '../delivery.ts';
import { nameSentEvent, SENT_BY_HAND } from '../durable-send.ts';
import { decodeEventHead, readPayloadBytes } from '../event-record.ts';
import { CLOUD_EVENT_HEADERS } from '../../outgoing/body-members.ts';
import type { OutgoingRequest } from './outgoing-request.ts';

type CloudEvent = {
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly time: string;
  /** The id of the changed book; null for an event not of the catalog. */
  readonly subject: string | null;
};

const DEFAULT_SOURCE = 'urn:hookshelf';
const BOOK_ID = ['data', 'book', 'id'];

/** The same in each attempt. */
export function readCloudEvent(
  delivery: Delivery, eventRecord: Buffer, source = DEFAULT_SOURCE,
): CloudEvent {
  const head = decodeEventHead(eventRecord);
  return {
    id: head.identifier, source, type: nameSentEvent(delivery, head), time: head.createdAt,
    subject: head.source === 'catalog' ? readBookId(eventRecord) : null,
  };
}

export function createSentByHand(id: string, time: string, source = DEFAULT_SOURCE): CloudEvent {
  return { id, source, type: SENT_BY_HAND, time, subject: null };
}

export function addCloudEvent(request: OutgoingRequest, event: CloudEvent): OutgoingRequest {
  const entries = toPairs(event);
  return { ...request, headers: { ...request.headers, ...Object.fromEntries(entries) } };
}

/** Names and values in turn. */
export function listCloudEventHeaders(event: CloudEvent): readonly string[] {
  return toPairs(event).flat();
}

function toPairs({ id, source, type, time, subject }: CloudEvent): (readonly [string, string])[] {
  const values = ['1.0', id, source, type, time, subject];
  return CLOUD_EVENT_HEADERS.flatMap((name, index) => {
    const value = values[index] ?? null;
    return value === null ? [] : [[name, encodeHeaderValue(value)] as const];
  });
}

/** §3.1.3.2: all but printable ASCII is percent-encoded, and spaces, quotes and percent signs. */
function encodeHeaderValue(value: string): string {
  return value.toWellFormed().replace(/[^!#$&-~]/gu, (character) => encodeURIComponent(character));
}

function readBookId(eventRecord: Buffer): string | null {
  const id = findValueAt(decodePayload(readPayloadBytes(eventRecord)), BOOK_ID);
  return typeof id === 'string' ? id : null;
}

/**
 * How a search walks through deliveries. It sees the id of a delivery, and the name, the id and the
 * payload of its event, or the body of a queued forward, but not what was made of the payload for
 * one webhook. Of a delivery to a route it sees the request.
 */
import type { Collection, Store } from '../../store/store-port.ts';
import type { RecordMatches } from '../records/record-list.ts';
import { createRecordWalk } from '../records/record-walk.ts';
import type { SearchedRecord, SearchedContent } from '../records/search-query.ts';
import type { SearchWalk } from '../records/searches.ts';
import { decodeDelivery, readEventId } from './delivery-codec.ts';
import type { RequestLookup } from './delivery-fields.ts';
import { deliveryCollection, type Delivery } from './delivery.ts';
import { eventCollection, isEvent, readPayloadBytes } from './event-record.ts';
import { decodeForward } from './queued-forward.ts';
import { isRouteDeliveryId, parseRequestId } from './route-delivery-id.ts';
import { parseJsonText } from '../../base/json/exact-parser.ts';
import { Facts, type FactSource } from '../members/filters/facts.ts';

export function walkDeliveries(
  store: Pick<Store, 'collection'>, requests: RequestLookup, matches: RecordMatches,
  hidesOthers: boolean,
): SearchWalk<Delivery> {
  const events = store.collection(eventCollection.name);
  const open = (bytes: Buffer, id: string): SearchedRecord<Delivery> | null => {
    if (!isRouteDeliveryId(id)) return openDelivery(events, bytes, id);
    const request = requests.findSearched(parseRequestId(id));
    return request && { ...request, decode: () => decodeDelivery(bytes) };
  };
  return createRecordWalk(store.collection(deliveryCollection.name),
    { ...matches, hidesOthers, open, readAt: (bytes) => decodeDelivery(bytes).createdAt });
}

export function openDelivery(
  events: Collection, bytes: Buffer, id: string,
): SearchedRecord<Delivery> {
  const eventId = readEventId(bytes);
  const eventRecord = events.findBytes(eventId);
  return {
    encodedParts: eventRecord === undefined ? [bytes] : [bytes, eventRecord],
    read: () => readSearchedEvent([id, eventId], decodeDelivery(bytes).event, eventRecord),
    decode: () => decodeDelivery(bytes),
  };
}

/** The facts that conditions may read in a search among events or deliveries. */
export const EVENT_FACT_SOURCES: readonly FactSource[] = ['payload', 'event'];

/** `name` is null for a queued forward; `eventRecord` is undefined when the event is gone. */
export function readSearchedEvent(
  ids: readonly string[], name: string | null, eventRecord: Buffer | undefined,
): SearchedContent {
  const readPayload = (): Buffer | null => {
    if (eventRecord === undefined) return null;
    return isEvent(eventRecord) ? readPayloadBytes(eventRecord) : decodeForward(eventRecord).body;
  };
  return {
    ids, texts: name === null ? [] : [name], readPayload,
    createFacts: () => new Facts({ event: () => name, payload: () => parsePayload(readPayload()) }),
  };
}

/** undefined: the payload is no JSON, which only a forward can send. */
function parsePayload(payload: Buffer | null): unknown {
  try {
    return payload === null ? undefined : parseJsonText(payload.toString('utf8'));
  } catch {
    return undefined;
  }
}

/**
 * How a search walks through deliveries, and what of a delivery it sees: its id, and the name, the
 * id and the payload of its event. What was made of the payload for one webhook is not searched.
 * It sees the request, if a delivery is to a route.
 */
import type { Collection, Store } from '../../store/store-port.ts';
import type { RecordMatches } from '../records/record-list.ts';
import { RecordWalk } from '../records/record-walk.ts';
import type { SearchedRecord } from '../records/search-query.ts';
import type { SearchWalk } from '../records/searches.ts';
import { decodeDelivery, readEventId } from './delivery-codec.ts';
import type { RequestLookup } from './delivery-fields.ts';
import { deliveryCollection, type Delivery } from './delivery.ts';
import { eventCollection } from './event-record.ts';
import { isRouteDeliveryId, parseRequestId } from './route-delivery-id.ts';
import { readSearchedEvent } from './searched-event.ts';

/** `hidesOthers`: see `SearchWalk`. */
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
  return new RecordWalk(store.collection(deliveryCollection.name),
    { ...matches, hidesOthers, open, readAt: (bytes) => decodeDelivery(bytes).createdAt });
}

/** Opens a delivery to a webhook, or a forward, for a search. */
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

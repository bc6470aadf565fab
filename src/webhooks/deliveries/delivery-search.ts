/**
 * How a search walks through deliveries, and what of a delivery it sees: its id, and the name, the
 * id and the payload of its event. What was made of the payload for one webhook is not searched.
 * It sees the request, if a delivery is to a route.
 */
import type { Collection, Store } from '../../store/store-port.ts';
import type { Facts } from '../filters/facts.ts';
import type { SlotTest } from '../records/columns.ts';
import { RecordWalk } from '../search/record-walk.ts';
import type { SearchedRecord } from '../search/search-query.ts';
import type { SearchWalk } from '../search/searches.ts';
import { decodeDelivery, readEventId } from './delivery-codec.ts';
import type { RequestLookup } from './delivery-fields.ts';
import { deliveryCollection, type Delivery } from './delivery.ts';
import { eventCollection } from './event-record.ts';
import { isRouteDeliveryId, parseRequestId } from './route-delivery-id.ts';
import { createEventFacts, readSearchedPayload } from './searched-event.ts';

/** Begins behind the id `before`; null: with the newest delivery. */
export function walkDeliveries(
  store: Pick<Store, 'collection'>, requests: RequestLookup, matches: SlotTest | null,
  before: string | null,
): SearchWalk<Delivery> {
  const events = store.collection(eventCollection.name);
  const open = (bytes: Buffer, id: string): SearchedRecord<Delivery> | null => {
    if (!isRouteDeliveryId(id)) return new SearchedDelivery(events, bytes);
    const request = requests.findSearched(parseRequestId(id));
    return request === null ? null : new SearchedRoute(request, bytes);
  };
  return new RecordWalk(store.collection(deliveryCollection.name),
    { before, matches, open, readAt: (bytes) => decodeDelivery(bytes).createdAt });
}

/** What a search sees of a delivery to a webhook, and of a forward. */
export class SearchedDelivery implements SearchedRecord<Delivery> {
  readonly encodedParts: readonly Buffer[];
  readonly #bytes: Buffer;
  readonly #eventRecord: Buffer | undefined;
  #delivery: Delivery | null = null;

  constructor(events: Collection, bytes: Buffer) {
    this.#bytes = bytes;
    this.#eventRecord = events.findBytes(readEventId(bytes));
    this.encodedParts = this.#eventRecord === undefined ? [bytes] : [bytes, this.#eventRecord];
  }

  listIds(): readonly string[] {
    return [this.decode().identifier, readEventId(this.#bytes)];
  }

  listTexts(): readonly string[] {
    const { event } = this.decode();
    return event === null ? [] : [event];
  }

  readPayload(): Buffer | null {
    return readSearchedPayload(this.#eventRecord);
  }

  createFacts(): Facts {
    return createEventFacts(this.decode().event, this.readPayload());
  }

  decode(): Delivery {
    this.#delivery ??= decodeDelivery(this.#bytes);
    return this.#delivery;
  }
}

class SearchedRoute implements SearchedRecord<Delivery> {
  readonly encodedParts: readonly Buffer[] | null;
  readonly #request: SearchedRecord<unknown>;
  readonly #bytes: Buffer;

  constructor(request: SearchedRecord<unknown>, bytes: Buffer) {
    this.encodedParts = request.encodedParts;
    this.#request = request;
    this.#bytes = bytes;
  }

  listIds(): readonly string[] {
    return this.#request.listIds();
  }

  listTexts(): Iterable<string> {
    return this.#request.listTexts();
  }

  readPayload(): Buffer | null {
    return this.#request.readPayload();
  }

  createFacts(): Facts {
    return this.#request.createFacts();
  }

  decode(): Delivery {
    return decodeDelivery(this.#bytes);
  }
}

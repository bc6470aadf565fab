/**
 * How a search walks through deliveries, and what of a delivery it sees: its id, and the name, the
 * id and the payload of its event. What was made of the payload for one webhook is not searched.
 * It sees the request, if a delivery is to a route.
 */
import { formatTimestamp } from '../../base/clock.ts';
import type { Collection, Store, Walk } from '../../store/store-port.ts';
import type { Facts } from '../filters/facts.ts';
import type { SearchedRecord } from '../search/search-query.ts';
import type { SearchPosition, SearchWalk } from '../search/searches.ts';
import { decodeDelivery, readCreatedMs, readEventId } from './delivery-codec.ts';
import type { DeliveryFilter } from './delivery-columns.ts';
import { createDeliveryMatcher, decodeListedRoute, type ListedRoute } from './delivery-list.ts';
import { deliveryCollection, type Delivery } from './delivery.ts';
import { eventCollection } from './event-record.ts';
import type { RequestLookup } from './public-route.ts';
import { isRouteDeliveryId, parseRequestId } from './route-delivery-id.ts';
import { createEventFacts, readSearchedPayload } from './searched-event.ts';

export class DeliverySearchWalk implements SearchWalk<Delivery | ListedRoute> {
  readonly #store: Pick<Store, 'collection'>;
  readonly #requests: RequestLookup;
  readonly #records: Collection;
  readonly #walk: Walk;
  readonly #matches: (bytes: Buffer, id: string) => boolean;
  #lastId = '';
  #last: Buffer | null = null;

  /** Begins behind the id `before`. */
  constructor(
    store: Pick<Store, 'collection'>, requests: RequestLookup, filter: DeliveryFilter,
    before: string | null,
  ) {
    this.#store = store;
    this.#requests = requests;
    this.#records = store.collection(deliveryCollection.name);
    this.#walk = this.#records.walk({ after: before, isDescending: true });
    this.#matches = createDeliveryMatcher(filter, requests.findEvent);
  }

  next(): SearchedRecord<Delivery | ListedRoute> | 'filtered' | null {
    const slot = this.#walk.next();
    const bytes = slot === -1 ? undefined : this.#records.bytesAt(slot);
    if (bytes === undefined) return null;
    const id = this.#records.idAt(slot) ?? '';
    this.#last = bytes;
    this.#lastId = id;
    if (!this.#matches(bytes, id)) return 'filtered';
    if (!isRouteDeliveryId(id)) {
      return new SearchedDelivery(this.#store.collection(eventCollection.name), bytes);
    }
    const request = this.#requests.findSearched(parseRequestId(id));
    return request === null ? 'filtered' : new SearchedRoute(request, bytes, id);
  }

  position(): SearchPosition {
    const at = this.#last === null ? '' : formatTimestamp(readCreatedMs(this.#last));
    return { id: this.#lastId, at };
  }

  isStillListed(): boolean {
    const bytes = this.#records.findBytes(this.#lastId);
    return bytes !== undefined && this.#matches(bytes, this.#lastId);
  }
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
    const { identifier, eventId } = this.decode();
    return [identifier, eventId];
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

class SearchedRoute implements SearchedRecord<ListedRoute> {
  readonly encodedParts: readonly Buffer[] | null;
  readonly #request: SearchedRecord<unknown>;
  readonly #bytes: Buffer;
  readonly #id: string;

  constructor(request: SearchedRecord<unknown>, bytes: Buffer, id: string) {
    this.encodedParts = request.encodedParts;
    this.#request = request;
    this.#bytes = bytes;
    this.#id = id;
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

  decode(): ListedRoute {
    return decodeListedRoute(this.#bytes, this.#id);
  }
}

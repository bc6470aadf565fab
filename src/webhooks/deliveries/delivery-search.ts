/**
 * How a search walks through deliveries, and what of a delivery it sees: its id, and the name, the
 * id and the payload of its event. What was made of the payload for one webhook is not searched.
 */
import { AppError } from '../../base/errors.ts';
import { formatTimestamp } from '../../base/clock.ts';
import type { Collection, Store, Walk } from '../../store/store-port.ts';
import type { Facts } from '../filters/facts.ts';
import type { SearchedRecord } from '../search/search-query.ts';
import type { SearchPosition, SearchWalk } from '../search/searches.ts';
import { decodeDelivery, readCreatedMs, readEventId } from './delivery-codec.ts';
import { createDeliveryMatcher, type DeliveryFilter } from './delivery-list.ts';
import { deliveryCollection, type Delivery } from './delivery.ts';
import { eventCollection, findEventStart } from './event-record.ts';
import { isRouteDeliveryId } from './route-delivery-id.ts';
import { createEventFacts, readSearchedPayload } from './searched-event.ts';

export class DeliverySearchWalk implements SearchWalk<Delivery> {
  readonly #store: Pick<Store, 'collection'>;
  readonly #records: Collection;
  readonly #walk: Walk;
  readonly #matches: (bytes: Buffer, id: string) => boolean;
  #lastId = '';
  #last: Buffer | null = null;

  /**
   * Begins behind the id `before`. Throws `malformed` for deliveries to routes: their payload is
   * that of a request, and requests are searched.
   */
  constructor(store: Pick<Store, 'collection'>, filter: DeliveryFilter, before: string | null) {
    if (filter.kind === 'route' || filter.kind === 'all') {
      throw new AppError('malformed', 'deliveries to routes are found by their requests: search '
        + '/api/requests, or leave out `kind`');
    }
    this.#store = store;
    this.#records = store.collection(deliveryCollection.name);
    this.#walk = this.#records.walk({ after: before, isDescending: true });
    this.#matches = createDeliveryMatcher(filter);
  }

  next(): SearchedRecord<Delivery> | 'filtered' | null {
    const slot = this.#walk.next();
    const bytes = slot === -1 ? undefined : this.#records.bytesAt(slot);
    if (bytes === undefined) return null;
    this.#last = bytes;
    this.#lastId = this.#records.idAt(slot) ?? '';
    if (isRouteDeliveryId(this.#lastId) || !this.#matches(bytes, this.#lastId)) {
      return 'filtered';
    }
    return new SearchedDelivery(this.#store.collection(eventCollection.name), bytes);
  }

  position(): SearchPosition {
    const at = this.#last === null ? '' : formatTimestamp(readCreatedMs(this.#last));
    return { id: this.#lastId, at };
  }
}

class SearchedDelivery implements SearchedRecord<Delivery> {
  readonly encodedParts: readonly Buffer[];
  readonly #bytes: Buffer;
  readonly #eventRecord: Buffer | undefined;
  #delivery: Delivery | null = null;

  constructor(events: Collection, bytes: Buffer) {
    this.#bytes = bytes;
    this.#eventRecord = findEventStart(bytes) === -1 ? events.findBytes(readEventId(bytes)) : bytes;
    const isGone = this.#eventRecord === undefined || this.#eventRecord === bytes;
    this.encodedParts = isGone ? [bytes] : [bytes, this.#eventRecord];
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

/** Lists, searches and shows kept events. A search sees their ids, names and payloads. */
import { AppError } from '../../base/errors.ts';
import { notFoundError } from '../../resources/not-found.ts';
import { findCommitted } from '../../store/find-record.ts';
import type { Collection, FindRecord, Store } from '../../store/store-port.ts';
import {
  decodeEventHead, eventCollection, isEvent, readPayloadBytes, readReceiverIds, readReceivers,
} from '../deliveries/event-record.ts';
import type { FanOuts } from '../deliveries/fan-out.ts';
import { lateDeliveryCollection } from '../deliveries/late-deliveries.ts';
import { readSearchedEvent } from '../deliveries/delivery-search.ts';
import type { Visibility } from '../members/visibility.ts';
import type { OutgoingWebhookIndex } from '../outgoing/outgoing-webhook-index.ts';
import { RecordList } from '../records/record-list.ts';
import { createRecordWalk } from '../records/record-walk.ts';
import type { SearchWalk } from '../records/searches.ts';
import { eventFields, type EventFilter, type ListedEvent } from './event-fields.ts';
import {
  hidePayloadMembers, listEventDeliveries, toPublicEvent, type PublicEvent,
  type PublicEventWithDeliveries,
} from './public-event.ts';

export class EventService {
  readonly #store: Store;
  readonly #fanOuts: FanOuts;
  readonly #webhooks: OutgoingWebhookIndex;
  readonly #events: Collection;
  readonly #find: FindRecord;
  readonly #list: RecordList<ListedEvent, EventFilter>;

  constructor(store: Store, fanOuts: FanOuts, webhooks: OutgoingWebhookIndex) {
    this.#store = store;
    this.#fanOuts = fanOuts;
    this.#webhooks = webhooks;
    this.#events = store.collection(eventCollection.name);
    this.#find = findCommitted(store);
    this.#list = new RecordList<ListedEvent, EventFilter>(store, eventCollection.name, {
      fields: eventFields, hasUnlisted: true,
      decode: (record, id) => {
        const head = decodeEventHead(record);
        if (head.name === null) return null;
        return { ...head, receivers: readReceivers(this.#find, id, record) };
      },
    });
    // Late deliveries change who hears an event.
    store.collection(lateDeliveryCollection.name).onChange(({ id, after }) => {
      if (after !== null) this.#list.refresh(id);
    });
  }

  /** Newest first, older than the event with the id `before`. */
  list(filter: EventFilter, before: string | null, limit: number): Promise<PublicEvent[]> {
    return this.#list.page(filter, {
      after: before, limit, isNewestFirst: true,
      decode: (record) => toPublicEvent(record, this.#find),
    });
  }

  /** `before` is the id before the first event that is searched. */
  async openSearch(filter: EventFilter, before: string | null): Promise<SearchWalk<PublicEvent>> {
    return createRecordWalk(this.#events, {
      ...await this.#list.select(filter, before, true),
      hidesOthers: typeof filter.hook === 'function',
      readAt: (record) => decodeEventHead(record).createdAt,
      open: (record, id) => ({
        encodedParts: [record],
        read: () => readSearchedEvent([id], decodeEventHead(record).name, record),
        decode: () => toPublicEvent(record, this.#find),
      }),
    });
  }

  count(filter: EventFilter): Promise<number> {
    return this.#list.count(filter);
  }

  /** The event has its first deliveries that the caller sees. Throws `not_found`. */
  async get(id: string, visibility: Visibility | null): Promise<PublicEventWithDeliveries> {
    // Deliveries accepted and not written yet would seem to be missing.
    await this.#fanOuts.whenWritten();
    const record = this.#getRecord(id);
    const deliveries = listEventDeliveries(this.#store, this.#webhooks, id, record, visibility);
    const event = toPublicEvent(record, this.#find);
    const shown = this.#seesPayload(id, record, visibility) ? event : hidePayloadMembers(event);
    return { ...shown, deliveries };
  }

  /** Leaves out what the caller does not see of a listed event. */
  show(event: PublicEvent, visibility: Visibility): PublicEvent {
    const record = this.#events.findBytes(event.id);
    return this.#seesPayload(event.id, record, visibility) ? event : hidePayloadMembers(event);
  }

  /** Byte for byte. Throws `not_found`, also for an event that the caller does not see. */
  getPayload(id: string, visibility: Visibility | null): Buffer {
    const record = this.#getRecord(id);
    if (!this.#seesPayload(id, record, visibility)) throw notFoundError('event', id);
    return readPayloadBytes(record);
  }

  #seesPayload(id: string, record: Buffer | undefined, visibility: Visibility | null): boolean {
    return visibility === null || (record !== undefined
      && visibility.seesPayload(readReceiverIds(this.#find, id, record)));
  }

  #getRecord(id: string): Buffer {
    const record = this.#events.findBytes(id);
    if (record !== undefined && isEvent(record)) return record;
    throw eventNotFoundError(id);
  }
}

/** Names settings: a bound token, whose holder has not made them, is answered before. */
function eventNotFoundError(id: string): AppError {
  const { message } = notFoundError('event', id);
  return new AppError('not_found', `${message}: if there was such an event, it was not kept as `
    + 'nobody heard it (the setting events.keep), or it was removed (events.retentionDays, '
    + 'events.maxBytes)');
}

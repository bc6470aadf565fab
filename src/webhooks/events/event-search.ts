/** How a search walks through events, and what of an event it sees: id, name and payload. */
import { formatTimestamp } from '../../base/clock.ts';
import { findCommitted } from '../../store/find-record.ts';
import type { Collection, FindRecord, Store, Walk } from '../../store/store-port.ts';
import {
  eventCollection, readEventCreatedMs, readEventName, readEventRecordId,
} from '../deliveries/event-record.ts';
import { createEventFacts, readSearchedPayload } from '../deliveries/searched-event.ts';
import type { Facts } from '../filters/facts.ts';
import type { SearchedRecord } from '../search/search-query.ts';
import type { SearchPosition, SearchWalk } from '../search/searches.ts';
import { toPublicEvent, type PublicEvent } from './public-event.ts';

export class EventSearchWalk implements SearchWalk<PublicEvent> {
  readonly #events: Collection;
  readonly #find: FindRecord;
  readonly #walk: Walk | null;
  readonly #matches: (slot: number) => boolean;
  #last: { readonly id: string; readonly record: Buffer; readonly slot: number } | null = null;

  /** Begins behind the id `before`. Without `matches` no event is searched. */
  constructor(
    store: Pick<Store, 'collection'>, matches: ((slot: number) => boolean) | null,
    before: string | null,
  ) {
    this.#events = store.collection(eventCollection.name);
    this.#find = findCommitted(store);
    this.#walk = matches === null ? null
      : this.#events.walk({ after: before, isDescending: true });
    this.#matches = matches ?? (() => false);
  }

  next(): SearchedRecord<PublicEvent> | 'filtered' | null {
    const slot = this.#walk?.next() ?? -1;
    const record = slot === -1 ? undefined : this.#events.bytesAt(slot);
    if (record === undefined) return null;
    const id = this.#events.idAt(slot) ?? '';
    this.#last = { id, record, slot };
    return this.#matches(slot) ? new SearchedEvent(record, this.#find) : 'filtered';
  }

  position(): SearchPosition {
    if (this.#last === null) return { id: '', at: '' };
    const { id, record } = this.#last;
    return { id, at: formatTimestamp(readEventCreatedMs(record)) };
  }

  isStillListed(): boolean {
    if (this.#last === null) return false;
    const { id, slot } = this.#last;
    return this.#events.idAt(slot) === id && this.#matches(slot);
  }
}

class SearchedEvent implements SearchedRecord<PublicEvent> {
  readonly encodedParts: readonly Buffer[];
  readonly #record: Buffer;
  readonly #find: FindRecord;

  constructor(record: Buffer, find: FindRecord) {
    this.encodedParts = [record];
    this.#record = record;
    this.#find = find;
  }

  listIds(): readonly string[] {
    return [readEventRecordId(this.#record)];
  }

  listTexts(): readonly string[] {
    const name = readEventName(this.#record);
    return name === null ? [] : [name];
  }

  readPayload(): Buffer | null {
    return readSearchedPayload(this.#record);
  }

  createFacts(): Facts {
    return createEventFacts(readEventName(this.#record), this.readPayload());
  }

  decode(): PublicEvent {
    return toPublicEvent(this.#record, this.#find);
  }
}

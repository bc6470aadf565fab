/** How a search walks through events, and what of an event it sees: id, name and payload. */
import { findCommitted } from '../../store/find-record.ts';
import type { FindRecord, Store } from '../../store/store-port.ts';
import { decodeEventHead, eventCollection } from '../deliveries/event-record.ts';
import { createEventFacts, readSearchedPayload } from '../deliveries/searched-event.ts';
import type { Facts } from '../filters/facts.ts';
import type { SlotTest } from '../records/columns.ts';
import { RecordWalk } from '../search/record-walk.ts';
import type { SearchedRecord } from '../search/search-query.ts';
import type { SearchWalk } from '../search/searches.ts';
import { toPublicEvent, type PublicEvent } from './public-event.ts';

/** Begins behind the id `before`; null: with the newest event. */
export function walkEvents(
  store: Pick<Store, 'collection'>, matches: SlotTest | null, before: string | null,
): SearchWalk<PublicEvent> {
  const find = findCommitted(store);
  return new RecordWalk(store.collection(eventCollection.name), {
    before, matches, readAt: (record) => decodeEventHead(record).createdAt,
    open: (record) => new SearchedEvent(record, find),
  });
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
    return [decodeEventHead(this.#record).identifier];
  }

  listTexts(): readonly string[] {
    const { name } = decodeEventHead(this.#record);
    return name === null ? [] : [name];
  }

  readPayload(): Buffer | null {
    return readSearchedPayload(this.#record);
  }

  createFacts(): Facts {
    return createEventFacts(decodeEventHead(this.#record).name, this.readPayload());
  }

  decode(): PublicEvent {
    return toPublicEvent(this.#record, this.#find);
  }
}

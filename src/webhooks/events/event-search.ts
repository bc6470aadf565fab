/** How a search walks through events, and what of an event it sees: id, name and payload. */
import { findCommitted } from '../../store/find-record.ts';
import type { Store } from '../../store/store-port.ts';
import { decodeEventHead, eventCollection } from '../deliveries/event-record.ts';
import { readSearchedEvent } from '../deliveries/searched-event.ts';
import type { SlotTest } from '../records/columns.ts';
import { RecordWalk } from '../search/record-walk.ts';
import type { SearchWalk } from '../search/searches.ts';
import { toPublicEvent, type PublicEvent } from './public-event.ts';

/** Begins behind the id `before`; null: with the newest event. */
export function walkEvents(
  store: Pick<Store, 'collection'>, matches: SlotTest | null, before: string | null,
): SearchWalk<PublicEvent> {
  const find = findCommitted(store);
  return new RecordWalk(store.collection(eventCollection.name), {
    before, matches, readAt: (record) => decodeEventHead(record).createdAt,
    open: (record, id) => ({
      encodedParts: [record],
      read: () => readSearchedEvent([id], decodeEventHead(record).name, record),
      decode: () => toPublicEvent(record, find),
    }),
  });
}

/** Walks through the stored records of a list for a search, newest first. */
import type { Collection } from '../../store/store-port.ts';
import type { RecordMatches } from './record-list.ts';
import type { SearchedRecord } from './search-query.ts';
import type { SearchWalk } from './searches.ts';

type RecordWalkOptions<Item> = RecordMatches & {
  /** See `SearchWalk`. */
  readonly hidesOthers?: boolean;
  /** null: the records that belong to the record are gone. */
  readonly open: (record: Buffer, id: string) => SearchedRecord<Item> | null;
  readonly readAt: (record: Buffer, id: string) => string;
};

export function createRecordWalk<Item>(
  records: Collection,
  { matches, walk, hidesOthers = false, open, readAt }: RecordWalkOptions<Item>,
): SearchWalk<Item> {
  let last: { readonly id: string; readonly record: Buffer; readonly slot: number } | null = null;
  return {
    hidesOthers,
    next() {
      const slot = walk.next();
      const record = slot === -1 ? undefined : records.bytesAt(slot);
      if (record === undefined) return null;
      const id = records.idAt(slot) ?? '';
      last = { id, record, slot };
      return matches(slot) ? open(record, id) ?? 'filtered' : 'filtered';
    },
    position: () => last === null ? { id: '', at: '' }
      : { id: last.id, at: readAt(last.record, last.id) },
    isStillListed: () => last !== null && records.idAt(last.slot) === last.id && matches(last.slot),
  };
}

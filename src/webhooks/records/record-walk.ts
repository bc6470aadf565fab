/** Walks through the stored records of a list for a search, newest first. */
import type { Collection } from '../../store/store-port.ts';
import type { RecordMatches } from './record-list.ts';
import type { SearchedRecord } from './search-query.ts';
import type { SearchPosition, SearchWalk } from './searches.ts';

type RecordWalkOptions<Item> = RecordMatches & {
  /** See `SearchWalk`. */
  readonly hidesOthers?: boolean;
  /** null: the records that belong to the record are gone. */
  readonly open: (record: Buffer, id: string) => SearchedRecord<Item> | null;
  readonly readAt: (record: Buffer, id: string) => string;
};

export class RecordWalk<Item> implements SearchWalk<Item> {
  readonly #records: Collection;
  readonly #options: RecordWalkOptions<Item>;
  #last: { readonly id: string; readonly record: Buffer; readonly slot: number } | null = null;

  constructor(records: Collection, options: RecordWalkOptions<Item>) {
    this.#records = records;
    this.#options = options;
  }

  get hidesOthers(): boolean {
    return this.#options.hidesOthers === true;
  }

  next(): SearchedRecord<Item> | 'filtered' | null {
    const { matches, walk, open } = this.#options;
    const slot = walk.next();
    const record = slot === -1 ? undefined : this.#records.bytesAt(slot);
    if (record === undefined) return null;
    const id = this.#records.idAt(slot) ?? '';
    this.#last = { id, record, slot };
    return matches(slot) ? open(record, id) ?? 'filtered' : 'filtered';
  }

  position(): SearchPosition {
    if (this.#last === null) return { id: '', at: '' };
    const { id, record } = this.#last;
    return { id, at: this.#options.readAt(record, id) };
  }

  isStillListed(): boolean {
    if (this.#last === null) return false;
    const { id, slot } = this.#last;
    return this.#records.idAt(slot) === id && this.#options.matches(slot);
  }
}

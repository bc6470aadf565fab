/** Walks through the stored records of a list for a search, newest first. */
import type { Collection, Walk } from '../../store/store-port.ts';
import type { SlotTest } from './columns.ts';
import type { SearchedRecord } from './search-query.ts';
import type { SearchPosition, SearchWalk } from './searches.ts';

type RecordWalkOptions<Item> = {
  /** The id behind which the walk begins; null: with the newest record. */
  readonly before: string | null;
  /** null: no record matches. */
  readonly matches: SlotTest | null;
  /** What a search sees of a record; null: what belongs to it is gone. */
  readonly open: (record: Buffer, id: string) => SearchedRecord<Item> | null;
  readonly readAt: (record: Buffer, id: string) => string;
};

export class RecordWalk<Item> implements SearchWalk<Item> {
  readonly #records: Collection;
  readonly #options: RecordWalkOptions<Item>;
  readonly #walk: Walk;
  #last: { readonly id: string; readonly record: Buffer; readonly slot: number } | null = null;

  constructor(records: Collection, options: RecordWalkOptions<Item>) {
    this.#records = records;
    this.#options = options;
    this.#walk = records.walk({ after: options.before, isDescending: true });
  }

  next(): SearchedRecord<Item> | 'filtered' | null {
    const { matches, open } = this.#options;
    const slot = matches === null ? -1 : this.#walk.next();
    const record = slot === -1 ? undefined : this.#records.bytesAt(slot);
    if (record === undefined) return null;
    const id = this.#records.idAt(slot) ?? '';
    this.#last = { id, record, slot };
    return matches?.(slot) === true ? open(record, id) ?? 'filtered' : 'filtered';
  }

  position(): SearchPosition {
    if (this.#last === null) return { id: '', at: '' };
    const { id, record } = this.#last;
    return { id, at: this.#options.readAt(record, id) };
  }

  isStillListed(): boolean {
    if (this.#last === null) return false;
    const { id, slot } = this.#last;
    return this.#records.idAt(slot) === id && this.#options.matches?.(slot) === true;
  }
}

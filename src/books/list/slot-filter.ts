/** The filter of a scan: whether the book in a slot of the store matches a query. */
import type { Candidates } from '../index/book-search.ts';
import { hasTextConditions, matchesMembers } from '../query/match-book.ts';
import type { BookQuery } from '../query/parse-query.ts';
import type { Collection } from '../../store/store-port.ts';
import type { ConcurrentChanges } from './concurrent-changes.ts';
import { TextFilter } from './text-filter.ts';

/** The inputs of one scan, of which the filter needs no more of the query than its conditions. */
export type ScanInputs = FilterInputs & { readonly query: BookQuery };

export type FilterInputs = {
  readonly collection: Collection;
  readonly query: Pick<BookQuery, 'filter'>;
  /** The books that the word index found; null: all books may match. */
  readonly candidates: Candidates | null;
  readonly changes: ConcurrentChanges;
};

interface SlotFilter {
  /** The bytes of the book in a slot if it matches; undefined if not, or if the slot is empty. */
  readIfMatching(slot: number): Buffer | undefined;
  /** True when enough was read since the last true: the caller yields, the count starts anew. */
  resetIfYieldDue(): boolean;
}

// A unit of work between two looks at the clock: this many books read from their bytes.
const READS_PER_YIELD = 16;
// A look for words costs as much as to read so many members.
const READS_PER_TEXT = 4;

export function createSlotFilter(
  { collection, query, candidates, changes }: FilterInputs,
): SlotFilter {
  const { filter } = query;
  const textFilter = hasTextConditions(filter) ? new TextFilter(filter) : null;
  let reads = 0;
  return {
    readIfMatching(slot) {
      reads += 1;
      if (candidates !== null && !candidates.slots.has(slot)) return undefined;
      const bytes = collection.bytesAt(slot);
      if (bytes === undefined || !matchesMembers(filter, bytes)) return undefined;
      // The index knows the book as it was when the index was asked, if it was indexed by then.
      const isKnownMatch = candidates?.isExact === true && !changes.changedSlots.has(slot)
        && candidates.unindexed?.has(slot) !== true;
      if (textFilter === null || isKnownMatch) return bytes;
      reads += READS_PER_TEXT;
      return textFilter.matches(bytes) ? bytes : undefined;
    },
    resetIfYieldDue() {
      if (reads < READS_PER_YIELD) return false;
      reads = 0;
      return true;
    },
  };
}

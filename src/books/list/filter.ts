/** Which books match, told by slot: from remembered numbers where these are enough. */
import type { Collection } from '../../store/port.ts';
import type { Changes } from './changes.ts';
import type { SlotColumns } from './columns.ts';
import type { Candidates } from '../index/search.ts';
import type { BookQuery } from '../query/parse.ts';
import { readIsbn } from '../query/fields.ts';
import {
  decodeSearchable, hasTextConditions, matchesDate, matchesLanguage, matchesText,
} from '../query/match.ts';

export type Scan = {
  readonly collection: Collection;
  readonly query: BookQuery;
  /** null: all books may match. */
  readonly candidates: Candidates | null;
  readonly changes: Changes;
  readonly columns: SlotColumns;
};

export interface SlotFilter {
  /** Whether the book in a slot matches; there must be one. */
  matches(slot: number): boolean;
  /** Whether enough was done since the last yield. */
  isYieldDue(): boolean;
}

// A unit of work between two looks at the clock: cheap looks at this many books, or one parse.
const LOOKS_PER_YIELD = 16;

export function createFilter(scan: Scan): SlotFilter {
  const { collection, query, candidates, changes, columns } = scan;
  const { filter } = query;
  const { isbn } = filter;
  const hasText = hasTextConditions(filter);
  const mustParse = hasText && candidates?.isExact !== true;
  const matchesColumns = createColumnFilter(query, columns);
  let looks = 0;
  return {
    matches(slot) {
      looks += 1;
      if (candidates !== null && !candidates.slots.has(slot)) return false;
      if (!matchesColumns(slot)) return false;
      // The index knows the book as it was when it was asked.
      const isParsed = mustParse || (hasText && changes.changed.has(slot));
      if (isbn === null && !isParsed) return true;
      const bytes = collection.bytesAt(slot);
      if (bytes === undefined || (isbn !== null && readIsbn(bytes) !== isbn)) return false;
      if (!isParsed) return true;
      looks += LOOKS_PER_YIELD;
      return matchesText(filter, decodeSearchable(bytes));
    },
    isYieldDue() {
      if (looks < LOOKS_PER_YIELD) return false;
      looks = 0;
      return true;
    },
  };
}

function createColumnFilter(
  { filter }: BookQuery, columns: SlotColumns,
): (slot: number) => boolean {
  const { language, publishedFrom, publishedTo } = filter;
  const published = publishedFrom === null && publishedTo === null ? null : columns.published();
  const languages = language === null ? null : columns.language();
  // By number of the language: a catalog has few, and each is compared once.
  const isLanguage: (boolean | undefined)[] = [];
  return (slot) => {
    if (published !== null && !matchesDate(filter, published.at(slot))) return false;
    if (languages === null || language === null) return true;
    const number = languages.at(slot);
    const known = isLanguage[number];
    if (known !== undefined) return known;
    const isMatch = matchesLanguage(language, columns.languageOf(number));
    isLanguage[number] = isMatch;
    return isMatch;
  };
}

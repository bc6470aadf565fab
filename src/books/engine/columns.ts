/**
 * The columns that there are, and which of them answer the conditions of a filter: those that
 * `matchesMembers` checks besides `isbns`, `publishers` and `excludedKeywords`, for which the word
 * index has candidates.
 */
import { matchesLanguages } from '../query/match-book.ts';
import type { BookFilter } from '../query/parse-query.ts';
import { readBookFormat, readLanguage } from '../query/stored-fields.ts';
import { CodeColumn } from './code-column.ts';
import type { BookColumn, ColumnName } from './book-column.ts';
import { DateColumn } from './date-column.ts';
import { PresenceColumn } from './presence-column.ts';

type ColumnRow = {
  readonly create: (slotBound: number) => BookColumn;
  /** Whether the filter has a condition on it. */
  readonly hasCondition: (filter: BookFilter) => boolean;
};

const COLUMN_ROWS = {
  inLanguage: {
    create: (slotBound) => new CodeColumn(slotBound, {
      readValue: readLanguage,
      pickWanted: ({ languages }) => languages,
      matches: matchesLanguages,
    }),
    hasCondition: ({ languages }) => languages.length > 0,
  },
  bookFormat: {
    create: (slotBound) => new CodeColumn(slotBound, {
      readValue: readBookFormat,
      pickWanted: ({ bookFormats }) => bookFormats,
      matches: (formats, format) => formats.includes(format),
    }),
    hasCondition: ({ bookFormats }) => bookFormats.length > 0,
  },
  datePublished: {
    create: (slotBound) => new DateColumn(slotBound),
    hasCondition: ({ publishedFrom, publishedTo }) =>
      publishedFrom !== null || publishedTo !== null,
  },
  isbn: {
    create: (slotBound) => new PresenceColumn(slotBound),
    hasCondition: ({ hasIsbn }) => hasIsbn !== null,
  },
} satisfies Readonly<Record<ColumnName, ColumnRow>>;

export const COLUMN_NAMES: readonly ColumnName[] =
  ['inLanguage', 'bookFormat', 'datePublished', 'isbn'];

/** An empty column, with room for the slots below `slotBound`; others may come. */
export function createColumn(name: ColumnName, slotBound: number): BookColumn {
  return COLUMN_ROWS[name].create(slotBound);
}

/** The columns that the filter has a condition on. A book must match each. */
export function columnsFor(filter: BookFilter): readonly ColumnName[] {
  return COLUMN_NAMES.filter((name) => COLUMN_ROWS[name].hasCondition(filter));
}

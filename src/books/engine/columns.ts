/** The columns that there are, and what the conditions of a filter ask of them. */
import { encodeByteString } from '../../base/text/fold.ts';
import { createDateRange, isWithin } from '../query/date-range.ts';
import { matchesLanguages } from '../query/match-book.ts';
import type { BookFilter } from '../query/parse-query.ts';
import {
  hasIsbn, readAuthors, readBookFormat, readDatePublished, readKeywords, readLanguage,
  readPublisher,
} from '../query/stored-fields.ts';
import { eachTerm, joinWords } from '../query/words.ts';
import { ValueColumn } from './value-column.ts';
import type { ColumnOptions, ValueQuestion } from './value-column.ts';
import type { BookValue } from './value-dictionary.ts';

/** The members whose values have a column. */
export type ColumnName =
  'inLanguage' | 'bookFormat' | 'datePublished' | 'isbn' | 'author' | 'keyword' | 'publisher';

type ColumnRow = ColumnOptions & {
  /** What it is expected to take of memory for each book. */
  readonly bytesPerBook: number;
};

const COLUMN_ROWS: Readonly<Record<ColumnName, ColumnRow>> = {
  inLanguage: { readValues: (bytes) => toList(readLanguage(bytes)), bytesPerBook: 4 },
  bookFormat: { readValues: (bytes) => toList(readBookFormat(bytes)), bytesPerBook: 4 },
  datePublished: { readValues: (bytes) => toList(readDatePublished(bytes)), bytesPerBook: 4 },
  // Whether there is one.
  isbn: { readValues: (bytes) => [String(hasIsbn(bytes))], bytesPerBook: 4 },
  // Found by any of their words.
  author: { readValues: readAuthorNames, deriveTerms: listTerms, bytesPerBook: 32 },
  // Found by the beginning of their `joinWords`.
  keyword: {
    readValues: (bytes) => readKeywords(bytes), isCaseless: true, bytesPerBook: 32,
    deriveTerms: (keyword) => [encodeByteString(joinWords(keyword))],
  },
  publisher: { readValues: (bytes) => toList(readPublisher(bytes)), bytesPerBook: 32 },
};

/** An empty column. */
export function createColumn(name: ColumnName, bytesMax: number): ValueColumn {
  return new ValueColumn(COLUMN_ROWS[name], bytesMax);
}

export function bytesPerBookOf(name: ColumnName): number {
  return COLUMN_ROWS[name].bytesPerBook;
}

/**
 * The columns that the filter has a condition on, and what it asks. A book must match each. These
 * are the conditions of `matchesMembers` but `isbns`, for which the word index has candidates.
 */
export function columnsFor(
  { languages, bookFormats, publishedFrom, publishedTo, hasIsbn: isWanted }: BookFilter,
): readonly (ValueQuestion & { readonly name: ColumnName })[] {
  const questions: (ValueQuestion & { readonly name: ColumnName })[] = [];
  const ask = (name: ColumnName, key: string, accepts: (value: BookValue) => boolean): void => {
    questions.push({ name, key, accepts });
  };
  if (languages.length > 0) {
    ask('inLanguage', languages.join(' '), (tag) => matchesLanguages(languages, String(tag)));
  }
  if (bookFormats.length > 0) {
    const formats: readonly BookValue[] = bookFormats;
    ask('bookFormat', bookFormats.join(' '), (format) => formats.includes(format));
  }
  if (publishedFrom !== null || publishedTo !== null) {
    const range = createDateRange(publishedFrom, publishedTo);
    ask('datePublished', `${range.from} ${range.to}`, (date) => isWithin(Number(date), range));
  }
  if (isWanted !== null) ask('isbn', String(isWanted), (value) => value === String(isWanted));
  return questions;
}

/** An empty text is no value. */
function toList(value: BookValue | null): readonly BookValue[] {
  return value === null || value === '' ? [] : [value];
}

/** The authors' names, each once a book. */
function readAuthorNames(bytes: Buffer): readonly string[] {
  return [...new Set(readAuthors(bytes).map(({ name }) => name))];
}

function listTerms(text: string): readonly string[] {
  const terms: string[] = [];
  eachTerm(text, (term) => terms.push(term));
  return terms;
}

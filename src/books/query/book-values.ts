/**
 * The values by which books are found and counted, such as languages: a row for each kind of them.
 * A column (`engine/value-column.ts`) holds, for all books, the values that its row reads.
 */
import { encodeByteString } from '../../base/text/fold.ts';
import {
  readAuthorNames, readBookFormat, readDatePublished, readFinishedOn, readIsbn, readKeywords,
  readLanguage, readNumberOfPages, readOwned, readPublisher, readRating, readSeriesNames,
  readShelves, readStatus, readTitle,
} from './stored-fields.ts';
import { eachTerm, joinWords } from './words.ts';

/** A number is compared as numbers are, such as a date (`encodeDate`). */
export type BookValue = string | number;

export type ValueSpelling = {
  /** Values that differ in case alone are one, which is shown in its commonest spelling. */
  readonly isCaseless?: boolean;
  /** The terms under which a value is found, as byte strings. Default: it is not found. */
  readonly deriveTerms?: (value: string) => readonly string[];
};

export type ColumnRow = ValueSpelling & {
  /** The values of a stored book. */
  readonly readValues: (bytes: Buffer) => readonly BookValue[];
  /** The memory that a column of them is expected to take for each book. */
  readonly bytesPerBook: number;
};

const rows = {
  inLanguage: { readValues: valuesOf(readLanguage), bytesPerBook: 4 },
  bookFormat: { readValues: valuesOf(readBookFormat), bytesPerBook: 4 },
  datePublished: { readValues: valuesOf(readDatePublished), bytesPerBook: 4 },
  // `true` or `false`.
  hasIsbn: { readValues: (bytes) => [String(readIsbn(bytes) !== null)], bytesPerBook: 4 },
  // Found by any of their words.
  author: { readValues: readAuthorNames, deriveTerms: listTerms, bytesPerBook: 32 },
  // Found by the beginning of their `joinWords`.
  keyword: {
    readValues: readKeywords, isCaseless: true, bytesPerBook: 32,
    deriveTerms: (keyword) => [encodeByteString(joinWords(keyword))],
  },
  publisher: { readValues: valuesOf(readPublisher), bytesPerBook: 32 },
  numberOfPages: { readValues: valuesOf(readNumberOfPages), bytesPerBook: 4 },
  status: { readValues: valuesOf(readStatus), bytesPerBook: 4 },
  rating: { readValues: valuesOf(readRating), bytesPerBook: 4 },
  finishedOn: { readValues: valuesOf(readFinishedOn), bytesPerBook: 4 },
  owned: { readValues: valuesOf(readOwned), bytesPerBook: 4 },
  shelf: { readValues: readShelves, isCaseless: true, bytesPerBook: 8 },
  series: { readValues: readSeriesNames, isCaseless: true, bytesPerBook: 32 },
  // Only its beginning: most titles are those of one book.
  title: { readValues: valuesOf(readTitleStart), bytesPerBook: 4 },
} satisfies Readonly<Record<string, ColumnRow>>;

export type ColumnName = keyof typeof rows;
export const COLUMN_ROWS: Readonly<Record<ColumnName, ColumnRow>> = rows;

const TITLE_START = 3;
/** Three ASCII letters with at most a space between two of them are a start as they are. */
const PLAIN_START = /^[A-Za-z](?: ?[A-Za-z]){2}/;
const NO_VALUES: readonly never[] = [];

/** Makes a list of the value that a book may have; an empty text is none. */
export function valuesOf(
  readValue: (bytes: Buffer) => BookValue | null,
): (bytes: Buffer) => readonly BookValue[] {
  return (bytes) => {
    const value = readValue(bytes);
    return value === null || value === '' ? NO_VALUES : [value];
  };
}

/** The first letters of a `joinWords`, by which titles are found. */
export function cutTitleStart(words: string): string {
  return words.slice(0, TITLE_START);
}

function readTitleStart(bytes: Buffer): string {
  const title = readTitle(bytes);
  // For most titles, in a fifth of the time.
  const plainStart = PLAIN_START.exec(title)?.[0].toLowerCase();
  return cutTitleStart(plainStart ?? joinWords(title));
}

function listTerms(text: string): readonly string[] {
  const terms: string[] = [];
  eachTerm(text, (term) => terms.push(term));
  return terms;
}

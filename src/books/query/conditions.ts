/**
 * The conditions by which books are found, and the facets by which they are counted: a row each.
 * From the row of a condition follow the parameter of the routes, the option of the commands and
 * the member of `BookListQuery`, how its text is parsed, which books meet it, which index finds
 * these, and which facet ignores it. A condition asks for words in the texts of a book, or for
 * values that the book has.
 */
import type { ArraySchema, StringSchema } from '../../base/schema.ts';
import { quote } from '../../base/text/error-message.ts';
import { foldCase } from '../../base/text/fold.ts';
import { didYouMean } from '../../base/text/nearest.ts';
import type { ParameterSpec } from '../../server/http-route.ts';
import { REPETITIONS_MAX, malformed, parseEither } from '../../server/query.ts';
import { BOOK_FORMATS, RATING_MAX } from '../book.ts';
import { explainIsbn, parseIsbn } from '../isbn.ts';
import { explainPartialDate, parsePartialDate } from '../partial-date.ts';
import { READING_STATUSES, findReadingStatus } from '../reading-status.ts';
import { COLUMN_ROWS, valuesOf } from './book-values.ts';
import type { BookValue, ColumnName } from './book-values.ts';
import {
  encodeDate, firstDayOf, formatDecade, formatMonth, formatYear, lastDayOf,
} from './date-range.ts';
import { readIsbn } from './stored-fields.ts';

/**
 * A place of words; `anyText` is every text that is indexed but the publisher. The texts of
 * `metadata` are its members that are texts, not those of members within these.
 */
export type WordsPlace = IndexedPlace | ScannedPlace;
export type IndexedPlace = 'anyText' | 'author' | 'publisher';
/** Reviews are long, and few look for words in either: they are in no index. */
const SCANNED_PLACES = ['review', 'metadata'] as const;
export type ScannedPlace = (typeof SCANNED_PLACES)[number];

/** The words of one of the texts that are asked for must be in the place. */
export type WordsRow = ConditionRow & (
  | { readonly place: IndexedPlace; readonly isScanned?: undefined }
  /** No index has the words. */
  | { readonly place: ScannedPlace; readonly isScanned: true }
);

/** The book must have one of the values that are asked for. */
export type ValueRow = ConditionRow & {
  /** The value that a text asks for. Throws `malformed`, naming the parameter. */
  parse(text: string, name: string): BookValue;
  /** The values that a stored book has. */
  readValues(bytes: Buffer): readonly BookValue[];
  /** Whether a value of a book is the one that is asked for. Default: it is the same. */
  accepts?(wanted: BookValue, value: BookValue): boolean;
  /**
   * How the word index stores the values: `keyword` under a tag of its own (exact), `isbn` as a
   * plain word, which a title may also contain (the book must be checked).
   */
  readonly term?: 'keyword' | 'isbn';
} & (
  /** The column that answers the condition. */
  | { readonly isExcluded?: undefined; readonly column?: ColumnName }
  /** The book must have none of the values. A column finds books that have a value. */
  | { readonly isExcluded: true; readonly column?: undefined }
);

type ConditionRow = ParameterSpec & {
  /** The facet that ignores the condition. */
  readonly facet?: Facet;
  /** The name of the condition in the console, beside the facet. */
  readonly label?: string;
};

/** Books are counted by the values of a column. */
export type FacetRow<Name = Facet> = {
  readonly name: Name;
  /** Above the values in the console. */
  readonly title: string;
  readonly column: ColumnName;
  /** The group in which a number is counted. Default: each value is counted by itself. */
  format?(value: BookValue): string;
};

const TEXT: StringSchema = { kind: 'string' };
const TEXTS = several({ kind: 'string', minLength: 1 });
const KEYWORD_ROW_BASE = {
  in: 'query', schema: TEXTS, option: { placeholder: '<keyword>' },
  parse: wholeText('keyword'), readValues: COLUMN_ROWS.keyword.readValues, accepts: isSameText,
  term: 'keyword',
} as const;
const DATE_ROW_BASE = {
  in: 'query', schema: { kind: 'string', minLength: 4 }, option: { placeholder: '<date>' },
} as const;
const PUBLISHED_ROW_BASE =
  { ...DATE_ROW_BASE, ...inColumn('datePublished'), facet: 'decade' } as const;
const FINISHED_ROW_BASE =
  { ...DATE_ROW_BASE, ...inColumn('finishedOn'), facet: 'finishedYear' } as const;
const SINCE = {
  parse: (text: string, name: string) => firstDayOf(parseDate(text, name)),
  accepts: (first: number, date: number) => firstDayOf(date) >= first,
};
const UNTIL = {
  parse: (text: string, name: string) => lastDayOf(parseDate(text, name)),
  accepts: (last: number, date: number) => lastDayOf(date) <= last,
};
const RATING_ROW_BASE = {
  in: 'query', schema: { kind: 'number', minimum: 0, maximum: RATING_MAX },
  option: { placeholder: '<stars>' }, parse: parseRating, ...inColumn('rating'), facet: 'rating',
} as const;

const wordsRows = [
  {
    name: 'q', in: 'query', schema: TEXT, option: { placeholder: '<words>' }, place: 'anyText',
    description: 'Words in title, subtitle, author names, keywords, series, shelves or isbn; all '
      + 'must match. Case and accents do not count, and the start of a word is enough; in scripts '
      + 'without spaces a word is found wherever it stands.',
  },
  {
    name: 'author', in: 'query', schema: several(TEXT), option: { placeholder: '<words>' },
    description: 'Words in author names, as in `q`; several times: those of one of them.',
    place: 'author', facet: 'author', label: 'Author',
  },
  {
    name: 'publisher', in: 'query', schema: several(TEXT), option: { placeholder: '<words>' },
    description: 'Words in the name of the publisher; several times: those of one of them.',
    place: 'publisher', facet: 'publisher', label: 'Publisher',
  },
] as const satisfies readonly WordsRow[];

const valueRows = [
  {
    name: 'isbn', in: 'query', schema: TEXTS, option: { placeholder: '<isbn>' },
    description: 'An ISBN-10 or ISBN-13, with or without hyphens; several times: one of them.',
    parse: parseIsbnValue, readValues: valuesOf(readIsbn), term: 'isbn',
  },
  {
    name: 'hasIsbn', in: 'query', schema: { kind: 'boolean' },
    option: { values: ['true', 'false'] },
    description: 'Whether the book has an ISBN.',
    parse: parseFlag, ...inColumn('hasIsbn'),
  },
  {
    name: 'inLanguage', in: 'query', schema: TEXTS, option: { placeholder: '<tag>' },
    description: 'A language range (RFC 4647 basic filtering): `en` also matches `en-GB`; several '
      + 'times: one of them.',
    parse: parseLanguageRange, accepts: isInLanguageRange, ...inColumn('inLanguage'),
    facet: 'inLanguage', label: 'Language',
  },
  {
    name: 'bookFormat', in: 'query', schema: several({ kind: 'string', values: BOOK_FORMATS }),
    option: { placeholder: '<format>', suggests: BOOK_FORMATS },
    description: 'The format, such as `EBook`; several times: one of them.',
    parse: choiceOf(BOOK_FORMATS), ...inColumn('bookFormat'), facet: 'bookFormat', label: 'Format',
  },
  {
    name: 'keyword', ...KEYWORD_ROW_BASE, facet: 'keyword', label: 'Keyword',
    description: 'A whole keyword; case does not count; several times: one of them.',
  },
  {
    name: 'keyword.not', ...KEYWORD_ROW_BASE, isExcluded: true,
    description: 'A whole keyword that the book has not; several times: none of them.',
  },
  {
    name: 'publishedFrom', ...PUBLISHED_ROW_BASE, ...SINCE, label: 'Published from',
    description: 'Published in this `YYYY`, `YYYY-MM` or `YYYY-MM-DD`, or later.',
  },
  {
    name: 'publishedTo', ...PUBLISHED_ROW_BASE, ...UNTIL, label: 'Published to',
    description: 'Published in this `YYYY`, `YYYY-MM` or `YYYY-MM-DD`, or earlier.',
  },
  {
    name: 'status', in: 'query', schema: several({ kind: 'string', values: READING_STATUSES }),
    option: { placeholder: '<status>', suggests: READING_STATUSES },
    description: 'Whether it was read: `read`, `to-read` and so on; several times: one of them.',
    parse: choiceOf(READING_STATUSES, findReadingStatus), ...inColumn('status'), facet: 'status',
    label: 'Status',
  },
  {
    name: 'shelf', in: 'query', schema: TEXTS, option: { placeholder: '<shelf>' },
    description: 'A whole shelf; case does not count; several times: one of them.',
    parse: wholeText('shelf'), accepts: isSameText, ...inColumn('shelf'), facet: 'shelf',
    label: 'Shelf',
  },
  {
    name: 'series', in: 'query', schema: TEXTS, option: { placeholder: '<series>' },
    description: 'The whole name of a series; case does not count; several times: one of them.',
    parse: wholeText('name'), accepts: isSameText, ...inColumn('series'), facet: 'series',
    label: 'Series',
  },
  {
    name: 'ratingFrom', ...RATING_ROW_BASE, label: 'Rating from',
    description: 'Rated with so many stars or more.',
    accepts: (least: number, rating: number) => rating >= least,
  },
  {
    name: 'ratingTo', ...RATING_ROW_BASE, label: 'Rating to',
    description: 'Rated with so many stars or fewer.',
    accepts: (most: number, rating: number) => rating <= most,
  },
  {
    name: 'finishedFrom', ...FINISHED_ROW_BASE, ...SINCE, label: 'Finished from',
    description: 'Last finished in this `YYYY`, `YYYY-MM` or `YYYY-MM-DD`, or later.',
  },
  {
    // Inclusive: `2024` finds a book that was finished on 2024-12-31.
    name: 'finishedTo', ...FINISHED_ROW_BASE, ...UNTIL, label: 'Finished to',
    description: 'Last finished in this `YYYY`, `YYYY-MM` or `YYYY-MM-DD`, or earlier.',
  },
  {
    name: 'owned', in: 'query', schema: { kind: 'boolean' },
    option: { values: ['true', 'false'] },
    description: 'Whether the reader owns it; a book that does not say it is not found.',
    parse: parseFlag, ...inColumn('owned'),
  },
] as const satisfies readonly ValueRow[];

const facetRows = [
  { name: 'author', title: 'Authors', column: 'author' },
  { name: 'keyword', title: 'Keywords', column: 'keyword' },
  { name: 'inLanguage', title: 'Languages', column: 'inLanguage' },
  { name: 'publisher', title: 'Publishers', column: 'publisher' },
  { name: 'decade', title: 'Decades', column: 'datePublished', format: formatDecade },
  { name: 'bookFormat', title: 'Formats', column: 'bookFormat' },
  { name: 'status', title: 'Statuses', column: 'status' },
  { name: 'rating', title: 'Ratings', column: 'rating', format: formatStars },
  { name: 'shelf', title: 'Shelves', column: 'shelf' },
  { name: 'series', title: 'Series', column: 'series' },
  { name: 'finishedYear', title: 'Years finished', column: 'finishedOn', format: formatYear },
] as const satisfies readonly FacetRow<string>[];

/** A way to count books in statistics: by a value of a column. Each book counts once. */
export type StatisticRow<Name = Statistic> = {
  readonly name: Name;
  readonly column: ColumnName;
  /** The group in which a value is counted; null: it is not. Default: each value by itself. */
  format?(value: BookValue): string | null;
};

const statisticRows = [
  { name: 'year', column: 'finishedOn', format: formatYear },
  { name: 'month', column: 'finishedOn', format: formatMonth },
  { name: 'status', column: 'status' },
  { name: 'rating', column: 'rating', format: formatStars },
  { name: 'language', column: 'inLanguage' },
  { name: 'decade', column: 'datePublished', format: formatDecade },
] as const satisfies readonly StatisticRow<string>[];

export const STATISTICS: readonly StatisticRow[] = statisticRows;
export const STATISTIC_NAMES: readonly Statistic[] = statisticRows.map(({ name }) => name);
export type Statistic = (typeof statisticRows)[number]['name'];

export const WORDS_ROWS: readonly WordsRow[] = wordsRows;
export const SEARCH_ROW: WordsRow = wordsRows[0];
/** The place in which the words of `q` are looked for. */
export const placeParameter = {
  name: 'in', in: 'query', schema: { kind: 'string', values: SCANNED_PLACES },
  option: { help: 'look for the words of --q in reviews, or in your own metadata, alone' },
  description: 'Where the words of `q`, which must be there, are looked for, and nowhere else: '
    + '`review`, or `metadata`, whose members that are texts are read.',
} as const satisfies ParameterSpec;

/** Throws `malformed` for a text that is no such place. */
export function parsePlace(text: string, name: string): ScannedPlace {
  const place = SCANNED_PLACES.find((one) => one === text);
  if (place !== undefined) return place;
  throw malformed(`\`${name}\` must be one of ${SCANNED_PLACES.join(', ')}, not ${quote(text)}`
    + didYouMean(text, SCANNED_PLACES));
}

export const VALUE_ROWS: readonly ValueRow[] = valueRows;
export const FACETS: readonly FacetRow[] = facetRows;
export const FACET_NAMES: readonly Facet[] = facetRows.map(({ name }) => name);

/** The properties by which books can be counted. */
export type Facet = (typeof facetRows)[number]['name'];

/** The row of each condition, with its name and the kind of its schema. */
export type EachCondition = (typeof wordsRows | typeof valueRows)[number];

function several(items: StringSchema): ArraySchema {
  return { kind: 'array', items, maxItems: REPETITIONS_MAX };
}

/** The members of the row of a condition that a column answers. */
function inColumn(
  column: ColumnName,
): Pick<ValueRow, 'readValues'> & { readonly column: ColumnName } {
  return { column, readValues: COLUMN_ROWS[column].readValues };
}

function parseIsbnValue(text: string, name: string): string {
  const isbn = parseIsbn(text);
  if (isbn === null) throw malformed(`\`${name}\` ${explainIsbn(text)}`);
  return isbn;
}

function parseFlag(text: string, name: string): string {
  return String(parseEither(name, text, 'true', 'false'));
}

/** `findMeant`: the choice that another word means. */
function choiceOf(
  choices: readonly string[], findMeant: (text: string) => string | undefined = () => undefined,
): (text: string, name: string) => string {
  return (text, name) => {
    if (choices.includes(text)) return text;
    throw malformed(`\`${name}\` must be one of ${choices.join(', ')}, not ${quote(text)}`
      + didYouMean(findMeant(text) ?? text, choices));
  };
}

/** Parses a text that is compared whole, without regard to case. */
function wholeText(noun: string): (text: string, name: string) => string {
  return (text, name) => {
    if (text !== '') return foldCase(text);
    throw malformed(`\`${name}\` must not be empty: give it a whole ${noun}, or leave it out`);
  };
}

const DECIMAL = /^[0-9]{1,3}(\.[0-9]{1,6})?$/;

function parseRating(text: string, name: string): number {
  const rating = DECIMAL.test(text) ? Number(text) : NaN;
  if (rating <= RATING_MAX) return rating;
  throw malformed(`\`${name}\` must be a number from 0 to ${RATING_MAX}, not ${quote(text)}`);
}

/** Whole stars, rounded down. */
function formatStars(rating: number): string {
  return String(Math.floor(rating));
}

function isSameText(wanted: string, text: string): boolean {
  return foldCase(text) === wanted;
}

const LANGUAGE_RANGE = /^(?:[a-z]{1,8}(?:-[a-z0-9]{1,8})*|\*)$/i;

/**
 * A basic language range (RFC 4647 §2.1), in lower case. An outdated tag becomes the one that is
 * stored in its place.
 */
function parseLanguageRange(text: string, name: string): string {
  if (!LANGUAGE_RANGE.test(text)) {
    throw malformed(`\`${name}\` must be a language range such as \`en\` or \`pt-BR\`, `
      + `not ${quote(text)}`);
  }
  try {
    return (Intl.getCanonicalLocales(text)[0] ?? text).toLowerCase();
  } catch {
    // `*`, and a range that is no whole tag, such as `zh-a`.
    return text.toLowerCase();
  }
}

/** Basic filtering (RFC 4647 §3.3.1): the range, or the range and a hyphen, begins the tag. */
function isInLanguageRange(range: string, tag: string): boolean {
  const lower = tag.toLowerCase();
  return range === '*' || lower === range
    || (lower.startsWith(range) && lower[range.length] === '-');
}

/** Returns a number of `encodeDate`. */
function parseDate(text: string, name: string): number {
  const date = parsePartialDate(text);
  if (date === null) throw malformed(`\`${name}\` ${explainPartialDate(text)}`);
  return encodeDate(date);
}

/** The keys by which lists of books are sorted: a row each. Pure. */
import { encodeByteString, fold } from '../../base/text/fold.ts';
import { createAuthorKey } from './author-key.ts';
import {
  readCreatedAt, readDatePublished, readFinishedOn, readFirstAuthor, readFirstSeries, readRating,
  readTitle, readUpdatedAt,
} from './stored-fields.ts';

/** A text is a byte string (`encodeByteString`); null: the book has none. */
export type SortValue = string | number | null;

type SortKeyRow = {
  /** The value of a stored book. */
  readonly readValue: (bytes: Buffer) => SortValue;
  /** Whether the values are texts, and not numbers. */
  readonly isText?: boolean;
  /** Whether a book may have none. */
  readonly isOptional?: boolean;
  /** The names of both orders in the console. Default: it does not offer them. */
  readonly labels?: readonly [rising: string, falling: string];
};

/**
 * A key whose falling order is not the reverse of the rising one has a row for it, too, with the
 * `-` before its name.
 */
const rows = {
  title: {
    readValue: (bytes) => createTitleSortKey(readTitle(bytes)), isText: true,
    labels: ['title, A to Z', 'title, Z to A'],
  },
  author: {
    readValue: readAuthorKey, isText: true, isOptional: true,
    labels: ['author, A to Z', 'author, Z to A'],
  },
  datePublished: {
    readValue: readDatePublished, isOptional: true,
    labels: ['published, oldest first', 'published, newest first'],
  },
  updatedAt: { readValue: readUpdatedAt, labels: ['changed first', 'changed last'] },
  createdAt: { readValue: readCreatedAt },
  rating: {
    readValue: readQuarters, isOptional: true,
    labels: ['rating, lowest first', 'rating, highest first'],
  },
  finishedOn: {
    readValue: readFinishedOn, isOptional: true,
    labels: ['finished, earliest first', 'finished, latest first'],
  },
  series: {
    readValue: (bytes) => readSeriesKey(bytes, AFTER_POSITIONS), isText: true, isOptional: true,
    labels: ['series, A to Z', 'series, Z to A'],
  },
  '-series': {
    readValue: (bytes) => readSeriesKey(bytes, ''), isText: true, isOptional: true,
  },
} satisfies Readonly<Record<string, SortKeyRow>>;

export type SortKey = keyof typeof rows;
export const SORT_ROWS: Readonly<Record<SortKey, SortKeyRow>> = rows;
/** The names of all keys. Ids are what ties go by, so they have no row. */
export const SORT_KEYS: readonly string[] =
  ['id', ...Object.keys(rows).filter((name) => !name.startsWith('-'))];

export function isSortKey(name: string): name is SortKey {
  return Object.hasOwn(rows, name);
}

/** The value of a stored book for one key. */
export function readSortValue(key: SortKey, bytes: Buffer): SortValue {
  return SORT_ROWS[key].readValue(bytes);
}

/** Books without the key come last in either direction. */
export function compareKeys(left: SortValue, right: SortValue, isDescending: boolean): number {
  if (left === right) return 0;
  if (left === null) return 1;
  if (right === null) return -1;
  return (left < right) !== isDescending ? -1 : 1;
}

function readAuthorKey(bytes: Buffer): string | null {
  const author = readFirstAuthor(bytes);
  return author === null ? null : createAuthorKey(author);
}

/** Numbers of a key are whole. */
function readQuarters(bytes: Buffer): number | null {
  const rating = readRating(bytes);
  return rating === null ? null : rating * 4;
}

// Its name ends before all letters. Positions have up to three decimals.
const SEPARATOR = '\0';
const POSITION_DIGITS = '100000000'.length;
const AFTER_POSITIONS = ':';

/** The first series, and in it the position, or what stands for one. */
function readSeriesKey(bytes: Buffer, withoutPosition: string): string | null {
  const series = readFirstSeries(bytes);
  if (series === null) return null;
  const { name, position } = series;
  const positionKey = position === undefined ? withoutPosition
    : String(Math.round(position * 1000)).padStart(POSITION_DIGITS, '0');
  return `${createTitleSortKey(name)}${SEPARATOR}${positionKey}`;
}

// Quotes may lead either way round: „Wer“, »Wer«.
const LEADING_QUOTES = /^[\p{Pi}\p{Pf}\p{Ps}\s"'`]+/u;
const NUMBERS = /[0-9]+/g;
// An order of a million books makes as many keys; these are made in half the time.
const WITHOUT_BOTH = /^[a-z][^0-9]*$/;

/**
 * The title as a byte string (`encodeByteString`), folded, without leading quotes and brackets. A
 * number has before it how many digits follow its first, so that `10` comes after `2`, and its own
 * digits still come before all letters.
 */
export function createTitleSortKey(title: string): string {
  const foldedTitle = fold(title);
  return encodeByteString(WITHOUT_BOTH.test(foldedTitle) ? foldedTitle
    : foldedTitle.replace(LEADING_QUOTES, '').replace(NUMBERS, encodeNumber));
}

/** `02` for 2 and 02, `110` for 10; each 9 before the count adds nine: `90…` for ten digits. */
function encodeNumber(digits: string): string {
  const number = digits.replace(/^0+(?=.)/, '');
  const furtherDigits = number.length - 1;
  return `${'9'.repeat(Math.floor(furtherDigits / 9))}${furtherDigits % 9}${number}`;
}

/** Parses a query for books, once, at the edge, into values that can be compared. */
import { foldCase } from '../../base/text/fold.ts';
import { loadCrypto } from '../../base/node-modules.ts';
import { PAGE_LIMIT_MAX } from '../../server/query.ts';
import { explainIsbn, parseIsbn } from '../isbn.ts';
import { explainPartialDate, parsePartialDate } from '../partial-date.ts';
import { decodeCursor } from './cursor.ts';
import type { BookPosition } from './cursor.ts';
import {
  SORTS, SORT_KEYS, malformed, readQueryObject, readQueryString,
} from './query-parameters.ts';
import type { QueryValues, SortKey } from './query-parameters.ts';
import { encodeDate } from './stored-fields.ts';
import { parseClauses } from './words.ts';
import type { Clause } from './words.ts';
import { didYouMean } from '../../base/text/nearest.ts';
import { quote } from '../../base/text/error-message.ts';

export type BookQuery = {
  /** The most books of a page; null: all books are one page. */
  readonly limit: number | null;
  /** The position after which the response begins; null: at the first book. */
  readonly after: BookPosition | null;
  readonly filter: BookFilter;
  readonly sort: BookSort;
  /** The same for all pages of a query; a cursor is valid only with it. */
  readonly fingerprint: string;
  /** The parameters as they were given. */
  readonly values: QueryValues;
};

/** All conditions must hold. Null, or an empty list, is no condition. */
export type BookFilter = {
  readonly words: readonly Clause[];
  readonly authorWords: readonly Clause[];
  readonly isbn: string | null;
  /** A language range in lower case, or `*`. */
  readonly language: string | null;
  /** Folded by `foldCase`. */
  readonly keyword: string | null;
  /** Inclusive bounds, as `encodeDate` writes them. */
  readonly publishedFrom: number | null;
  readonly publishedTo: number | null;
};

export type BookSort = { readonly key: SortKey; readonly isDescending: boolean };

/** The members of `books.list(query)`: the query parameters of `GET /api/books`. */
export type BookListQuery = {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly q?: string | undefined;
  readonly author?: string | undefined;
  readonly isbn?: string | undefined;
  readonly inLanguage?: string | undefined;
  readonly keyword?: string | undefined;
  readonly publishedFrom?: string | undefined;
  readonly publishedTo?: string | undefined;
  readonly sort?: string | undefined;
};

/** Parses the raw query of a URL, without `?`. Throws `malformed`, naming the parameter. */
export function parseBookQuery(search: string): BookQuery {
  return parseValues(readQueryString(search));
}

/** Parses the query of the embedding API. Throws `malformed`, naming the member. */
export function parseBookListQuery(query: BookListQuery): BookQuery {
  return parseValues(readQueryObject(query));
}

function parseValues(values: QueryValues): BookQuery {
  const readValue = <T>(name: string, parse: (text: string) => T): T | null => {
    const text = values.get(name);
    return text === undefined ? null : parse(text);
  };
  const limit = readValue('limit', parseLimit);
  const filter: BookFilter = {
    words: readValue('q', (text) => parseClauses(text, '`q`')) ?? [],
    authorWords: readValue('author', (text) => parseClauses(text, '`author`')) ?? [],
    isbn: readValue('isbn', parseIsbnValue),
    language: readValue('inLanguage', parseLanguageRange),
    keyword: readValue('keyword', parseKeyword),
    publishedFrom: readValue('publishedFrom', (text) => parseDate('publishedFrom', text).from),
    publishedTo: readValue('publishedTo', (text) => parseDate('publishedTo', text).to),
  };
  const sort = readValue('sort', parseSort) ?? { key: 'id', isDescending: false };
  const fingerprint = loadCrypto().createHash('sha256').update(JSON.stringify([filter, sort]))
    .digest('base64url').slice(0, 12);
  const after = readValue('cursor', (text) => decodeCursor(text, fingerprint, sort.key));
  return { limit, after, filter, sort, fingerprint, values };
}

function parseLimit(text: string): number {
  const limit = /^[0-9]{1,6}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= PAGE_LIMIT_MAX) return limit;
  throw malformed(`\`limit\` must be an integer from 1 to ${PAGE_LIMIT_MAX}, not ${quote(text)}`);
}

function parseIsbnValue(text: string): string {
  const isbn = parseIsbn(text);
  if (isbn === null) throw malformed(`\`isbn\` ${explainIsbn(text)}`);
  return isbn;
}

function parseKeyword(text: string): string {
  if (text === '') throw malformed('`keyword` must not be empty');
  return foldCase(text);
}

const LANGUAGE_RANGE = /^(?:[a-z]{1,8}(?:-[a-z0-9]{1,8})*|\*)$/i;

/**
 * A basic language range (RFC 4647 §2.1), in lower case. An outdated tag becomes the one that is
 * stored in its place.
 */
function parseLanguageRange(text: string): string {
  if (!LANGUAGE_RANGE.test(text)) {
    throw malformed('`inLanguage` must be a language range such as `en` or `pt-BR`, '
      + `not ${quote(text)}`);
  }
  try {
    return (Intl.getCanonicalLocales(text)[0] ?? text).toLowerCase();
  } catch {
    // `*`, and a range that is no whole tag, such as `zh-a`.
    return text.toLowerCase();
  }
}

function parseDate(name: string, text: string): { from: number; to: number } {
  const date = parsePartialDate(text);
  if (date === null) throw malformed(`\`${name}\` ${explainPartialDate(text)}`);
  // A year is YYYY0000 and a month YYYYMM00, so that their bounds hold all their days.
  const from = encodeDate(date);
  if (date.length === 4) return { from, to: from + 9999 };
  return { from, to: date.length === 7 ? from + 99 : from };
}

function parseSort(text: string): BookSort {
  const isDescending = text.startsWith('-');
  const name = isDescending ? text.slice(1) : text;
  const key = SORT_KEYS.find((candidate) => candidate === name);
  if (key !== undefined) return { key, isDescending };
  throw malformed(`\`sort\` must be one of ${SORTS.join(', ')}, not ${quote(text)}`
    + didYouMean(name, SORT_KEYS));
}

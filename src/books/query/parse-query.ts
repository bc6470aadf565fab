/** Parses a query for books, once, at the edge, into values that can be compared. */
import { crc32 } from 'node:zlib';
import { foldCase } from '../../base/text/fold.ts';
import { PAGE_LIMIT_MAX } from '../../server/query.ts';
import { BOOK_FORMATS } from '../book.ts';
import { explainIsbn, parseIsbn } from '../isbn.ts';
import { explainPartialDate, parsePartialDate } from '../partial-date.ts';
import { decodeCursor } from './cursor.ts';
import type { BookPosition } from './cursor.ts';
import { NO_CORRECTIONS, correctClauses } from './corrections.ts';
import type { Corrections } from './corrections.ts';
import { ID_SORT, parseSort } from './book-sort.ts';
import type { BookSort } from './book-sort.ts';
import { malformed, readQueryObject, readQueryString } from './query-parameters.ts';
import type { QueryValues } from './query-parameters.ts';
import { parseFields } from './select-members.ts';
import { encodeFirstDate, encodeLastDate } from './date-range.ts';
import { parseClauses } from './words.ts';
import type { Clause } from './words.ts';
import { didYouMean } from '../../base/text/nearest.ts';
import { quote } from '../../base/text/error-message.ts';

export type BookQuery = {
  /** The most books of a page; null: all books are one page. */
  readonly limit: number | null;
  /** The position after which the response begins; null: at the first book. */
  readonly after: BookPosition | null;
  /** The conditions, with the corrections in them. */
  readonly filter: BookFilter;
  readonly corrections: Corrections;
  /** Whether corrections are still to be found: not on later pages, whose cursor has them. */
  readonly mayCorrect: boolean;
  readonly sort: BookSort;
  /** The members that the books of the response have; null: all. */
  readonly fields: ReadonlySet<string> | null;
  /** Whether the caller asks how the query is answered, and not for the books. */
  readonly isExplained: boolean;
  /** The same for all pages of a query; a cursor is valid only with it. */
  readonly fingerprint: string;
  /** The parameters as they were given. */
  readonly values: QueryValues;
};

/** The parts of a query that its corrections are about. */
export type CorrectableQuery = Pick<BookQuery, 'filter' | 'corrections' | 'mayCorrect'>;

/**
 * All conditions must hold. Null, or an empty list, is no condition. Of a list any item will do,
 * unless its comment says otherwise.
 */
export type BookFilter = {
  /** All of them must match. */
  readonly words: readonly Clause[];
  /** All clauses of one author must match. */
  readonly authors: readonly (readonly Clause[])[];
  /** All clauses of one publisher must match. */
  readonly publishers: readonly (readonly Clause[])[];
  readonly isbns: readonly string[];
  readonly hasIsbn: boolean | null;
  /** Language ranges in lower case, or `*`. */
  readonly languages: readonly string[];
  readonly bookFormats: readonly string[];
  /** Folded by `foldCase`, as those of the next. */
  readonly keywords: readonly string[];
  /** The book must have none of them. */
  readonly excludedKeywords: readonly string[];
  /** Inclusive bounds, as `encodeFirstDate` and `encodeLastDate` write them. */
  readonly publishedFrom: number | null;
  readonly publishedTo: number | null;
};

type OneOrMore = string | readonly string[] | undefined;

/** The members of `books.list(query)`: the query parameters of `GET /api/books`. */
export type BookListQuery = {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly q?: string | undefined;
  /** `off`: words of `q` that begin no word of the catalog are not corrected. */
  readonly typos?: 'on' | 'off' | undefined;
  /** An array stands for any of its items, here and below. */
  readonly author?: OneOrMore;
  readonly publisher?: OneOrMore;
  readonly isbn?: OneOrMore;
  readonly hasIsbn?: boolean | undefined;
  readonly inLanguage?: OneOrMore;
  readonly bookFormat?: OneOrMore;
  readonly keyword?: OneOrMore;
  /** Books that have none of these keywords. */
  readonly 'keyword.not'?: OneOrMore;
  readonly publishedFrom?: string | undefined;
  readonly publishedTo?: string | undefined;
  /** Up to four keys, by commas, each perhaps with a leading `-`: `author,-datePublished`. */
  readonly sort?: string | undefined;
  /** The members that the books have, by commas; `id` is always one of them. */
  readonly fields?: string | undefined;
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
  const readValue = createValueReader(values);
  const limit = readValue('limit', parseLimit);
  const filter = parseFilter(values);
  const sort = readValue('sort', parseSort) ?? ID_SORT;
  const fields = readValue('fields', parseFields);
  const correctsTypos = readValue('typos', parseTypos) ?? true;
  const isExplained =
    readValue('explain', (text) => parseEither('explain', text, 'true', 'false')) ?? false;
  // A checksum will do: who forges one mixes up nothing but pages of their own. A digest takes
  // 0.8 µs more, a quarter of what it takes to parse a query.
  const fingerprint = crc32(JSON.stringify(correctsTypos ? [filter, sort] : [filter, sort, 'off']))
    .toString(36);
  const cursor =
    readValue('cursor', (text) => decodeCursor(text, fingerprint, sort, filter.words));
  const query: BookQuery = {
    limit, after: cursor?.position ?? null, filter, corrections: NO_CORRECTIONS,
    mayCorrect: correctsTypos && cursor === null, sort, fields, isExplained, fingerprint, values,
  };
  return cursor === null ? query : correctQuery(query, cursor.corrections);
}

/** Whether words are corrected. Throws `malformed`. */
export function parseTypos(text: string): boolean {
  return parseEither('typos', text, 'on', 'off');
}

/** The query with corrections that were found for it. */
export function correctQuery<Query extends CorrectableQuery>(
  query: Query, corrections: Corrections,
): Query {
  const { filter } = query;
  const words = correctClauses(filter.words, corrections);
  return { ...query, filter: { ...filter, words }, corrections };
}

const NONE: readonly never[] = [];

type ValueReader = <T>(name: string, parse: (text: string) => T) => T | null;

function createValueReader(values: QueryValues): ValueReader {
  return (name, parse) => {
    const text = values.get(name)?.[0];
    return text === undefined ? null : parse(text);
  };
}

/** The conditions among the values. Throws `malformed`, naming the parameter. */
export function parseFilter(values: QueryValues): BookFilter {
  const readValue = createValueReader(values);
  // A value that stands twice counts once.
  const readValues = (name: string, parse: (text: string) => string): readonly string[] => {
    const texts = values.get(name);
    return texts === undefined ? NONE : [...new Set(texts.map(parse))];
  };
  // An empty value is no condition.
  const readWords = (name: string): readonly (readonly Clause[])[] => {
    const texts = values.get(name);
    return texts === undefined ? NONE : texts.map((text) => parseClauses(text, `\`${name}\``))
      .filter((clauses) => clauses.length > 0);
  };
  return {
    words: readValue('q', (text) => parseClauses(text, '`q`')) ?? [],
    authors: readWords('author'),
    publishers: readWords('publisher'),
    isbns: readValues('isbn', parseIsbnValue),
    hasIsbn: readValue('hasIsbn', (text) => parseEither('hasIsbn', text, 'true', 'false')),
    languages: readValues('inLanguage', parseLanguageRange),
    bookFormats: readValues('bookFormat', parseBookFormat),
    keywords: readValues('keyword', (text) => parseKeyword('keyword', text)),
    excludedKeywords: readValues('keyword.not', (text) => parseKeyword('keyword.not', text)),
    publishedFrom: readValue('publishedFrom', (text) =>
      encodeFirstDate(parseDate('publishedFrom', text))),
    publishedTo: readValue('publishedTo', (text) => encodeLastDate(parseDate('publishedTo', text))),
  };
}

/** The filter that every book matches. */
export const NO_CONDITIONS: BookFilter = parseFilter(new Map());

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

/** Whether the text is the first of the two that the parameter may be. */
function parseEither(name: string, text: string, first: string, second: string): boolean {
  if (text === first || text === second) return text === first;
  throw malformed(`\`${name}\` must be ${first} or ${second}, not ${quote(text)}`);
}

function parseBookFormat(text: string): string {
  const format = BOOK_FORMATS.find((candidate) => candidate === text);
  if (format !== undefined) return format;
  throw malformed(`\`bookFormat\` must be one of ${BOOK_FORMATS.join(', ')}, not ${quote(text)}`
    + didYouMean(text, BOOK_FORMATS));
}

function parseKeyword(name: string, text: string): string {
  if (text === '') {
    throw malformed(`\`${name}\` must not be empty: give it a whole keyword, or leave it out`);
  }
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

function parseDate(name: string, text: string): string {
  const date = parsePartialDate(text);
  if (date === null) throw malformed(`\`${name}\` ${explainPartialDate(text)}`);
  return date;
}

/** Parses a query for books, once, at the edge, into values that can be compared. */
import { crc32 } from 'node:zlib';
import { quote } from '../../base/text/error-message.ts';
import { PAGE_LIMIT_MAX, malformed, parseEither } from '../../server/query.ts';
import { listWanted, parseFilter } from './book-filter.ts';
import type { BookFilter } from './book-filter.ts';
import type { EachCondition, ScannedPlace } from './conditions.ts';
import { decodeCursor } from './cursor.ts';
import { CORRECTED_PLACES, NO_CORRECTIONS, correctClauses } from './corrections.ts';
import type { Corrections } from './corrections.ts';
import { ID_SORT, parseSort } from './book-sort.ts';
import type { BookPosition, BookSort } from './book-sort.ts';
import { readQueryObject, readQueryString } from './query-parameters.ts';
import type { QueryValues } from './query-parameters.ts';
import { parseFields } from './select-members.ts';

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

type OneOrMore = string | readonly string[] | undefined;

/**
 * The members of `books.list(query)`: the query parameters of `GET /api/books`. An array stands for
 * any of its items; in `keyword.not` for none of them.
 */
export type BookListQuery = {
  readonly [Row in EachCondition as Row['name']]?: ValueOfKind<Row['schema']['kind']>;
} & {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  /** The words of `q` are looked for in reviews, or in the texts of `metadata`, alone. */
  readonly in?: ScannedPlace | undefined;
  /** `off`: words of `q` and `author` that begin no word of the catalog are not corrected. */
  readonly typos?: 'on' | 'off' | undefined;
  /** Up to four keys, by commas, each perhaps with a leading `-`: `author,-datePublished`. */
  readonly sort?: string | undefined;
  /** The members that the books have, by commas; `id` is always one of them. */
  readonly fields?: string | undefined;
};

type ValueOfKind<Kind> = Kind extends 'array' ? OneOrMore
  : Kind extends 'boolean' ? boolean | undefined
    : Kind extends 'number' ? number | undefined : string | undefined;

/** Parses the raw query of a URL, without `?`. Throws `malformed`, naming the parameter. */
export function parseBookQuery(search: string): BookQuery {
  return parseValues(readQueryString(search));
}

/** Parses the query of the embedding API. Throws `malformed`, naming the member. */
export function parseBookListQuery(query: BookListQuery): BookQuery {
  return parseValues(readQueryObject(query));
}

function parseValues(values: QueryValues): BookQuery {
  const readValue: ValueReader = (name, parse) => {
    const text = values.get(name)?.[0];
    return text === undefined ? null : parse(text);
  };
  const limit = readValue('limit', parseLimit);
  const filter = parseFilter(values);
  const sort = readValue('sort', parseSort) ?? ID_SORT;
  const fields = readValue('fields', parseFields);
  const correctsTypos = readValue('typos', parseTypos) ?? true;
  const isExplained =
    readValue('explain', (text) => parseEither('explain', text, 'true', 'false')) ?? false;
  // A checksum will do: who forges one mixes up nothing but pages of their own. A digest takes
  // 0.8 µs more, a quarter of what it takes to parse a query.
  const fingerprint = crc32(JSON.stringify([listWanted(filter), sort, correctsTypos])).toString(36);
  const cursor = readValue('cursor', (text) => decodeCursor(text, fingerprint, sort, filter));
  const query: BookQuery = {
    limit, after: cursor?.position ?? null, filter, corrections: NO_CORRECTIONS,
    mayCorrect: correctsTypos && cursor === null, sort, fields, isExplained, fingerprint, values,
  };
  return cursor === null ? query : correctQuery(query, cursor.corrections);
}

/** Whether words are corrected. Throws `malformed`. */
export function parseTypos(text = 'on'): boolean {
  return parseEither('typos', text, 'on', 'off');
}

/** The query with corrections that were found for it. */
export function correctQuery<Query extends CorrectableQuery>(
  query: Query, corrections: Corrections,
): Query {
  const { filter } = query;
  const words = filter.words.map((condition) => {
    const place = CORRECTED_PLACES.find((one) => one === condition.row.place);
    const own = place === undefined ? undefined : corrections.get(place);
    if (own === undefined) return condition;
    const wanted = condition.wanted.map((clauses) => correctClauses(clauses, own));
    return { ...condition, wanted };
  });
  return { ...query, filter: { ...filter, words }, corrections };
}

type ValueReader = <T>(name: string, parse: (text: string) => T) => T | null;

function parseLimit(text: string): number {
  const limit = /^[0-9]{1,6}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= PAGE_LIMIT_MAX) return limit;
  throw malformed(`\`limit\` must be an integer from 1 to ${PAGE_LIMIT_MAX}, not ${quote(text)}`);
}

/**
 * The query parameters of `GET /api/books`: their names and what each may hold. Reads raw text into
 * named values, which `parse-query.ts` interprets.
 */
import { isJsonObject } from '../../base/fields.ts';
import { suggestName } from '../../base/text/error-message.ts';
import type { Schema } from '../../base/schema.ts';
import type { AnswerOf } from '../../base/schema-types.ts';
import {
  PAGE_LIMIT_MAX, REPETITIONS_MAX, malformed, parseRepeatableQuery, surplusParameter,
} from '../../server/query.ts';
import type { ParameterSpec } from '../../server/http-route.ts';
import {
  FACET_NAMES, STATISTIC_NAMES, VALUE_ROWS, WORDS_ROWS, placeParameter,
} from './conditions.ts';
import { SORT_KEYS } from './sort-keys.ts';

/** The parameter of duplicates: by which properties books can be such. */
export const duplicatesParameter = {
  name: 'by', in: 'query', isRequired: true,
  schema: { kind: 'string', values: ['isbn', 'title'] },
  description: '`isbn`, or `title`: title and first author. Books whose `bookEdition` differs '
    + 'are no duplicates, nor, by `title`, those that differ in what stands behind `: `.',
} as const satisfies ParameterSpec;
export type DuplicateKey = AnswerOf<typeof duplicatesParameter.schema>;
/** The members of a book in a group of duplicates. */
export const DUPLICATE_MEMBERS: readonly string[] =
  ['id', 'title', 'authors', 'isbn', 'bookEdition', 'updatedAt'];

/** The parameter of routes that answer with books: which members these have. */
export const fieldsParameter: ParameterSpec = {
  name: 'fields', in: 'query', schema: { kind: 'string', minLength: 1 },
  option: { placeholder: '<names>' },
  description: 'The members of a book that the answer has, by commas: `title,authors`. `id` is '
    + 'always there. An answer with it lacks the others, required ones too. Default: all.',
};

/** The conditions that a book must meet, for every route that asks which books are meant. */
const bookFilterParameters: readonly ParameterSpec[] =
  [...WORDS_ROWS, placeParameter, ...VALUE_ROWS];

// No condition, and no member of a query that a program passes: `books.explain` is for that.
const EXPLAIN = 'explain';

/** The parameter of routes that take words: whether these are corrected. */
export const typosParameter: ParameterSpec = {
  name: 'typos', in: 'query', schema: { kind: 'string', values: ['on', 'off'] },
  option: { help: 'off: words of --q and --author that no book has are not corrected' },
  description: 'Whether a word of `q` or `author` of four letters and more that begins no word of '
    + 'the catalog (of its authors) is taken for the nearest one; `X-Search-Corrected` tells. '
    + 'Default: on.',
};

/** The parameters of the route that counts books by facets. */
export const facetParameters: readonly ParameterSpec[] = [
  {
    name: 'by', in: 'query', schema: { kind: 'string', minLength: 1 },
    option: { placeholder: '<facets>', suggests: FACET_NAMES },
    description: `Some of \`${FACET_NAMES.join('`, `')}\`, by commas; all when absent.`,
  },
  ...bookFilterParameters,
  typosParameter,
];

/** The parameters of the route of statistics. */
export const statisticsParameters: readonly ParameterSpec[] = [
  {
    name: 'by', in: 'query', isRequired: true, schema: { kind: 'string', values: STATISTIC_NAMES },
    description: 'What the books are counted by. With `status` all are counted, else those that '
      + 'are read.',
  },
  ...bookFilterParameters,
  typosParameter,
];

/** The order of the books of an answer. */
const sortParameter: ParameterSpec = {
  name: 'sort', in: 'query', schema: { kind: 'string', minLength: 1 },
  option: {
    placeholder: '<keys>', suggests: SORT_KEYS,
    help: `${SORT_KEYS.join(', ').replace(/, (?=\w+$)/, ' or ')}, several by commas; a leading - `
      + 'reverses (--sort=author,-title)',
  },
  description: `Up to four of \`${SORT_KEYS.join('`, `')}\`, by commas; \`-\` reverses one: `
    + '`author,-datePublished`. Ties go by id; books without the key come last.',
};

/** The parameters of an export: all books that meet the conditions, in their order. */
export const exportParameters: readonly ParameterSpec[] = [...bookFilterParameters, sortParameter];

/** The header of their answers. */
export const correctionHeaders = {
  'X-Search-Corrected': 'The words of `q` and `author` that were taken for others, `hary=harry`: '
    + 'folded, percent-encoded, several by `, `; absent when there are none',
};

/** Published in the OpenAPI document. A query may have no other parameters. */
export const bookQueryParameters: readonly ParameterSpec[] = [
  {
    name: 'limit', in: 'query', schema: { kind: 'integer', minimum: 1, maximum: PAGE_LIMIT_MAX },
    option: { help: 'print at most n books' },
    description: 'The most books in one answer. More: follow the `Link` header. Default: all.',
  },
  {
    name: 'cursor', in: 'query', schema: { kind: 'string' }, option: [],
    description: 'Where to go on: opaque, from the `Link` header of an answer to the same query.',
  },
  ...bookFilterParameters,
  typosParameter,
  sortParameter,
  fieldsParameter,
  {
    name: EXPLAIN, in: 'query', schema: { kind: 'boolean' }, access: 'admin',
    option: { help: 'show how the query is answered, and not the books (scope admin)' },
    description: 'Tells how the query is answered, in place of the books: an object, '
      + '`{ "plan": "scan", "reason": "…", "total": 12, "ms": 3.4 }`. `plan` is a short name, '
      + '`reason` a sentence, `total` how many books match, and `ms` how long it took to find '
      + 'them. Needs the scope admin. Default: false.',
  },
];

/** Which format the answer has; the routes, which know the formats, read it. */
export const FORMAT = 'format';
/** Whether a spreadsheet opens the answer; the routes read that, too. */
export const SPREADSHEET = 'spreadsheet';

const OWN_NAMES = bookQueryParameters.map(({ name }) => name);
const NAMES = [...OWN_NAMES, FORMAT, SPREADSHEET];
const MEMBER_NAMES = OWN_NAMES.filter((name) => name !== EXPLAIN);
const FILTER_NAMES = bookFilterParameters.map(({ name }) => name);
const REPEATABLE_NAMES = namesOfKind('array');
const FLAG_NAMES = namesOfKind('boolean');

function namesOfKind(kind: Schema['kind']): readonly string[] {
  return bookQueryParameters.filter(({ schema }) => schema.kind === kind).map(({ name }) => name);
}

/** All values of each parameter: only one where it may not stand several times. */
export type QueryValues = ReadonlyMap<string, readonly string[]>;

/**
 * The values in the raw query of a URL (without `?`). Throws `malformed` for unknown and repeated
 * parameters, and for what cannot be decoded.
 */
export function readQueryString(search: string): QueryValues {
  return parseRepeatableQuery(search, NAMES, REPEATABLE_NAMES);
}

/** The same of a query that has conditions, `by` and `typos`. */
export function readFilterString(search: string): QueryValues {
  return parseRepeatableQuery(search, [...FILTER_NAMES, 'by', 'typos'], REPEATABLE_NAMES);
}

/**
 * The values of an object that a program passed. Throws `malformed` for unknown members, and for
 * values that are not what a parameter may be.
 */
export function readQueryObject(query: unknown): QueryValues {
  if (!isJsonObject(query)) throw malformed('a query must be an object');
  const values = new Map<string, readonly string[]>();
  for (const [name, value] of Object.entries(query)) {
    if (!MEMBER_NAMES.includes(name)) {
      throw malformed(`unknown member \`${name}\`${suggestName(name, MEMBER_NAMES)}`);
    }
    if (value !== undefined && value !== null) values.set(name, readMember(name, value));
  }
  return values;
}

function readMember(name: string, value: unknown): readonly string[] {
  if (FLAG_NAMES.includes(name) && typeof value === 'boolean') return [String(value)];
  const isRepeatable = REPEATABLE_NAMES.includes(name);
  const items: readonly unknown[] = isRepeatable && Array.isArray(value) ? value : [value];
  if (items.length > REPETITIONS_MAX) throw surplusParameter(name);
  if (items.length === 0) {
    throw malformed(`\`${name}\` must not be an empty array: leave it out where all books will do`);
  }
  return items.map((item) => {
    if (typeof item === 'string' || typeof item === 'number') return String(item);
    throw malformed(`\`${name}\` must be a string${isRepeatable ? ' or an array of strings' : ''}`);
  });
}

/** The values as the raw query of a URL, in their order. */
export function writeQueryString(values: QueryValues): string {
  const pairs: string[] = [];
  for (const [name, texts] of values) {
    for (const text of texts) pairs.push(`${name}=${encodeURIComponent(text)}`);
  }
  return pairs.join('&');
}

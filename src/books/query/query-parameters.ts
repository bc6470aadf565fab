/**
 * The query parameters of `GET /api/books`: their names and what each may hold. Reads raw text into
 * named values, which `parse-query.ts` interprets.
 */
import { AppError } from '../../base/errors.ts';
import { isJsonObject } from '../../base/fields.ts';
import { findNearest } from '../../base/text/nearest.ts';
import { PAGE_LIMIT_MAX, parseQuery } from '../../server/query.ts';
import type { ParameterSpec } from '../../server/http-route.ts';

export const SORT_KEYS = ['id', 'title', 'datePublished', 'updatedAt'] as const;
export type SortKey = (typeof SORT_KEYS)[number];
export const SORTS: readonly string[] = SORT_KEYS.flatMap((key) => [key, `-${key}`]);

/** Published in the OpenAPI document. A query may have no other parameters. */
export const bookQueryParameters: readonly ParameterSpec[] = [
  {
    name: 'limit', in: 'query', schema: { kind: 'integer', minimum: 1, maximum: PAGE_LIMIT_MAX },
    description: 'The most books in one answer. More: follow the `Link` header. Default: all.',
  },
  {
    name: 'cursor', in: 'query', schema: { kind: 'string' },
    description: 'Where to go on: opaque, from the `Link` header of an answer to the same query.',
  },
  {
    name: 'q', in: 'query', schema: { kind: 'string' },
    description: 'Words in title, subtitle, author names, keywords or isbn. All must match; case '
      + 'and accents do not count, and the start of a word is enough; in scripts without spaces '
      + 'a word is found wherever it stands.',
  },
  {
    name: 'author', in: 'query', schema: { kind: 'string' },
    description: 'Words in author names, as in `q`.',
  },
  {
    name: 'isbn', in: 'query', schema: { kind: 'string', minLength: 1 },
    description: 'An ISBN-10 or ISBN-13, with or without hyphens.',
  },
  {
    name: 'inLanguage', in: 'query', schema: { kind: 'string', minLength: 1 },
    description: 'A language range (RFC 4647 basic filtering): `en` also matches `en-GB`.',
  },
  {
    name: 'keyword', in: 'query', schema: { kind: 'string', minLength: 1 },
    description: 'A whole keyword; case does not count.',
  },
  {
    name: 'publishedFrom', in: 'query', schema: { kind: 'string', minLength: 4 },
    description: 'Published in this `YYYY`, `YYYY-MM` or `YYYY-MM-DD`, or later.',
  },
  {
    name: 'publishedTo', in: 'query', schema: { kind: 'string', minLength: 4 },
    description: 'Published in this `YYYY`, `YYYY-MM` or `YYYY-MM-DD`, or earlier.',
  },
  {
    name: 'sort', in: 'query', schema: { kind: 'string', values: SORTS },
    description: 'What to sort by; `-` reverses. Ties go by id; books without the key come last.',
  },
];

const NAMES = bookQueryParameters.map(({ name }) => name);

export type QueryValues = ReadonlyMap<string, string>;

/**
 * The values in the raw query of a URL (without `?`). Throws `malformed` for unknown and repeated
 * parameters, and for what cannot be decoded.
 */
export function readQueryString(search: string): QueryValues {
  return parseQuery(search, NAMES);
}

/**
 * The values of an object that a program passed. Throws `malformed` for unknown members, and for
 * values that are neither text nor numbers.
 */
export function readQueryObject(query: unknown): QueryValues {
  if (!isJsonObject(query)) throw malformed('a query must be an object');
  const values = new Map<string, string>();
  for (const [name, value] of Object.entries(query)) {
    checkName(name);
    if (value === undefined || value === null) continue;
    if (typeof value !== 'string' && typeof value !== 'number') {
      throw malformed(`\`${name}\` must be a string`);
    }
    values.set(name, String(value));
  }
  return values;
}

/** The values as the raw query of a URL, in their order. */
export function writeQueryString(values: QueryValues): string {
  return [...values].map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
}

export function malformed(message: string): AppError {
  return new AppError('malformed', message);
}

function checkName(name: string): void {
  if (NAMES.includes(name)) return;
  const near = findNearest(name, NAMES);
  const hint = near === null ? `known are ${NAMES.join(', ')}` : `did you mean \`${near}\`?`;
  throw malformed(`unknown member \`${name}\`: ${hint}`);
}

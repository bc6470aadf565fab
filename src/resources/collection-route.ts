/**
 * Lists a collection: every record in key order as one JSON array, or page by page with `limit` and
 * `cursor`. For resources that people create by hand; books have a route of their own.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { problemResponses } from '../server/problem.ts';
import { PAGE_LIMIT_MAX, readQuery } from '../server/query.ts';
import type { Exchange, ParameterSpec, HttpRoute } from '../server/http-route.ts';
import { decodeIdCursor, encodeIdCursor } from './id-cursor.ts';
import { PIECE_BYTES, streamRecords } from './json-array-stream.ts';
import type { Repository } from './repository.ts';
import { pagedListResponse } from './route-specs.ts';
import type { PublicRecord } from './representation.ts';
import type { Resource } from './resource.ts';

type ListRepository = Pick<Repository, 'size' | 'walk' | 'count'>;

/** A query parameter that selects records. */
export type CollectionFilter = {
  readonly parameter: ParameterSpec;
  /** Makes a predicate of keys of the parameter's value. */
  readonly select: (value: string) => (id: string) => boolean;
};

const PARAMETERS = [
  {
    name: 'limit', in: 'query', description: 'At most so many records',
    schema: { kind: 'integer', minimum: 1, maximum: PAGE_LIMIT_MAX },
  },
  {
    name: 'cursor', in: 'query', description: 'Where to go on, from a `Link` header',
    schema: { kind: 'string' },
  },
] as const satisfies readonly ParameterSpec[];

export function collectionRoute(
  resource: Pick<Resource, 'path' | 'noun' | 'schema' | 'access'>, repository: ListRepository,
  filter: CollectionFilter | null = null,
): HttpRoute {
  const { path, noun, schema, access } = resource;
  return {
    method: 'GET',
    path,
    operationId: `list${schema.name}s`,
    summary: `Every ${noun}, in order of its key`,
    access: access?.read ?? 'read',
    parameters: filter === null ? PARAMETERS : [filter.parameter, ...PARAMETERS],
    responses: [
      pagedListResponse(`Every ${noun}`, schema,
        filter === null ? 'How many there are' : 'How many match, on all pages'),
      ...problemResponses(400),
    ],
    handle: (exchange) => sendCollection(exchange, path, repository, filter),
  };
}

async function sendCollection(
  exchange: Exchange, path: string, repository: ListRepository, filter: CollectionFilter | null,
): Promise<void> {
  const rows: readonly ParameterSpec[] = filter === null ? [] : [filter.parameter];
  const { limit, cursor, ...filterValues } = readQuery(exchange.search, [...PARAMETERS, ...rows]);
  const [[filterName, filterValue] = ['', null]] = Object.entries(filterValues);
  const matches = filterValue === null ? undefined : filter?.select(String(filterValue));
  const count = matches === undefined ? repository.size : repository.count(matches);
  const next = repository.walk(decodeIdCursor(cursor), matches);
  const headers = ['Content-Type', 'application/json', 'X-Total-Count', String(count)];
  if (limit === null) {
    return exchange.sendStream(200, headers, streamRecords(() => next()?.bytes ?? null));
  }
  const page: PublicRecord[] = [];
  let current = next();
  let bytes = 0;
  for (; current !== null && page.length < limit; current = next()) {
    page.push(current);
    bytes += current.bytes.length;
    if (bytes < PIECE_BYTES) continue;
    bytes = 0;
    await nextTurn();
  }
  const last = page.at(-1);
  if (current !== null && last !== undefined) {
    const filterPart =
      filterValue === null ? '' : `${filterName}=${encodeURIComponent(String(filterValue))}&`;
    const position = `limit=${limit}&cursor=${encodeIdCursor(last.id)}`;
    const url = exchange.linkTo(`${path}?${filterPart}${position}`);
    headers.push('Link', `<${url}>; rel="next"`);
  }
  return exchange.sendStream(200, headers, streamRecords(() => page.shift()?.bytes ?? null));
}

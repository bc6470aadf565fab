/**
 * Lists a collection: every record as one JSON array, or page by page with `limit` and `cursor`, in
 * key order or as `sort` says. For resources that people create by hand, of which there are
 * thousands at most; books have a route of their own.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { StringSchema } from '../base/schema.ts';
import { problemResponses } from '../server/problem.ts';
import { PAGE_LIMIT_MAX, readQuery } from '../server/query.ts';
import type { BoundRule, Exchange, HttpRoute, ParameterSpec } from '../server/http-route.ts';
import {
  decodeIdCursor, encodeIdCursor, type PageParameters, type SortPosition,
} from './id-cursor.ts';
import { PIECE_BYTES, streamRecords } from './json-array-stream.ts';
import type { Repository } from './repository.ts';
import { JSON_TYPE, pagedListResponse } from './route-specs.ts';
import type { Resource } from './resource.ts';

type ListRepository = Pick<Repository, 'size' | 'ids' | 'findListed'>;

export type CollectionFilter = {
  readonly parameter: ParameterSpec;
  /** Makes a predicate of keys of the parameter's value. Throws `malformed`. */
  readonly select: (value: string) => (id: string) => boolean;
};

/** The filters and sorts of a list. Every list has pages in key order. */
export type CollectionView = {
  readonly filters: readonly CollectionFilter[];
  /**
   * For each value of `sort`, a function from a key to the text that places its record. Ties go by
   * key.
   */
  readonly sorts?: Readonly<Record<string, (id: string) => string>>;
  /** Absent: no token that is bound to webhooks may call the route. */
  readonly bound?: {
    readonly rule: BoundRule;
    /** Finds the part of the list that the caller sees; null: all of it. */
    readonly findView: (exchange: Exchange) => ListedView | null;
  };
};

/** The part of a list that a caller sees. */
export type ListedView = {
  readonly sees: (id: string) => boolean;
  readonly show: (bytes: Buffer) => Buffer;
};

const PAGE_PARAMETERS = [
  {
    name: 'limit', in: 'query', description: 'At most so many records', option: [],
    schema: { kind: 'integer', minimum: 1, maximum: PAGE_LIMIT_MAX },
  },
  {
    name: 'cursor', in: 'query', description: 'Where to go on, from a `Link` header', option: [],
    schema: { kind: 'string' },
  },
] as const satisfies readonly ParameterSpec[];

const KEY_ORDER: CollectionView = { filters: [] };
/** Selecting a record by words takes a few microseconds. */
const STEP_RECORDS = 1000;
const REVERSED = '-';

export function sortParameter(sorts: readonly string[]) {
  const names = sorts.join(', ').replace(/, (?=\w+$)/, ' or ');
  return {
    name: 'sort', in: 'query',
    description: `By \`${sorts.join('`, `')}\`; a leading \`-\` reverses. Default: by key`,
    schema: {
      kind: 'string', values: [...sorts, ...sorts.map((sort) => `${REVERSED}${sort}`)],
    } satisfies StringSchema,
    option: { placeholder: '<key>', help: `${names}; a leading - reverses (--sort=-${sorts[0]})` },
  } as const satisfies ParameterSpec;
}

export function collectionRoute(
  resource: Pick<Resource, 'path' | 'noun' | 'schema' | 'access'>, repository: ListRepository,
  view: CollectionView = KEY_ORDER,
): HttpRoute {
  const { path, noun, schema, access } = resource;
  const sorts = Object.keys(view.sorts ?? {});
  const order = `in order of its key${sorts.length === 0 ? '' : ' or as `sort` says'}`;
  const parameters = [
    ...view.filters.map(({ parameter }) => parameter),
    ...sorts.length === 0 ? [] : [sortParameter(sorts)],
  ];
  return {
    method: 'GET',
    path,
    operationId: `list${schema.name}s`,
    summary: `Every ${noun}, ${order}`,
    access: access?.read ?? 'read',
    ...view.bound === undefined ? {} : { bound: view.bound.rule },
    tool: {},
    parameters: [...parameters, ...PAGE_PARAMETERS],
    responses: [
      pagedListResponse(`Every ${noun}`, schema,
        view.filters.length === 0 ? 'How many there are' : 'How many match, on all pages'),
      ...problemResponses(400),
    ],
    handle: (exchange) => sendCollection(exchange, path, repository, view, parameters),
  };
}

type ListedRecord = { readonly bytes: Buffer; readonly position: SortPosition };

async function sendCollection(
  exchange: Exchange, path: string, repository: ListRepository, view: CollectionView,
  parameters: readonly ParameterSpec[],
): Promise<void> {
  const query = readQuery(exchange.search, [...PAGE_PARAMETERS, ...parameters]);
  const { limit, cursor, ...values } = query;
  const pageParameters: PageParameters = Object.entries(values).flatMap(([name, value]) =>
    value === null ? [] : [[name, String(value)]]);
  const listedView = view.bound?.findView(exchange) ?? null;
  const { count, places } = await listPlaces(
    repository, view, listedView, values, decodeIdCursor(cursor, pageParameters));
  const next = (): ListedRecord | null => readNext(repository, listedView, places);
  const headers = ['Content-Type', JSON_TYPE, 'X-Total-Count', String(count)];
  if (limit === null) {
    return exchange.sendStream(200, headers, streamRecords(() => next()?.bytes ?? null));
  }
  const page: ListedRecord[] = [];
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
    const link = new URLSearchParams();
    for (const [name, value] of pageParameters) link.set(name, value);
    link.set('limit', String(limit));
    link.set('cursor', encodeIdCursor(last.position, pageParameters));
    headers.push('Link', `<${exchange.linkTo(`${path}?${link}`)}>; rel="next"`);
  }
  return exchange.sendStream(200, headers, streamRecords(() => page.shift()?.bytes ?? null));
}

type Places = { readonly count: number; readonly places: Iterator<SortPosition> };

/** Counts the records of a list, and gives the places of those behind the place `after`. */
async function listPlaces(
  repository: ListRepository, { filters, sorts = {} }: CollectionView, view: ListedView | null,
  values: Readonly<Record<string, unknown>>, after: SortPosition | null,
): Promise<Places> {
  const sort = String(values['sort'] ?? '');
  const matchers = filters.flatMap(({ parameter: { name }, select }) => {
    const value = values[name] ?? null;
    return value === null ? [] : [select(String(value))];
  });
  if (view !== null) matchers.push(view.sees);
  if (sort === '' && matchers.length === 0) {
    return { count: repository.size, places: walkPlaces(repository, after?.id ?? null) };
  }
  const isReversed = sort.startsWith(REVERSED);
  const readSortText = sorts[sort.slice(isReversed ? 1 : 0)] ?? (() => '');
  const places: SortPosition[] = [];
  let visited = 0;
  for (const id of repository.ids()) {
    visited += 1;
    if (visited % STEP_RECORDS === 0) await nextTurn();
    if (matchers.every((matches) => matches(id))) places.push({ id, sortText: readSortText(id) });
  }
  const compare = isReversed ? (left: SortPosition, right: SortPosition) =>
    comparePositions(right, left) : comparePositions;
  const rest = places.sort(compare)
    .filter((place) => after === null || compare(place, after) > 0);
  return { count: places.length, places: rest.values() };
}

function* walkPlaces(
  repository: ListRepository, after: string | null,
): Generator<SortPosition, void> {
  for (const id of repository.ids(after)) yield { id, sortText: '' };
}

/** The next record that is there and in sight: either may end while a long list is sent. */
function readNext(
  repository: ListRepository, view: ListedView | null, places: Iterator<SortPosition>,
): ListedRecord | null {
  for (let place = places.next(); place.done !== true; place = places.next()) {
    const { value: position } = place;
    const isSeen = view === null || view.sees(position.id);
    const record = isSeen ? repository.findListed(position.id) : null;
    if (record !== null) return { position, bytes: view?.show(record.bytes) ?? record.bytes };
  }
  return null;
}

function comparePositions(left: SortPosition, right: SortPosition): number {
  return compareTexts(left.sortText, right.sortText) || compareTexts(left.id, right.id);
}

function compareTexts(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

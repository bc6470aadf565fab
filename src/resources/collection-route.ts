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
import { pagedListResponse } from './route-specs.ts';
import type { PublicRecord } from './representation.ts';
import type { Resource } from './resource.ts';

type ListRepository = Pick<Repository, 'size' | 'walk' | 'ids' | 'findListed'>;

/** A query parameter that selects records. */
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
  /** A record as he sees it. */
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

type Listing = {
  readonly count: number;
  /** The next record; null: there is none. */
  readonly next: () => PublicRecord | null;
  /** The place of a record of the list, for a cursor. */
  readonly positionOf: (id: string) => SortPosition;
};

async function sendCollection(
  exchange: Exchange, path: string, repository: ListRepository, view: CollectionView,
  parameters: readonly ParameterSpec[],
): Promise<void> {
  const query = readQuery(exchange.search, [...PAGE_PARAMETERS, ...parameters]);
  const { limit, cursor, ...values } = query;
  const pageParameters: PageParameters = Object.entries(values).flatMap(([name, value]) =>
    value === null ? [] : [[name, String(value)]]);
  const listedView = view.bound?.findView(exchange) ?? null;
  const { count, next, positionOf } = await openListing(
    listedView === null ? repository : viewRepository(repository, listedView), view, values,
    decodeIdCursor(cursor, pageParameters));
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
    const link = new URLSearchParams();
    for (const [name, value] of pageParameters) link.set(name, value);
    link.set('limit', String(limit));
    link.set('cursor', encodeIdCursor(positionOf(last.id), pageParameters));
    headers.push('Link', `<${exchange.linkTo(`${path}?${link}`)}>; rel="next"`);
  }
  return exchange.sendStream(200, headers, streamRecords(() => page.shift()?.bytes ?? null));
}

/** The part of a repository that the view shows, of which the whole list is made. */
function viewRepository(
  repository: ListRepository, { sees, show }: ListedView,
): ListRepository {
  const ids = (): string[] => repository.ids().filter(sees);
  const view = (record: PublicRecord | null): PublicRecord | null =>
    record && { ...record, bytes: show(record.bytes) };
  return {
    get size() {
      return ids().length;
    },
    ids,
    findListed: (id) => sees(id) ? view(repository.findListed(id)) : null,
    walk(after) {
      const rest = ids().filter((id) => after === null || id > after).values();
      return () => {
        // A record may be removed, or go out of sight, while a long list is sent.
        for (const id of rest) {
          const record = sees(id) ? repository.findListed(id) : null;
          if (record !== null) return view(record);
        }
        return null;
      };
    },
  };
}

async function openListing(
  repository: ListRepository, { filters, sorts = {} }: CollectionView,
  values: Readonly<Record<string, unknown>>, after: SortPosition | null,
): Promise<Listing> {
  const sort = String(values['sort'] ?? '');
  const matchers = filters.flatMap(({ parameter: { name }, select }) => {
    const value = values[name] ?? null;
    return value === null ? [] : [select(String(value))];
  });
  if (sort === '' && matchers.length === 0) {
    const next = repository.walk(after?.id ?? null);
    return { count: repository.size, next, positionOf: (id) => ({ id, sortText: '' }) };
  }
  const isReversed = sort.startsWith(REVERSED);
  const readSortText = sorts[sort.slice(isReversed ? 1 : 0)] ?? (() => '');
  const positions = new Map<string, SortPosition>();
  for (const [index, id] of repository.ids().entries()) {
    if (index % STEP_RECORDS === STEP_RECORDS - 1) await nextTurn();
    if (!matchers.every((matches) => matches(id))) continue;
    positions.set(id, { id, sortText: readSortText(id) });
  }
  const compare = isReversed ? (left: SortPosition, right: SortPosition) =>
    comparePositions(right, left) : comparePositions;
  const rest = [...positions.values()].sort(compare)
    .filter((position) => after === null || compare(position, after) > 0).values();
  return {
    count: positions.size,
    next() {
      // A record may be removed while a long list is sent.
      for (const { id } of rest) {
        const record = repository.findListed(id);
        if (record !== null) return record;
      }
      return null;
    },
    positionOf: (id) => positions.get(id) ?? { id, sortText: '' },
  };
}

function comparePositions(left: SortPosition, right: SortPosition): number {
  return compareTexts(left.sortText, right.sortText) || compareTexts(left.id, right.id);
}

function compareTexts(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

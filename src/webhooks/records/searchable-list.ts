/**
 * The route of a list that can be searched. It sends one JSON array, whole or page by page,
 * filtered by the query. With `q` or `where` in its query it is a search, which ends a page when
 * that is full or its time is over. Such a page has `X-Search-Complete`; while it is `false`, also
 * `X-Search-Until`, the time of the last record that was looked at, and a `Link` to the page that
 * goes on from there, even if no record has matched. Nobody knows how many match, so there is no
 * `X-Total-Count`.
 */
import { AppError } from '../../base/errors.ts';
import { encodeJson } from '../../base/json/encode.ts';
import type { Schema } from '../../base/schema.ts';
import { decodeIdCursor, encodeIdCursor, type PageParameters } from '../../resources/id-cursor.ts';
import { streamRecords } from '../../resources/json-array-stream.ts';
import { JSON_TYPE, TEXT, pagedListResponse } from '../../resources/route-specs.ts';
import { problemResponses } from '../../server/problem.ts';
import { PAGE_LIMIT_MAX, parseQuery, readParameters } from '../../server/query.ts';
import type { Exchange, HttpRoute, ParameterSpec, Pull } from '../../server/http-route.ts';
import type { FactSource } from '../members/filters/facts.ts';
import {
  describeQueryParameters, listParameterNames, parseFilter, type RecordFields,
} from './fields.ts';
import {
  SEARCH_PARAMETERS, parseSearchQuery, splitSearchParameters, type SearchParameters,
} from './search-query.ts';
import type { SearchWalk, Searches } from './searches.ts';

/** Items that are read at a time for a list without a limit. */
const CHUNK_ITEMS = 100;
/** The items of a page of a search without `limit`. */
const PAGE_ITEMS = 100;
const ORDERS = ['oldest', 'newest'] as const;

type SearchableList<Item, Filter> = {
  readonly path: string;
  readonly fields: RecordFields<never, Filter>;
  readonly service: {
    /** Finds up to `limit` items that come after the item `from` in the order of the list. */
    list(
      filter: Filter, from: string | null, limit: number, isNewestFirst: boolean,
    ): Promise<readonly Item[]>;
    count(filter: Filter): Promise<number>;
    /** Opens a walk through the items that match, newest first, from behind the id `before`. */
    openSearch(filter: Filter, before: string | null): Promise<SearchWalk<Item>>;
  };
  /** Puts identifiers in the place of names. Throws `malformed`. */
  readonly resolve?: (filter: Filter) => Filter;
  /** Whether the query may say the order; else the newest come first. */
  readonly hasOrder?: boolean;
  /** Lists the facts that conditions of `where` may read of the items that match the filter. */
  readonly listSources: (filter: Filter) => readonly FactSource[];
  readonly idOf: (item: Item) => string;
  readonly toPublic: (item: Item) => object;
  /**
   * Finds the parts of the list for a caller whose token is bound to webhooks; null: it is not.
   * `isSearch`: the query looks into payloads as well.
   */
  readonly findView?: (exchange: Exchange, isSearch: boolean) => ListView<Item, Filter> | null;
};

type ListView<Item, Filter> = {
  readonly resolve: (filter: Filter) => Filter;
  readonly toPublic?: (item: Item) => object;
};

/** Describes the route in the OpenAPI document; `items` is the schema of an item. */
type ListDescription = Pick<HttpRoute, 'operationId' | 'summary' | 'bound'> & {
  readonly description: string; readonly items: Schema;
};

export function searchableListRoute<Item, Filter>(
  { description, items, ...route }: ListDescription, list: SearchableList<Item, Filter>,
  searches: Searches,
): HttpRoute {
  const response = pagedListResponse(description, items,
    'How many match, on all pages; absent from a search');
  const headers = {
    ...response.headers,
    'X-Search-Complete': 'Of a search: `true` on its last page, else `false`',
    'X-Search-Until': 'Of a search that is not complete: the time of the record that it has come '
      + 'to',
  };
  return {
    ...route, method: 'GET', path: list.path, access: 'read', tool: {},
    parameters: [
      ...listParameters(list.fields), ...list.hasOrder === true ? [ORDER_PARAMETER] : [],
    ],
    responses: [{ ...response, headers }, ...problemResponses(400, 503)],
    handle: (exchange) => sendSearchableList(exchange, list, searches),
  };
}

/** The parameters of such a list, but the order. */
export function listParameters<Filter>(
  fields: RecordFields<never, Filter>,
): readonly ParameterSpec[] {
  return [...SEARCH_PARAMETERS, ...describeQueryParameters(fields), ...PAGE_PARAMETERS];
}

const PAGE_PARAMETERS = [
  {
    name: 'limit', in: 'query', description: 'At most so many',
    option: { help: 'the newest so many; all when not given' },
    schema: { kind: 'integer', minimum: 1, maximum: PAGE_LIMIT_MAX },
  },
  {
    name: 'cursor', in: 'query', description: 'From a `Link` header', schema: TEXT, option: [],
  },
] as const satisfies readonly ParameterSpec[];

const ORDER_PARAMETER = {
  name: 'order', in: 'query', description: 'Which come first; the oldest when absent',
  schema: { kind: 'string', values: ORDERS },
} as const satisfies ParameterSpec;

export async function sendSearchableList<Item, Filter>(
  exchange: Exchange, list: SearchableList<Item, Filter>, searches: Searches,
): Promise<void> {
  const search = splitSearchParameters(exchange.search);
  const isSearch = search.text !== '' || search.conditions.length > 0;
  const view = list.findView?.(exchange, isSearch) ?? null;
  const seenList = view === null ? list : { ...list, ...view };
  const query = parseListQuery(search, seenList);
  return isSearch ? sendSearch(exchange, seenList, searches, search, query)
    : sendList(exchange, seenList, query);
}

type ListQuery<Filter> = {
  readonly parameters: PageParameters;
  readonly filter: Filter;
  readonly order: typeof ORDERS[number] | null;
  readonly limit: number | null;
  readonly from: string | null;
};

/** Parses the raw query of a list. Throws `malformed`. */
function parseListQuery<Item, Filter>(
  search: SearchParameters, { fields, resolve, hasOrder = false }: SearchableList<Item, Filter>,
): ListQuery<Filter> {
  const names = [...listParameterNames(fields), ...hasOrder ? ['order'] : []];
  // `rest` holds no parameter of a search: these are here for the error that lists all.
  const query = parseQuery(search.rest,
    [...names, ...[...SEARCH_PARAMETERS, ...PAGE_PARAMETERS].map(({ name }) => name)]);
  const filter = parseFilter(fields, query);
  const { order, limit, cursor } = readParameters(query, [ORDER_PARAMETER, ...PAGE_PARAMETERS]);
  const parameters = [...names.flatMap((name): [string, string][] => {
    const value = query.get(name);
    return value === undefined ? [] : [[name, value]];
  }), ...search.parameters];
  return {
    parameters, filter: resolve?.(filter) ?? filter, order, limit,
    from: decodeIdCursor(cursor, parameters)?.id ?? null,
  };
}

async function sendList<Item, Filter>(
  exchange: Exchange, list: SearchableList<Item, Filter>,
  { parameters, filter, order, limit, from }: ListQuery<Filter>,
): Promise<void> {
  const read: ReadChunk<Item> = (start, count) =>
    list.service.list(filter, start, count, order === 'newest');
  const totalCount = await list.service.count(filter);
  const headers = ['Content-Type', JSON_TYPE, 'X-Total-Count', String(totalCount)];
  if (limit === null) return exchange.sendStream(200, headers, pullAll(list, read, from));
  // Looking for the first page of nothing takes as long as counting.
  const items = totalCount === 0 ? [] : await read(from, limit + 1);
  const page = items.slice(0, limit);
  const last = page.at(-1);
  if (items.length > limit && last !== undefined) {
    headers.push('Link', formatNextLink(exchange, list.path, limit, parameters, list.idOf(last)));
  }
  return exchange.sendStream(200, headers, pullPage(list, page));
}

async function sendSearch<Item, Filter>(
  exchange: Exchange, list: SearchableList<Item, Filter>, searches: Searches,
  search: SearchParameters, { parameters, filter, order, from, ...query }: ListQuery<Filter>,
): Promise<void> {
  if (order === 'oldest') {
    throw new AppError('malformed', '`order` must be newest, or absent, beside `q` and `where`: a '
      + 'search begins with the newest');
  }
  const searchQuery = parseSearchQuery(search, list.listSources(filter));
  const limit = query.limit ?? PAGE_ITEMS;
  const walk = await list.service.openSearch(filter, from);
  const page = await searches.findPage(
    walk, searchQuery, limit, () => !exchange.response.destroyed);
  if (page === null) throw new AppError('timeout', 'the client left before the page was found');
  const { items, stoppedAt } = page;
  const headers = [
    'Content-Type', JSON_TYPE, 'X-Search-Complete', String(stoppedAt === null),
  ];
  if (stoppedAt !== null) {
    headers.push('X-Search-Until', stoppedAt.at, 'Link', formatNextLink(
      exchange, list.path, limit, parameters, stoppedAt.id));
  }
  return exchange.sendStream(200, headers, pullPage(list, items));
}

/** The `Link` to the page that begins behind the record of the id `lastId`. */
function formatNextLink(
  exchange: Exchange, path: string, limit: number, parameters: PageParameters, lastId: string,
): string {
  const next = new URLSearchParams({ limit: String(limit) });
  for (const [name, value] of parameters) next.append(name, value);
  next.set('cursor', encodeIdCursor({ id: lastId, sortText: '' }, parameters));
  return `<${exchange.linkTo(`${path}?${next}`)}>; rel="next"`;
}

type ItemEncoding<Item> = Pick<SearchableList<Item, never>, 'idOf' | 'toPublic'>;
type ReadChunk<Item> = (from: string | null, count: number) => Promise<readonly Item[]>;

function pullPage<Item>({ toPublic }: ItemEncoding<Item>, items: readonly Item[]): Pull {
  const iterator = items.values();
  return streamRecords(() => {
    const { value, done } = iterator.next();
    return done === true ? null : Buffer.from(encodeJson(toPublic(value)));
  });
}

function pullAll<Item>(
  { idOf, toPublic }: ItemEncoding<Item>, read: ReadChunk<Item>, start: string | null,
): Pull {
  let from = start;
  let items: readonly Item[] = [];
  let index = 0;
  return streamRecords(async () => {
    if (index === items.length) {
      items = await read(from, CHUNK_ITEMS);
      const last = items.at(-1);
      from = last === undefined ? from : idOf(last);
      index = 0;
    }
    const item = items[index];
    index += 1;
    return item === undefined ? null : Buffer.from(encodeJson(toPublic(item)));
  });
}

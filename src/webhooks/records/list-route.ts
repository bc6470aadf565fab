/** Sends a list as one JSON array, whole or page by page, filtered by the query. */
import { encodeJson } from '../../base/json/encode.ts';
import { decodeIdCursor, encodeIdCursor } from '../../resources/id-cursor.ts';
import { streamRecords } from '../../resources/json-array-stream.ts';
import { TEXT } from '../../resources/route-specs.ts';
import {
  PAGE_LIMIT_MAX, parseChoiceParameter, parseIntegerParameter, parseQuery,
} from '../../server/query.ts';
import type { Exchange, ParameterSpec, Pull } from '../../server/http-route.ts';
import { listFieldParameters, parseFilter, type RecordFields } from './fields.ts';

/** Items that are read at a time for a list without a limit. */
const CHUNK_ITEMS = 100;

export type FilteredList<Item, Filter> = ListParameters<Filter> & {
  readonly path: string;
  /** Finds up to `limit` items that come after the one of the id `from`, in the list's order. */
  list(
    filter: Filter, from: string | null, limit: number, isNewestFirst: boolean,
  ): Promise<readonly Item[]>;
  /** Counts the items that match, on all pages. */
  count(filter: Filter): Promise<number>;
  idOf(item: Item): string;
  toPublic(item: Item): object;
};

type ListParameters<Filter> = {
  readonly fields: RecordFields<never, Filter>;
  /** Puts identifiers in the place of names. Throws `malformed`. */
  readonly resolve?: (filter: Filter) => Filter;
  /** Whether the list takes `ORDER_PARAMETER`. */
  readonly hasOrder?: boolean;
};

const ORDERS = ['oldest', 'newest'] as const;

export const ORDER_PARAMETER: ParameterSpec = {
  name: 'order', in: 'query', description: 'Which come first; the oldest when absent',
  schema: { kind: 'string', values: ORDERS },
};

const PAGE_PARAMETERS: readonly ParameterSpec[] = [
  {
    name: 'limit', in: 'query', description: 'At most so many',
    schema: { kind: 'integer', minimum: 1, maximum: PAGE_LIMIT_MAX },
  },
  { name: 'cursor', in: 'query', description: 'From a `Link` header', schema: TEXT },
];

/** Describes the query parameters of a list of such records. */
export function listParameters<Filter>(
  fields: RecordFields<never, Filter>,
): readonly ParameterSpec[] {
  return [...listFieldParameters(fields), ...PAGE_PARAMETERS];
}

type ListQuery<Filter> = {
  /** The parameters that all pages of the list have. */
  readonly parameters: readonly (readonly [string, string])[];
  readonly filter: Filter;
  readonly order: typeof ORDERS[number] | null;
  readonly limit: number | null;
  readonly from: string | null;
};

/** Parses the raw query of a list. Throws `malformed`. */
export function parseListQuery<Filter>(
  search: string, { fields, resolve, hasOrder = false }: ListParameters<Filter>,
): ListQuery<Filter> {
  const fieldNames = listFieldParameters(fields).map(({ name }) => name);
  const names = [...fieldNames, ...hasOrder ? ['order'] : []];
  const query = parseQuery(search, [...names, 'limit', 'cursor']);
  const filter = parseFilter(fields, query);
  return {
    parameters: names.flatMap((name) => {
      const value = query.get(name);
      return value === undefined ? [] : [[name, value] as const];
    }),
    filter: resolve?.(filter) ?? filter,
    order: parseChoiceParameter(query, 'order', ORDERS),
    limit: parseIntegerParameter(query, 'limit', 1, PAGE_LIMIT_MAX),
    from: decodeIdCursor(query.get('cursor')),
  };
}

/** Sends the list that a raw query asks for; `search` is that of the exchange by default. */
export async function sendFilteredList<Item, Filter>(
  exchange: Exchange, filteredList: FilteredList<Item, Filter>, search = exchange.search,
): Promise<void> {
  const { parameters, filter, order, limit, from } = parseListQuery(search, filteredList);
  const list = (start: string | null, count: number): Promise<readonly Item[]> =>
    filteredList.list(filter, start, count, order === 'newest');
  const encode = (item: Item | undefined): Buffer | null =>
    item === undefined ? null : encodeItem(filteredList, item);
  const totalCount = await filteredList.count(filter);
  const headers = ['Content-Type', 'application/json', 'X-Total-Count', String(totalCount)];
  if (limit === null) {
    return exchange.sendStream(200, headers, pullAll(filteredList, list, from, encode));
  }
  // Looking for the first page of nothing takes as long as counting.
  const items = totalCount === 0 ? [] : await list(from, limit + 1);
  const page = items.slice(0, limit);
  const last = page.at(-1);
  if (items.length > limit && last !== undefined) {
    headers.push('Link', formatNextLink(exchange, filteredList.path, {
      limit, parameters, lastId: filteredList.idOf(last),
    }));
  }
  return exchange.sendStream(200, headers, streamRecords(() => encode(page.shift())));
}

export function encodeItem<Item>(
  { toPublic }: Pick<FilteredList<Item, never>, 'toPublic'>, item: Item,
): Buffer {
  return Buffer.from(encodeJson(toPublic(item)));
}

/** The `Link` to the page that begins behind the record of the id `lastId`. */
export function formatNextLink(
  exchange: Exchange, path: string, { limit, parameters, lastId }: {
    readonly limit: number; readonly parameters: readonly (readonly [string, string])[];
    readonly lastId: string;
  },
): string {
  const next = new URLSearchParams({ limit: String(limit) });
  for (const [name, value] of parameters) next.append(name, value);
  next.set('cursor', encodeIdCursor(lastId));
  return `<${exchange.linkTo(`${path}?${next}`)}>; rel="next"`;
}

function pullAll<Item>(
  filteredList: Pick<FilteredList<Item, never>, 'idOf'>,
  list: (from: string | null, count: number) => Promise<readonly Item[]>, start: string | null,
  encode: (item: Item | undefined) => Buffer | null,
): Pull {
  let from = start;
  let items: readonly Item[] = [];
  let index = 0;
  return streamRecords(async () => {
    if (index === items.length) {
      items = await list(from, CHUNK_ITEMS);
      const last = items.at(-1);
      from = last === undefined ? from : filteredList.idOf(last);
      index = 0;
    }
    index += 1;
    return encode(items[index - 1]);
  });
}

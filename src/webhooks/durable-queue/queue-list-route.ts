/** Sends the items of a queue as one JSON array, whole or page by page, filtered by the query. */
import { decodeIdCursor, encodeIdCursor } from '../../resources/id-cursor.ts';
import { streamRecords } from '../../resources/json-array-stream.ts';
import { TEXT } from '../../resources/route-specs.ts';
import {
  PAGE_LIMIT_MAX, parseChoiceParameter, parseIntegerParameter, parseQuery,
} from '../../server/query.ts';
import type { Exchange, ParameterSpec, Pull } from '../../server/http-route.ts';
import {
  FILTER_NAMES, filterParameters, parseQueryFilter, type QueueFilter,
} from './queue-filter.ts';

/** Items that are read at a time for a list without a limit. */
const CHUNK_ITEMS = 100;

export type ListFilter<Status extends string> = QueueFilter<Status> & {
  /** null also for a list that has no `KIND_PARAMETER`. */
  readonly kind: Kind | null;
  /** null also for a list that has no `EVENT_ID_PARAMETER`. */
  readonly eventId: string | null;
};

export type QueueList<Item, Status extends string> = {
  readonly path: string;
  readonly statuses: readonly Status[];
  /** Whether the list takes `ORDER_PARAMETER`. */
  readonly hasOrder?: boolean;
  /** Whether the list takes `EVENT_ID_PARAMETER`. */
  readonly hasEventIds?: boolean;
  /** Whether the list takes `KIND_PARAMETER`. */
  readonly hasKinds?: boolean;
  /** Finds up to `limit` items that come after the one of the id `from`, in the list's order. */
  list(
    filter: ListFilter<Status>, from: string | null, limit: number, isNewestFirst: boolean,
  ): Promise<readonly Item[]>;
  /** Counts the items that match, on all pages. */
  count(filter: ListFilter<Status>): Promise<number>;
  /** Finds the identifier of the webhook that a person calls by name or identifier. */
  resolveHookId(name: string, kind: Kind | null): string;
  idOf(item: Item): string;
  toPublic(item: Item): object;
};

const ORDERS = ['oldest', 'newest'] as const;
const KINDS = ['webhook', 'forward', 'route', 'all'] as const;
type Kind = (typeof KINDS)[number];

export const KIND_PARAMETER: ParameterSpec = {
  name: 'kind', in: 'query', schema: { kind: 'string', values: KINDS },
  description: 'What they go to; webhooks and forwards when absent',
};

export const ORDER_PARAMETER: ParameterSpec = {
  name: 'order', in: 'query', description: 'Which come first; the oldest when absent',
  schema: { kind: 'string', values: ORDERS },
};

export const EVENT_ID_PARAMETER: ParameterSpec = {
  name: 'eventId', in: 'query', schema: TEXT,
  description: 'Only those that the sender gave this id, duplicates among them',
};

/** Describes the query parameters of a list. For `descriptions` see `filterMembers`. */
export function queueListParameters(
  statuses: readonly string[], descriptions: Parameters<typeof filterParameters>[1],
): readonly ParameterSpec[] {
  return [
    ...filterParameters(statuses, descriptions),
    {
      name: 'limit', in: 'query', description: 'At most so many',
      schema: { kind: 'integer', minimum: 1, maximum: PAGE_LIMIT_MAX },
    },
    { name: 'cursor', in: 'query', description: 'From a `Link` header', schema: TEXT },
  ];
}

type ListQuery<Status extends string> = {
  /** The parameters that all pages of the list have. */
  readonly parameters: readonly (readonly [string, string])[];
  readonly filter: ListFilter<Status>;
  readonly order: typeof ORDERS[number] | null;
  readonly limit: number | null;
  readonly from: string | null;
};

/** Parses the raw query of a list. Throws `malformed`. */
export function parseListQuery<Status extends string>(
  search: string, queueList: Pick<QueueList<unknown, Status>,
    'statuses' | 'hasOrder' | 'hasEventIds' | 'hasKinds' | 'resolveHookId'>,
): ListQuery<Status> {
  const { hasOrder = false, hasEventIds = false, hasKinds = false } = queueList;
  const names = [
    ...FILTER_NAMES, ...hasOrder ? ['order'] : [], ...hasEventIds ? ['eventId'] : [],
    ...hasKinds ? ['kind'] : [],
  ];
  const query = parseQuery(search, [...names, 'limit', 'cursor']);
  const kind = parseChoiceParameter(query, 'kind', KINDS);
  return {
    parameters: names.flatMap((name) => {
      const value = query.get(name);
      return value === undefined ? [] : [[name, value] as const];
    }),
    filter: {
      ...parseQueryFilter(
        query, queueList.statuses, (name) => queueList.resolveHookId(name, kind)),
      kind, eventId: query.get('eventId') ?? null,
    },
    order: parseChoiceParameter(query, 'order', ORDERS),
    limit: parseIntegerParameter(query, 'limit', 1, PAGE_LIMIT_MAX),
    from: decodeIdCursor(query.get('cursor')),
  };
}

/** Sends the list that a raw query asks for; `search` is that of the exchange by default. */
export async function sendQueueList<Item, Status extends string>(
  exchange: Exchange, queueList: QueueList<Item, Status>, search = exchange.search,
): Promise<void> {
  const { parameters, filter, order, limit, from } = parseListQuery(search, queueList);
  const list = (start: string | null, count: number): Promise<readonly Item[]> =>
    queueList.list(filter, start, count, order === 'newest');
  const encode = (item: Item | undefined): Buffer | null =>
    item === undefined ? null : encodeItem(queueList, item);
  const headers = [
    'Content-Type', 'application/json', 'X-Total-Count', String(await queueList.count(filter)),
  ];
  if (limit === null) {
    return exchange.sendStream(200, headers, pullAll(queueList, list, from, encode));
  }
  const items = await list(from, limit + 1);
  const page = items.slice(0, limit);
  const last = page.at(-1);
  if (items.length > limit && last !== undefined) {
    headers.push('Link', formatNextLink(exchange, queueList.path, {
      limit, parameters, lastId: queueList.idOf(last),
    }));
  }
  return exchange.sendStream(200, headers, streamRecords(() => encode(page.shift())));
}

export function encodeItem<Item>(
  { toPublic }: Pick<QueueList<Item, string>, 'toPublic'>, item: Item,
): Buffer {
  return Buffer.from(JSON.stringify(toPublic(item)));
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
  queueList: Pick<QueueList<Item, string>, 'idOf'>,
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
      from = last === undefined ? from : queueList.idOf(last);
      index = 0;
    }
    index += 1;
    return encode(items[index - 1]);
  });
}

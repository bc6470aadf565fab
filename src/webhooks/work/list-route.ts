/** Lists of work over HTTP: one array, whole or page by page, filtered by what the query names. */
import { AppError } from '../../base/errors.ts';
import { quoted } from '../../base/text/refusal.ts';
import { parseTime } from '../../base/time.ts';
import { decodeIdCursor, encodeIdCursor } from '../../resources/id-cursor.ts';
import { streamRecords } from '../../resources/json-array-stream.ts';
import { TEXT } from '../../resources/route-specs.ts';
import {
  PAGE_LIMIT_MAX, parseChoiceParameter, parseIntegerParameter, parseQuery,
} from '../../server/query.ts';
import type { Exchange, ParameterSpec, Pull } from '../../server/http-route.ts';

/** Of a list without a limit, so many are looked for at a time. */
const FOUND_MAX = 100;
const FILTERS = ['hook', 'status', 'event', 'since', 'until'] as const;

/** What lists of work filter by; null: by none. */
export type WorkFilter<Status extends string> = {
  readonly hook: string | null;
  readonly status: Status | null;
  readonly event: string | null;
  /** Milliseconds since the epoch: at or after `sinceMs`, and before `untilMs`. */
  readonly sinceMs: number | null;
  readonly untilMs: number | null;
};

/** With what the list may have besides. */
type ListFilter<Status extends string> = WorkFilter<Status> & {
  /** null as well where there is no `EVENT_ID_PARAMETER`. */
  readonly eventId: string | null;
};

type WorkList<Item, Status extends string> = {
  readonly path: string;
  readonly statuses: readonly Status[];
  /** Whether the caller may choose the order by `ORDER_PARAMETER`. */
  readonly hasOrder?: boolean;
  /** Whether there is `EVENT_ID_PARAMETER`. */
  readonly hasEventIds?: boolean;
  /** Up to `limit` of them from behind the one with the id `from` on, in the list's order. */
  list(
    filter: ListFilter<Status>, from: string | null, limit: number, isNewestFirst: boolean,
  ): Promise<readonly Item[]>;
  /** How many match, on all pages. */
  count(filter: ListFilter<Status>): Promise<number>;
  /** The identifier of the webhook that a person names. */
  hookOf(name: string): string;
  idOf(item: Item): string;
  shown(item: Item): object;
};

const ORDERS = ['oldest', 'newest'] as const;

export const ORDER_PARAMETER: ParameterSpec = {
  name: 'order', in: 'query', description: 'Which come first; the oldest when absent',
  schema: { kind: 'string', values: ORDERS },
};

export const EVENT_ID_PARAMETER: ParameterSpec = {
  name: 'eventId', in: 'query', schema: TEXT,
  description: 'Only those that the sender gave this id, duplicates among them',
};

/** Its parameters; `what` says of which webhook, what the event is, and what the time is of. */
export function workListParameters(
  statuses: readonly string[],
  what: { readonly hook: string; readonly event: string; readonly time: string },
): readonly ParameterSpec[] {
  const time = { kind: 'string', format: 'date-time' } as const;
  return [
    { name: 'hook', in: 'query', schema: TEXT, description: what.hook },
    {
      name: 'status', in: 'query', description: 'Only these',
      schema: { kind: 'string', values: statuses },
    },
    { name: 'event', in: 'query', schema: TEXT, description: what.event },
    {
      name: 'since', in: 'query', schema: time,
      description: `${what.time} at that time or later`,
    },
    { name: 'until', in: 'query', schema: time, description: `${what.time} before that time` },
    {
      name: 'limit', in: 'query', description: 'At most so many',
      schema: { kind: 'integer', minimum: 1, maximum: PAGE_LIMIT_MAX },
    },
    { name: 'cursor', in: 'query', description: 'From a `Link` header', schema: TEXT },
  ];
}

export async function sendWorkList<Item, Status extends string>(
  exchange: Exchange, work: WorkList<Item, Status>,
): Promise<void> {
  const { hasOrder = false, hasEventIds = false } = work;
  const names = [
    ...FILTERS, ...hasOrder ? ['order'] : [], ...hasEventIds ? ['eventId'] : [],
  ];
  const query = parseQuery(exchange.search, [...names, 'limit', 'cursor']);
  const filter = filterIn(query, work);
  const isNewestFirst = parseChoiceParameter(query, 'order', ORDERS) === 'newest';
  const list = (start: string | null, count: number): Promise<readonly Item[]> =>
    work.list(filter, start, count, isNewestFirst);
  const limit = parseIntegerParameter(query, 'limit', 1, PAGE_LIMIT_MAX);
  const from = decodeIdCursor(query.get('cursor'));
  const encode = (item: Item | undefined): Buffer | null =>
    item === undefined ? null : Buffer.from(JSON.stringify(work.shown(item)));
  const headers = [
    'Content-Type', 'application/json', 'X-Total-Count', String(await work.count(filter)),
  ];
  if (limit === null) {
    return exchange.sendStream(200, headers, pullAll(work, list, from, encode));
  }
  const found = await list(from, limit + 1);
  const page = found.slice(0, limit);
  const last = page.at(-1);
  if (found.length > limit && last !== undefined) {
    const next = new URLSearchParams({ limit: String(limit) });
    for (const name of names) {
      const value = query.get(name);
      if (value !== undefined) next.set(name, value);
    }
    next.set('cursor', encodeIdCursor(work.idOf(last)));
    headers.push('Link', `<${exchange.linkTo(`${work.path}?${next}`)}>; rel="next"`);
  }
  return exchange.sendStream(200, headers, streamRecords(() => encode(page.shift())));
}

function pullAll<Item>(
  work: Pick<WorkList<Item, string>, 'idOf'>,
  list: (from: string | null, count: number) => Promise<readonly Item[]>, start: string | null,
  encode: (item: Item | undefined) => Buffer | null,
): Pull {
  let from = start;
  let found: readonly Item[] = [];
  let index = 0;
  return streamRecords(async () => {
    if (index === found.length) {
      found = await list(from, FOUND_MAX);
      const last = found.at(-1);
      from = last === undefined ? from : work.idOf(last);
      index = 0;
    }
    index += 1;
    return encode(found[index - 1]);
  });
}

/** Throws `malformed`. */
function filterIn<Status extends string>(
  query: ReadonlyMap<string, string>,
  { statuses, hookOf }: Pick<WorkList<unknown, Status>, 'statuses' | 'hookOf'>,
): ListFilter<Status> {
  const hook = query.get('hook');
  return {
    hook: hook === undefined ? null : hookOf(hook),
    status: parseChoiceParameter(query, 'status', statuses),
    event: query.get('event') ?? null, eventId: query.get('eventId') ?? null,
    sinceMs: timeIn(query, 'since'), untilMs: timeIn(query, 'until'),
  };
}

function timeIn(query: ReadonlyMap<string, string>, name: string): number | null {
  const given = query.get(name);
  if (given === undefined) return null;
  // A plus sign in a query is a space.
  const time = parseTime(given.replace(' ', '+'));
  if (time !== null) return time;
  throw new AppError('malformed', `\`${name}\` must be an RFC 3339 time such as `
    + `2026-01-31T12:00:00Z, not ${quoted(given)}`);
}

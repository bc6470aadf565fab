/** `GET /api/requests`. */
import { AppError } from '../../base/errors.ts';
import { quoted } from '../../base/text/refusal.ts';
import { decodeIdCursor, encodeIdCursor } from '../../resources/id-cursor.ts';
import { streamRecords } from '../../resources/page-stream.ts';
import { listed, text } from '../../resources/route-parts.ts';
import { problemAnswers } from '../../server/problem.ts';
import { PAGE_LIMIT_MAX, integerOf, parseQuery } from '../../server/query.ts';
import type { Exchange, ParameterSpec, Pull, Route } from '../../server/route.ts';
import { parseTime } from '../senders/verification/time.ts';
import type { RequestFilter } from './columns.ts';
import { REQUEST_STATUSES, shownRequest, type KeptRequest } from './request.ts';
import { requestResource } from './resource.ts';
import { requestSchema } from './schema.ts';
import type { RequestService } from './service.ts';

/** Of a list without a limit, so many are looked for at a time. */
const FOUND_MAX = 100;
const FILTERS = ['hook', 'status', 'event', 'since', 'until'] as const;

const PARAMETERS: readonly ParameterSpec[] = [
  {
    name: 'hook', in: 'query', schema: text(),
    description: 'Of this incoming webhook only: its identifier or path segment',
  },
  {
    name: 'status', in: 'query', description: 'Only these',
    schema: { kind: 'string', values: REQUEST_STATUSES },
  },
  {
    name: 'event', in: 'query', schema: text(),
    description: 'Only those that the sender names so, such as `push`',
  },
  {
    name: 'since', in: 'query', schema: { kind: 'string', format: 'date-time' },
    description: 'Received at that time or later',
  },
  {
    name: 'until', in: 'query', schema: { kind: 'string', format: 'date-time' },
    description: 'Received before that time',
  },
  {
    name: 'limit', in: 'query', description: 'At most so many',
    schema: { kind: 'integer', minimum: 1, maximum: PAGE_LIMIT_MAX },
  },
  { name: 'cursor', in: 'query', description: 'From a `Link` header', schema: text() },
];

export function requestListRoute(
  service: RequestService, hookOf: (name: string) => string,
): Route {
  return {
    method: 'GET', path: requestResource.path, operationId: 'listRequests', access: 'read',
    summary: 'Requests that were kept, newest first, whole or page by page',
    parameters: PARAMETERS,
    answers: [
      listed('The requests', requestSchema, 'How many match, on all pages'),
      ...problemAnswers(400),
    ],
    handle: (exchange) => sendList(exchange, service, hookOf),
  };
}

async function sendList(
  exchange: Exchange, service: RequestService, hookOf: (name: string) => string,
): Promise<void> {
  const query = parseQuery(exchange.search, [...FILTERS, 'limit', 'cursor']);
  const filter = requestFilterOf(query, hookOf);
  const limit = integerOf(query, 'limit', 1, PAGE_LIMIT_MAX);
  const before = decodeIdCursor(query.get('cursor'));
  const headers = [
    'Content-Type', 'application/json', 'X-Total-Count', String(await service.count(filter)),
  ];
  if (limit === null) return exchange.sendStream(200, headers, pullAll(service, filter, before));
  const found = await service.list(filter, before, limit + 1);
  const page = found.slice(0, limit);
  const last = page.at(-1);
  if (found.length > limit && last !== undefined) {
    const next = new URLSearchParams({ limit: String(limit) });
    for (const name of FILTERS) {
      const value = query.get(name);
      if (value !== undefined) next.set(name, value);
    }
    next.set('cursor', encodeIdCursor(last.id));
    headers.push('Link', `<${exchange.linkTo(`${requestResource.path}?${next}`)}>; rel="next"`);
  }
  return exchange.sendStream(200, headers, streamRecords(() => encodeShown(page.shift())));
}

/** Throws `malformed`. */
export function requestFilterOf(
  query: ReadonlyMap<string, string>, hookOf: (name: string) => string,
): RequestFilter {
  const hook = query.get('hook');
  const status = query.get('status');
  const known = REQUEST_STATUSES.find((one) => one === status) ?? null;
  if (status !== undefined && known === null) {
    throw new AppError('malformed', `\`status\` must be one of ${REQUEST_STATUSES.join(', ')}, `
      + `not ${quoted(status)}`);
  }
  return {
    hook: hook === undefined ? null : hookOf(hook),
    status: known,
    event: query.get('event') ?? null,
    sinceMs: timeIn(query, 'since'), untilMs: timeIn(query, 'until'),
  };
}

function timeIn(query: ReadonlyMap<string, string>, name: string): number | null {
  const given = query.get(name);
  if (given === undefined) return null;
  // A plus sign in a query is a space.
  const time = parseTime(given.replace(' ', '+'), 'iso');
  if (typeof time === 'number') return time;
  throw new AppError('malformed', `\`${name}\` must be an RFC 3339 time such as `
    + `2026-01-31T12:00:00Z, not ${quoted(given)}`);
}

function pullAll(service: RequestService, filter: RequestFilter, start: string | null): Pull {
  let before = start;
  let found: readonly KeptRequest[] = [];
  let index = 0;
  return streamRecords(async () => {
    if (index === found.length) {
      found = await service.list(filter, before, FOUND_MAX);
      before = found.at(-1)?.id ?? before;
      index = 0;
    }
    index += 1;
    return encodeShown(found[index - 1]);
  });
}

function encodeShown(request: KeptRequest | undefined): Buffer | null {
  return request === undefined ? null : Buffer.from(JSON.stringify(shownRequest(request)));
}

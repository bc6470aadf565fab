/** What the commands of kept requests and of deliveries share: lists, headers and bodies. */
import type { JsonObject } from '../../base/schema.ts';
import { ByteCollector } from '../../base/structures/byte-collector.ts';
import type { ListedResource } from '../../resources/resource.ts';
import { connectionLostError } from '../../server/local/api-call.ts';
import type { Session } from '../session/session.ts';
import type { CommandContext } from './context.ts';
import { LIST_LIMIT_MAX, columnsOf, textOf, walkPages } from './resource.ts';

const FILTERS = ['status', 'event', 'since', 'until'] as const;
/** As the API has it. */
const PAGE_LIMIT = 1000;

/** The options that say which ones are meant; `hook` is the identifier that --hook names. */
export function filterQuery({ given }: CommandContext, hook: string | null): URLSearchParams {
  const query = new URLSearchParams();
  if (hook !== null) query.set('hook', hook);
  for (const name of FILTERS) {
    const value = given.find(name);
    if (value !== undefined) query.set(name, value);
  }
  const eventId = given.find('event-id');
  if (eventId !== undefined) query.set('eventId', eventId);
  return query;
}

export async function listWork(
  context: CommandContext, resource: ListedResource, query: URLSearchParams,
): Promise<number> {
  const limit = context.given.integer('limit', 1, LIST_LIMIT_MAX) ?? Infinity;
  query.set('limit', String(Math.min(limit, PAGE_LIMIT)));
  const rows: JsonObject[] = [];
  for await (const page of walkPages(await context.openSession(), `${resource.path}?${query}`)) {
    rows.push(...page.slice(0, limit - rows.length));
    if (rows.length >= limit) break;
  }
  await context.output.list(rows, columnsOf(resource), `no ${resource.plural}`);
  return 0;
}

/** For people: a header a line, those of one name together. */
export function withReadableHeaders(request: JsonObject): JsonObject {
  const headers = new Map<string, string>();
  for (const [name, value] of pairsOf(request['headers'])) {
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return { ...request, headers: Object.fromEntries(headers) };
}

export function pairsOf(headers: unknown): (readonly [string, string])[] {
  const pairs: readonly unknown[] = Array.isArray(headers) ? headers : [];
  return pairs.flatMap((pair) => Array.isArray(pair)
    ? [[textOf(pair[0]), String(pair[1])] as const] : []);
}

/** The body of what `path` names: as it is, and on a terminal as text. */
export async function printBody(
  { output }: CommandContext, session: Session, path: string,
): Promise<number> {
  const body = await readBody(session, path);
  if (output.isJson) await output.json({ body: body.toString('base64') });
  // What a stranger sent could take over a terminal.
  else if (output.columns !== null) await output.text(body.toString('utf8'));
  else await output.write(body);
  return 0;
}

export async function readBody(session: Session, path: string): Promise<Buffer> {
  const answer = await session.stream({
    method: 'GET', path: `${path}/body`, isForAttachment: true,
  });
  const bytes = new ByteCollector();
  try {
    for await (const chunk of answer) bytes.add(Buffer.from(chunk));
  } catch (thrown) {
    throw connectionLostError(thrown);
  }
  return bytes.take();
}

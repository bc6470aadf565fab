/** Shared by the commands of stored requests and of deliveries: lists, headers and bodies. */
import type { JsonObject } from '../../../base/schema.ts';
import { ByteCollector } from '../../../base/structures/byte-collector.ts';
import type { ListedResource } from '../../../resources/resource.ts';
import { connectionLostError } from '../../../server/local/api-call.ts';
import type { ApiClient } from '../../api-client/api-client.ts';
import type { CommandContext } from '../command-context.ts';
import { setQueryOptions } from '../option-members.ts';
import { LIST_LIMIT_MAX, toTableColumns, formatValue, readPages } from '../resource-commands.ts';

const FILTER_OPTIONS = ['status', 'event', 'since', 'until', 'event-id', 'q'];
/** The largest page of the API. */
const PAGE_LIMIT = 1000;

/** Builds the query from the filter options; `webhookId` is that of `--hook`. */
export function buildFilterQuery(
  context: CommandContext, webhookId: string | undefined,
): URLSearchParams {
  const query = new URLSearchParams();
  if (webhookId !== undefined) query.set('hook', webhookId);
  setQueryOptions(query, context, FILTER_OPTIONS);
  for (const condition of context.args.all('where')) query.append('where', condition);
  return query;
}

/** Lists what the query asks for. A search goes on from page to page, with a progress line. */
export async function listPaged(
  context: CommandContext, resource: ListedResource, query: URLSearchParams,
): Promise<number> {
  const limit = context.args.integer('limit', 1, LIST_LIMIT_MAX) ?? Infinity;
  query.set('limit', String(Math.min(limit, PAGE_LIMIT)));
  const rows: JsonObject[] = [];
  const progress = context.output.progress(resource.plural, null);
  const pages = readPages(await context.openApiClient(), `${resource.path}?${query}`);
  try {
    for await (const { records, searchedUntil } of pages) {
      rows.push(...records.slice(0, limit - rows.length));
      if (rows.length >= limit) break;
      if (searchedUntil === null) continue;
      progress.show(() => `${rows.length} found, searched back to ${searchedUntil}`);
    }
  } finally {
    progress.end();
  }
  await context.output.list(rows, toTableColumns(resource), `no ${resource.plural}`);
  return 0;
}

/** The end of a sentence on a delivery that is due: what keeps it from being sent, if anything. */
export function describeWait({ waitsFor }: JsonObject): string {
  return waitsFor === 'webhook' ? ' once its webhook is enabled' : '';
}

/** Joins the values of headers of one name, for people. */
export function joinHeaders(request: JsonObject): JsonObject {
  const headers = new Map<string, string>();
  for (const [name, value] of parseHeaderPairs(request['headers'])) {
    const earlierValue = headers.get(name);
    headers.set(name, earlierValue === undefined ? value : `${earlierValue}, ${value}`);
  }
  return { ...request, headers: Object.fromEntries(headers) };
}

/** The headers of a stored request, in order; none where the member is absent. */
export function parseHeaderPairs(headers: unknown): (readonly [string, string])[] {
  const pairs: readonly unknown[] = Array.isArray(headers) ? headers : [];
  return pairs.flatMap((pair) => Array.isArray(pair)
    ? [[formatValue(pair[0]), String(pair[1])] as const] : []);
}

/** Prints the body of the record at `path`: byte for byte, or as escaped text on a terminal. */
export async function printBody(
  { output }: CommandContext, apiClient: ApiClient, path: string,
): Promise<number> {
  const body = await readBody(apiClient, `${path}/body`);
  if (output.isJson) await output.json({ body: body.toString('base64') });
  // Untrusted bytes could take over a terminal.
  else if (output.columns !== null) await output.text(body.toString('utf8'));
  else await output.write(body);
  return 0;
}

/** Reads the bytes that stand at `path`, as they are. */
export async function readBody(apiClient: ApiClient, path: string): Promise<Buffer> {
  const response = await apiClient.stream({ method: 'GET', path, isForAttachment: true });
  const bytes = new ByteCollector();
  try {
    for await (const chunk of response) bytes.add(Buffer.from(chunk));
  } catch (thrown) {
    throw connectionLostError(thrown);
  }
  return bytes.take();
}

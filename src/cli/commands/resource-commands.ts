/** Shared by the commands of all resources: lists in pages, one record, changes, table cells. */
import { isJsonObject } from '../../base/fields.ts';
import { encodeJson } from '../../base/json/encode.ts';
import type { JsonObject } from '../../base/schema.ts';
import { AppError } from '../../base/errors.ts';
import { didYouMean } from '../../base/text/nearest.ts';
import { isUuid } from '../../base/uuid.ts';
import type { ListedResource, Resource } from '../../resources/resource.ts';
import { findNextQuery, type ApiCall } from '../../server/local/api-call.ts';
import { PAGE_LIMIT_MAX } from '../../server/query.ts';
import type { CommandContext } from './command-context.ts';
import type { ApiClient } from '../api-client/api-client.ts';
import type { Column } from '../terminal/text-table.ts';
import { setQueryOptions } from './option-members.ts';

// The service returns at most ten matches. We show nine, and the tenth says that there are more.
const MATCHES_SHOWN_MAX = 9;

/**
 * The commands that list the records which people name, by the path of their collection: it is all
 * that call-route.ts knows of a resource.
 */
const LIST_COMMANDS: Readonly<Record<string, string>> = {
  '/api/action-configurations': 'actionconfig:list',
  '/api/incoming-webhooks': 'incomingwebhook:list',
  '/api/outgoing-webhooks': 'outgoingwebhook:list',
};

/** The maximum of `--limit`; the service itself returns one page at a time. */
export const LIST_LIMIT_MAX = 1_000_000_000;

/** Sends a call of the API; resolves with the object that it answers. Throws as `request` does. */
export async function requestObject(
  { openApiClient }: Pick<CommandContext, 'openApiClient'>, call: ApiCall,
): Promise<JsonObject> {
  const apiClient = await openApiClient();
  const { body } = await apiClient.request(call);
  return expectObject(body);
}

export function fetchObject(context: CommandContext, path: string): Promise<JsonObject> {
  return requestObject(context, { method: 'GET', path });
}

/** The path of one record. */
export function recordPath(resource: Pick<ListedResource, 'path'>, id: string): string {
  return `${resource.path}/${encodeURIComponent(id)}`;
}

type RecordPage = {
  readonly records: JsonObject[];
  /** The time that a search has come back to; null: it is complete, or the list is no search. */
  readonly searchedUntil: string | null;
  /** The words that were mistyped, as `X-Search-Corrected` has them; null: none. */
  readonly corrections: string | null;
};

/** Reads the pages of a collection, following its `Link` headers. */
export async function* readPages(apiClient: ApiClient, path: string): AsyncGenerator<RecordPage> {
  let next: string | null = path;
  while (next !== null) {
    const { body, headers }: Awaited<ReturnType<ApiClient['request']>> =
      await apiClient.request({ method: 'GET', path: next });
    const readHeader = (name: string): string | null => {
      const value = headers[name];
      return typeof value === 'string' ? value : null;
    };
    yield {
      records: expectObjects(body), searchedUntil: readHeader('x-search-until'),
      corrections: readHeader('x-search-corrected'),
    };
    const query = findNextQuery(headers);
    next = query === null ? null : `${path.replace(/\?.*/, '')}?${query}`;
  }
}

export async function fetchPage(apiClient: ApiClient, path: string): Promise<JsonObject[]> {
  return expectObjects((await apiClient.request({ method: 'GET', path })).body);
}

export async function fetchAll(
  { openApiClient }: Pick<CommandContext, 'openApiClient'>, path: string,
): Promise<JsonObject[]> {
  const rows: JsonObject[] = [];
  for await (const { records } of readPages(await openApiClient(), path)) rows.push(...records);
  return rows;
}

/**
 * The command `<resource>:list`, whose options are the parameters of the query; `parameters` are
 * set in their place. A search goes on from page to page, with a progress line.
 */
export async function listRecords(
  context: CommandContext, resource: ListedResource,
  parameters: Readonly<Record<string, string | undefined>> = {},
): Promise<void> {
  const { output } = context;
  const rows = await fetchListed(context, resource, parameters);
  await output.list(rows, toTableColumns(resource), `no ${resource.plural}`);
}

/** The records that `listRecords` prints. */
export async function fetchListed(
  context: CommandContext, resource: ListedResource,
  parameters: Readonly<Record<string, string | undefined>> = {},
): Promise<readonly JsonObject[]> {
  const { args, output, spec } = context;
  const query = new URLSearchParams();
  setQueryOptions(query, context, spec.options);
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) query.set(name, value);
  }
  const limit = args.integer('limit', 1, LIST_LIMIT_MAX) ?? Infinity;
  // A command without `--limit` lists a collection that the service answers whole.
  if ('limit' in spec.options) query.set('limit', String(Math.min(limit, PAGE_LIMIT_MAX)));
  const rows: JsonObject[] = [];
  const progress = output.progress(resource.plural, null);
  try {
    const pages = readPages(await context.openApiClient(), `${resource.path}?${query}`);
    for await (const { records, searchedUntil } of pages) {
      rows.push(...records.slice(0, limit - rows.length));
      if (rows.length >= limit) break;
      if (searchedUntil !== null) {
        progress.show(() => `${rows.length} found, searched back to ${searchedUntil}`);
      }
    }
  } finally {
    progress.end();
  }
  return rows;
}

type NamedResource = Pick<ListedResource, 'path' | 'noun' | 'plural'>;

/**
 * Resolves with what `findId` finds. Throws `not_found` for a name that no record has, and says
 * which name is near. An identifier that matches nothing is returned as it is: the service then
 * answers not_found, and still filters by a removed webhook.
 */
export async function resolveId(
  context: CommandContext, resource: NamedResource, option = 'identifier',
): Promise<string> {
  const name = context.args.get(option);
  const { path, noun } = resource;
  const id = await findId(context, resource, name);
  if (id !== null) return id;
  const listCommand = LIST_COMMANDS[path];
  if (listCommand === undefined || isUuid(name)) return name;
  const records = await fetchAll(context, path);
  const names = records.flatMap((record) =>
    [record['name'], record['pathSegment'], record['identifier']])
    .filter((value) => typeof value === 'string');
  throw new AppError('not_found', `there is no ${noun} ${JSON.stringify(name)}`
    + (didYouMean(name, names) || `; see hookshelf ${listCommand}`));
}

/** Resolves `--hook`, which filters by a webhook; undefined without it. Throws as `resolveId`. */
export async function resolveHook(
  context: CommandContext, resource: NamedResource,
): Promise<string | undefined> {
  return context.args.has('hook') ? resolveId(context, resource, 'hook') : undefined;
}

/** Resolves with the path of the record that an option names. Throws as `resolveId`. */
export async function resolvePath(
  context: CommandContext, resource: NamedResource, option?: string,
): Promise<string> {
  return recordPath(resource, await resolveId(context, resource, option));
}

/**
 * Asks the server for the identifier of the record that `name` names: its identifier or name, or a
 * beginning or end of an identifier that no other record has, also with the ellipsis that stands
 * in lists for the rest; null: nothing matches. Throws `conflict` for several matches.
 */
export async function findId(
  context: CommandContext, { path, plural }: Pick<ListedResource, 'path' | 'plural'>, name: string,
): Promise<string | null> {
  const part = name.replace(/^…|…$/g, '');
  const apiClient = await context.openApiClient();
  // `/api/books` becomes `/api/identifiers/books`.
  const identifiers = path.replace(/(?=\/[^/]+$)/, '/identifiers');
  const query = new URLSearchParams({ part });
  const { body } = await apiClient.request({ method: 'GET', path: `${identifiers}?${query}` });
  const matches = expectStrings(body);
  if (matches.length < 2) return matches[0] ?? null;
  throw new AppError('conflict', `several ${plural} begin or end with ${JSON.stringify(part)}: `
    + `${matches.slice(0, MATCHES_SHOWN_MAX).join(', ')}`
    + `${matches.length > MATCHES_SHOWN_MAX ? ', …' : ''}; give more of the one that you mean`);
}

/** Fetches the record that an option names. Throws as `resolveId`, and `not_found`. */
export async function fetchNamed(
  context: CommandContext, resource: ListedResource, option = 'identifier',
): Promise<JsonObject> {
  return fetchObject(context, await resolvePath(context, resource, option));
}

/**
 * Creates a record; resolves with the stored one. A `conflict` names the command that updates what
 * has the name: the create may have been tried before.
 */
export async function createRecord(
  context: CommandContext, { path }: Resource, body: unknown,
): Promise<JsonObject> {
  const apiClient = await context.openApiClient();
  try {
    return expectObject((await apiClient.request({ method: 'POST', path, body })).body);
  } catch (thrown) {
    const command = LIST_COMMANDS[path]?.replace('list', 'update');
    if (command === undefined || !(thrown instanceof AppError) || thrown.code !== 'conflict') {
      throw thrown;
    }
    throw new AppError('conflict', `${thrown.message} with hookshelf ${command}`, {}, thrown);
  }
}

/** A record as it is stored now, with the tag of its version. */
type FetchedRecord = { readonly record: JsonObject; readonly etag: string | undefined };

export async function fetchRecord(
  context: CommandContext, resource: Resource, id: string,
): Promise<FetchedRecord> {
  const apiClient = await context.openApiClient();
  const path = recordPath(resource, id);
  const { body, headers } = await apiClient.request({ method: 'GET', path });
  return { record: expectObject(body), etag: headers.etag };
}

/**
 * Applies a merge patch; resolves with the stored record. With `etag` it throws
 * `precondition_failed` when another version is stored.
 */
export async function patchRecord(
  context: CommandContext, resource: Resource, id: string, body: unknown, etag?: string,
): Promise<JsonObject> {
  return requestObject(context, {
    method: 'PATCH', path: recordPath(resource, id), body,
    headers: { 'content-type': 'application/merge-patch+json', ...createIfMatch(etag) },
  });
}

/**
 * Changes members of a record: an object in one of `wholeMembers` takes the place of the stored
 * one, where a merge patch would mix the two. Throws `precondition_failed` when the record has
 * changed since it was fetched, as the changes may follow from what it was.
 */
export async function updateRecord(
  context: CommandContext, resource: Resource, id: string,
  { current: { record, etag }, changes, wholeMembers }: {
    readonly current: FetchedRecord; readonly changes: JsonObject;
    readonly wholeMembers: readonly string[];
  },
): Promise<JsonObject> {
  if (!wholeMembers.some((name) => isJsonObject(changes[name]))) {
    return patchRecord(context, resource, id, changes, etag);
  }
  return requestObject(context, {
    method: 'PUT', path: recordPath(resource, id), body: { ...record, ...changes },
    headers: createIfMatch(etag),
  });
}

/** The header by which a write fails with `precondition_failed` on another version. */
export function createIfMatch(etag: string | undefined): Readonly<Record<string, string>> {
  return etag === undefined ? {} : { 'if-match': etag };
}

/** Converts the columns of a resource; a cell shows `-` where a member is absent. */
export function toTableColumns(
  { columns }: Pick<ListedResource, 'columns'>,
): Column<JsonObject>[] {
  return columns.map(({ member, form, show = formatValue, tones, ...more }) => {
    const value = (row: JsonObject): string => show(row[member], row) ?? formatValue(null);
    return {
      value,
      ...form === undefined ? {}
        : { fit: 'whole' as const, short: (row: JsonObject) => SHORTEN[form](value(row)) },
      ...tones === undefined ? {}
        : { tone: (row: JsonObject) => tones[formatValue(selectToneValue(row[member]))] },
      ...more,
    };
  });
}

/** The tone of an object, such as the health of a webhook, depends on its `state`. */
function selectToneValue(value: unknown): unknown {
  return isJsonObject(value) ? value['state'] : value;
}

const UUID_HEAD = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-(?=[0-9a-f]{12}$)/;
const SECONDS = /:\d\d(\.\d+)?Z$/;

// A short identifier is the random end of a UUID, which commands take, too.
const SHORTEN: Readonly<Record<'identifier' | 'time', (text: string) => string>> = {
  identifier: (text) => text.replace(UUID_HEAD, '…'),
  time: (text) => text.replace(SECONDS, 'Z'),
};

/** The webhook's name, else its path segment, else its identifier. */
export function webhookLabel({ name, pathSegment, identifier }: JsonObject): string {
  return formatValue(name ?? pathSegment ?? identifier);
}

/** The name and the identifier; without a name the identifier. */
export function formatNameAndId({ name, identifier }: JsonObject): string {
  return name === undefined ? formatValue(identifier)
    : `${formatValue(name)} (${formatValue(identifier)})`;
}

export function formatValue(value: unknown): string {
  if (value === undefined || value === null) return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.map(formatValue).join(', ');
  return typeof value === 'string' ? value : encodeJson(value);
}

export function expectObject(body: unknown): JsonObject {
  if (isJsonObject(body)) return body;
  throw new AppError('unavailable', 'the answer is not the JSON object that hookshelf gives');
}

export function expectObjects(body: unknown): JsonObject[] {
  if (Array.isArray(body)) return body.map(expectObject);
  throw new AppError('unavailable', 'the answer is not the JSON array that hookshelf gives');
}

function expectStrings(body: unknown): string[] {
  if (Array.isArray(body) && body.every((item) => typeof item === 'string')) return body;
  throw new AppError('unavailable', 'the answer is not the JSON array that hookshelf gives');
}

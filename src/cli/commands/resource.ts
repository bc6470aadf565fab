/** What the commands of all resources share: lists in pages, one record, changes. */
import { isJsonObject } from '../../base/fields.ts';
import type { JsonObject } from '../../base/schema.ts';
import { AppError } from '../../base/errors.ts';
import type { CommandContext } from './context.ts';
import type { Session } from '../session/session.ts';
import type { Column } from '../terminal/table.ts';

/** What identifiers are looked up by. */
type Named = Pick<Resource, 'path' | 'plural'>;

export type Resource = {
  /** `/api/books` */
  readonly path: string;
  /** `book` */
  readonly noun: string;
  /** `books` */
  readonly plural: string;
  readonly columns: readonly Column<JsonObject>[];
};

// The service gives no more than one beyond.
const MATCHES_SHOWN_MAX = 9;

/** The path of one record. */
export function pathOf(resource: Resource, id: string): string {
  return `${resource.path}/${encodeURIComponent(id)}`;
}

/** Pages of a collection, as its `Link` headers lead from one to the next. */
export async function* walkPages(session: Session, path: string): AsyncGenerator<JsonObject[]> {
  let next: string | null = path;
  while (next !== null) {
    const { body, headers }: Awaited<ReturnType<Session['request']>> =
      await session.request({ method: 'GET', path: next });
    yield objectsOf(body);
    const link = headers['link'];
    next = nextOf(typeof link === 'string' ? link : '');
  }
}

export async function fetchPage(session: Session, path: string): Promise<JsonObject[]> {
  return objectsOf((await session.request({ method: 'GET', path })).body);
}

export async function fetchAll(session: Session, path: string): Promise<JsonObject[]> {
  const rows: JsonObject[] = [];
  for await (const page of walkPages(session, path)) rows.push(...page);
  return rows;
}

/** The command `<resource>:list`. */
export async function list(
  context: CommandContext, resource: Resource, path = resource.path,
): Promise<number> {
  const rows = await fetchAll(await context.openSession(), path);
  await context.output.list(rows, resource.columns, `no ${resource.plural}`);
  return 0;
}

/**
 * The identifier that an option names: whole, or by a beginning or end that no other has. What
 * names nothing is given back as it is, for the service to say so. Throws `conflict`.
 */
export async function identifierOf(
  context: CommandContext, resource: Named, option = 'identifier',
): Promise<string> {
  // As a list shows it.
  const part = context.given.get(option).replace(/^…|…$/g, '');
  const session = await context.openSession();
  const path = `/control/identifiers/${resource.path.split('/').at(-1)}`;
  const query = new URLSearchParams({ part });
  const { body } = await session.request({ method: 'GET', path: `${path}?${query}` });
  const matches = Array.isArray(body) ? body.map(textOf) : [];
  return oneOf(matches, part, resource) ?? part;
}

/** The one that matches; undefined when none does. Throws `conflict` for several. */
export function oneOf(
  matches: readonly string[], part: string, { plural }: Named,
): string | undefined {
  if (matches.length < 2) return matches[0];
  throw new AppError('conflict', `several ${plural} begin or end with ${JSON.stringify(part)}: `
    + `${matches.slice(0, MATCHES_SHOWN_MAX).join(', ')}`
    + `${matches.length > MATCHES_SHOWN_MAX ? ', …' : ''}; give more of the one that you mean`);
}

/** The record that `--identifier` names. Throws `not_found`. */
export async function fetchOne(context: CommandContext, resource: Resource): Promise<JsonObject> {
  const session = await context.openSession();
  const path = pathOf(resource, await identifierOf(context, resource));
  return objectOf((await session.request({ method: 'GET', path })).body);
}

/** Creates a record and gives it as it was stored. */
export async function create(
  context: CommandContext, resource: Resource, body: unknown,
): Promise<JsonObject> {
  const session = await context.openSession();
  return objectOf((await session.request({ method: 'POST', path: resource.path, body })).body);
}

/** Applies a merge patch and gives the record as it was stored. */
export async function patch(
  context: CommandContext, resource: Resource, id: string, body: unknown,
): Promise<JsonObject> {
  const session = await context.openSession();
  const answer = await session.request({
    method: 'PATCH', path: pathOf(resource, id), body,
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  return objectOf(answer.body);
}

/**
 * Replaces a record by what `change` makes of it. Throws `precondition_failed` when
 * somebody else did so meanwhile.
 */
export async function replace(
  context: CommandContext, resource: Resource, id: string,
  change: (current: JsonObject) => JsonObject,
): Promise<JsonObject> {
  const session = await context.openSession();
  const path = pathOf(resource, id);
  const { body, headers } = await session.request({ method: 'GET', path });
  const answer = await session.request({
    method: 'PUT', path, body: change(objectOf(body)),
    headers: headers.etag === undefined ? {} : { 'if-match': headers.etag },
  });
  return objectOf(answer.body);
}

/** Deletes a record and says so. */
export async function remove(
  context: CommandContext, resource: Resource, id: string, key: 'id' | 'identifier',
): Promise<number> {
  const session = await context.openSession();
  await session.request({ method: 'DELETE', path: pathOf(resource, id) });
  await context.output.result({ [key]: id, deleted: true }, `deleted ${resource.noun} ${id}`);
  return 0;
}

/** Throws `usage` when an update was asked for and nothing to change was given. */
export function requireChange(context: CommandContext, body: JsonObject): void {
  if (Object.keys(body).length > 0) return;
  const names = Object.keys(context.spec.options).filter((name) => name !== 'identifier');
  const all = names.map((name) => `--${name}`).join(', ');
  throw new AppError('usage', `${context.spec.name} needs something to change: ${all}`);
}

/** Members that `--unset` takes away, by option name. Throws `usage` when one is also given. */
export function unsetMembers(
  { given }: CommandContext, members: Readonly<Record<string, string>>,
): JsonObject {
  const names = given.all('unset');
  const setter = names.find((name) => SETTERS.some((prefix) => given.has(prefix(name))));
  if (setter !== undefined) {
    throw new AppError('usage', `--unset ${setter} contradicts what another option sets it to`);
  }
  return Object.fromEntries(names.map((name) => [members[name] ?? name, null]));
}

// `secret` is set by `--secret-file` or `--generate-secret`, `headers` by `--header` too.
const SETTERS: readonly ((name: string) => string)[] = [
  (name) => name, (name) => `${name}-file`, (name) => `generate-${name}`,
  (name) => name.replace(/s$/, ''),
];

/** A column that shows a member; `-` when it is absent. */
export function column(
  title: string, member: string, more: Partial<Column<JsonObject>> = {},
): Column<JsonObject> {
  return { title, value: (row) => textOf(row[member]), ...more };
}

/** Never cut, but of a UUID its random end will do: a command takes that, too. */
export function identifierColumn(
  title: string, member: string, more: Partial<Column<JsonObject>> = {},
): Column<JsonObject> {
  const short = (row: JsonObject): string => textOf(row[member]).replace(UUID_HEAD, '…');
  return column(title, member, { isWhole: true, short, ...more });
}

/** Never cut, but where room is short its seconds go. */
export function timeColumn(
  title: string, member: string, more: Partial<Column<JsonObject>> = {},
): Column<JsonObject> {
  const short = (row: JsonObject): string => textOf(row[member]).replace(SECONDS, 'Z');
  return column(title, member, { isWhole: true, short, ...more });
}

const UUID_HEAD = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-(?=[0-9a-f]{12}$)/;
const SECONDS = /:\d\d(\.\d+)?Z$/;

export function textOf(value: unknown): string {
  if (value === undefined || value === null) return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.map(textOf).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export function objectOf(body: unknown): JsonObject {
  if (isJsonObject(body)) return body;
  throw new AppError('internal', 'the answer is not a JSON object');
}

function objectsOf(body: unknown): JsonObject[] {
  if (Array.isArray(body)) return body.map(objectOf);
  throw new AppError('internal', 'the answer is not a JSON array');
}

/** The path behind `rel="next"` in a Link header (RFC 8288), which may be a whole URL. */
function nextOf(link: string): string | null {
  const [, target] = /^<([^<>]*)>; rel="next"$/.exec(link) ?? [];
  if (target === undefined) return null;
  const url = new URL(target, 'http://localhost');
  return url.pathname + url.search;
}

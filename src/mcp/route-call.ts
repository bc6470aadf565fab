/** Calls a route with the flat arguments of a tool, and makes an object of its answer. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { AppError } from '../base/errors.ts';
import { isCount, isJsonObject } from '../base/fields.ts';
import { parseJsonText } from '../base/json/exact-parser.ts';
import type { JsonObject, JsonValue } from '../base/schema.ts';
import { quote, suggestName } from '../base/text/error-message.ts';
import {
  findNextQuery, readBodyUpTo, readResponseBody, type ApiCall,
} from '../server/local/api-call.ts';
import type { HttpRoute, Method, RouteTool } from '../server/http-route.ts';
import { PAGE_LIMIT_MAX, malformed } from '../server/query.ts';
import type { CallerApi, ToolArgument, ToolArguments, ToolCaller } from './tool.ts';

export const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const JSON_TYPE = 'application/json';
const PAGE_ITEMS = 20;
/**
 * A longer page is not parsed, but asked for with fewer items: a result of 64 KiB cannot hold it,
 * and to parse 1,000 long books takes 100 ms.
 */
const PAGE_BYTES_MAX = 256 * 1024;
export const TEXT = { kind: 'string' } as const;
const ADMIN = { access: 'admin' } as const;
/** The instructions explain them once for all lists. */
const PAGE_ARGUMENTS: ToolArguments = {
  limit: { place: 'query', schema: { kind: 'integer', minimum: 1, maximum: PAGE_LIMIT_MAX } },
  cursor: { place: 'query', schema: TEXT },
};

/** Arguments by name; a parameter goes before a member of the body with the same name. */
export function deriveArguments(route: HttpRoute): ToolArguments {
  const { parameters = [], body } = route;
  const args: Record<string, ToolArgument> = {};
  for (const { name, in: place, ...parameter } of parameters) {
    if (place !== 'header') args[name] = { place, ...parameter };
  }
  const members = body?.schema.kind === 'object' ? Object.entries(body.schema.members) : [];
  for (const [name, { schema, description, readOnly, isRequired, form }] of members) {
    if (readOnly !== undefined || Object.hasOwn(args, name)) continue;
    const isPatch = body?.isPatch === true;
    args[name] = {
      place: 'body', schema, description, isRequired: isRequired === true && !isPatch,
      // A change has the members of the record, which have their sentences where one is created.
      // A member that forms fold, as few need it, has none either.
      isBrief: isPatch || form?.group === 'more',
    };
  }
  return isList(route) ? { ...args, ...PAGE_ARGUMENTS } : args;
}

function isList({ responses }: HttpRoute): boolean {
  return responses[0]?.schema?.kind === 'array';
}

/** Throws `malformed` for wrong arguments, `forbidden` for those that need a greater scope. */
export async function callRoute(
  api: CallerApi, route: HttpRoute, caller: ToolCaller, args: JsonObject, signal: AbortSignal,
): Promise<JsonObject> {
  const specs = deriveArguments(route);
  checkArguments(specs, caller, args);
  checkFixedMembers(route, caller, args);
  const { limit: wantedLimit, cursor, ...others } = args;
  // Without a limit a route with pages would answer the whole list, of all books for example.
  const limit = wantedLimit ?? PAGE_ITEMS;
  // A route without pages answers its whole list, of which a page is cut here.
  const hasPages = route.parameters?.some(({ name }) => name === 'limit') === true;
  const pageArguments = hasPages ? { ...args, limit } : others;
  const response = await api.open(
    buildCall(route, specs, isList(route) ? pageArguments : args, signal));
  const canBeShorter = isList(route) && hasPages && Number(limit) > 1;
  const bytes = canBeShorter ? await readBodyUpTo(response, PAGE_BYTES_MAX)
    : await readResponseBody(response);
  if (bytes === null) {
    const fewerItems = { ...args, limit: Math.ceil(Number(limit) / 8) };
    return callRoute(api, route, caller, fewerItems, signal);
  }
  if (bytes.length === 0) return { done: true };
  const { 'content-type': type = '' } = response.headers;
  const isJson = route.responses[0]?.mediaType === JSON_TYPE && type.startsWith(JSON_TYPE);
  const answer = isJson ? parseJsonText(bytes.toString()) : describeBytes(type, bytes);
  if (!Array.isArray(answer)) return isJsonObject(answer) ? answer : {};
  return hasPages ? describePage(response, answer)
    : cutPage(answer, Number(cursor ?? '0'), Number(limit));
}

function describePage({ headers }: IncomingMessage, items: readonly JsonValue[]): JsonObject {
  const next = new URLSearchParams(findNextQuery(headers) ?? '').get('cursor');
  const total = headers['x-total-count'];
  return {
    items, ...total === undefined ? {} : { total: Number(total) }, ...next === null ? {} : { next },
  };
}

/** A page of a list that the API gives whole. */
function cutPage(all: readonly JsonValue[], start: number, limit: number): JsonObject {
  if (!isCount(start)) throw malformed('`cursor` must be the `next` of the page before');
  if (!isCount(limit) || limit === 0) throw malformed('`limit` must be an integer from 1 on');
  const end = start + limit;
  const next = end < all.length ? { next: String(end) } : {};
  return { items: all.slice(start, end), total: all.length, ...next };
}

/** Bytes that are no text are not shown. */
function describeBytes(mediaType: string, bytes: Buffer): JsonObject {
  const text = bytes.toString();
  const isText = isUtf8(bytes) && !/[^\P{Cc}\t\n\r]/u.test(text);
  return { mediaType, bytes: bytes.length, isText, ...isText ? { text } : {} };
}

/** Checks the names of arguments, and the rights that they need; the route checks their values. */
export function checkArguments(specs: ToolArguments, caller: ToolCaller, args: JsonObject): void {
  for (const name of Object.keys(args)) {
    const argument = Object.hasOwn(specs, name) ? specs[name] : undefined;
    if (argument === undefined) {
      const near = suggestName(name, Object.keys(specs));
      throw malformed(`there is no argument ${quote(name)}${near}`);
    }
    const { access = 'public' } = argument;
    if (!caller.mayCall({ access })) {
      throw new AppError('forbidden', `\`${name}\` needs ${caller.describeNeed({ access })}`);
    }
  }
  const missing = Object.keys(specs).filter((name) =>
    specs[name]?.isRequired === true && (args[name] ?? '') === '');
  if (missing.length > 0) throw malformed(`arguments are missing: ${missing.join(', ')}`);
}

/** Throws `forbidden` where members are missing that callers of the route's scope have to send. */
function checkFixedMembers(route: HttpRoute, caller: ToolCaller, args: JsonObject): void {
  const members = Object.entries(getToolRow(route).body);
  if (members.every(([name, value]) => args[name] === value) || caller.mayCall(ADMIN)) return;
  const missing = members.map(([name, value]) => `\`${name}: ${String(value)}\``).join(', ');
  throw new AppError('forbidden', `without ${missing} this needs the scope admin`);
}

function buildCall(
  route: HttpRoute, specs: ToolArguments, args: JsonObject, signal: AbortSignal,
): ApiCall {
  const query = new URLSearchParams();
  const members: Record<string, JsonValue> = {};
  let path = route.path;
  for (const [name, value] of Object.entries(args)) {
    const { place = 'query', schema: { kind } = TEXT } = specs[name] ?? {};
    if (place === 'body') {
      members[name] = value;
      continue;
    }
    const values = kind === 'array' && Array.isArray(value) ? value : [value];
    if (values.some((each) => Array.isArray(each) || isJsonObject(each))) {
      throw malformed(`\`${name}\` must be a ${kind}`);
    }
    if (place === 'path') {
      // Half a character, of which there is no encoding, becomes the replacement character.
      path = path.replace(`{${name}}`, encodeURIComponent(String(value).toWellFormed()));
    } else for (const each of values) {
      if (each !== null) query.append(name, String(each));
    }
  }
  const { mediaTypes: [bodyType = JSON_TYPE] } = route.body ?? { mediaTypes: [] };
  return {
    method: METHODS.find((method) => method === route.method) ?? 'GET', signal,
    path: query.size === 0 ? path : `${path}?${query}`,
    ...route.body === undefined ? {} : { headers: { 'content-type': bodyType }, body: members },
  };
}

/** The part of a route's row that describes its tool, with the defaults. */
export function getToolRow(
  { method, tool }: HttpRoute,
): Pick<RouteTool, 'verb' | 'summary'> & {
  readonly isReadOnly: boolean; readonly body: JsonObject;
} {
  const row = typeof tool === 'object' ? tool : {};
  return { ...row, isReadOnly: row.isReadOnly ?? method === 'GET', body: row.body ?? {} };
}

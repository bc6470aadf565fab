/** Tools made of routes, and the two tools that reach every other route. */
import { AppError } from '../base/errors.ts';
import { isCount, isJsonObject } from '../base/fields.ts';
import type { JsonObject, JsonValue } from '../base/schema.ts';
import { suggestName } from '../base/text/error-message.ts';
import { createSchemas } from '../server/documents/openapi-schema.ts';
import type { HttpRoute } from '../server/http-route.ts';
import { malformed } from '../server/query.ts';
import { cutAnswer, computeFillRatio } from './fit-result.ts';
import { TEXT, deriveArguments, callRoute, getToolRow } from './route-call.ts';
import type { Tool, ToolAnswer, ToolArgument, ToolContext } from './tool.ts';

const PREFIX = '/api/';
/** Scopes whose routes are for pages, copies of the data, and this machine. */
const CLOSED: readonly string[] = ['public', 'follow', 'control'];
const VERBS: Readonly<Record<string, string>> = {
  POST: 'create', PATCH: 'update', PUT: 'replace', DELETE: 'delete',
};

export function selectRoutes(routes: readonly HttpRoute[]): readonly HttpRoute[] {
  return routes.filter(({ path, access, tool }) =>
    path.startsWith(PREFIX) && !CLOSED.includes(access) && tool !== 'none');
}

/** If two routes have one name, the route of a single record has the tool. */
export function makeRouteTools(routes: readonly HttpRoute[]): readonly Tool[] {
  const ownRoutes = routes.filter(({ tool }) => tool !== undefined);
  return ownRoutes.filter((route) => route.path.includes('{')
    || !ownRoutes.some((other) => other.path.includes('{') && nameOf(other) === nameOf(route)))
    .map(makeRouteTool);
}

function makeRouteTool(route: HttpRoute): Tool {
  const { method, access, bound } = route;
  const { body, isReadOnly, summary = route.summary } = getToolRow(route);
  const visible = Object.entries(deriveArguments(route))
    .filter(([name]) => !Object.hasOwn(body, name));
  return {
    name: nameOf(route), access, ...bound === undefined ? {} : { bound }, isReadOnly,
    isDestructive: method !== 'POST', description: summary,
    arguments: Object.fromEntries(visible),
    run: (context, args) => answerCall(context, route, { ...args, ...body }, 0),
  };
}

function nameOf(route: HttpRoute): string {
  const [collection = '', ...steps] =
    route.path.slice(PREFIX.length).replaceAll('-', '_').split('/');
  const last = steps.at(-1) ?? '{}';
  const read = steps.length === 0 && route.responses[0]?.schema?.kind === 'array' ? 'list' : 'get';
  const usual = last.startsWith('{') ? VERBS[route.method] ?? read : last;
  return `${collection}_${getToolRow(route).verb ?? usual}`;
}

/** An argument of a tool that no route has. */
export function makeArgument(
  schema: ToolArgument['schema'], description: string, isRequired = false,
): ToolArgument {
  return { place: 'body', schema, description, isRequired };
}

const OBJECT = { kind: 'json', isObject: true, bytesMax: Infinity, depthMax: Infinity } as const;
const FROM_ARGUMENT = {
  from: makeArgument(
    { kind: 'integer', minimum: 0, maximum: Infinity }, 'Where a cut answer goes on'),
};

export function makeApiTools(routes: readonly HttpRoute[]): readonly Tool[] {
  const listCallable = ({ caller }: ToolContext): readonly HttpRoute[] =>
    routes.filter((route) => caller.mayCall(route));
  const getRoute = (context: ToolContext, name: unknown): HttpRoute => {
    const callable = listCallable(context);
    const route = routes.find(({ operationId }) => operationId === name);
    const names = callable.map(({ operationId }) => operationId);
    if (route === undefined) {
      throw new AppError('not_found', `there is no such route${suggestName(String(name), names)}`);
    }
    if (callable.includes(route)) return route;
    const need = context.caller.describeNeed(route);
    throw new AppError('forbidden', `${route.operationId} needs ${need}`);
  };
  return [{
    name: 'api_describe', access: 'public', isReadOnly: true, isDestructive: false,
    description: 'All routes of the API that you may call, or one with its whole schemas',
    arguments: {
      route: makeArgument(TEXT, 'Its operationId; all when absent'),
      ...FROM_ARGUMENT,
    },
    async run(context, { route: name, from }) {
      const value = name === undefined ? { routes: listCallable(context).map(formatRoute) }
        : describeRoute(getRoute(context, name));
      return cut({ value, origin: null }, from, `api_describe of ${String(name ?? 'all')}`);
    },
  }, {
    name: 'api_call', access: 'public', isReadOnly: false, isDestructive: true,
    description: 'Call any route that api_describe tells of, also those without a tool',
    arguments: {
      route: makeArgument(TEXT, 'Its operationId', true),
      arguments: makeArgument(OBJECT, 'Flat, as a tool takes them'),
      ...FROM_ARGUMENT,
    },
    async run(context, { route: name, arguments: args = {}, from }) {
      // Without its arguments a call would act on more than was meant: on every delivery, say.
      if (!isJsonObject(args)) throw malformed('`arguments` must be an object');
      return answerCall(context, getRoute(context, name), args, from);
    },
  }];
}

function formatRoute({ operationId, method, path, summary }: HttpRoute): string {
  return `${operationId}: ${method} ${path}: ${summary}`;
}

function describeRoute(route: HttpRoute): JsonObject {
  const { operationId, method, path, access, summary, responses } = route;
  const schemas = createSchemas();
  const form = route.body?.isPatch === true ? 'patch' : 'body';
  const entries = Object.entries(deriveArguments(route));
  const [{ schema: answer = undefined, description = '' } = {}] = responses;
  const described = {
    route: operationId, method, path, scope: access, summary,
    arguments: {
      type: 'object',
      properties: Object.fromEntries(entries.map(([name, argument]) => [name, {
        ...schemas.convert(argument.schema, form), description: argument.description,
      }])),
      required: entries.filter(([, { isRequired }]) => isRequired === true).map(([name]) => name),
    },
    answer: { description, ...answer === undefined ? {} : schemas.convert(answer, 'view') },
  };
  const text = JSON.stringify({ ...described, $defs: schemas.listComponents() });
  const parsed: unknown = JSON.parse(text.replaceAll('"#/components/schemas/', '"#/$defs/'),
    // It is for the forms of the console.
    (name, inner: unknown) => name === 'x-form' ? undefined : inner);
  return isJsonObject(parsed) ? parsed : {};
}

async function answerCall(
  { api, caller, signal }: ToolContext, route: HttpRoute, args: JsonObject,
  from: JsonValue | undefined,
): Promise<ToolAnswer> {
  const { operationId, method, path } = route;
  const isRepeatable = changesNothing(route, args);
  if (!isRepeatable && from !== undefined && from !== 0) {
    throw malformed(`\`from\` is for calls that only read, and ${operationId} would act again`);
  }
  let value = await callRoute(api, route, caller, args, signal);
  // A page that is too long is asked for with fewer items: it then has a cursor to the rest, which
  // a page that is cut would lack.
  while (isRepeatable) {
    const { items } = value;
    if (!Array.isArray(items) || items.length <= 1) break;
    const fillRatio = computeFillRatio(value);
    if (fillRatio <= 1) break;
    const limit = Math.max(1, Math.floor(items.length * 0.8 / fillRatio));
    value = await callRoute(api, route, caller, { ...args, limit }, signal);
  }
  const fixedMembers = Object.entries(getToolRow(route).body)
    .map(([name, member]) => `, ${name}: ${JSON.stringify(member)}`).join('');
  // The arguments may hold secrets, and are not repeated.
  return cut({ value, origin: `${method} ${path}` }, from, isRepeatable
    ? `api_call of ${operationId} with the same arguments${fixedMembers}` : null);
}

/** Whether a call with these arguments may be repeated for the rest of its answer. */
function changesNothing(route: HttpRoute, args: JsonObject): boolean {
  const { isReadOnly, body } = getToolRow(route);
  return isReadOnly && Object.entries(body).every(([name, member]) => args[name] === member);
}

/** `call` says how to get the rest; null: nothing may, as the call would act again. */
function cut(answer: ToolAnswer, from: JsonValue = 0, call: string | null): ToolAnswer {
  if (!isCount(from)) throw malformed('`from` must be an integer from 0 on');
  const { value, end } = cutAnswer(answer.value, from);
  const note = call === null
    ? 'It is cut, and was done once: read the record for the rest, as this call would act again'
    : `It is cut: go on by ${call} and from: ${end}`;
  return { ...answer, value, notes: end === null ? [] : [note] };
}

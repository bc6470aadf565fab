/**
 * Makes the routes that every resource has from its description: get, add, replace, patch, delete
 * and restore, with conditional requests. Its repository serves them.
 */
import { CHAIN_HEADER, parseHops } from '../base/webhook-chain.ts';
import type { StringSchema } from '../base/schema.ts';
import { formatHeaders } from '../server/exchange/header-text.ts';
import { parseJsonBody } from '../server/exchange/read-body.ts';
import { problemResponses } from '../server/problem.ts';
import type {
  BodySpec, BoundRule, Exchange, Handler, HttpRoute, OtherMediaType, ParameterSpec, ResponseSpec,
} from '../server/http-route.ts';
import { logWrite } from './change-log.ts';
import type { ListedView } from './collection-route.ts';
import { createPrecondition } from './conditional-request.ts';
import {
  IDEMPOTENCY_PARAMETER, REPLAYED_HEADERS, serveOnce, type IdempotencyKeys,
} from './idempotency-keys.ts';
import { notFoundError } from './not-found.ts';
import type { Repository, WriteOptions } from './repository.ts';
import type { Representation } from './representation.ts';
import type { Resource } from './resource.ts';
import { JSON_TYPE } from './route-specs.ts';
import {
  ETAG_HEADER, IF_NONE_MATCH, VARY_BY_ACCEPT, sendEncoded, sendRepresentation, type EncodedRecord,
} from './send-representation.ts';

export type RoutedResource = Pick<Resource,
  'path' | 'noun' | 'schema' | 'collection' | 'access' | 'example'> & {
    /** The way in which a caller may ask for some members of a record alone. */
    readonly selection?: MemberSelection;
    /** The media types besides JSON in which a caller may have a record. */
    readonly formats?: RecordFormats;
  };

/** The rules by which tokens that are bound to webhooks may use the routes of a resource. */
type BoundAccess = {
  readonly read: BoundRule;
  readonly patch: BoundRule;
  /** Throws for a patch that the caller may not make, as his token is bound. */
  readonly checkPatch: (exchange: Exchange, patch: unknown) => void;
  /** Finds how the caller sees a record; null: whole. */
  readonly findView: (exchange: Exchange) => Pick<ListedView, 'show'> | null;
  /** Says what the caller should know of a record that he has written; null: nothing. */
  readonly findHint: (exchange: Exchange, record: Buffer) => string | null;
};

type MemberSelection = {
  readonly parameter: ParameterSpec;
  /** The way from a record's JSON to what the raw query asks for of it. Throws `malformed`. */
  readonly parse: (search: string) => (bytes: Buffer) => Buffer;
};

export type RecordFormats = {
  readonly parameter: ParameterSpec;
  readonly otherTypes: readonly OtherMediaType[];
  /** Whether a quick look at the request tells that the caller takes JSON. */
  readonly isPlainlyJson: (exchange: Exchange) => boolean;
  /**
   * Selects the format that the caller wants; null: JSON. Throws `malformed` for an unknown format,
   * and `not_acceptable`.
   */
  readonly select: (exchange: Exchange) => Promise<RecordEncoder | null>;
};

type RecordEncoder = (bytes: Buffer) => EncodedRecord;

type ItemRepository =
  Pick<Repository, 'find' | 'add' | 'replace' | 'patch' | 'remove' | 'restore'>;

const PATCH_MEDIA_TYPES = ['application/merge-patch+json', JSON_TYPE] as const;

const BODY_MEDIA_TYPES = [JSON_TYPE] as const;
const KEY_SCHEMA: StringSchema = { kind: 'string', minLength: 1, maxLength: 128 };

/**
 * With `keys`, a POST takes an `Idempotency-Key`. Without `bound`, no token that is bound to
 * webhooks may call any of the routes.
 */
export function resourceRoutes(
  resource: RoutedResource, repository: ItemRepository, keys: IdempotencyKeys | null = null,
  bound: BoundAccess | null = null,
): readonly HttpRoute[] {
  return [
    getRoute(resource, repository, bound), postRoute(resource, repository, keys, bound),
    putRoute(resource, repository, bound), patchRoute(resource, repository, bound),
    deleteRoute(resource, repository), restoreRoute(resource, repository),
  ];
}

function getRoute(
  resource: RoutedResource, repository: ItemRepository, bound: BoundAccess | null,
): HttpRoute {
  const { schema, noun, access, selection, formats } = resource;
  const moreHeaders = formats === undefined ? '' : VARY_BY_ACCEPT;
  const send = (exchange: Exchange, encode: RecordEncoder | null): void => {
    const { search } = exchange;
    // A query is refused even where there is no such record.
    const select = search === '' ? undefined : selection?.parse(search);
    const id = exchange.params[0] ?? '';
    const representation = repository.find(id);
    if (representation === undefined) throw notFoundError(noun, id);
    const view = bound?.findView(exchange) ?? null;
    if (view !== null) return sendRepresentation(exchange, noun, representation.view(view.show));
    const { bytes } = representation;
    const selectedBytes = select === undefined ? bytes : select(bytes);
    if (encode !== null) {
      return sendEncoded(exchange, noun, representation, encode(selectedBytes));
    }
    return sendRepresentation(exchange, noun, representation, selectedBytes, moreHeaders);
  };
  const handle: Handler = (exchange) => {
    if (formats === undefined || formats.isPlainlyJson(exchange)) return send(exchange, null);
    return formats.select(exchange).then((encode) => send(exchange, encode));
  };
  return {
    method: 'GET',
    path: `${resource.path}/{${resource.collection.key}}`,
    operationId: `get${schema.name}`,
    summary: `One ${noun}`,
    access: access?.read ?? 'read',
    ...bound === null ? {} : { bound: bound.read },
    tool: {},
    parameters: [
      createKeyParameter(resource), ...selection === undefined ? [] : [selection.parameter],
      ...formats === undefined ? [] : [formats.parameter], ...READ_CONDITIONS,
    ],
    responses: [
      { ...recordResponse(resource, 200, `The ${noun}`), otherTypes: formats?.otherTypes ?? [] },
      { status: 304, description: 'Not changed since', headers: ETAG_HEADER },
      ...problemResponses(400, 404, ...formats === undefined ? [] : [406], 412),
    ],
    handle,
  };
}

function postRoute(
  resource: RoutedResource, repository: ItemRepository, keys: IdempotencyKeys | null,
  bound: BoundAccess | null,
): HttpRoute {
  const { schema, noun, access } = resource;
  const buildHeaders = (exchange: Exchange, { id, headerText, bytes }: Representation): string => {
    // A key holds no character that needs percent-encoding (record.ts).
    const path = `${resource.path}/${id}`;
    const link = exchange.linkTo(path);
    return (link === path ? `Location: ${path}\r\n` : formatHeaders(['Location', link]))
      + headerText + (bound === null ? '' : formatHint(bound, exchange, bytes));
  };
  return {
    method: 'POST',
    path: resource.path,
    operationId: `add${schema.name}`,
    summary: `Add one ${noun}`,
    access: access?.write ?? 'write',
    tool: {},
    ...keys === null ? {} : { parameters: [IDEMPOTENCY_PARAMETER] },
    body: createBodySpec(resource),
    responses: [
      { ...recordResponse(resource, 201, `The ${noun} as stored`),
        headers: {
          ...VERSION_HEADERS, Location: `Where the new ${noun} is`,
          ...keys === null ? {} : REPLAYED_HEADERS, ...bound === null ? {} : HINT_HEADERS,
        } },
      ...problemResponses(400, 409, 413, 415, 422, 503, 507),
    ],
    handle: (exchange) => serveOnce(keys, exchange, (body, keepResponse) =>
      runWrite(exchange, resource, (options) =>
        repository.add(parseJsonBody(body), options, (transaction, representation) =>
          keepResponse(transaction, {
            status: 201, headers: buildHeaders(exchange, representation),
            body: representation.bytes,
          })))),
  };
}

function putRoute(
  resource: RoutedResource, repository: ItemRepository, bound: BoundAccess | null,
): HttpRoute {
  return changeRoute(resource, {
    method: 'PUT',
    operationId: `replace${resource.schema.name}`,
    summary: `Replace one ${resource.noun} whole`,
    body: createBodySpec(resource),
    change: (...input) => repository.replace(...input),
  }, bound);
}

function patchRoute(
  resource: RoutedResource, repository: ItemRepository, bound: BoundAccess | null,
): HttpRoute {
  const route = changeRoute(resource, {
    method: 'PATCH',
    operationId: `patch${resource.schema.name}`,
    summary: `Change members of one ${resource.noun} by JSON Merge Patch (RFC 7396)`,
    body: { mediaTypes: PATCH_MEDIA_TYPES, schema: resource.schema, isPatch: true },
    tool: { summary: `Change members of one ${resource.noun}; null removes one` },
    change: (...input) => repository.patch(...input),
  }, bound);
  return bound === null ? route : { ...route, bound: bound.patch };
}

function changeRoute(
  resource: RoutedResource,
  { body, change, ...named }: Pick<HttpRoute, 'method' | 'operationId' | 'summary' | 'tool'> & {
    readonly body: BodySpec; readonly change: ItemRepository['replace'];
  },
  bound: BoundAccess | null,
): HttpRoute {
  const { noun, access } = resource;
  const response = recordResponse(resource, 200, `The ${noun} as stored`);
  return {
    ...named,
    path: `${resource.path}/{${resource.collection.key}}`,
    access: access?.write ?? 'write',
    parameters: [createKeyParameter(resource), ...WRITE_CONDITIONS],
    body,
    responses: [
      bound === null ? response
        : { ...response, headers: { ...response.headers, ...HINT_HEADERS } },
      ...problemResponses(400, 404, 409, 412, 413, 415, 422, 503, 507),
    ],
    async handle(exchange) {
      const value = await exchange.readJson();
      bound?.checkPatch(exchange, value);
      const precondition = createPrecondition(exchange, noun);
      const id = exchange.params[0] ?? '';
      const representation = await runWrite(exchange, resource, (options) =>
        change(id, value, precondition, options));
      const view = bound?.findView(exchange) ?? null;
      const { headerText, bytes } =
        view === null ? representation : representation.view(view.show);
      const hint = bound === null ? '' : formatHint(bound, exchange, bytes);
      exchange.send(200, headerText + hint, bytes);
    },
  };
}

function deleteRoute(resource: RoutedResource, repository: ItemRepository): HttpRoute {
  const { schema, noun, access } = resource;
  return {
    method: 'DELETE',
    path: `${resource.path}/{${resource.collection.key}}`,
    operationId: `delete${schema.name}`,
    summary: `Delete one ${noun}`,
    access: access?.write ?? 'write',
    // Records that only admins may delete are configuration, which `api_call` deletes.
    ...access?.write === 'admin' ? {} : { tool: {} },
    parameters: [createKeyParameter(resource), ...WRITE_CONDITIONS],
    responses: [
      { status: 204, description: 'Deleted' },
      ...problemResponses(400, 404, 409, 412, 503, 507),
    ],
    async handle(exchange) {
      const precondition = createPrecondition(exchange, noun);
      await runWrite(exchange, resource, (options) =>
        repository.remove(exchange.params[0] ?? '', precondition, options));
      exchange.send(204, []);
    },
  };
}

function restoreRoute(resource: RoutedResource, repository: ItemRepository): HttpRoute {
  const { schema, noun, access, collection } = resource;
  return {
    method: 'POST',
    path: `${resource.path}/{${collection.key}}/restore`,
    operationId: `restore${schema.name}`,
    summary: `Put one ${noun} back that was deleted in the last minute, as it was`,
    access: access?.write ?? 'write',
    parameters: [createKeyParameter({ collection, noun: `deleted ${noun}` })],
    responses: [
      recordResponse(resource, 200, `The ${noun} as it was`),
      ...problemResponses(404, 409, 422, 503, 507),
    ],
    async handle(exchange) {
      const representation = await runWrite(exchange, resource, (options) =>
        repository.restore(exchange.params[0] ?? '', options), true);
      exchange.send(200, representation.headerText, representation.bytes);
    },
  };
}

function createBodySpec({ schema, example }: RoutedResource): BodySpec {
  return { mediaTypes: BODY_MEDIA_TYPES, schema, ...example === undefined ? {} : { example } };
}

/** Runs a write, and logs who changes the configuration: records that only admins may change. */
export function runWrite<T>(
  exchange: Exchange, { noun, access }: RoutedResource, run: (options: WriteOptions) => Promise<T>,
  isRestored = false,
): Promise<T> {
  const chain = exchange.request.headers[CHAIN_HEADER];
  const hops = chain === undefined ? 0 : parseHops(chain);
  if (access?.write !== 'admin') return run({ hops });
  return logWrite(exchange, noun, (options) => run({ ...options, hops }), isRestored);
}

const HINT_HEADER = 'X-Hint';
const HINT_HEADERS = {
  [HINT_HEADER]: 'That a customer hears by this webhook what is not for him alone, as it has no '
    + 'condition; absent: not so, or the token of the caller is bound',
};

/** What is no printable ASCII, as an event may be named, is percent-encoded. */
function formatHint(bound: BoundAccess, exchange: Exchange, record: Buffer): string {
  const hint = bound.findHint(exchange, record);
  return hint === null ? ''
    : formatHeaders([HINT_HEADER, hint.replace(/[^ -~]+/gu, encodeURIComponent)]);
}

const VERSION_HEADERS = { ...ETAG_HEADER, 'Last-Modified': 'When it was last written' };

export function recordResponse(
  { schema }: RoutedResource, status: number, description: string,
): ResponseSpec {
  return {
    status, description, mediaType: JSON_TYPE, schema, headers: VERSION_HEADERS,
  };
}

export function createKeyParameter(
  { collection, noun }: Pick<RoutedResource, 'collection' | 'noun'>,
): ParameterSpec {
  const { key, hasNames = false, unique = [] } = collection;
  const names = hasNames ? `, or its \`${unique.join('` or `')}\`` : '';
  return {
    name: key, in: 'path', description: `Of the ${noun}${names}`, schema: KEY_SCHEMA,
    isRequired: true,
  };
}

function conditionParameter(name: string, description: string): ParameterSpec {
  return { name, in: 'header', description, schema: { kind: 'string' } };
}

const READ_CONDITIONS = [
  IF_NONE_MATCH,
  conditionParameter('If-Modified-Since', 'An HTTP date: 304 when not written since'),
];
export const WRITE_CONDITIONS = [
  conditionParameter('If-Match', 'Tag of the version to be changed: 412 when another is stored'),
];

/**
 * The routes that every resource shares: one, add, replace, patch, delete, with conditional
 * requests, made from its description and answered by its repository.
 */
import { CHAIN_HEADER, hopsOf } from '../base/chain.ts';
import type { StringSchema } from '../base/schema.ts';
import { formatHeaders, parseHeaderText } from '../server/exchange/header-text.ts';
import { problemResponses } from '../server/problem.ts';
import type {
  ResponseSpec, BodySpec, Exchange, Handler, ParameterSpec, HttpRoute,
} from '../server/http-route.ts';
import { expectationOf } from './expectation.ts';
import {
  IDEMPOTENCY_HEADER, IDEMPOTENCY_PARAMETER, REPLAYED_ANSWER, valueOf, type IdempotencyKeys,
} from './idempotency.ts';
import { notFound } from './not-found.ts';
import type { Repository } from './repository.ts';
import type { Representation } from './representation.ts';
import type { Resource } from './resource.ts';
import { ETAG_HEADER, IF_NONE_MATCH, sendRepresentation } from './send-representation.ts';

/** What the routes need to know of a resource. */
export type Routed = Pick<Resource,
  'path' | 'noun' | 'schema' | 'collection' | 'access' | 'example'>;

type Records = Omit<Repository, 'size' | 'walk' | 'count'>;

const JSON_MEDIA_TYPE = 'application/json';
const PATCH_MEDIA_TYPES = ['application/merge-patch+json', JSON_MEDIA_TYPE] as const;

const BODY_MEDIA_TYPES = [JSON_MEDIA_TYPE] as const;
const KEY_SCHEMA: StringSchema = { kind: 'string', minLength: 1, maxLength: 128 };

/** With `keys`, adding takes an `Idempotency-Key`. */
export function resourceRoutes(
  resource: Routed, records: Records, keys: IdempotencyKeys | null = null,
): readonly HttpRoute[] {
  return [
    getRoute(resource, records), postRoute(resource, records, keys), putRoute(resource, records),
    patchRoute(resource, records), deleteRoute(resource, records),
  ];
}

function getRoute(resource: Routed, records: Records): HttpRoute {
  const { schema, noun, access } = resource;
  const handle: Handler = (exchange) => {
    const id = exchange.params[0] ?? '';
    const found = records.find(id);
    if (found === undefined) throw notFound(noun, id);
    sendRepresentation(exchange, noun, found);
  };
  return {
    method: 'GET',
    path: `${resource.path}/{${resource.collection.key}}`,
    operationId: `get${schema.name}`,
    summary: `One ${noun}`,
    access: access?.read ?? 'read',
    parameters: [keyParameter(resource), ...READ_CONDITIONS],
    responses: [
      shown(resource, 200, `The ${noun}`),
      { status: 304, description: 'Not changed since', headers: ETAG_HEADER },
      ...problemResponses(400, 404, 412),
    ],
    handle,
  };
}

function postRoute(resource: Routed, records: Records, keys: IdempotencyKeys | null): HttpRoute {
  const { schema, noun, access } = resource;
  const headersOf = (exchange: Exchange, { id, headerText: own }: Representation): string => {
    // No character of a key needs to be encoded (record.ts).
    const path = `${resource.path}/${id}`;
    const link = exchange.linkTo(path);
    return (link === path ? `Location: ${path}\r\n` : formatHeaders(['Location', link])) + own;
  };
  return {
    method: 'POST',
    path: resource.path,
    operationId: `add${schema.name}`,
    summary: `Add one ${noun}`,
    access: access?.write ?? 'write',
    ...keys === null ? {} : { parameters: [IDEMPOTENCY_PARAMETER] },
    body: bodyOf(resource),
    responses: [
      { ...shown(resource, 201, `The ${noun} as stored`),
        headers: {
          ...VERSION_HEADERS, Location: `Where the new ${noun} is`,
          ...keys === null ? {} : REPLAYED_ANSWER,
        } },
      ...problemResponses(400, 409, 413, 415, 422, 503, 507),
    ],
    async handle(exchange) {
      if (keys !== null && exchange.request.headers[IDEMPOTENCY_HEADER] !== undefined) {
        return keys.serve(exchange, BODY_MEDIA_TYPES, (body, remember) =>
          records.add(valueOf(body), hopsTo(exchange), (transaction, added) =>
            remember(transaction, {
              status: 201, headers: parseHeaderText(headersOf(exchange, added)),
              body: added.bytes.toString(),
            })));
      }
      const body = await exchange.readJson(BODY_MEDIA_TYPES);
      const added = await records.add(body, hopsTo(exchange));
      exchange.send(201, headersOf(exchange, added), added.bytes);
    },
  };
}

function putRoute(resource: Routed, records: Records): HttpRoute {
  return changeRoute(resource, {
    method: 'PUT',
    operationId: `replace${resource.schema.name}`,
    summary: `Replace one ${resource.noun} whole`,
    body: bodyOf(resource),
    change: (id, body, expect, hops) => records.replace(id, body, expect, hops),
  });
}

function patchRoute(resource: Routed, records: Records): HttpRoute {
  return changeRoute(resource, {
    method: 'PATCH',
    operationId: `patch${resource.schema.name}`,
    summary: `Change members of one ${resource.noun} by JSON Merge Patch (RFC 7396)`,
    body: { mediaTypes: PATCH_MEDIA_TYPES, schema: resource.schema, isPatch: true },
    change: (id, patch, expect, hops) => records.patch(id, patch, expect, hops),
  });
}

function changeRoute(
  resource: Routed,
  { body, change, ...named }: Pick<HttpRoute, 'method' | 'operationId' | 'summary'> & {
    readonly body: BodySpec; readonly change: Records['replace'];
  },
): HttpRoute {
  const { noun, access } = resource;
  return {
    ...named,
    path: `${resource.path}/{${resource.collection.key}}`,
    access: access?.write ?? 'write',
    parameters: [keyParameter(resource), ...WRITE_CONDITIONS],
    body,
    responses: [
      shown(resource, 200, `The ${noun} as stored`),
      ...problemResponses(400, 404, 409, 412, 413, 415, 422, 503, 507),
    ],
    async handle(exchange) {
      const given = await exchange.readJson(body.mediaTypes);
      const expect = expectationOf(exchange, noun);
      const stored = await change(exchange.params[0] ?? '', given, expect, hopsTo(exchange));
      exchange.send(200, stored.headerText, stored.bytes);
    },
  };
}

function deleteRoute(resource: Routed, records: Records): HttpRoute {
  const { schema, noun, access } = resource;
  return {
    method: 'DELETE',
    path: `${resource.path}/{${resource.collection.key}}`,
    operationId: `delete${schema.name}`,
    summary: `Delete one ${noun}`,
    access: access?.write ?? 'write',
    parameters: [keyParameter(resource), ...WRITE_CONDITIONS],
    responses: [
      { status: 204, description: 'Deleted' },
      ...problemResponses(400, 404, 409, 412, 503, 507),
    ],
    async handle(exchange) {
      const expect = expectationOf(exchange, noun);
      await records.remove(exchange.params[0] ?? '', expect, hopsTo(exchange));
      exchange.send(204, []);
    },
  };
}

function bodyOf({ schema, example }: Routed): BodySpec {
  return { mediaTypes: BODY_MEDIA_TYPES, schema, ...example === undefined ? {} : { example } };
}

function hopsTo(exchange: Exchange): number {
  return hopsOf(exchange.request.headers[CHAIN_HEADER]);
}

const VERSION_HEADERS = { ...ETAG_HEADER, 'Last-Modified': 'When it was last written' };

function shown({ schema }: Routed, status: number, description: string): ResponseSpec {
  return {
    status, description, mediaType: JSON_MEDIA_TYPE, schema, headers: VERSION_HEADERS,
  };
}

/** What names a record in a path. */
export function keyParameter(
  { collection, noun }: Pick<Routed, 'collection' | 'noun'>,
): ParameterSpec {
  const { key, hasNames = false, unique = [] } = collection;
  const names = hasNames ? `, or its \`${unique.join('` or `')}\`` : '';
  return {
    name: key, in: 'path', description: `Of the ${noun}${names}`, schema: KEY_SCHEMA,
    isRequired: true,
  };
}

function condition(name: string, description: string): ParameterSpec {
  return { name, in: 'header', description, schema: { kind: 'string' } };
}

const READ_CONDITIONS = [
  IF_NONE_MATCH,
  condition('If-Modified-Since', 'An HTTP date: 304 when not written since'),
];
const WRITE_CONDITIONS = [
  condition('If-Match', 'Tag of the version to be changed: 412 when another is stored'),
];

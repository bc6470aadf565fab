/**
 * The routes that every resource shares: one, add, replace, patch, delete, with conditional
 * requests. What a resource is, and how it is stored, stands behind `ResourceService`.
 */
import { CHAIN_HEADER, hopsOf } from '../base/chain.ts';
import { AppError } from '../base/errors.ts';
import type { JsonObject, ObjectSchema, StringSchema } from '../base/schema.ts';
import { collectionRoute } from './collection-route.ts';
import type { ResourceCollection } from './collection-route.ts';
import { evaluate, isConditional, versionOf } from './conditional.ts';
import { problemAnswers } from '../server/problem.ts';
import type {
  Access, AnswerSpec, BodySpec, Exchange, Handler, ParameterSpec, Route,
} from '../server/route.ts';

/** Shown bytes, and room to keep the headers made from them. */
export type Representation = { readonly bytes: Buffer; headers: readonly string[] | undefined };

/** Given the shown bytes of what is stored now; throws `precondition_failed`. */
export type Expectation = (current: Buffer) => void;

/**
 * A missing resource is `not_found`, also when an expectation would fail. `hops` led to the
 * request: see base/chain.ts.
 */
export interface ResourceService {
  find(id: string): Representation | undefined;
  add(body: unknown, hops: number): Promise<Representation>;
  replace(
    id: string, body: unknown, expect: Expectation, hops: number,
  ): Promise<Representation>;
  patch(id: string, patch: unknown, expect: Expectation, hops: number): Promise<Representation>;
  remove(id: string, expect: Expectation, hops: number): Promise<void>;
}

export type ResourceSpec = {
  /** `/api/books` */
  readonly path: string;
  /** `book`, as messages and summaries say it. */
  readonly noun: string;
  /** Named: the name makes operation ids, `getBook`. */
  readonly schema: ObjectSchema & { readonly name: string };
  readonly key: 'id' | 'identifier';
  /** A body that is accepted as it stands, for the documentation. */
  readonly example?: JsonObject;
  readonly service: ResourceService;
  /** A plain collection in key order; a resource with queries of its own brings its own route. */
  readonly collection?: ResourceCollection;
  /** `read` and `write` when not given. */
  readonly access?: { readonly read: Access; readonly write: Access };
};

const JSON_MEDIA_TYPE = 'application/json';
const PATCH_MEDIA_TYPES = ['application/merge-patch+json', JSON_MEDIA_TYPE] as const;

const BODY_MEDIA_TYPES = [JSON_MEDIA_TYPE] as const;
const KEY_SCHEMA: StringSchema = { kind: 'string', minLength: 1, maxLength: 128 };

export function resourceRoutes(spec: ResourceSpec): readonly Route[] {
  const routes = [getRoute(spec), postRoute(spec), putRoute(spec), patchRoute(spec),
    deleteRoute(spec)];
  if (spec.collection === undefined) return routes;
  return [collectionRoute({ ...spec, collection: spec.collection }), ...routes];
}

/** Headers of a representation: type, strong tag, date. Made once, kept beside the bytes. */
function representationHeaders(representation: Representation): readonly string[] {
  representation.headers ??= makeHeaders(representation.bytes);
  return representation.headers;
}

const ETAG_INDEX = 3;

function makeHeaders(bytes: Buffer): readonly string[] {
  const { etag, updatedAtMs } = versionOf(bytes);
  return [
    'Content-Type', JSON_MEDIA_TYPE,
    'ETag', etag,
    'Last-Modified', new Date(updatedAtMs).toUTCString(),
    // Without it a cache may take a tenth of the age for fresh (RFC 9111 §4.2.2).
    'Cache-Control', 'no-cache',
  ];
}

function getRoute(spec: ResourceSpec): Route {
  const { service, schema, noun } = spec;
  const handle: Handler = (exchange) => {
    const id = exchange.params[0] ?? '';
    const found = service.find(id);
    if (found === undefined) throw new AppError('not_found', `there is no ${noun} ${quoted(id)}`);
    const headers = representationHeaders(found);
    if (isConditional(exchange.request.headers)) {
      const verdict = evaluate(exchange.request.headers, versionOf(found.bytes), true);
      if (verdict === 'failed') throw preconditionFailed(noun);
      if (verdict === 'not_modified') {
        exchange.send(304, ['ETag', headers[ETAG_INDEX] ?? '', 'Cache-Control', 'no-cache']);
        return;
      }
    }
    exchange.send(200, headers, found.bytes);
  };
  return {
    method: 'GET',
    path: `${spec.path}/{${spec.key}}`,
    operationId: `get${schema.name}`,
    summary: `One ${noun}`,
    access: spec.access?.read ?? 'read',
    parameters: [keyParameter(spec), ...READ_CONDITIONS],
    answers: [
      shown(spec, 200, `The ${noun}`),
      { status: 304, description: 'Not changed since', headers: ETAG_HEADER },
      ...problemAnswers(400, 404, 412),
    ],
    handle,
  };
}

function postRoute(spec: ResourceSpec): Route {
  const { service, schema, noun } = spec;
  return {
    method: 'POST',
    path: spec.path,
    operationId: `add${schema.name}`,
    summary: `Add one ${noun}`,
    access: spec.access?.write ?? 'write',
    body: bodyOf(spec),
    answers: [
      { ...shown(spec, 201, `The ${noun} as stored`),
        headers: { ...VERSION_HEADERS, Location: `Where the new ${noun} is` } },
      ...problemAnswers(400, 409, 413, 415, 422, 503, 507),
    ],
    async handle(exchange) {
      const body = await exchange.readJson(BODY_MEDIA_TYPES);
      const added = await service.add(body, hopsTo(exchange));
      const location = `${spec.path}/${encodeURIComponent(keyOf(added.bytes))}`;
      const headers = ['Location', exchange.linkTo(location), ...representationHeaders(added)];
      exchange.send(201, headers, added.bytes);
    },
  };
}

function putRoute(spec: ResourceSpec): Route {
  const { service, schema, noun } = spec;
  return {
    method: 'PUT',
    path: `${spec.path}/{${spec.key}}`,
    operationId: `replace${schema.name}`,
    summary: `Replace one ${noun} whole`,
    access: spec.access?.write ?? 'write',
    parameters: [keyParameter(spec), ...WRITE_CONDITIONS],
    body: bodyOf(spec),
    answers: [
      shown(spec, 200, `The ${noun} as stored`),
      ...problemAnswers(400, 404, 409, 412, 413, 415, 422, 503, 507),
    ],
    async handle(exchange) {
      const body = await exchange.readJson(BODY_MEDIA_TYPES);
      const expect = expectationOf(exchange, noun);
      const id = exchange.params[0] ?? '';
      const stored = await service.replace(id, body, expect, hopsTo(exchange));
      exchange.send(200, representationHeaders(stored), stored.bytes);
    },
  };
}

function bodyOf({ schema, example }: ResourceSpec): BodySpec {
  return { mediaTypes: BODY_MEDIA_TYPES, schema, ...example === undefined ? {} : { example } };
}

function patchRoute(spec: ResourceSpec): Route {
  const { service, schema, noun } = spec;
  return {
    method: 'PATCH',
    path: `${spec.path}/{${spec.key}}`,
    operationId: `patch${schema.name}`,
    summary: `Change members of one ${noun} by JSON Merge Patch (RFC 7396)`,
    access: spec.access?.write ?? 'write',
    parameters: [keyParameter(spec), ...WRITE_CONDITIONS],
    body: { mediaTypes: PATCH_MEDIA_TYPES, schema, isPatch: true },
    answers: [
      shown(spec, 200, `The ${noun} as stored`),
      ...problemAnswers(400, 404, 409, 412, 413, 415, 422, 503, 507),
    ],
    async handle(exchange) {
      const patch = await exchange.readJson(PATCH_MEDIA_TYPES);
      const expect = expectationOf(exchange, noun);
      const id = exchange.params[0] ?? '';
      const stored = await service.patch(id, patch, expect, hopsTo(exchange));
      exchange.send(200, representationHeaders(stored), stored.bytes);
    },
  };
}

function deleteRoute(spec: ResourceSpec): Route {
  const { service, schema, noun } = spec;
  return {
    method: 'DELETE',
    path: `${spec.path}/{${spec.key}}`,
    operationId: `delete${schema.name}`,
    summary: `Delete one ${noun}`,
    access: spec.access?.write ?? 'write',
    parameters: [keyParameter(spec), ...WRITE_CONDITIONS],
    answers: [
      { status: 204, description: 'Deleted' },
      ...problemAnswers(400, 404, 409, 412, 503, 507),
    ],
    async handle(exchange) {
      const expect = expectationOf(exchange, noun);
      await service.remove(exchange.params[0] ?? '', expect, hopsTo(exchange));
      exchange.send(204, []);
    },
  };
}

/** What the request's conditions ask of the stored resource, to be checked inside the write. */
function expectationOf(exchange: Exchange, noun: string): Expectation {
  const { headers } = exchange.request;
  if (!isConditional(headers)) return expectNothing;
  return (current) => {
    if (evaluate(headers, versionOf(current), false) === 'failed') throw preconditionFailed(noun);
  };
}

function expectNothing(): void {}

function hopsTo(exchange: Exchange): number {
  return hopsOf(exchange.request.headers[CHAIN_HEADER]);
}

function preconditionFailed(noun: string): AppError {
  return new AppError('precondition_failed',
    `the stored ${noun} is another version than the request asks for`);
}

/** The key of a record: its first member, of characters that JSON never escapes. */
function keyOf(bytes: Buffer): string {
  const start = bytes.indexOf('":"') + '":"'.length;
  return bytes.toString('latin1', start, bytes.indexOf('"', start));
}

function quoted(id: string): string {
  return JSON.stringify(id.length > 128 ? `${id.slice(0, 128)}…` : id);
}

const ETAG_HEADER = { ETag: 'Strong tag of this version' };
const VERSION_HEADERS = { ...ETAG_HEADER, 'Last-Modified': 'When it was last written' };

function shown(spec: ResourceSpec, status: number, description: string): AnswerSpec {
  return {
    status, description, mediaType: JSON_MEDIA_TYPE, schema: spec.schema, headers: VERSION_HEADERS,
  };
}

function keyParameter(spec: ResourceSpec): ParameterSpec {
  return {
    name: spec.key, in: 'path', description: `Of the ${spec.noun}`, schema: KEY_SCHEMA,
    isRequired: true,
  };
}

function condition(name: string, description: string): ParameterSpec {
  return { name, in: 'header', description, schema: { kind: 'string' } };
}

const READ_CONDITIONS = [
  condition('If-None-Match', 'Tags of versions the caller has: 304 when one is current'),
  condition('If-Modified-Since', 'An HTTP date: 304 when not written since'),
];
const WRITE_CONDITIONS = [
  condition('If-Match', 'Tag of the version to be changed: 412 when another is stored'),
];

/** The HTTP routes of stored requests: list, show, pin, delete and replay. */
import { parseObject } from '../../base/fields.ts';
import type { JsonObject } from '../../base/schema.ts';
import { createPrecondition } from '../../resources/conditional-request.ts';
import {
  IDEMPOTENCY_PARAMETER, REPLAYED_HEADERS, parseOptionalBody, serveOnce,
  type IdempotencyKeys,
} from '../../resources/idempotency-keys.ts';
import { notFoundError } from '../../resources/not-found.ts';
import {
  JSON_TYPE, jsonResponse, pathParameter,
} from '../../resources/route-specs.ts';
import {
  CONDITIONAL_RESPONSES, ETAG_HEADER, IF_NONE_MATCH, sendRepresentation,
} from '../../resources/send-representation.ts';
import { problemResponses } from '../../server/problem.ts';
import {
  bindRoutes, type Exchange, type ParameterSpec, type HttpRoute, type RouteRow,
} from '../../server/http-route.ts';
import { attachmentResponse, sendAttachment } from '../members/attachment.ts';
import { refuseChained } from '../members/refuse-chained.ts';
import { resolveHook, type WebhookDirectory } from '../members/directory.ts';
import { SOURCES } from '../members/filters/facts.ts';
import { searchableListRoute } from '../records/searchable-list.ts';
import type { Searches } from '../records/searches.ts';
import type { ReplayOptions } from './replay.ts';
import { requestFields, type RequestFilter } from './request-fields.ts';
import type { StoredRequest } from '../incoming/stored-request.ts';
import { requestResource } from './request-resource.ts';
import {
  headersSchema, pinSchema, reconciliationSchema, replaySchema, requestSchema,
} from './request-schema.ts';
import type { RequestService } from './request-service.ts';

const { path: PATH, noun: NOUN } = requestResource;
const ITEM_PATH = `${PATH}/{id}`;
const ID = pathParameter('id', 'Of the request');
const PATCH_MEDIA_TYPES = ['application/merge-patch+json', JSON_TYPE];

const IF_MATCH: ParameterSpec = {
  name: 'If-Match', in: 'header', schema: { kind: 'string' },
  description: 'Tag of the version to be changed: 412 when another is stored',
};

type RequestServices = { readonly service: RequestService; readonly keys: IdempotencyKeys };

export function requestRoutes(
  services: RequestServices, webhooks: WebhookDirectory, searches: Searches,
): readonly HttpRoute[] {
  return [
    requestListRoute(services.service, webhooks, searches), ...bindRoutes(requestRows, services),
  ];
}

export const requestRows: readonly RouteRow<RequestServices>[] = [
  {
    method: 'GET', path: ITEM_PATH, operationId: 'getRequest', access: 'read',
    summary: 'One kept request with what became of it', tool: {},
    parameters: [ID, IF_NONE_MATCH],
    responses: [
      { ...jsonResponse('The request', requestSchema), headers: ETAG_HEADER },
      ...CONDITIONAL_RESPONSES,
    ],
    handle: (exchange, { service }) =>
      sendRepresentation(exchange, NOUN, service.represent(getRequest(service, exchange))),
  },
  {
    method: 'GET', path: `${ITEM_PATH}/body`, operationId: 'getRequestBody', access: 'read',
    summary: 'The body of one kept request, byte for byte; of a rejected one its beginning',
    tool: {},
    parameters: [ID],
    responses: [
      attachmentResponse('The bytes, under the media type that they came with'),
      ...problemResponses(404),
    ],
    handle(exchange, { service }) {
      const request = getRequest(service, exchange);
      const body = service.findBody(request.id);
      if (body === null) throw notFoundError(NOUN, request.id);
      sendAttachment(exchange, request.id, findMediaType(request), body);
    },
  },
  // This needs write access: whoever sees the signatures could send the request again.
  {
    method: 'GET', path: `${ITEM_PATH}/headers`, operationId: 'getRequestHeaders', access: 'write',
    summary: 'Query and headers of one kept request with its signatures; credentials stay hidden',
    parameters: [ID],
    responses: [jsonResponse('As they came', headersSchema), ...problemResponses(404)],
    handle(exchange, { service }) {
      const { query, headers } = getRequest(service, exchange);
      exchange.sendJson(200, { query, headers }, ['Cache-Control', 'no-store']);
    },
  },
  {
    method: 'PATCH', path: ITEM_PATH, operationId: 'patchRequest', access: 'write',
    summary: 'Pin one kept request, or unpin it: a pinned one is kept whatever its age',
    commands: [
      {
        name: 'request:pin', body: { pinned: true }, done: 'pinned request {id}',
        summary: 'Pin a kept request: it stays',
      },
      {
        name: 'request:unpin', body: { pinned: false }, done: 'unpinned request {id}',
        summary: 'Unpin a kept request: it goes when it is old',
      },
    ],
    parameters: [ID, IF_MATCH],
    body: { mediaTypes: PATCH_MEDIA_TYPES, schema: pinSchema, isPatch: true },
    responses: [
      { ...jsonResponse('The request as stored', requestSchema), headers: ETAG_HEADER },
      ...problemResponses(400, 404, 409, 412, 413, 415, 422, 503, 507),
    ],
    async handle(exchange, { service }) {
      const patch = await exchange.readJson();
      const isPinned = parsePinned(parseObject(pinSchema, patch), patch);
      const representation = service.represent(
        await service.pin(exchange.params[0] ?? '', isPinned, createPrecondition(exchange, NOUN)));
      exchange.send(200, representation.headers, representation.bytes);
    },
  },
  {
    method: 'DELETE', path: ITEM_PATH, operationId: 'deleteRequest', access: 'write',
    summary: 'Delete one kept request that is not pending',
    commands: [
      { name: 'request:delete', done: 'deleted request {id}', result: { deleted: true } },
    ],
    parameters: [ID, IF_MATCH],
    responses: [
      { status: 204, description: 'Deleted' }, ...problemResponses(400, 404, 409, 412, 503, 507),
    ],
    async handle(exchange, { service }) {
      await service.remove(exchange.params[0] ?? '', createPrecondition(exchange, NOUN));
      exchange.send(204, []);
    },
  },
  {
    method: 'POST', path: `${ITEM_PATH}/restore`, operationId: 'restoreRequest', access: 'write',
    summary: 'Put one request back that was deleted in the last minute, as it was',
    parameters: [pathParameter('id', 'Of the deleted request')],
    responses: [
      { ...jsonResponse('The request as it was', requestSchema), headers: ETAG_HEADER },
      ...problemResponses(404, 409, 503, 507),
    ],
    async handle(exchange, { service }) {
      const representation = service.represent(await service.restore(exchange.params[0] ?? ''));
      exchange.send(200, representation.headers, representation.bytes);
    },
  },
  {
    method: 'GET', path: `${PATH}/reconcile`, operationId: 'reconcileRequests', access: 'read',
    summary: 'Count what was accepted by what became of it, and find what has lost a part',
    commands: [{ name: 'request:reconcile', successMember: 'isReconciled' }],
    responses: [jsonResponse('The totals, and what has lost a part', reconciliationSchema)],
    handle: async (exchange, { service }) => exchange.sendJson(200, await service.reconcile()),
  },
  {
    method: 'POST', path: `${ITEM_PATH}/replay`, operationId: 'replayRequest', access: 'write',
    summary: 'Run one kept request again as it came, in the background', tool: {},
    parameters: [ID, IDEMPOTENCY_PARAMETER],
    body: { mediaTypes: [JSON_TYPE], schema: replaySchema, isOptional: true },
    responses: [
      {
        ...jsonResponse('Accepted: on disk, and it will be run; the request as it is now',
          requestSchema, 202),
        headers: { ...ETAG_HEADER, ...REPLAYED_HEADERS },
      },
      ...problemResponses(400, 404, 409, 413, 415, 422, 503, 507),
    ],
    handle(exchange, { service, keys }) {
      refuseChained(exchange);
      const id = exchange.params[0] ?? '';
      return serveOnce(keys, exchange, (body, keepResponse) =>
        service.replay(id, parseReplayOptions(parseOptionalBody(body)), (transaction, request) => {
          const { headers, bytes } = service.represent(request);
          keepResponse(transaction, { status: 202, headers, body: bytes });
        }));
    },
  },
];

/** Returns an empty text for a request without a Content-Type. */
function findMediaType({ headers }: StoredRequest): string {
  return headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
}

function parseReplayOptions(value: unknown): ReplayOptions {
  const { routes, as } = parseObject(replaySchema, value);
  return {
    routes: Array.isArray(routes) ? routes.map(String) : null, isNew: as === 'new',
  };
}

/** Returns null when the patch does not name the member. */
function parsePinned({ pinned }: JsonObject, patch: unknown): boolean | null {
  const isNamed = typeof patch === 'object' && patch !== null && Object.hasOwn(patch, 'pinned');
  return isNamed ? pinned === true : null;
}

function getRequest(service: RequestService, exchange: Exchange): StoredRequest {
  const id = exchange.params[0] ?? '';
  const request = service.find(id);
  if (request === undefined) throw notFoundError(NOUN, id);
  return request;
}

function requestListRoute(
  service: RequestService, webhooks: WebhookDirectory, searches: Searches,
): HttpRoute {
  return searchableListRoute<StoredRequest, RequestFilter>({
    operationId: 'listRequests',
    summary: 'Requests that were kept, newest first, whole or page by page',
    description: 'The requests', items: requestSchema,
  }, {
    path: PATH, fields: requestFields, service: service.list, listSources: () => SOURCES,
    resolve: (filter) => filter.hook === null ? filter
      : { ...filter, hook: resolveHook(webhooks, filter.hook) },
    idOf: ({ id }) => id, toPublic: (request) => service.toPublic(request),
  }, searches);
}

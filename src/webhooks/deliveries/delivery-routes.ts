/** The HTTP routes of deliveries. */
import { parseTimestamp } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { parseObject } from '../../base/fields.ts';
import { encodeJson } from '../../base/json/encode.ts';
import type { AnswerOf } from '../../base/schema-types.ts';
import { problemResponses } from '../../server/problem.ts';
import { bindRoutes } from '../../server/http-route.ts';
import type { Exchange, HttpRoute, RouteDescription, RouteRow } from '../../server/http-route.ts';
import {
  IDEMPOTENCY_PARAMETER, REPLAYED_HEADERS, acceptedResponse, parseOptionalBody, serveOnce,
  type IdempotencyKeys,
} from '../../resources/idempotency-keys.ts';
import { notFoundError } from '../../resources/not-found.ts';
import { Representation } from '../../resources/representation.ts';
import { JSON_TYPE, jsonResponse, pathParameter } from '../../resources/route-specs.ts';
import {
  CONDITIONAL_RESPONSES, ETAG_HEADER, IF_NONE_MATCH, sendUndatedRepresentation,
} from '../../resources/send-representation.ts';
import { attachmentResponse, sendAttachment } from '../members/attachment.ts';
import { refuseChained } from '../members/refuse-chained.ts';
import { resolveHook, type WebhookDirectories } from '../members/directory.ts';
import type { FindVisibility } from '../members/visibility.ts';
import { SOURCES } from '../members/filters/facts.ts';
import { searchableListRoute } from '../records/searchable-list.ts';
import type { Searches } from '../records/searches.ts';
import { EVENT_FACT_SOURCES } from './delivery-search.ts';
import type { Delivery } from './delivery.ts';
import { restrictDeliveries, type DeliveryFilter } from './delivery-fields.ts';
import type { ResendMode } from './resend.ts';
import { deliveryResource } from './delivery-resource.ts';
import {
  deliverySchema, reconciliationSchema, resendSchema, retriedSchema, sentDeliverySchema,
} from './delivery-schema.ts';
import { toPublicSentRequest, type SentHttpRequest } from './sent-request.ts';
import type { DeliveryService } from './delivery-service.ts';

const { path: PATH } = deliveryResource;
const ITEM_PATH = `${PATH}/{identifier}`;
const IDENTIFIER = pathParameter('identifier', 'Of the delivery');

type DeliveryRouteServices = {
  readonly service: DeliveryService;
  readonly findVisibility: FindVisibility;
  readonly keys: IdempotencyKeys;
};

export function deliveryRoutes(
  services: DeliveryRouteServices, webhooks: WebhookDirectories, searches: Searches,
): readonly HttpRoute[] {
  return [listRoute(services, webhooks, searches), ...bindRoutes(deliveryRows, services)];
}

export const deliveryRows: readonly RouteRow<DeliveryRouteServices>[] = [
  {
    method: 'GET', path: ITEM_PATH, operationId: 'getDelivery', access: 'read',
    bound: { scope: 'read', subject: 'delivery' },
    summary: 'One delivery with its attempts, and the request that it sent last', tool: {},
    parameters: [IDENTIFIER, IF_NONE_MATCH],
    responses: [
      { ...jsonResponse('The delivery', sentDeliverySchema), headers: ETAG_HEADER },
      ...CONDITIONAL_RESPONSES,
    ],
    handle(exchange, { service }) {
      const { delivery, sent } = getSentRequest(service, exchange);
      sendDelivery(exchange, delivery.updatedAt,
        { ...service.toPublic(delivery), sent: toPublicSentRequest(sent) });
    },
  },
  {
    method: 'GET', path: `${ITEM_PATH}/body`, operationId: 'getDeliveryBody', access: 'read',
    bound: { scope: 'read', subject: 'delivery' },
    summary: 'The body of the request that one delivery sent last, byte for byte',
    parameters: [IDENTIFIER],
    responses: [
      attachmentResponse('The bytes, under the media type that they went out with'),
      ...problemResponses(404),
    ],
    handle(exchange, { service }) {
      const { delivery: { identifier, request }, sent } = getSentRequest(service, exchange);
      if (request !== null) {
        throw new AppError('not_found', `delivery ${identifier} is a part of request ${request}: `
          + 'get the body of that request instead');
      }
      if (sent?.body === undefined || sent.body === null) {
        throw new AppError('not_found', `delivery ${identifier} has sent no body`);
      }
      const { headers } = sent;
      const at = headers.findIndex((name, index) => index % 2 === 0 && name === 'content-type');
      sendAttachment(exchange, identifier, at === -1 ? '' : headers[at + 1] ?? '', sent.body);
    },
  },
  {
    method: 'POST', path: `${PATH}/retry`, operationId: 'retryFailedDeliveries', access: 'write',
    bound: { scope: 'resend' },
    summary: 'Try every failed delivery again now, except those of removed webhooks',
    responses: [jsonResponse('How many', retriedSchema, 202), ...problemResponses(422, 503, 507)],
    async handle(exchange, { service, findVisibility }) {
      refuseChained(exchange);
      exchange.sendJson(202, { retried: await service.retryFailed(findVisibility(exchange)) });
    },
  },
  {
    ...describeChange('retry'),
    summary: 'Try one delivery again now; a failed one gets its whole schedule anew',
    async handle(exchange, { service }) {
      refuseChained(exchange);
      const retried = await service.retry(exchange.params[0] ?? '', isBound(exchange));
      exchange.sendJson(202, service.toPublic(retried));
    },
  },
  {
    ...describeChange('cancel'), summary: 'Cancel one pending or failed delivery',
    // It sends nothing, so a webhook may ask for it.
    handle: async (exchange, { service }) =>
      exchange.sendJson(202, service.toPublic(await service.cancel(exchange.params[0] ?? ''))),
  },
  {
    method: 'GET', path: `${PATH}/reconcile`, operationId: 'reconcileDeliveries', access: 'read',
    summary: 'Count what was accepted by what became of it, and find what has lost a part',
    commands: [{ name: 'delivery:reconcile', successMember: 'isReconciled' }],
    responses: [jsonResponse('The totals, and what has lost a part', reconciliationSchema)],
    handle: async (exchange, { service }) => exchange.sendJson(200, await service.reconcile()),
  },
  {
    method: 'POST', path: `${ITEM_PATH}/resend`, operationId: 'resendDelivery', access: 'write',
    bound: { scope: 'resend', subject: 'delivery' },
    summary: 'Send one delivery again, also one that was delivered or cancelled', tool: {},
    parameters: [IDENTIFIER, IDEMPOTENCY_PARAMETER],
    body: { mediaTypes: [JSON_TYPE], schema: resendSchema, isOptional: true },
    responses: [
      {
        ...jsonResponse('Accepted: on disk, and it will be sent', deliverySchema, 202),
        headers: REPLAYED_HEADERS,
      },
      ...problemResponses(400, 404, 409, 413, 415, 422, 503, 507),
    ],
    handle(exchange, { service, keys }) {
      refuseChained(exchange);
      const identifier = exchange.params[0] ?? '';
      return serveOnce(keys, exchange, (body, keepResponse) => {
        const mode = parseResendMode(parseOptionalBody(body));
        return service.resend(identifier, mode, {
          isBound: isBound(exchange),
          onStaged: (transaction, delivery) => keepResponse(
            transaction, acceptedResponse(encodeJson(service.toPublic(delivery)))),
        });
      });
    },
  },
];

function listRoute(
  { service, findVisibility }: DeliveryRouteServices, webhooks: WebhookDirectories,
  searches: Searches,
): HttpRoute {
  return searchableListRoute<Delivery, DeliveryFilter>({
    operationId: 'listDeliveries', summary: 'Deliveries, oldest first or newest first',
    description: 'Deliveries', items: deliverySchema, bound: { scope: 'read' },
  }, {
    path: PATH, fields: service.fields, service, hasOrder: true,
    resolve: (filter) => resolveHookOfKind(webhooks, filter),
    findView(exchange, isSearch) {
      const visibility = findVisibility(exchange);
      return visibility && {
        resolve: (filter) =>
          restrictDeliveries(resolveHookOfKind(webhooks, filter), visibility, isSearch),
      };
    },
    // A delivery to a route lets conditions read its request, which has more facts than an event.
    listSources: ({ kind }) => kind === 'route' || kind === null ? SOURCES : EVENT_FACT_SOURCES,
    idOf: ({ identifier }) => identifier, toPublic: (delivery) => service.toPublic(delivery),
  }, searches);
}

/** Without a kind, a name that webhooks of both kinds have means the outgoing webhook. */
function resolveHookOfKind(
  { incoming, outgoing }: WebhookDirectories, filter: DeliveryFilter,
): DeliveryFilter {
  const { hook: name, kind } = filter;
  if (typeof name !== 'string') return filter;
  const isIncoming = kind === 'route'
    || (kind === null && outgoing.findNamed(name) === undefined);
  return { ...filter, hook: resolveHook(isIncoming ? incoming : outgoing, name) };
}

/** Without `Last-Modified`: the body shows the webhook, which changes without the delivery. */
function sendDelivery(
  exchange: Exchange, updatedAt: string, body: AnswerOf<typeof sentDeliverySchema>,
): void {
  sendUndatedRepresentation(exchange, deliveryResource.noun, new Representation(
    body.identifier, Buffer.from(encodeJson(body)), parseTimestamp(updatedAt)));
}

function getSentRequest(
  service: DeliveryService, exchange: Exchange,
): { readonly delivery: Delivery; readonly sent: SentHttpRequest | null } {
  const identifier = exchange.params[0] ?? '';
  const sentRequest = service.findSentRequest(identifier);
  if (sentRequest === undefined) throw notFoundError('delivery', identifier);
  return sentRequest;
}

function describeChange(verb: 'retry' | 'cancel'): Omit<RouteDescription, 'summary'> {
  return {
    method: 'POST', path: `${ITEM_PATH}/${verb}`, operationId: `${verb}Delivery`, access: 'write',
    bound: { scope: verb === 'retry' ? 'resend' : 'write', subject: 'delivery' },
    parameters: [IDENTIFIER],
    responses: [
      jsonResponse('The delivery', deliverySchema, 202),
      ...problemResponses(404, 409, ...verb === 'retry' ? [422] : [], 503, 507),
    ],
  };
}

function isBound({ grant }: Exchange): boolean {
  return grant?.binding !== undefined;
}

function parseResendMode(body: unknown): ResendMode {
  return parseObject(resendSchema, body)['as'] === 'new' ? 'new' : 'retry';
}

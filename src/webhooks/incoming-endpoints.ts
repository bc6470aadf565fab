/** The HTTP endpoints of incoming webhooks: the public one, and those that manage webhooks. */
import type { ObjectSchema } from '../base/schema.ts';
import { collectionRoute } from '../resources/collection-route.ts';
import type { Repository } from '../resources/repository.ts';
import { JSON_TYPE, ANY_JSON, pathParameter } from '../resources/route-specs.ts';
import { resourceRoutes } from '../resources/resource-routes.ts';
import { bindRoutes, type HttpRoute, type ResponseSpec } from '../server/http-route.ts';
import type { RelayContext } from './relay-context.ts';
import { rotationRoute } from './members/rotate-secret.ts';
import { receiveErrorFormat } from './incoming/receiving/webhook-response.ts';
import {
  createReceiveHandler, createUnknownPathHandler, type Reception,
} from './incoming/receiving/receive.ts';
import { awaitSecretRoute } from './incoming/awaited-secret.ts';
import { incomingResource } from './incoming/incoming-resource.ts';
import { diagnosticRows } from './diagnostics/diagnostic-routes.ts';
import type { DiagnosisSources } from './diagnostics/run-diagnosis.ts';
import { chooseSecretShape } from './incoming/sender-secret.ts';
import { webhookListView } from './records/webhook-list.ts';

export function createIncomingEndpoints(
  context: RelayContext,
  { reception, requests, duplicates }:
  { readonly reception: Reception } & Pick<DiagnosisSources, 'requests' | 'duplicates'>,
  records: Repository, baseUri: DiagnosisSources['baseUri'],
): readonly HttpRoute[] {
  const { webhooks, health, limits } = reception;
  return [
    ...createReceiveEndpoints(reception),
    ...bindRoutes(diagnosticRows, {
      ...context, requests, duplicates, baseUri, webhooks,
      isUnsignedAllowed: limits.allowUnsignedWhenSecretMissing,
    }),
    awaitSecretRoute(records),
    rotationRoute({ resource: incomingResource, records, chooseShape: chooseSecretShape }),
    collectionRoute(incomingResource, records, webhookListView(
      health, 'incoming', webhooks, ({ pathSegment }) => pathSegment)),
    ...resourceRoutes(incomingResource, records),
  ];
}

const RESPONSE_SCHEMA: ObjectSchema = {
  kind: 'object',
  name: 'WebhookAnswer',
  members: {
    success: { schema: { kind: 'boolean' }, isRequired: true },
    message: { schema: { kind: 'string' }, isRequired: true },
    data: {
      schema: ANY_JSON, isRequired: true, description: 'An object or array',
    },
  },
};

function createReceiveEndpoints(reception: Reception): readonly HttpRoute[] {
  const describeResponse = (status: number, description: string): ResponseSpec =>
    ({ status, description, mediaType: JSON_TYPE, schema: RESPONSE_SCHEMA });
  // The longer path comes first: in the OpenAPI document a rest looks like one segment, so the
  // other path then stands in its place. It also takes paths that cannot be decoded, which are no
  // webhook's.
  return [{
    method: 'ANY', path: '/webhook/in/{pathSegment...}', operationId: 'receiveUnknown',
    access: 'public', isIncomingWebhook: true, summary: 'Longer paths are no webhook',
    parameters: [pathParameter('pathSegment', 'Anything else')],
    responses: [describeResponse(404, 'Webhook not found or disabled')],
    errorFormat: receiveErrorFormat,
    handle: createUnknownPathHandler(reception.webhooks),
  }, {
    method: 'ANY', path: '/webhook/in/{pathSegment}', operationId: 'receiveWebhook',
    access: 'public', isIncomingWebhook: true,
    summary: 'Receive a webhook and run its action; any method that the webhook allows. Its '
      + '`response` may stand in place of these answers',
    parameters: [
      pathParameter('pathSegment', "The webhook's path segment"),
      {
        name: 'X-Signature', in: 'header', schema: { kind: 'string' },
        description: '`sha256=<hex>`: HMAC-SHA256 of the raw body, when the webhook has a secret',
      },
    ],
    // A body of another type is accepted as well, and counts as [].
    body: { mediaTypes: [JSON_TYPE], schema: ANY_JSON, isOptional: true },
    responses: [
      describeResponse(
        200, 'The action succeeded, or the request is accepted, filtered or a duplicate'),
      describeResponse(400, 'The action failed'),
      describeResponse(401, 'Signature verification failed'),
      describeResponse(403, 'Address not allowed'),
      describeResponse(404, 'Webhook not found or disabled'),
      {
        ...describeResponse(405, 'Method not allowed'), headers: { Allow: 'The methods that are' },
      },
      describeResponse(408, 'The body came too late'), describeResponse(413, 'Payload too large'),
      { ...describeResponse(429, 'Too many requests'), headers: { 'Retry-After': 'Seconds' } },
      {
        ...describeResponse(503, 'Too many requests in progress, or the inbox is full'),
        headers: { 'Retry-After': 'Seconds' },
      },
      { ...describeResponse(507, 'The disk is full'), headers: { 'Retry-After': 'Seconds' } },
    ],
    errorFormat: receiveErrorFormat,
    handle: createReceiveHandler(reception),
  }];
}

/** Incoming webhooks over HTTP: where they are called, and their management with examples. */
import type { ObjectSchema } from '../../base/schema.ts';
import { collectionRoute } from '../../resources/collection-route.ts';
import type { Repository } from '../../resources/repository.ts';
import { JSON_TYPE, ANY_JSON, pathParameter } from '../../resources/route-specs.ts';
import { resourceRoutes } from '../../resources/resource-routes.ts';
import type { ResponseSpec, HttpRoute } from '../../server/http-route.ts';
import type { Store } from '../../store/store-port.ts';
import { stateFilter } from '../health/shown.ts';
import { rotationRoute } from '../http/rotation.ts';
import type { RequestService } from '../requests/service.ts';
import { receiveErrorFormat } from './receiving/answer.ts';
import { createReceiver, createRefuser, type ReceiveParts } from './receiving/receive.ts';
import { incomingResource } from './resource.ts';
import { diagnoseRoute } from './setup/diagnose.ts';
import { examplesRoute } from './setup/examples.ts';
import { matchRoute } from './setup/match.ts';
import type { LookUpEvent } from './setup/repeated.ts';
import { presetsRoute } from './setup/presets.ts';
import { sampleRoute } from './setup/sample.ts';
import { newSecretFor } from './verification.ts';
import { incomingCollection, verificationSecretSchema } from './webhook.ts';

type IncomingRouteParts = {
  readonly records: Repository;
  readonly store: Store;
  readonly receive: ReceiveParts;
  readonly requests: RequestService;
  readonly makeId: () => string;
  readonly lookUpEvent: LookUpEvent;
  /** Absolute, without a slash at its end. */
  readonly baseUri: () => string;
};

export function incomingRoutes(parts: IncomingRouteParts): readonly HttpRoute[] {
  const { store, receive: { hooks, clock, limits } } = parts;
  const collection = store.collection(incomingCollection.name);
  const now = (): number => clock.now();
  return [
    ...receiveRoutes(parts.receive),
    examplesRoute(hooks, parts.baseUri),
    sampleRoute({ hooks, collection, now, makeId: parts.makeId }),
    presetsRoute(),
    diagnoseRoute({
      hooks, collection, now, requests: parts.requests, lookUpEvent: parts.lookUpEvent,
      isUnsignedAllowed: limits.allowUnsignedWhenSecretMissing,
    }),
    matchRoute({ hooks, collection, requests: parts.requests }),
    rotationRoute({
      resource: incomingResource, records: parts.records, store, now,
      secretSchema: verificationSecretSchema, shapeFor: newSecretFor,
    }),
    collectionRoute(incomingResource, parts.records, stateFilter(parts.receive.health)),
    ...resourceRoutes(incomingResource, parts.records),
  ];
}

const MESSAGE_SCHEMA: ObjectSchema = {
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

function receiveRoutes(parts: ReceiveParts): readonly HttpRoute[] {
  const answer = (status: number, description: string): ResponseSpec =>
    ({ status, description, mediaType: JSON_TYPE, schema: MESSAGE_SCHEMA });
  // The longer path comes first: in the document, where a rest looks like one segment, the other
  // then stands in its place. It also takes what cannot be decoded, which is no webhook's path.
  return [{
    method: 'ANY', path: '/webhook/in/{pathSegment...}', operationId: 'receiveUnknown',
    access: 'public', summary: 'Longer paths are no webhook',
    parameters: [pathParameter('pathSegment', 'Anything else')],
    responses: [answer(404, 'Webhook not found or disabled')],
    errorFormat: receiveErrorFormat,
    handle: createRefuser(parts.hooks),
  }, {
    method: 'ANY', path: '/webhook/in/{pathSegment}', operationId: 'receiveWebhook',
    access: 'public',
    summary: 'Receive a webhook and run its action; any method that the webhook allows',
    parameters: [
      pathParameter('pathSegment', "The webhook's path segment"),
      {
        name: 'X-Signature', in: 'header', schema: { kind: 'string' },
        description: '`sha256=<hex>`: HMAC-SHA256 of the raw body, when the webhook has a secret',
      },
    ],
    // Anything else comes as well, and counts as [].
    body: { mediaTypes: [JSON_TYPE], schema: ANY_JSON, isOptional: true },
    responses: [
      answer(200, 'The action succeeded, or the request is accepted, filtered or a duplicate'),
      answer(400, 'The action failed'),
      answer(401, 'Signature verification failed'), answer(403, 'Address not allowed'),
      answer(404, 'Webhook not found or disabled'),
      { ...answer(405, 'Method not allowed'), headers: { Allow: 'The methods that are' } },
      answer(408, 'The body came too late'), answer(413, 'Payload too large'),
      { ...answer(429, 'Too many requests'), headers: { 'Retry-After': 'Seconds' } },
      {
        ...answer(503, 'Too many requests in progress, or the inbox is full'),
        headers: { 'Retry-After': 'Seconds' },
      },
      { ...answer(507, 'The disk is full'), headers: { 'Retry-After': 'Seconds' } },
    ],
    errorFormat: receiveErrorFormat,
    handle: createReceiver(parts),
  }];
}

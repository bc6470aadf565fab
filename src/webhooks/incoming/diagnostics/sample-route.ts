/**
 * `POST /api/incoming-webhooks/{identifier}/sample` makes a request as the sender would. The
 * request lets its owner call the webhook, and holds the secret itself if the sender proves itself
 * by a token or a password. So the endpoint needs the right to give the webhook another secret.
 */
import { parseObject } from '../../../base/fields.ts';
import { lazyImport } from '../../../base/lazy-import.ts';
import type { ObjectSchema } from '../../../base/schema.ts';
import {
  JSON_TYPE, ANY_JSON, objectSchema, jsonResponse, TEXT,
} from '../../../resources/route-specs.ts';
import { createKeyParameter } from '../../../resources/resource-routes.ts';
import { problemResponses } from '../../../server/problem.ts';
import type { HttpRoute } from '../../../server/http-route.ts';
import type { Collection } from '../../../store/store-port.ts';
import type { IncomingWebhookIndex } from '../receiving/incoming-webhook-index.ts';
import { incomingResource } from '../incoming-resource.ts';
import { getReadyWebhook, getStoredWebhook } from './get-webhook.ts';
import type { SampleCall } from './make-sample.ts';

const loadSample = lazyImport(() => import('./make-sample.ts'));

type SampleDeps = {
  readonly webhooks: IncomingWebhookIndex; readonly collection: Collection;
  readonly now: () => number; readonly makeId: () => string;
};

const INPUT: ObjectSchema = {
  kind: 'object', name: 'SampleRequest',
  members: {
    event: { schema: TEXT },
    payload: { schema: ANY_JSON },
    handshake: { schema: { kind: 'boolean' } },
  },
};

export function sampleRoute({ webhooks, collection, now, makeId }: SampleDeps): HttpRoute {
  return {
    method: 'POST', path: '/api/incoming-webhooks/{identifier}/sample', access: 'admin',
    operationId: 'makeSampleRequest', summary: 'A request as the sender would make it',
    parameters: [createKeyParameter(incomingResource)],
    body: { mediaTypes: [JSON_TYPE], schema: INPUT },
    responses: [
      jsonResponse('To be sent as it is', objectSchema('SampleCall', {
        isAddressLimited: { kind: 'boolean' }, method: TEXT, path: TEXT,
        headers: { kind: 'json', isObject: true, bytesMax: Infinity, depthMax: 2 },
        body: { kind: 'string', description: 'base64' },
      }, { nullable: ['body'] })),
      ...problemResponses(400, 404, 409, 413, 415, 422),
    ],
    async handle(exchange) {
      const webhook = getReadyWebhook(webhooks, exchange.params[0] ?? '');
      const input = parseObject(INPUT, await exchange.readJson());
      const storedWebhook = getStoredWebhook(collection, webhook);
      const sample: SampleCall = {
        ...await loadSample(({ makeSample }) =>
          makeSample(webhook, storedWebhook, input, { id: makeId(), atMs: now() })),
        isAddressLimited: webhook.addresses !== null,
      };
      exchange.sendJson(200, sample);
    },
  };
}

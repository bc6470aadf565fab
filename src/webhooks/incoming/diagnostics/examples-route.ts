/**
 * `GET /api/incoming-webhooks/{identifier}/examples` gives calls to copy, and says how to set up
 * the sender.
 */
import { lazyImport } from '../../../base/lazy-import.ts';
import { objectSchema, jsonResponse, TEXT } from '../../../resources/route-specs.ts';
import { createKeyParameter } from '../../../resources/resource-routes.ts';
import { problemResponses } from '../../../server/problem.ts';
import type { HttpRoute } from '../../../server/http-route.ts';
import type { IncomingWebhookIndex } from '../receiving/incoming-webhook-index.ts';
import { incomingResource } from '../incoming-resource.ts';
import { getReadyWebhook } from './get-webhook.ts';

const loadExamples = lazyImport(() => import('./webhook-examples.ts'));

export function examplesRoute(webhooks: IncomingWebhookIndex, baseUri: () => string): HttpRoute {
  return {
    method: 'GET', path: '/api/incoming-webhooks/{identifier}/examples', access: 'read',
    operationId: 'getIncomingWebhookExamples',
    summary: 'Ready-to-run calls of one incoming webhook, and how to set up its sender',
    parameters: [createKeyParameter(incomingResource)],
    responses: [
      jsonResponse('The examples', objectSchema('IncomingWebhookExamples', {
        identifier: TEXT, pathSegment: TEXT, hasSecret: { kind: 'boolean' }, url: TEXT,
        curl: TEXT, php: TEXT,
        curlObstacle: { kind: 'string', description: 'Why there is no call to copy' },
        setup: objectSchema('SenderSetup', {
          preset: TEXT, sender: TEXT, url: TEXT, pasteUrl: TEXT, pasteSecret: TEXT,
          documentation: TEXT, unconfirmed: TEXT, canSign: { kind: 'boolean' },
        }, { nullable: ['unconfirmed'] }),
      }, { nullable: ['curl', 'php', 'curlObstacle', 'setup'] })),
      ...problemResponses(404),
    ],
    handle(exchange) {
      const webhook = getReadyWebhook(webhooks, exchange.params[0] ?? '');
      const { identifier, pathSegment, hasSecret } = webhook;
      const url = `${baseUri()}/webhook/in/${pathSegment}`;
      return loadExamples(({ buildWebhookExamples }) => exchange.sendJson(200,
        { identifier, pathSegment, hasSecret, ...buildWebhookExamples(webhook, url) }));
    },
  };
}

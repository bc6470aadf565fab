/** `GET /api/incoming-webhooks/{identifier}/examples`: calls to copy, and what to paste where. */
import { lazyImport } from '../../../base/lazy-import.ts';
import { objectSchema, jsonResponse, TEXT } from '../../../resources/route-specs.ts';
import { createKeyParameter } from '../../../resources/resource-routes.ts';
import { problemResponses } from '../../../server/problem.ts';
import type { HttpRoute } from '../../../server/http-route.ts';
import type { HookIndex } from '../receiving/hook-index.ts';
import { incomingResource } from '../resource.ts';
import { getHook } from './hook.ts';

const loadExamples = lazyImport(() => import('./make-examples.ts'));

export function examplesRoute(hooks: HookIndex, baseUri: () => string): HttpRoute {
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
      const hook = getHook(hooks, exchange.params[0] ?? '');
      const { identifier, pathSegment, hasSecret } = hook;
      const url = `${baseUri()}/webhook/in/${pathSegment}`;
      return loadExamples(({ examplesFor }) => exchange.sendJson(200,
        { identifier, pathSegment, hasSecret, ...examplesFor(hook, url) }));
    },
  };
}

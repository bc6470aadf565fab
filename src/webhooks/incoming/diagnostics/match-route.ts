/**
 * `POST /api/incoming-webhooks/{identifier}/match` says which routes a request would run, and why.
 */
import type { FieldError } from '../../../base/errors.ts';
import { parseObject } from '../../../base/fields.ts';
import { lazyImport } from '../../../base/lazy-import.ts';
import type { JsonObject, ObjectSchema } from '../../../base/schema.ts';
import {
  JSON_TYPE, ANY_JSON, arraySchema, objectSchema, jsonResponse, TEXT,
} from '../../../resources/route-specs.ts';
import { createKeyParameter } from '../../../resources/resource-routes.ts';
import { problemResponses } from '../../../server/problem.ts';
import type { HttpRoute } from '../../../server/http-route.ts';
import type { MatchDeps } from './explain-matches.ts';
import { incomingResource } from '../incoming-resource.ts';
import { routesMember } from '../webhook-routes.ts';
import { headersMember } from './headers-input.ts';
import { getReadyWebhook } from './get-webhook.ts';

const loadMatches = lazyImport(() => import('./explain-matches.ts'));

const INPUT: ObjectSchema = {
  kind: 'object', name: 'RequestToMatch',
  members: {
    request: {
      schema: { kind: 'string', maxLength: 64 },
      description: 'The id of a kept request; or `payload` and the members after it',
    },
    payload: {
      schema: ANY_JSON, isNullKept: true,
      description: 'What is taken as payload: an object or array, anything else counts as []',
    },
    event: {
      schema: { kind: 'string', maxLength: 1000 },
      description: 'What happened, as the sender names it; read from the headers and the payload '
        + 'by the preset when absent',
    },
    headers: headersMember,
    query: {
      schema: { kind: 'string', maxLength: 8192 }, description: 'The raw query without `?`',
    },
    method: {
      schema: {
        kind: 'string', maxLength: 32, pattern: /^[A-Z][A-Z-]*$/,
        description: 'an HTTP method in upper case',
      },
      description: 'POST when absent',
    },
    routes: {
      ...routesMember,
      description: 'Routes to try in place of those that the webhook has: to see what they do '
        + 'before they are saved',
    },
  },
  check: findInputProblems,
};

function findInputProblems(
  { request, routes: _, ...description }: JsonObject, input: JsonObject,
): FieldError[] {
  if (request === undefined) {
    // A `request` that is there but invalid has an error of its own.
    const isPresent = input['request'] !== undefined || description['payload'] !== undefined;
    return isPresent ? [] : [{ pointer: '/payload', detail: 'is required, or request' }];
  }
  return Object.keys(description).map((name) =>
    ({ pointer: `/${name}`, detail: 'cannot stand beside request, which has its own' }));
}

export function matchRoute(deps: MatchDeps): HttpRoute {
  return {
    method: 'POST', path: '/api/incoming-webhooks/{identifier}/match', access: 'write',
    operationId: 'matchIncomingWebhook',
    summary: 'Say which routes a request would run, and which conditions are false',
    parameters: [createKeyParameter(incomingResource)],
    body: { mediaTypes: [JSON_TYPE], schema: INPUT },
    responses: [
      jsonResponse('Every route of the webhook', objectSchema('RequestMatch', {
        event: TEXT,
        routes: arraySchema(objectSchema('RouteMatch', {
          name: TEXT, matches: { kind: 'boolean' },
          failed: arraySchema(objectSchema('FailedCondition', { pointer: TEXT, detail: TEXT })),
        })),
      }, { nullable: ['event'] })),
      ...problemResponses(400, 404, 413, 415, 422),
    ],
    async handle(exchange) {
      const webhook = getReadyWebhook(deps.webhooks, exchange.params[0] ?? '');
      const input = parseObject(INPUT, await exchange.readJson());
      return loadMatches(({ explainMatches }) =>
        exchange.sendJson(200, explainMatches(deps, webhook, input)));
    },
  };
}

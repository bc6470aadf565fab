/** Routes that help to set up an incoming webhook: its examples, and the senders known by name. */
import { lazyImport } from '../../../base/lazy-import.ts';
import type { Schema } from '../../../base/schema.ts';
import {
  TEXT, arraySchema, jsonResponse, listResponse, objectSchema, sendList,
} from '../../../resources/route-specs.ts';
import { createKeyParameter } from '../../../resources/resource-routes.ts';
import { problemResponses } from '../../../server/problem.ts';
import type { HttpRoute } from '../../../server/http-route.ts';
import type { IncomingWebhookIndex } from '../receiving/incoming-webhook-index.ts';
import { incomingResource } from '../incoming-resource.ts';
import { getReadyWebhook } from './get-webhook.ts';

const loadExamples = lazyImport(() => import('./webhook-examples.ts'));
const loadPresetList = lazyImport(() => import('../../senders/presets/describe-presets.ts'));

/**
 * `GET /api/incoming-webhooks/{identifier}/examples` gives calls to copy, and says how to set up
 * the sender.
 */
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

const seconds: Schema = { kind: 'integer', minimum: 1, maximum: 86_400 };

/** `GET /api/verification-presets` lists the senders whose requests can be verified by name. */
export function presetsRoute(): HttpRoute {
  return {
    method: 'GET', path: '/api/verification-presets', access: 'read',
    operationId: 'listVerificationPresets',
    summary: 'The senders whose requests can be verified, and how to set each up',
    responses: [
      listResponse('The presets', objectSchema('VerificationPreset', {
        name: TEXT, sender: TEXT, header: TEXT, needs: arraySchema(TEXT),
        accepts: arraySchema(TEXT),
        covers: arraySchema({ kind: 'string', values: ['body', 'time', 'id'] }),
        toleranceS: seconds, answerWithinS: seconds, onFailure: TEXT, pasteUrl: TEXT,
        pasteSecret: TEXT, secretFrom: { kind: 'string', values: ['here', 'sender'] },
        signingObstacle: {
          kind: 'string',
          description: 'Why outgoing webhooks cannot sign as this sender; null: they can',
        },
        documentation: TEXT, unconfirmed: TEXT,
        formResponse: objectSchema('PresetFormResponse', { contentType: TEXT, body: TEXT }),
      }, {
        nullable: [
          'toleranceS', 'answerWithinS', 'onFailure', 'signingObstacle', 'unconfirmed',
          'formResponse',
        ],
      })),
    ],
    handle: (exchange) =>
      loadPresetList(({ describePresets }) => sendList(exchange, describePresets())),
  };
}

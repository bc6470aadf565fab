/**
 * Routes that help to set up an incoming webhook: its examples, the senders known by name, a sample
 * request, why a request is refused, and which routes it would run; and one route for the receiver
 * of an outgoing webhook. Their handlers are loaded with the first call.
 */
import { lazyImport } from '../../base/lazy-import.ts';
import { JSON_TYPE, jsonResponse, listResponse } from '../../resources/route-specs.ts';
import { createKeyParameter } from '../../resources/resource-routes.ts';
import { problemResponses } from '../../server/problem.ts';
import type { RouteRow } from '../../server/http-route.ts';
import { diagnosisSchema } from '../senders/diagnosis/diagnosis-report.ts';
import { presetSchema } from '../senders/presets/preset-schema.ts';
import { incomingResource } from '../incoming/incoming-resource.ts';
import { outgoingResource } from '../outgoing/outgoing-resource.ts';
import type { OutgoingWebhookIndex } from '../outgoing/outgoing-webhook-index.ts';
import {
  examplesSchema, matchSchema, outgoingExamplesSchema, receivedRequestSchema, requestToMatchSchema,
  sampleRequestSchema, sampleSchema,
} from './diagnostic-schema.ts';
import type { DiagnosisSources } from './run-diagnosis.ts';

const loadHandlers = lazyImport(() => import('./diagnostic-handlers.ts'));

const PATH = '/api/incoming-webhooks/{identifier}';

export const diagnosticRows: readonly RouteRow<DiagnosisSources>[] = [
  {
    method: 'GET', path: `${PATH}/examples`, access: 'read',
    operationId: 'getIncomingWebhookExamples',
    summary: 'Ready-to-run calls of one incoming webhook, and how to set up its sender',
    parameters: [createKeyParameter(incomingResource)],
    responses: [jsonResponse('The examples', examplesSchema), ...problemResponses(404)],
    handle: (exchange, sources) =>
      loadHandlers(({ sendExamples }) => sendExamples(exchange, sources)),
  },
  {
    // The sample lets its owner call the webhook, and holds the secret itself if the sender proves
    // itself by a token or a password: that takes the right to give the webhook another secret.
    method: 'POST', path: `${PATH}/sample`, access: 'admin',
    operationId: 'makeSampleRequest', summary: 'A request as the sender would make it',
    tool: 'none',
    parameters: [createKeyParameter(incomingResource)],
    body: { mediaTypes: [JSON_TYPE], schema: sampleRequestSchema },
    responses: [
      jsonResponse('To be sent as it is', sampleSchema),
      ...problemResponses(400, 404, 409, 413, 415, 422),
    ],
    handle: (exchange, sources) => loadHandlers(({ sendSample }) => sendSample(exchange, sources)),
  },
  {
    method: 'GET', path: '/api/verification-presets', access: 'read',
    operationId: 'listVerificationPresets',
    summary: 'The senders whose requests can be verified, and how to set each up', tool: {},
    responses: [listResponse('The presets', presetSchema)],
    handle: (exchange) => loadHandlers(({ sendPresets }) => sendPresets(exchange)),
  },
  {
    method: 'POST', path: `${PATH}/diagnose`, access: 'write',
    operationId: 'diagnoseIncomingWebhook',
    summary: 'Say why a request is refused, or that it would be accepted',
    tool: { isReadOnly: true },
    parameters: [createKeyParameter(incomingResource)],
    body: { mediaTypes: [JSON_TYPE], schema: receivedRequestSchema },
    responses: [
      jsonResponse('What was found', diagnosisSchema),
      ...problemResponses(400, 404, 413, 415, 422),
    ],
    handle: (exchange, sources) =>
      loadHandlers(({ sendDiagnosis }) => sendDiagnosis(exchange, sources)),
  },
  {
    method: 'POST', path: `${PATH}/match`, access: 'write',
    operationId: 'matchIncomingWebhook',
    summary: 'Say which routes a request would run, and which conditions are false',
    tool: { isReadOnly: true },
    parameters: [createKeyParameter(incomingResource)],
    body: { mediaTypes: [JSON_TYPE], schema: requestToMatchSchema },
    responses: [
      jsonResponse('Every route of the webhook', matchSchema),
      ...problemResponses(400, 404, 413, 415, 422),
    ],
    handle: (exchange, sources) =>
      loadHandlers(({ sendMatches }) => sendMatches(exchange, sources)),
  },
];

export const receiverRows: readonly RouteRow<OutgoingWebhookIndex>[] = [
  {
    method: 'GET', path: `${outgoingResource.path}/{identifier}/examples`, access: 'read',
    bound: { scope: 'read', subject: 'webhook' },
    operationId: 'getOutgoingWebhookExamples',
    summary: 'Code that verifies the requests of one outgoing webhook, and a call to try it with; '
      + 'the secret is in neither',
    parameters: [createKeyParameter(outgoingResource)],
    responses: [jsonResponse('The examples', outgoingExamplesSchema), ...problemResponses(404)],
    async handle(exchange, webhooks) {
      const webhook = await webhooks.getNamed(exchange.params[0] ?? '');
      await loadHandlers(({ sendOutgoingExamples }) => sendOutgoingExamples(exchange, webhook));
    },
  },
];

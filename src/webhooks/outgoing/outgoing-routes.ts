/** The HTTP routes of outgoing webhooks: those that manage them, and one that sends at once. */
import { CHAIN_HEADER, CHAIN_REFUSED, parseHops } from '../../base/webhook-chain.ts';
import { createTaggedLogger, type Logger } from '../../base/log.ts';
import { readTraceContext, type TraceContext } from '../../base/trace-context.ts';
import { collectionRoute } from '../../resources/collection-route.ts';
import { notFoundError } from '../../resources/not-found.ts';
import { NO_PAYLOAD, readPayload } from '../../resources/payload-body.ts';
import type { Repository } from '../../resources/repository.ts';
import { JSON_TYPE, jsonResponse } from '../../resources/route-specs.ts';
import { createKeyParameter, resourceRoutes } from '../../resources/resource-routes.ts';
import { announcesBody } from '../../server/exchange/request-head.ts';
import { problemResponses } from '../../server/problem.ts';
import type { HttpRoute } from '../../server/http-route.ts';
import type { HealthMonitor } from '../health/health-monitor.ts';
import { stateFilter } from '../health/public-health.ts';
import { rotationRoute } from '../members/rotate-secret.ts';
import { outgoingResource } from './outgoing-resource.ts';
import {
  sendingSchema, sendResultSchema, type SendOptions, type SendResult,
} from './send-options.ts';
import {
  canHoldPrevious, chooseOutgoingSecretShape, findDialectSecretProblem,
} from './signing-member.ts';
import type { OutgoingWebhookIndex, ReadyOutgoingWebhook } from './outgoing-webhook-index.ts';

type OutgoingServices = {
  readonly records: Repository;
  readonly webhooks: OutgoingWebhookIndex;
  readonly health: HealthMonitor;
  /** Sends at once, and resolves with the result also when sending fails. */
  readonly send: (
    webhook: ReadyOutgoingWebhook, payloadJson: Buffer,
    origin: {
      readonly hops: number; readonly trace: TraceContext | null; readonly log: Logger;
      readonly onChainRefused: () => void;
    },
    options: SendOptions,
  ) => Promise<SendResult>;
};

export function outgoingRoutes(services: OutgoingServices): readonly HttpRoute[] {
  const { records, health } = services;
  return [
    sendRoute(services),
    rotationRoute({
      resource: outgoingResource, records, chooseShape: chooseOutgoingSecretShape,
      findProblem: findDialectSecretProblem, canOverlap: canHoldPrevious,
    }),
    collectionRoute(outgoingResource, records, stateFilter(health, 'outgoing')),
    ...resourceRoutes(outgoingResource, records),
  ];
}

function sendRoute({ webhooks, send }: OutgoingServices): HttpRoute {
  return {
    method: 'POST', path: '/api/outgoing-webhooks/{identifier}/send', access: 'write',
    operationId: 'sendOutgoingWebhook',
    summary: 'Send one outgoing webhook now, also a disabled one; without a body the payload is {}',
    parameters: [createKeyParameter(outgoingResource)],
    body: { mediaTypes: [JSON_TYPE], schema: sendingSchema, isOptional: true },
    responses: [
      jsonResponse('What came of it; a failed delivery is `success: false`', sendResultSchema),
      ...problemResponses(400, 404, 413, 415, 422),
    ],
    async handle(exchange) {
      const { payloadJson, members } = announcesBody(exchange.request)
        ? await readPayload(exchange, sendingSchema) : { payloadJson: NO_PAYLOAD, members: {} };
      const identifier = exchange.params[0] ?? '';
      const webhook = webhooks.findNamed(identifier);
      if (webhook === undefined) throw notFoundError('outgoing webhook', identifier);
      const path = `${outgoingResource.path}/${identifier}/send`;
      let headers: readonly string[] = [];
      const result = await send(webhook, payloadJson, {
        hops: parseHops(exchange.request.headers[CHAIN_HEADER]),
        log: createTaggedLogger(exchange.log, { path }),
        trace: readTraceContext(exchange.request.headers),
        onChainRefused: () => {
          headers = ['X-Hookshelf-Chain', CHAIN_REFUSED];
        },
      }, { retries: Number(members['retries'] ?? 0) });
      exchange.sendJson(200, result, headers);
    },
  };
}

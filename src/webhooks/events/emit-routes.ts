/** The routes by which events come in, for all or one webhook, and are cancelled. */
import type { Clock } from '../../base/clock.ts';
import { encodeJson } from '../../base/json/encode.ts';
import { readTraceContext } from '../../base/trace-context.ts';
import { AppError } from '../../base/errors.ts';
import { createNameTest } from '../../base/event-name.ts';
import { quote } from '../../base/text/error-message.ts';
import { CHAIN_HEADER, parseHops } from '../../base/webhook-chain.ts';
import { problemResponses } from '../../server/problem.ts';
import { bindRoutes } from '../../server/http-route.ts';
import type { Exchange, HttpRoute, RouteRow } from '../../server/http-route.ts';
import {
  IDEMPOTENCY_PARAMETER, REPLAYED_HEADERS, acceptedResponse, serveOnce, type IdempotencyKeys,
} from '../../resources/idempotency-keys.ts';
import { parsePayload } from '../../resources/payload-body.ts';
import { createKeyParameter } from '../../resources/resource-routes.ts';
import { JSON_TYPE, jsonResponse, pathParameter } from '../../resources/route-specs.ts';
import { outgoingResource } from '../outgoing/outgoing-resource.ts';
import { deliverySchema, emittedSchema } from '../deliveries/delivery-schema.ts';
import type { DeliveryService } from '../deliveries/delivery-service.ts';
import type { EventOrigin, EventPublisher, EventTerms } from '../deliveries/event-publisher.ts';
import { durableSendingSchema, eventSchema } from './emit-schema.ts';
import { parseEventTerms } from './event-terms.ts';

type EmitServices = {
  readonly clock: Clock;
  readonly events: EventPublisher;
  readonly service: DeliveryService;
  readonly keys: IdempotencyKeys;
};

export function emitRoutes(services: EmitServices): readonly HttpRoute[] {
  return bindRoutes(emitRows, services);
}

const PROBLEMS = [400, 409, 413, 415, 422, 503, 507] as const;

export const emitRows: readonly RouteRow<EmitServices>[] = [
  {
    method: 'POST', path: '/api/events', operationId: 'emitEvent', access: 'emit',
    summary: 'Emit an event, now or at a time: every enabled outgoing webhook that it triggers '
      + 'then gets a delivery',
    tool: { verb: 'emit' },
    parameters: [IDEMPOTENCY_PARAMETER],
    body: { mediaTypes: [JSON_TYPE], schema: eventSchema },
    responses: [
      {
        ...jsonResponse('Accepted: what is kept of it is on disk', emittedSchema, 202),
        headers: REPLAYED_HEADERS,
      },
      ...problemResponses(...PROBLEMS),
    ],
    handle(exchange, { clock, events, keys }) {
      return serveOnce(keys, exchange, (body, keepResponse) => {
        const { members, payloadJson } = parsePayload(eventSchema, body);
        const name = String(members['name']);
        checkEventGranted(exchange, name);
        const origin = readOrigin(exchange, parseEventTerms(members, clock.now()));
        return events.emitJson(name, payloadJson.toString(), origin, (transaction, event) =>
          keepResponse(transaction, acceptedResponse(
            JSON.stringify({ event: event.eventId, deliveries: event.deliveries }))));
      });
    },
  },
  {
    method: 'DELETE', path: '/api/events/{id}', operationId: 'cancelEvent',
    access: 'write', summary: 'Cancel an event that has not begun: nothing is left of it',
    commands: [{ name: 'event:cancel', done: 'cancelled event {id}', result: { cancelled: true } }],
    parameters: [pathParameter('id', 'Of the event')],
    responses: [
      { status: 204, description: 'It is gone' }, ...problemResponses(404, 409, 503, 507),
    ],
    async handle(exchange, { service }) {
      await service.cancelEvent(exchange.params[0] ?? '');
      exchange.send(204, []);
    },
  },
  {
    method: 'POST', path: '/api/outgoing-webhooks/{identifier}/deliveries', access: 'write',
    operationId: 'sendOutgoingWebhookDurably',
    summary: 'Send to one outgoing webhook durably, whatever it listens to, now or at a time; to a '
      + 'disabled one when it is enabled',
    parameters: [createKeyParameter(outgoingResource), IDEMPOTENCY_PARAMETER],
    body: { mediaTypes: [JSON_TYPE], schema: durableSendingSchema },
    responses: [
      {
        ...jsonResponse('Accepted: on disk, and it will be sent', deliverySchema, 202),
        headers: REPLAYED_HEADERS,
      },
      ...problemResponses(404, ...PROBLEMS),
    ],
    handle(exchange, { clock, service, keys }) {
      return serveOnce(keys, exchange, (body, keepResponse) => {
        const { members, payloadJson } = parsePayload(durableSendingSchema, body);
        const send = {
          ...readOrigin(exchange, parseEventTerms(members, clock.now())),
          webhook: exchange.params[0] ?? '', name: String(members['event']),
          payloadJson: payloadJson.toString(),
        };
        return service.sendDurably(send, (transaction, delivery) => keepResponse(
          transaction, acceptedResponse(encodeJson(service.toPublic(delivery)))));
      });
    },
  },
];

/** Throws `forbidden` for a token of other events. */
function checkEventGranted({ grant }: Exchange, name: string): void {
  const { events } = grant ?? {};
  if (events === undefined || events.some((pattern) => createNameTest(pattern)?.(name) === true)) {
    return;
  }
  throw new AppError('forbidden',
    `this token may emit ${events.join(', ')}, and not ${quote(name)}`);
}

/** Commands on this machine come through the control socket. */
function readOrigin(
  { isControl, request: { headers } }: Exchange, { key, deliverAt }: EventTerms,
): EventOrigin & EventTerms {
  return {
    source: isControl ? 'command' : 'api', hops: parseHops(headers[CHAIN_HEADER]),
    trace: readTraceContext(headers), key, deliverAt,
  };
}

/** Events and deliveries over HTTP. */
import { CHAIN_HEADER, hopsOf } from '../../base/chain.ts';
import { AppError } from '../../base/errors.ts';
import { quoted } from '../../base/text/refusal.ts';
import type { ObjectSchema, Schema } from '../../base/schema.ts';
import { problemAnswers } from '../../server/problem.ts';
import { PAGE_LIMIT_MAX, integerOf, parseQuery } from '../../server/query.ts';
import type { Exchange, ParameterSpec, Pull, Route } from '../../server/route.ts';
import { decodeIdCursor, encodeIdCursor } from '../../resources/id-cursor.ts';
import {
  IDEMPOTENCY_HEADER, IDEMPOTENCY_PARAMETER, REPLAYED_ANSWER, type IdempotencyKeys,
} from '../../resources/idempotency.ts';
import { notFound } from '../../resources/not-found.ts';
import { streamRecords } from '../../resources/page-stream.ts';
import {
  JSON_TYPE, anyJson, arrayOf, listed, objectOf, parsePayload, pathParameter, readPayload, shown,
  text,
} from '../../resources/route-parts.ts';
import { deliveryResource } from './resource.ts';
import type { DeliveryService } from './service.ts';
import type { DeliveryFilter } from './list.ts';
import {
  DELIVERY_STATUSES, shownDelivery, type Delivery, type DeliveryStatus,
} from './delivery.ts';
import type { Events } from './events.ts';
import { EVENT_NAME_RULE, isEventName, refuseEventName } from '../actions/event-name.ts';

/** Of a list without a limit, so many are looked for at a time. */
const FOUND_MAX = 100;
const { path: PATH } = deliveryResource;

const EVENT_SCHEMA: ObjectSchema = {
  kind: 'object',
  name: 'Event',
  members: {
    name: {
      schema: {
        kind: 'string', minLength: 1, maxLength: 200,
        description: EVENT_NAME_RULE,
        canonical: (value) => isEventName(value) ? value : null,
        explain: (value) => refuseEventName(value),
      },
      isRequired: true,
    },
    payload: { schema: anyJson(), default: {}, description: 'Any JSON' },
  },
};

const integer: Schema = { kind: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
const time: Schema = { kind: 'string', format: 'date-time' };
const ATTEMPT_SCHEMA = objectOf('DeliveryAttempt', {
  at: time, durationMs: integer, statusCode: integer, error: text(), response: text(),
}, { nullable: ['statusCode', 'error', 'response'] });
const DELIVERY_SCHEMA = objectOf('Delivery', {
  identifier: text(), hook: text(), event: text(),
  status: { kind: 'string', values: DELIVERY_STATUSES },
  createdAt: time, nextAttemptAt: time, attempts: arrayOf(ATTEMPT_SCHEMA),
}, { nullable: ['hook', 'event', 'nextAttemptAt'] });

export function deliveryRoutes(parts: {
  readonly events: Pick<Events, 'emitText'>; readonly service: DeliveryService;
  readonly keys: IdempotencyKeys | null;
}): readonly Route[] {
  const { events, service, keys } = parts;
  return [
    emitRoute(events, keys),
    listRoute(service),
    getRoute(service),
    reconcileRoute(service),
    retryFailedRoute(service),
    actRoute('retry', 'Try one delivery again now; a failed one gets its whole schedule anew',
      (identifier) => service.retry(identifier)),
    actRoute('cancel', 'Cancel one pending delivery', (identifier) => service.cancel(identifier)),
  ];
}

function emitRoute(
  events: Pick<Events, 'emitText'>, keys: IdempotencyKeys | null,
): Route {
  return {
    method: 'POST', path: '/api/events', operationId: 'emitEvent', access: 'write',
    summary: 'Emit an event: every enabled outgoing webhook that it triggers gets a delivery',
    parameters: [IDEMPOTENCY_PARAMETER],
    body: { mediaTypes: [JSON_TYPE], schema: EVENT_SCHEMA },
    answers: [
      {
        ...shown('Accepted: on disk, and it will be delivered', objectOf('Emitted', {
          deliveries: arrayOf(text()),
        }), 202),
        headers: REPLAYED_ANSWER,
      },
      ...problemAnswers(400, 409, 413, 415, 422, 503, 507),
    ],
    async handle(exchange) {
      const { headers } = exchange.request;
      const hops = hopsOf(headers[CHAIN_HEADER]);
      if (keys !== null && headers[IDEMPOTENCY_HEADER] !== undefined) {
        return keys.serve(exchange, [JSON_TYPE], (body, remember) => {
          const { members, payloadJson } = parsePayload(EVENT_SCHEMA, body);
          return events.emitText(String(members['name']), payloadJson.toString(), hops,
            (transaction, deliveries) => remember(transaction, {
              status: 202, headers: ['Content-Type', JSON_TYPE],
              body: JSON.stringify({ deliveries }),
            }));
        });
      }
      const { members, payloadJson } = await readPayload(exchange, EVENT_SCHEMA);
      const name = String(members['name']);
      const deliveries = await events.emitText(name, payloadJson.toString(), hops);
      exchange.sendJson(202, { deliveries });
    },
  };
}

const LIST_PARAMETERS: readonly ParameterSpec[] = [
  {
    name: 'status', in: 'query', description: 'Only these',
    schema: { kind: 'string', values: DELIVERY_STATUSES },
  },
  { name: 'hook', in: 'query', description: 'Of this outgoing webhook only', schema: text() },
  {
    name: 'limit', in: 'query', description: 'At most so many',
    schema: { kind: 'integer', minimum: 1, maximum: PAGE_LIMIT_MAX },
  },
  { name: 'cursor', in: 'query', description: 'From a `Link` header', schema: text() },
];

function listRoute(service: DeliveryService): Route {
  return {
    method: 'GET', path: PATH, operationId: 'listDeliveries', access: 'read',
    summary: 'Deliveries, oldest first',
    parameters: LIST_PARAMETERS,
    answers: [
      listed('Deliveries', DELIVERY_SCHEMA, 'How many match, on all pages'),
      ...problemAnswers(400),
    ],
    handle: (exchange) => sendList(exchange, service),
  };
}

async function sendList(exchange: Exchange, service: DeliveryService): Promise<void> {
  const query = parseQuery(exchange.search, ['status', 'hook', 'limit', 'cursor']);
  const filter: DeliveryFilter = {
    status: statusOf(query.get('status')), hook: query.get('hook') ?? null,
  };
  const limit = integerOf(query, 'limit', 1, PAGE_LIMIT_MAX);
  const after = decodeIdCursor(query.get('cursor'));
  const headers = [
    'Content-Type', 'application/json', 'X-Total-Count', String(await service.count(filter)),
  ];
  if (limit === null) return exchange.sendStream(200, headers, pullAll(service, filter, after));
  const found = await service.list(filter, after, limit + 1);
  const page = found.slice(0, limit);
  const last = page.at(-1);
  if (found.length > limit && last !== undefined) {
    const next = new URLSearchParams({ limit: String(limit) });
    if (filter.status !== null) next.set('status', filter.status);
    if (filter.hook !== null) next.set('hook', filter.hook);
    next.set('cursor', encodeIdCursor(last.identifier));
    headers.push('Link', `<${exchange.linkTo(`${PATH}?${next}`)}>; rel="next"`);
  }
  return exchange.sendStream(200, headers, streamRecords(() => encodeShown(page.shift())));
}

function pullAll(service: DeliveryService, filter: DeliveryFilter, start: string | null): Pull {
  let after = start;
  let found: readonly Delivery[] = [];
  let index = 0;
  return streamRecords(async () => {
    if (index === found.length) {
      found = await service.list(filter, after, FOUND_MAX);
      after = found.at(-1)?.identifier ?? after;
      index = 0;
    }
    index += 1;
    return encodeShown(found[index - 1]);
  });
}

function encodeShown(delivery: Delivery | undefined): Buffer | null {
  return delivery === undefined ? null : Buffer.from(JSON.stringify(shownDelivery(delivery)));
}

function getRoute(service: DeliveryService): Route {
  return {
    method: 'GET', path: `${PATH}/{identifier}`, operationId: 'getDelivery', access: 'read',
    summary: 'One delivery with its attempts',
    parameters: [pathParameter('identifier', 'Of the delivery')],
    answers: [shown('The delivery', DELIVERY_SCHEMA), ...problemAnswers(404)],
    handle(exchange) {
      const identifier = exchange.params[0] ?? '';
      const delivery = service.find(identifier);
      if (delivery === undefined) throw notFound('delivery', identifier);
      exchange.sendJson(200, shownDelivery(delivery));
    },
  };
}

function reconcileRoute(service: DeliveryService): Route {
  return {
    method: 'GET', path: `${PATH}/reconcile`, operationId: 'reconcileDeliveries', access: 'read',
    summary: 'Prove that accepted = pending + delivered + failed + cancelled + aged out',
    answers: [shown('The totals, and what does not add up', objectOf('Reconciliation', {
      accepted: integer, pending: integer, delivered: integer, failed: integer,
      cancelled: integer, agedOut: integer, isReconciled: { kind: 'boolean' },
      problems: { kind: 'array', items: text(), maxItems: 100 },
    }))],
    handle: async (exchange) => exchange.sendJson(200, await service.reconcile()),
  };
}

function retryFailedRoute(service: DeliveryService): Route {
  return {
    method: 'POST', path: `${PATH}/retry`, operationId: 'retryFailedDeliveries', access: 'write',
    summary: 'Try every failed delivery again now, but those of removed webhooks',
    answers: [
      shown('How many', objectOf('Retried', { retried: integer }), 202),
      ...problemAnswers(503, 507),
    ],
    handle: async (exchange) => exchange.sendJson(202, { retried: await service.retryFailed() }),
  };
}

function actRoute(
  verb: 'retry' | 'cancel', summary: string, act: (identifier: string) => Promise<Delivery>,
): Route {
  return {
    method: 'POST', path: `${PATH}/{identifier}/${verb}`, operationId: `${verb}Delivery`,
    access: 'write', summary,
    parameters: [pathParameter('identifier', 'Of the delivery')],
    answers: [shown('The delivery', DELIVERY_SCHEMA, 202), ...problemAnswers(404, 409, 503, 507)],
    async handle(exchange) {
      exchange.sendJson(202, shownDelivery(await act(exchange.params[0] ?? '')));
    },
  };
}

function statusOf(value: string | undefined): DeliveryStatus | null {
  if (value === undefined) return null;
  const status = DELIVERY_STATUSES.find((known) => known === value);
  if (status !== undefined) return status;
  throw new AppError('malformed', `\`status\` must be one of ${DELIVERY_STATUSES.join(', ')}, `
    + `not ${quoted(value)}`);
}

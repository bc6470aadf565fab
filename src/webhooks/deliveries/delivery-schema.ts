/** Deliveries as the API shows them. */
import { formatTimestamp } from '../../base/clock.ts';
import type { JsonSchema } from '../../base/schema.ts';
import { describeObject, type AnswerOf, type SchemaOf } from '../../base/schema-types.ts';
import {
  ANY_JSON, FLAG, HEADER_PAIRS, arraySchema, objectSchema, TEXT, COUNT, TIME,
} from '../../resources/route-specs.ts';
import {
  DELIVERY_KINDS, DELIVERY_STATUSES, listPublicAttempts, type Delivery,
} from './delivery.ts';

const DATA: SchemaOf<object, JsonSchema> = ANY_JSON;

const attemptSchema = objectSchema('DeliveryAttempt', {
  at: TIME, durationMs: COUNT, statusCode: COUNT, error: TEXT, response: TEXT,
  success: FLAG,
  message: [
    TEXT,
    'This, `success` and `data` are of an attempt of a route; `statusCode`, `error` '
      + 'and `response` of another',
  ],
  data: DATA,
}, {
  nullable: ['statusCode', 'error', 'response', 'message', 'data'],
  optional: ['statusCode', 'error', 'response', 'success', 'message', 'data'],
});

const sentSchema = objectSchema('SentRequest', {
  method: TEXT, url: TEXT, headers: HEADER_PAIRS, bodyBytes: COUNT,
});

const members = {
  identifier: TEXT,
  kind: [
    { kind: 'string', values: DELIVERY_KINDS },
    'What it goes to: an outgoing webhook, a queued forward, or a route of an '
      + 'incoming webhook',
  ],
  hook: TEXT,
  hookName: [TEXT, 'What people call the webhook; null without a name'],
  target: [TEXT, 'Host and path: where a pending delivery goes, and a finished one went'],
  event: [TEXT, 'The name of the event'],
  eventId: [TEXT, 'The id of the event, by which it is found; null for a forward or a route'],
  key: [
    TEXT,
    'The key of the event; null without one, and where the webhook has a `payloadTemplate` or an '
      + '`actionConfiguration`: its holder is sent a body, and not what the event is about',
  ],
  request: [TEXT, 'Of a route: the request that it is a part of'],
  route: [TEXT, 'The name of the route'],
  status: [
    { kind: 'string', values: DELIVERY_STATUSES },
    '`coalesced`, of a route alone: it was not run, as a newer request did for both',
  ],
  createdAt: TIME, nextAttemptAt: TIME,
  waitsFor: [
    { kind: 'string', values: ['webhook', 'rate'] },
    '`webhook`: it is off; nothing is attempted until it is on again, whatever '
      + '`nextAttemptAt` says. `rate`: that of the webhook lets its next attempt start at '
      + '`nextAttemptAt`, and this one then or later',
  ],
  resendOf: TEXT, attempts: arraySchema(attemptSchema),
} as const;
const nullable = [
  'hook', 'hookName', 'target', 'event', 'eventId', 'key', 'request', 'route', 'nextAttemptAt',
  'waitsFor', 'resendOf',
] as const;

export const deliverySchema = objectSchema('Delivery', members, { nullable });

export const sentDeliverySchema = objectSchema('DeliveryWithRequest',
  { ...members, sent: sentSchema }, { nullable: [...nullable, 'sent'] });

export const resendSchema = describeObject({
  kind: 'object',
  name: 'DeliveryResend',
  members: {
    as: {
      schema: { kind: 'string', values: ['retry', 'new'] }, default: 'retry',
      description: '`retry`: the same delivery, with its bytes and its webhook-id, so that a '
        + 'receiver that has it may drop it; `new`: a new one of the same event, whose body is '
        + 'made anew',
    },
  },
});

export const retriedSchema = objectSchema('Retried', { retried: COUNT });
export const emittedSchema = objectSchema('Emitted', {
  event: [TEXT, 'Its id; null: it is not kept, as nobody heard it'],
  deliveries: arraySchema(TEXT),
}, { nullable: ['event'] });
export const reconciliationSchema = objectSchema('Reconciliation', {
  accepted: COUNT, pending: COUNT, delivered: COUNT, failed: COUNT, cancelled: COUNT,
  agedOut: COUNT, isReconciled: FLAG,
  problems: { kind: 'array', items: TEXT, maxItems: 100 },
});

export type PublicDelivery = AnswerOf<typeof deliverySchema>;
export type PublicSentRequest = AnswerOf<typeof sentSchema>;
export type DeliveryReconciliation = AnswerOf<typeof reconciliationSchema>;

/**
 * A delivery waits for its webhook while that is off. `rateTimeMs`: when the rate of its webhook
 * lets an attempt start; null: the delivery does not wait for that.
 */
export function toPublicDelivery(
  delivery: Delivery,
  { event, key, hookName, target }: Pick<PublicDelivery, 'event' | 'key' | 'hookName' | 'target'>,
  isWebhookOff: boolean, rateTimeMs: number | null = null,
): PublicDelivery {
  const { identifier, kind, hook, request, route, status, createdAt, resendOf } = delivery;
  const eventId = kind === 'webhook' ? delivery.eventId : null;
  const { nextAttemptAt, waitsFor } = describeWait(delivery, isWebhookOff, rateTimeMs);
  return {
    identifier, kind, hook, hookName, target, event, eventId, key, request, route, status,
    createdAt, nextAttemptAt, waitsFor, resendOf, attempts: listPublicAttempts(delivery),
  };
}

function describeWait(
  { status, nextAttemptAt }: Delivery, isWebhookOff: boolean, rateTimeMs: number | null,
): Pick<PublicDelivery, 'nextAttemptAt' | 'waitsFor'> {
  if (status === 'pending' && isWebhookOff) return { nextAttemptAt, waitsFor: 'webhook' };
  if (rateTimeMs === null) return { nextAttemptAt, waitsFor: null };
  return { nextAttemptAt: formatTimestamp(rateTimeMs), waitsFor: 'rate' };
}

/** Deliveries as callers see them, in answers and in the OpenAPI document. */
import type { ObjectSchema, Schema } from '../../../base/schema.ts';
import { arrayOf, objectOf, text } from '../../../resources/route-parts.ts';
import { DELIVERY_STATUSES } from '../delivery.ts';

const integer: Schema = { kind: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
const time: Schema = { kind: 'string', format: 'date-time' };

const attemptSchema = objectOf('DeliveryAttempt', {
  at: time, durationMs: integer, statusCode: integer, error: text(), response: text(),
}, { nullable: ['statusCode', 'error', 'response'] });

const sentSchema = objectOf('SentRequest', {
  method: text(), url: text(), headers: arrayOf(arrayOf(text())), bodyBytes: integer,
});

const members = {
  identifier: text(), hook: text(),
  hookName: { kind: 'string', description: 'What people call the webhook; null without a name' },
  target: {
    kind: 'string',
    description: 'Host and path: where a pending delivery goes, and a finished one went',
  },
  event: text(),
  status: { kind: 'string', values: DELIVERY_STATUSES },
  createdAt: time, nextAttemptAt: time,
  waitsFor: {
    kind: 'string', values: ['webhook'],
    description: '`webhook`: it is off; nothing is attempted until it is on again, whatever '
      + '`nextAttemptAt` says',
  },
  resendOf: text(), attempts: arrayOf(attemptSchema),
} as const;
const nullable = ['hook', 'hookName', 'target', 'event', 'nextAttemptAt', 'waitsFor', 'resendOf'];

export const deliverySchema = objectOf('Delivery', members, { nullable });

/** One that is looked at: `sent` is the request that went out last. */
export const sentDeliverySchema = objectOf('DeliveryWithRequest',
  { ...members, sent: sentSchema }, { nullable: [...nullable, 'sent'] });

export const resendSchema: ObjectSchema = {
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
};

export const retriedSchema = objectOf('Retried', { retried: integer });
export const emittedSchema = objectOf('Emitted', { deliveries: arrayOf(text()) });
export const reconciliationSchema = objectOf('Reconciliation', {
  accepted: integer, pending: integer, delivered: integer, failed: integer, cancelled: integer,
  agedOut: integer, isReconciled: { kind: 'boolean' },
  problems: { kind: 'array', items: text(), maxItems: 100 },
});

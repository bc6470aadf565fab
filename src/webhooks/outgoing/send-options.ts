/** The options and the result of sending a webhook at once. */
import { AppError } from '../../base/errors.ts';
import type { JsonSchema, MemberSchema } from '../../base/schema.ts';
import { describeObject, type AnswerOf, type SchemaOf } from '../../base/schema-types.ts';
import { ANY_JSON, FLAG, TEXT, objectSchema } from '../../resources/route-specs.ts';
import type { StoredOutgoingWebhook } from './outgoing-webhook.ts';

export type SendOptions = {
  /** Further requests after a network error or a transient status; 0 by default. */
  readonly retries?: number;
};

/** The webhook to send with: one that is not stored, or a stored one by its identifier or name. */
export type SendingWebhook = Partial<StoredOutgoingWebhook>;

const RETRIES_MAX = 10;

const retriesMember = {
  schema: { kind: 'integer', minimum: 0, maximum: RETRIES_MAX }, default: 0,
  description: 'Further requests, after a network error, a timeout, or a status that may pass',
} as const satisfies MemberSchema;

/** The members that callers look for who want to send an event of another name. */
const EVENT_MEMBERS = ['event', 'name', 'type'];

export const sendingSchema = describeObject({
  kind: 'object', name: 'Sending',
  members: {
    payload: {
      schema: ANY_JSON,
      description: 'Any JSON. What has `type`, `timestamp` and `data` alone goes as it is with the '
        + 'format `envelope`: so it is an event of any name',
    },
    retries: retriesMember,
  },
  hint: (_, input) => EVENT_MEMBERS.some((name) => Object.hasOwn(input, name))
    ? 'with the format envelope an event of any name is sent by a payload such as '
      + '{"type":"order.paid","timestamp":"2026-01-31T12:00:00Z","data":{}}'
    : null,
});

const RESPONSE: SchemaOf<unknown, JsonSchema> = ANY_JSON;

export const sendResultSchema = objectSchema('SendResult', {
  success: FLAG, message: TEXT,
  statusCode: [{ kind: 'integer', minimum: 100, maximum: 999 }, 'null: there was no response'],
  response: [RESPONSE, 'The body, parsed if it is JSON, else as text; null without a response'],
}, { nullable: ['statusCode'], optional: ['message'] });

export type SendResult = AnswerOf<typeof sendResultSchema>;

/** Checks the options of a program that embeds us. Throws `invalid`. */
export function checkSendOptions({ retries = 0 }: SendOptions): void {
  if (Number.isInteger(retries) && retries >= 0 && retries <= RETRIES_MAX) return;
  throw new AppError('invalid',
    `retries must be a whole number from 0 to ${RETRIES_MAX}, not ${String(retries)}`);
}

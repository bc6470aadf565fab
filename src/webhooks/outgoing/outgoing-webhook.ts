/** The model of an outgoing webhook: its target, the request that it sends, and its triggers. */
import { TIMER_SECONDS_MAX } from '../../base/clock.ts';
import type { FieldError } from '../../base/errors.ts';
import {
  EVENT_NAME_LENGTH_MAX, EVENT_NAME_RULE, EVERY_EVENT, createNameTest, explainInvalidEventName,
} from '../../base/event-name.ts';
import type { JsonObject, MemberOption, Schema } from '../../base/schema.ts';
import { describeObject } from '../../base/schema-types.ts';
import { timestampMembers } from '../../resources/resource.ts';
import type { ClientCertificate } from '../../client/client-certificate.ts';
import type { CollectionSpec } from '../../store/store-port.ts';
import { enabledMembers } from '../health/disabled-members.ts';
import { findProbeProblems, probeMember } from '../health/probe.ts';
import { healthMember } from '../health/public-health.ts';
import { previousSecretMember, type WebhookRecord } from '../members/rotate-secret.ts';
import { secretMembers } from '../members/secret-members.ts';
import {
  configurationOption, descriptionMember, nameOption, nameSchema, retryScheduleSchema,
} from '../members/members.ts';
import {
  DEFAULT_METHOD, findHeaderProblems, headersSchema, targetMethodSchema, targetUrlSchema,
} from '../members/target-rules.ts';
import { SYSTEM_EVENTS } from '../actions/event-name.ts';
import { conditionSchema, findConditionProblems } from '../members/filters/condition.ts';
import { findOrderProblems, orderOption, orderSchema } from '../members/filters/order.ts';
import { bodyMembers, findBodyProblems } from './body-members.ts';
import { clientCertificateSchema } from './client-certificate-member.ts';
import { findOauth2Problems, oauth2Schema, type Oauth2 } from './oauth2-member.ts';
import { rateMember } from './rate.ts';
import { findRetryOnProblems, retryOnMember } from './retry-on.ts';
import { findSuccessWhenProblems, successWhenMember } from './success-when.ts';
import { findSigningProblems, signingMembers } from './signing-member.ts';

// `hasNames`: a caller may say the unique name where the identifier is asked for.
export const outgoingCollection: CollectionSpec = {
  name: 'outgoing-webhooks', key: 'identifier', unique: ['name'], hasNames: true,
};

const TRIGGERS_MAX = 50;
const WHEN_SOURCES = ['payload', 'event'] as const;
const ORDER_SOURCES = ['payload', 'event', 'key'] as const;
const IN_FLIGHT_MAX = 65_535;
const DISABLE_HOURS_MAX = 8760;

/** Sets `triggerEvent`, or `triggerEvents` where it stands several times. */
const triggerOption: MemberOption = {
  name: 'trigger-event', placeholder: '<event>', isRepeatable: true,
  help: 'event that fires it, such as book.created, book.* or *; repeatable',
};

const triggerSchema: Schema = {
  kind: 'string', maxLength: EVENT_NAME_LENGTH_MAX,
  description: `${EVENT_NAME_RULE}; a prefix of one that ends in ".*"; or "*" for every event but `
    + 'those about hookshelf itself',
  canonical: (value) => createNameTest(value) === null ? null : value,
  explain: explainInvalidTrigger,
};

function explainInvalidTrigger(value: unknown): string {
  const hint = String(value).includes('*')
    ? '; for many events "*" stands at the end, after a dot, as in "book.*"; for all of them alone'
    : '';
  return explainInvalidEventName(value, { manyHint: 'name each by itself in triggerEvents' })
    + hint;
}

export const outgoingSchema = describeObject({
  kind: 'object',
  name: 'OutgoingWebhook',
  members: {
    // A body may repeat the identifier; it must be the one in the path.
    identifier: { schema: { kind: 'string', format: 'uuid' }, readOnly: 'echo' },
    ...timestampMembers, // createdAt, updatedAt
    name: {
      schema: nameSchema,
      description: 'What people call it; stands wherever its identifier may. Unique among outgoing '
        + 'webhooks',
      option: nameOption,
    },
    description: descriptionMember,
    targetUrl: {
      schema: targetUrlSchema, isRequired: true,
      description: 'Credentials in it, parameters like `token` too, are shown as ***; *** sent '
        + 'back keeps them',
      option: {
        placeholder: '<url | @file | ->', help: 'where requests go; in a file if it has a password',
      },
    },
    httpMethod: {
      schema: targetMethodSchema, default: DEFAULT_METHOD,
      option: { placeholder: '<method>', help: `${DEFAULT_METHOD} when not given` },
    },
    headers: {
      schema: headersSchema, isSecret: true,
      description: 'Names and values. Values are shown as ***; *** sent back keeps the stored one',
      option: [
        {
          name: 'header', placeholder: '<Name: value>', isRepeatable: true,
          help: 'a header that is no secret; repeatable',
        },
        {
          name: 'headers-file', placeholder: '<path | ->', completes: 'file',
          help: 'headers, a line each, or a JSON object',
        },
      ],
    },
    ...bodyMembers, // payloadTemplate, contentType, format
    ...enabledMembers, // enabled, disabledReason, disabledAt
    actionConfiguration: {
      schema: { kind: 'string', minLength: 1, maxLength: 128 },
      description: 'The action whose result is sent instead of the payload',
      option: configurationOption,
    },
    triggerEvent: {
      schema: triggerSchema,
      description: 'The event that fires this webhook; `book.*` is every name below `book.`, `*` '
        + 'every event but those that hookshelf tells of itself, such as `delivery.failed`',
      option: triggerOption,
    },
    triggerEvents: {
      schema: { kind: 'array', items: triggerSchema, maxItems: TRIGGERS_MAX, isUnique: true },
      description: 'Several of them, in place of `triggerEvent`; an event fires the webhook once',
      option: triggerOption,
    },
    when: {
      schema: conditionSchema,
      description: 'Which of these events it is for: a condition over `payload` and `event`. An '
        + 'event that it is not for makes no delivery',
      option: { isPublic: true },
    },
    retrySchedule: {
      schema: retryScheduleSchema,
      description: 'Seconds between attempts, in place of the setting `outgoing.retrySchedule`',
      option: {
        placeholder: '<seconds,…>',
        help: 'waits between attempts, or none; instead of outgoing.retrySchedule',
      },
    },
    retryOn: retryOnMember,
    successWhen: successWhenMember,
    timeout: {
      schema: { kind: 'number', minimum: 0.001, maximum: TIMER_SECONDS_MAX },
      description: 'Seconds for one attempt, and for one sending with all its attempts, in place '
        + 'of the settings `http.timeout` and `http.totalTimeout`',
      option: { placeholder: '<seconds>' },
    },
    maxInFlight: {
      schema: { kind: 'integer', minimum: 1, maximum: IN_FLIGHT_MAX },
      description: 'Attempts under way at once, in place of the setting '
        + '`outgoing.maxInFlightPerHook`; 1 is strict order',
    },
    rate: rateMember,
    order: {
      schema: orderSchema,
      description: '`none`, as when absent: deliveries begin in the order of creation, and one '
        + 'that is retried is overtaken. `strict`: one at a time, the next only when the one '
        + 'before is delivered, failed for good or cancelled. { "key": "<path>" }: strict among '
        + 'those with the same text, number or boolean there, such as `payload.data.book.id`, or '
        + '`key`, the event\'s own',
      option: orderOption,
    },
    disableAfterHours: {
      schema: { kind: 'number', minimum: 0, maximum: DISABLE_HOURS_MAX },
      description: 'Disables the webhook when every attempt has failed for so many hours; 0, as '
        + 'when absent, never does',
    },
    probe: probeMember,
    oauth2: {
      schema: oauth2Schema,
      description: 'Client credentials (RFC 6749): requests carry an access token that is asked '
        + 'for with them',
      option: {
        help: 'client credentials that access tokens are asked for with; in a file, for its secret',
      },
    },
    clientCertificate: {
      schema: clientCertificateSchema,
      description: 'A certificate that the target is shown over TLS. Shown without its key',
      option: {
        placeholder: '<@file | - | json>',
        help: 'a certificate that the target is shown over TLS, and its key, in PEM',
      },
    },
    ...secretMembers, // secret, hasSecret
    ...signingMembers, // signing, publicKey
    previousSecret: previousSecretMember,
    health: healthMember,
  },
  check: findProblems,
});

/** A webhook as the sending needs it. Without `updatedAt` it is not stored. */
export type OutgoingWebhook =
  & Omit<WebhookRecord<typeof outgoingSchema>,
    'updatedAt' | 'publicKey' | 'oauth2' | 'clientCertificate'>
  & {
    readonly updatedAt?: string; readonly oauth2?: Oauth2;
    readonly clientCertificate?: ClientCertificate;
  };

type Triggers = Pick<OutgoingWebhook, 'triggerEvent' | 'triggerEvents'>;

/** The webhook's triggers: names of events, prefixes that end in `.*`, or `*`. */
export function listTriggers({ triggerEvent, triggerEvents }: Triggers): readonly string[] {
  return triggerEvent === undefined ? triggerEvents ?? [] : [triggerEvent];
}

/**
 * Whether the webhook has the trigger `*`, and yet some system event does not fire it: `*` stands
 * for every event but those, which need a trigger with their name or prefix. `doctor` names such
 * webhooks, as their owners may expect to hear everything.
 */
export function missesSystemEvents(webhook: Triggers): boolean {
  const triggers = listTriggers(webhook);
  const tests = triggers.filter((trigger) => trigger !== EVERY_EVENT).map(createNameTest);
  return triggers.includes(EVERY_EVENT)
    && SYSTEM_EVENTS.some((name) => !tests.some((isHeard) => isHeard?.(name) === true));
}

/** Checks the rules that the schemas of single members cannot say. */
function findProblems(webhook: JsonObject, input: JsonObject): readonly FieldError[] {
  const { when, headers, triggerEvent, triggerEvents } = webhook;
  const errors: FieldError[] = [
    ...findConditionProblems(when, '/when', WHEN_SOURCES),
    ...findOrderProblems(webhook['order'], '/order', ORDER_SOURCES),
    ...findBodyProblems(webhook, input),
    ...findOauth2Problems(webhook),
    ...findRetryOnProblems(webhook['retryOn']),
    ...findSuccessWhenProblems(webhook['successWhen']),
    ...findSigningProblems(webhook),
    ...findProbeProblems(webhook),
  ];
  if (headers !== undefined) {
    errors.push(...findHeaderProblems(headers).map(({ pointer, detail }) =>
      ({ pointer: `/headers${pointer}`, detail })));
  }
  if (triggerEvent !== undefined && triggerEvents !== undefined) {
    errors.push({
      pointer: '/triggerEvents', detail: 'must not stand beside triggerEvent: give one of the two',
    });
  }
  return errors;
}

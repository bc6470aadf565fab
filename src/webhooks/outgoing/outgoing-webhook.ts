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
import { acknowledgedMember, enabledMembers } from '../health/disabled-members.ts';
import { findProbeProblems, probeMember } from '../health/probe.ts';
import { healthMember } from '../health/public-health.ts';
import {
  previousSecretMember, replacedSecretsMember, type WebhookRecord,
} from '../members/rotate-secret.ts';
import { secretMembers } from '../members/secret-members.ts';
import {
  configurationMember, createNameMember, descriptionMember, retryScheduleMember,
} from '../members/members.ts';
import {
  DEFAULT_METHOD, findHeaderProblems, headersSchema, targetMethodSchema, targetUrlSchema,
} from '../members/target-rules.ts';
import { SYSTEM_EVENTS } from '../actions/event-name.ts';
import { conditionSchema, findConditionProblems } from '../members/filters/condition.ts';
import { findOrderProblems, orderMember } from '../members/filters/order.ts';
import { bodyMembers, findBodyProblems } from './body-members.ts';
import { clientCertificateSchema } from './client-certificate-member.ts';
import { findOauth2Problems, oauth2Schema, type Oauth2 } from './oauth2-member.ts';
import { rateMember } from './rate.ts';
import { findRetryOnProblems, retryOnMember } from './retry-on.ts';
import { findSuccessWhenProblems, successWhenMember } from './success-when.ts';
import { findSigningProblems, signingMembers } from './signing-member.ts';

export const outgoingCollection: CollectionSpec = {
  name: 'outgoing-webhooks', key: 'identifier', unique: ['name'], hasNames: true,
};

const TRIGGERS_MAX = 50;
const WHEN_SOURCES = ['payload', 'event'] as const;
const ORDER_SOURCES = ['payload', 'event', 'key'] as const;
const IN_FLIGHT_MAX = 65_535;
const DISABLE_HOURS_MAX = 8760;

/** Sets `triggerEvent`, or `triggerEvents` if it stands several times (`WEBHOOK_READERS`). */
const triggerOption: MemberOption = {
  name: 'trigger-event', placeholder: '<event>', isRepeatable: true,
};

const triggerSchema: Schema = {
  kind: 'string', maxLength: EVENT_NAME_LENGTH_MAX,
  mustBe: `${EVENT_NAME_RULE}; a prefix of one that ends in ".*"; or "*" for every event but `
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
    // A body may repeat the identifier of the path.
    identifier: { schema: { kind: 'string', format: 'uuid' }, readOnly: 'echo' },
    ...timestampMembers, // createdAt, updatedAt
    name: createNameMember('No other outgoing webhook has it'),
    description: descriptionMember,
    targetUrl: {
      schema: targetUrlSchema, isRequired: true, label: 'Address',
      description: 'Where requests go: an http or https URL. Passwords in it, and parameters like '
        + '`token`, are shown as `***`, and stay while `***` is sent back',
      form: {
        hint: 'Where requests go: an http or https URL. A password in it shows as `***`; leave '
          + 'that to keep it',
      },
      option: {
        placeholder: '<url | @file | ->',
        help: 'where requests go: an http or https URL; in a file if it has a password',
      },
    },
    httpMethod: {
      schema: targetMethodSchema, default: DEFAULT_METHOD, label: 'Method',
      description: 'The HTTP method of its requests, in capitals', form: { group: 'request' },
      option: { placeholder: '<method>' },
    },
    headers: {
      schema: headersSchema, isSecret: true,
      description: 'Names and values that each request carries. Values are shown as `***`, and '
        + 'stay while `***` is sent back',
      form: {
        group: 'request', field: 'pairs',
        hint: 'Names and values that each request carries. A value shows as `***`; leave that to '
          + 'keep it',
      },
      option: [
        {
          name: 'header', placeholder: '<Name: value>', isRepeatable: true,
          help: 'a header that is no secret',
        },
        {
          name: 'headers-file', placeholder: '<path | ->', completes: 'file',
          help: 'headers, a line each, or a JSON object',
        },
      ],
    },
    ...bodyMembers, // payloadTemplate, contentType, format
    ...enabledMembers, // enabled, disabledReason, disabledAt
    acknowledgedAt: acknowledgedMember,
    actionConfiguration: {
      ...configurationMember,
      description: 'The action configuration that runs first, by its identifier: its result is '
        + 'sent in place of the event',
      form: {
        group: 'request', field: 'action',
        hint: 'The action that runs first: its result is sent in place of the event',
      },
    },
    triggerEvent: {
      schema: triggerSchema,
      description: 'The event that fires it, such as `book.created`; `book.*` is every name that '
        + 'begins so, `*` every event but those about hookshelf itself, such as `delivery.failed`',
      form: { group: 'none' }, option: triggerOption,
    },
    triggerEvents: {
      schema: { kind: 'array', items: triggerSchema, maxItems: TRIGGERS_MAX, isUnique: true },
      label: 'Events', form: { item: 'Event' },
      description: 'The events that fire it: `book.created` is one, `book.*` are all that begin '
        + 'so, `*` is every one not about hookshelf. None: it is sent by hand alone',
      option: triggerOption,
    },
    when: {
      schema: conditionSchema, label: 'Only when',
      description: 'Which of these events it is for, by a condition over `payload` and `event`; '
        + 'another makes no delivery. Without a condition it is for all of them',
      option: { isPublic: true },
    },
    retrySchedule: {
      ...retryScheduleMember, label: 'Waits between attempts',
      form: { ...retryScheduleMember.form, group: 'attempts' },
      description: 'Seconds before each further attempt; an empty list is no second attempt; '
        + 'without it the setting `outgoing.retrySchedule` holds',
    },
    retryOn: retryOnMember,
    successWhen: successWhenMember,
    timeout: {
      schema: { kind: 'number', minimum: 0.001, maximum: TIMER_SECONDS_MAX },
      label: 'Time limit', form: { group: 'attempts' },
      description: 'Seconds for one attempt, and for one sending with all its attempts; without it '
        + 'the settings `http.timeout` and `http.totalTimeout` hold',
      option: { placeholder: '<seconds>' },
    },
    maxInFlight: {
      schema: { kind: 'integer', minimum: 1, maximum: IN_FLIGHT_MAX },
      label: 'Attempts at once',
      form: {
        group: 'pace',
        hint: 'How many may be under way at once; 1 keeps the order of the events. Without it, as '
          + 'many as the server lets any webhook have',
      },
      description: 'How many attempts may be under way at once; 1 keeps the order of the events; '
        + 'without it as many as for all webhooks (the setting `outgoing.maxInFlightPerHook`)',
    },
    rate: rateMember,
    order: {
      ...orderMember,
      form: {
        ...orderMember.form, group: 'pace',
        hint: 'Strict: the next waits until the one before is delivered, has failed for good or '
          + 'is cancelled. By key: only those wait that have the same value at the path, such as '
          + 'two changes of one book',
      },
      description: 'The order of deliveries: in `none` one that is retried is overtaken, in '
        + '`strict` the next waits until it is delivered, has failed for good or is cancelled. '
        + '`{ "key": "<path>" }` is strict among those with the same text, number or boolean '
        + 'there, such as `payload.data.book.id`, or `key`, the event\'s own. Without it: `none`',
    },
    disableAfterHours: {
      schema: { kind: 'number', minimum: 0, maximum: DISABLE_HOURS_MAX },
      label: 'Turn off after', form: { group: 'attempts' },
      description: 'Hours in which every attempt failed, after which it is turned off; with 0, or '
        + 'without it, never',
    },
    probe: probeMember,
    oauth2: {
      schema: oauth2Schema, label: 'Access tokens (OAuth 2)', form: { group: 'access' },
      description: 'Client credentials (RFC 6749) that access tokens are asked for with. Each '
        + 'request carries one',
      option: {
        help: 'client credentials (RFC 6749) that access tokens are asked for with; in a file, '
          + 'for the secret',
      },
    },
    clientCertificate: {
      schema: clientCertificateSchema, form: { group: 'access' },
      description: 'A certificate that the target is shown over TLS, and its key, in PEM',
      option: { placeholder: '<@file | - | json>' },
    },
    ...secretMembers, // secret, hasSecret
    ...signingMembers, // signing, publicKey
    previousSecret: previousSecretMember,
    replacedSecrets: replacedSecretsMember,
    health: healthMember,
  },
  check: findProblems,
});

/** The stored webhook: no `publicKey`, and no times if never saved (`parseUnsavedWebhook`). */
export type StoredOutgoingWebhook =
  & Omit<WebhookRecord<typeof outgoingSchema>,
    'createdAt' | 'updatedAt' | 'publicKey' | 'oauth2' | 'clientCertificate'>
  & {
    readonly createdAt?: string; readonly updatedAt?: string; readonly oauth2?: Oauth2;
    readonly clientCertificate?: ClientCertificate;
  };

type Triggers = Pick<StoredOutgoingWebhook, 'triggerEvent' | 'triggerEvents'>;

/** Names of events, prefixes that end in `.*`, or `*`. */
export function listTriggers({ triggerEvent, triggerEvents }: Triggers): readonly string[] {
  return triggerEvent === undefined ? triggerEvents ?? [] : [triggerEvent];
}

/** Whether it has the trigger `*`, but not those for all system events: `doctor` names it. */
export function missesSystemEvents(webhook: Triggers): boolean {
  const triggers = listTriggers(webhook);
  const tests = triggers.filter((trigger) => trigger !== EVERY_EVENT).map(createNameTest);
  return triggers.includes(EVERY_EVENT)
    && SYSTEM_EVENTS.some((name) => !tests.some((isHeard) => isHeard?.(name) === true));
}

function findProblems(webhook: JsonObject, input: JsonObject): readonly FieldError[] {
  const { when, headers, triggerEvent, triggerEvents } = webhook;
  const errors: FieldError[] = [
    ...findConditionProblems(when, '/when', WHEN_SOURCES),
    ...findOrderProblems(webhook['order'], ORDER_SOURCES),
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

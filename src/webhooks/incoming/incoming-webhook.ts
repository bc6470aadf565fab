/** The record of an incoming webhook: its public address, its callers and the actions it runs. */
import { TIMER_SECONDS_MAX } from '../../base/clock.ts';
import { AddressSet } from '../../base/network/address-set.ts';
import { decodeRecordAs } from '../../resources/record.ts';
import { timestampMembers } from '../../resources/resource.ts';
import type { CollectionSpec } from '../../store/store-port.ts';
import { enabledMembers } from '../health/disabled-members.ts';
import { healthMember } from '../health/public-health.ts';
import {
  previousSecretMember, replacedSecretsMember, type WebhookRecord,
} from '../members/rotate-secret.ts';
import { SECRET_HINT, SECRET_RULE, secretMembers } from '../members/secret-members.ts';
import { configurationMember, createNameMember, descriptionMember } from '../members/members.ts';
import { readScheme } from '../senders/presets/preset-table.ts';
import type { FieldError } from '../../base/errors.ts';
import type { JsonObject, MemberSchemas } from '../../base/schema.ts';
import { describeObject } from '../../base/schema-types.ts';
import { findInboxProblems, inboxMembers } from './inbox-members.ts';
import {
  findRouteOrderProblems, findRouteProblems, requestOrderMember, routesMember,
} from './routes-member.ts';
import { BODY_FORMATS, resolveSchemeFormat, type BodyFormat } from './body-format.ts';
import { findUnmatchedProblems, responseMember } from './custom-response.ts';
import { verificationSchema } from './verification-member.ts';

export const incomingCollection: CollectionSpec = {
  name: 'incoming-webhooks', key: 'identifier', unique: ['pathSegment', 'name'], hasNames: true,
};

// The bounds of the settings `incoming.*`: see setting-table.ts.
const COUNT_MAX = 1_000_000_000;
const IN_FLIGHT_MAX = 65_535;
const TIMEOUT_S_MIN = 0.001;

// The bounds of `jsonFields`.
const JSON_FIELDS_MAX = 20;
const FIELD_NAME_LENGTH_MAX = 128;
const FORMATS_WITH_FIELDS: readonly BodyFormat[] = ['form', 'multipart', 'auto'];

const SECRET_PURPOSE =
  'Requests are checked against it: a key, a token, a public key or a certificate.';

/** Limits of one webhook. Each stands in place of the setting that its description names. */
const limitMembers = {
  rateLimit: {
    schema: { kind: 'number', minimum: 0, maximum: COUNT_MAX },
    label: 'Requests a second', form: { group: 'more' },
    description: 'How many requests a second it takes; more get 429, and 0 is no limit; without it '
      + 'the setting `incoming.rateLimit` holds',
  },
  maxConcurrent: {
    schema: { kind: 'integer', minimum: 1, maximum: COUNT_MAX },
    label: 'Requests at once',
    form: {
      group: 'more',
      hint: 'How many requests may have their actions under way at once, where the sender is '
        + 'answered what the action says; more get 503. Without it the setting '
        + '`incoming.maxConcurrent` holds',
    },
    description: 'How many requests may have their actions under way at once; more get 503; '
      + 'without it the setting `incoming.maxConcurrent` holds. For the answer `result`',
  },
  actionTimeout: {
    schema: { kind: 'number', minimum: TIMEOUT_S_MIN, maximum: TIMER_SECONDS_MAX },
    label: 'Time limit', form: { group: 'more' },
    description: 'Seconds for one action, then it has failed; a command\'s own limit goes before '
      + 'it; without it the setting `incoming.actionTimeout` holds',
    option: { placeholder: '<seconds>' },
  },
  maxInFlight: {
    schema: { kind: 'integer', minimum: 1, maximum: IN_FLIGHT_MAX },
    label: 'Runs at once', form: { group: 'more' },
    description: 'How many accepted or replayed requests may run at once; 1 keeps their order; '
      + 'without it the setting `incoming.maxInFlightPerHook` holds',
  },
} as const satisfies MemberSchemas;

export const incomingSchema = describeObject({
  kind: 'object',
  name: 'IncomingWebhook',
  members: {
    identifier: { schema: { kind: 'string', format: 'uuid' }, readOnly: 'echo' },
    ...timestampMembers,
    name: createNameMember('No other incoming webhook has it as its name or path. It does not '
      + 'change the address'),
    description: descriptionMember,
    pathSegment: {
      schema: {
        kind: 'string', maxLength: 128,
        mustBe: '1-128 of A-Z, a-z, 0-9, ".", "_", "~" and "-", and neither "." nor ".."',
        canonical: (value) => isPathSegment(value) ? value : null,
      },
      isRequired: true, label: 'Path',
      description: 'The end of its address, /webhook/in/<path>: 1-128 of A-Z, a-z, 0-9, `.`, `_`, '
        + '`~` and `-`. After a change its sender must call the new address. No other incoming '
        + 'webhook has it as its name or path',
      option: { placeholder: '<slug>' },
    },
    ...enabledMembers,
    ...secretMembers,
    secret: {
      ...secretMembers.secret,
      description: `${SECRET_PURPOSE} ${SECRET_RULE}`,
      form: { hint: `${SECRET_PURPOSE} ${SECRET_HINT}` },
    },
    verification: {
      schema: verificationSchema,
      label: 'Sender', form: { field: 'sender' },
      description: 'Whose requests these are, and how they are verified. Without it: by '
        + 'X-Signature, when there is a secret',
      option: [
        {
          name: 'preset', placeholder: '<name>', completes: 'presets',
          help: 'whose requests these are; see incomingwebhook:presets',
        },
        {
          name: 'verification', help: 'what the preset needs, such as {"url":"https://…"}',
        },
        {
          name: 'token-header', placeholder: '<name>', isForNew: true,
          help: 'without a preset: the secret is a token, in this header',
        },
        {
          name: 'token-query', placeholder: '<name>', isForNew: true,
          help: 'the same, in this parameter of the address',
        },
      ],
    },
    previousSecret: previousSecretMember,
    replacedSecrets: replacedSecretsMember,
    secretAwaitedUntil: {
      schema: { kind: 'string', format: 'date-time' }, readOnly: 'echo', isAlwaysPresent: false,
      description: 'Until then the secret of its sender\'s handshake becomes its own: see '
        + 'POST /api/incoming-webhooks/{identifier}/await-secret',
    },
    allowedAddresses: {
      schema: {
        kind: 'array', maxItems: 100, isUnique: true,
        items: {
          kind: 'string', maxLength: 64, mustBe: 'an IP address or a CIDR block',
          canonical: (address) => new AddressSet().add(address) ? address : null,
        },
      },
      form: { group: 'more', item: 'Address' },
      description: 'Who may call: IP addresses and CIDR blocks, such as `10.0.0.0/8`. Without any, '
        + 'everybody may',
      option: [{
        name: 'allowed-address', placeholder: '<address | block>', isRepeatable: true,
      }],
    },
    bodyFormat: {
      schema: { kind: 'string', values: BODY_FORMATS },
      label: 'Format of the body', form: { group: 'more' },
      description: 'How the payload is made of the body; without it as the sender needs it: `auto` '
        + 'where that says nothing else, and `json` without a sender',
      option: { placeholder: '<format>' },
    },
    jsonFields: {
      schema: {
        kind: 'array', maxItems: JSON_FIELDS_MAX, isUnique: true,
        items: { kind: 'string', minLength: 1, maxLength: FIELD_NAME_LENGTH_MAX },
      },
      label: 'Fields with JSON', form: { group: 'more', item: 'Field' },
      description: 'Fields of a form or a multipart body whose text is JSON: the payload then has '
        + 'it as JSON. Any other text stays text',
    },
    allowedMethods: {
      schema: {
        kind: 'array', maxItems: 40, isUnique: true,
        items: {
          kind: 'string', maxLength: 32, pattern: /^[A-Z][A-Z-]*$/,
          mustBe: 'an HTTP method in upper case',
        },
      },
      form: { group: 'more', item: 'Method' },
      description: 'HTTP methods that may call it, in capitals; without any the setting '
        + '`incoming.defaultAllowedMethods` holds',
      option: { placeholder: '<POST,PUT>' },
    },
    staticHeaders: {
      schema: { kind: 'json', isObject: true, bytesMax: 16 * 1024, depthMax: 8 },
      isSecret: true,
      description: 'Reserved; has no effect. Values are shown as ***; *** sent back keeps the '
        + 'stored one',
      form: { group: 'none' }, option: [],
    },
    actionConfiguration: {
      ...configurationMember,
      description: 'The action configuration that runs for every request, by its identifier; '
        + 'needed where there are no routes',
      form: {
        group: 'action', field: 'action',
        hint: 'What is done with every request; needed where there are no routes',
      },
    },
    routes: routesMember,
    order: {
      ...requestOrderMember, label: 'Order without routes',
      form: { ...requestOrderMember.form, group: 'action' },
    },
    ...inboxMembers,
    ...limitMembers,
    response: responseMember,
    health: healthMember,
  },
  check: (webhook, input) => [
    ...findAddressProblems(webhook), ...findRouteProblems(webhook, input),
    ...findInboxProblems(webhook), ...findRouteOrderProblems(webhook),
    ...findBodyProblems(webhook), ...findUnmatchedProblems(webhook),
  ],
});

export type StoredIncomingWebhook = WebhookRecord<typeof incomingSchema>;

/** Refuses `jsonFields` that are empty, or for a body that is not read as a form. */
function findBodyProblems(
  { bodyFormat, jsonFields, verification }: JsonObject,
): FieldError[] {
  if (!Array.isArray(jsonFields)) return [];
  const pointer = '/jsonFields';
  if (jsonFields.length === 0) {
    return [{ pointer, detail: 'must name a field; null removes the member' }];
  }
  const scheme = verification === undefined ? null : readScheme(verification);
  const usedFormat = bodyFormat ?? resolveSchemeFormat(scheme);
  const hasFields = FORMATS_WITH_FIELDS.some((format) => format === usedFormat);
  return hasFields ? []
    : [{ pointer, detail: `needs the bodyFormat ${FORMATS_WITH_FIELDS.join(', ')}` }];
}

/** Refuses an empty list of addresses: to let nobody call, `enabled` is set to false. */
function findAddressProblems({ allowedAddresses }: JsonObject): FieldError[] {
  return Array.isArray(allowedAddresses) && allowedAddresses.length === 0
    ? [{ pointer: '/allowedAddresses', detail: 'must hold an address; null lets any in' }] : [];
}

export function decodeIncomingWebhook(bytes: Buffer): StoredIncomingWebhook {
  return decodeRecordAs<StoredIncomingWebhook>(bytes, ({ identifier, pathSegment }) =>
    typeof identifier === 'string' && typeof pathSegment === 'string');
}

function isPathSegment(value: string): boolean {
  return /^[A-Za-z0-9._~-]{1,128}$/.test(value) && value !== '.' && value !== '..';
}

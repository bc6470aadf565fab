/** The record of an incoming webhook: its public address, its callers and the actions it runs. */
import { TIMER_SECONDS_MAX } from '../../base/clock.ts';
import { AddressSet } from '../../base/network/address-set.ts';
import { decodeRecordAs } from '../../resources/record.ts';
import { timestampMembers } from '../../resources/resource.ts';
import type { CollectionSpec } from '../../store/store-port.ts';
import { enabledMembers } from '../health/disabled-members.ts';
import { healthMember } from '../health/public-health.ts';
import { previousSecretMember, type WebhookRecord } from '../members/rotate-secret.ts';
import { secretMembers } from '../members/secret-members.ts';
import {
  configurationOption, descriptionMember, nameOption, nameSchema,
} from '../members/members.ts';
import { readScheme } from '../senders/presets/preset-table.ts';
import type { FieldError } from '../../base/errors.ts';
import type { JsonObject, MemberSchemas } from '../../base/schema.ts';
import { describeObject } from '../../base/schema-types.ts';
import { findInboxProblems, inboxMembers } from './inbox-members.ts';
import {
  configurationNameSchema, findRouteOrderProblems, findRouteProblems, orderMember, routesMember,
} from './routes-member.ts';
import { BODY_FORMATS, resolveSchemeFormat, type BodyFormat } from './body-format.ts';
import { findUnmatchedProblems, responseMember } from './custom-response.ts';
import { verificationSchema } from './verification-member.ts';

export const incomingCollection: CollectionSpec = {
  name: 'incoming-webhooks', key: 'identifier', unique: ['pathSegment', 'name'], hasNames: true,
};

// The bounds of the settings.
const COUNT_MAX = 1_000_000_000;
const IN_FLIGHT_MAX = 65_535;
const TIMEOUT_S_MIN = 0.001;

// The bounds of `jsonFields`.
const JSON_FIELDS_MAX = 20;
const FIELD_NAME_LENGTH_MAX = 128;
const FORMATS_WITH_FIELDS: readonly BodyFormat[] = ['form', 'multipart', 'auto'];

/** The limits of its own, which stand in place of settings. */
const limitMembers = {
  rateLimit: {
    schema: { kind: 'number', minimum: 0, maximum: COUNT_MAX },
    description: 'Requests a second, over it 429, in place of the setting `incoming.rateLimit`; 0: '
      + 'no limit',
  },
  maxConcurrent: {
    schema: { kind: 'integer', minimum: 1, maximum: COUNT_MAX },
    description: 'Requests whose actions are under way at once, over it 503, in place of the '
      + 'setting `incoming.maxConcurrent`. For the `answer` `result`',
  },
  actionTimeout: {
    schema: { kind: 'number', minimum: TIMEOUT_S_MIN, maximum: TIMER_SECONDS_MAX },
    description: 'Seconds for one action, then it has failed, in place of the setting '
      + '`incoming.actionTimeout`; a command\'s own `timeout` goes before it',
    option: { placeholder: '<seconds>' },
  },
  maxInFlight: {
    schema: { kind: 'integer', minimum: 1, maximum: IN_FLIGHT_MAX },
    description: 'Runs at once of requests that were accepted, or are replayed, in place of the '
      + 'setting `incoming.maxInFlightPerHook`; 1 is strict order',
  },
} satisfies MemberSchemas;

export const incomingSchema = describeObject({
  kind: 'object',
  name: 'IncomingWebhook',
  members: {
    identifier: { schema: { kind: 'string', format: 'uuid' }, readOnly: 'echo' },
    ...timestampMembers,
    name: {
      schema: nameSchema,
      description: 'What people call it; stands wherever its identifier may. Unique among the '
        + 'names and the path segments of incoming webhooks',
      option: nameOption,
    },
    description: descriptionMember,
    pathSegment: {
      schema: {
        kind: 'string', maxLength: 128,
        description: '1-128 of A-Z, a-z, 0-9, ".", "_", "~" and "-", and neither "." nor ".."',
        canonical: (value) => isPathSegment(value) ? value : null,
      },
      isRequired: true,
      description: 'The last segment of the public address /webhook/in/{pathSegment}; unique '
        + 'among the path segments and the names of incoming webhooks',
      option: {
        placeholder: '<slug>', help: 'last part of the public address; A-Z a-z 0-9 . _ ~ -',
      },
    },
    ...enabledMembers,
    ...secretMembers,
    secret: {
      ...secretMembers.secret,
      description: 'What the sender\'s requests are checked against: a key, a token, a public key '
        + 'or a certificate. Never shown. Absent in PUT and PATCH keeps the stored one, null '
        + 'removes it.',
    },
    verification: {
      schema: verificationSchema,
      description: 'How requests are verified. Absent: by X-Signature, when there is a secret',
      option: [
        {
          name: 'preset', placeholder: '<name>', completes: 'presets',
          help: 'whose requests these are; see incomingwebhook:presets',
        },
        {
          name: 'verification', help: 'what the preset needs, such as {"url":"https://…"}',
        },
      ],
    },
    previousSecret: previousSecretMember,
    secretAwaitedUntil: {
      schema: { kind: 'string', format: 'date-time' }, readOnly: 'echo', isAlwaysShown: false,
      description: 'Until then the secret of its sender\'s handshake becomes its own: see '
        + 'POST /api/incoming-webhooks/{identifier}/await-secret',
    },
    allowedAddresses: {
      schema: {
        kind: 'array', maxItems: 100, isUnique: true,
        items: {
          kind: 'string', maxLength: 64, description: 'an IP address or a CIDR block',
          canonical: (address) => new AddressSet().add(address) ? address : null,
        },
      },
      description: 'Who may call: addresses and CIDR blocks. Absent: every address',
      option: [{
        name: 'allowed-address', placeholder: '<address | block>',
        help: 'who may call, such as 10.0.0.0/8; repeatable',
      }],
    },
    bodyFormat: {
      schema: { kind: 'string', values: BODY_FORMATS },
      description: 'How the payload is made of the body; absent: auto with a `verification` whose '
        + 'scheme says nothing else, json without',
      option: { placeholder: '<format>' },
    },
    jsonFields: {
      schema: {
        kind: 'array', maxItems: JSON_FIELDS_MAX, isUnique: true,
        items: { kind: 'string', minLength: 1, maxLength: FIELD_NAME_LENGTH_MAX },
      },
      description: 'Names of fields of a form or of a multipart body: where one holds JSON, the '
        + 'payload has that JSON in its place; any other text stays text',
      option: { help: 'fields of a form that hold JSON, which becomes part of the payload' },
    },
    allowedMethods: {
      schema: {
        kind: 'array', maxItems: 40, isUnique: true,
        items: {
          kind: 'string', maxLength: 32, pattern: /^[A-Z][A-Z-]*$/,
          description: 'an HTTP method in upper case',
        },
      },
      description: 'Absent or empty: the setting incoming.defaultAllowedMethods',
      option: { placeholder: '<POST,PUT>', help: 'methods that may call it, comma-separated' },
    },
    staticHeaders: {
      schema: { kind: 'json', isObject: true, bytesMax: 16 * 1024, depthMax: 8 },
      isSecret: true,
      description: 'Reserved; has no effect. Values are shown as ***; *** sent back keeps the '
        + 'stored one',
      option: [],
    },
    actionConfiguration: {
      schema: configurationNameSchema,
      description: 'The identifier of an existing action configuration; it or `routes` is required',
      option: configurationOption,
    },
    routes: routesMember,
    order: orderMember,
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

export type IncomingWebhook = Omit<WebhookRecord<typeof incomingSchema>, 'updatedAt'>;

/** Refuses `jsonFields` where no body is read as a form. */
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

/** An empty list would let nobody call, which `enabled` says better. */
function findAddressProblems({ allowedAddresses }: JsonObject): FieldError[] {
  return Array.isArray(allowedAddresses) && allowedAddresses.length === 0
    ? [{ pointer: '/allowedAddresses', detail: 'must hold an address; null lets any in' }] : [];
}

/** Decodes a stored webhook. */
export function decodeIncomingWebhook(bytes: Buffer): IncomingWebhook {
  return decodeRecordAs<IncomingWebhook>(bytes, ({ identifier, pathSegment }) =>
    typeof identifier === 'string' && typeof pathSegment === 'string');
}

function isPathSegment(value: string): boolean {
  return /^[A-Za-z0-9._~-]{1,128}$/.test(value) && value !== '.' && value !== '..';
}

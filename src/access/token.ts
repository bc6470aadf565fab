/**
 * The model of an API token. Only its SHA-256 is stored, so that nobody who reads the data
 * directory can use it. As a token has 256 random bits, a fast hash is as good as a slow one.
 *
 * A stored token is one JSON object: `{"identifier", "createdAt", "updatedAt", "name", "scope",
 * "events"?, "expiresAt"?, "lastUsedAt"?, "revokedAt"?, "hash"?, "isConfigured"?}`. One that is
 * bound to webhooks has `"webhooks"`, its scope in `"boundScope"` and its hash in `"boundHash"`,
 * and `"scope"` is `read`: a program from before there were such tokens finds no hash, and takes it
 * for one that is revoked, never for one that is bound to nothing.
 */
import { AppError, type FieldError } from '../base/errors.ts';
import { loadCrypto } from '../base/node-modules.ts';
import type { JsonObject, Schema } from '../base/schema.ts';
import { describeObject, type RecordOf } from '../base/schema-types.ts';
import { NAME_PATTERN_RULE, createNameTest } from '../base/event-name.ts';
import { parseTime } from '../base/time.ts';
import { BINDING_ENTRIES_MAX, explainInvalidBinding } from '../base/webhook-binding.ts';
import { decodeRecordAs, encodeRecord } from '../resources/record.ts';
import { walkRecords } from '../store/find-record.ts';
import type { Collection } from '../store/store-port.ts';
import type { Grant } from '../server/http-route.ts';
import { SCOPES, includesScope, isBoundScope } from './scope.ts';

const EVENTS_MAX = 50;

const webhooksSchema = {
  kind: 'array', maxItems: BINDING_ENTRIES_MAX,
  items: { kind: 'string', minLength: 1, maxLength: 128 },
} as const satisfies Schema;

export const TOKEN_MODEL = describeObject({
  kind: 'object',
  name: 'Token',
  members: {
    identifier: { schema: { kind: 'string', format: 'uuid' }, readOnly: 'ignored' },
    createdAt: { schema: { kind: 'string', format: 'date-time' }, readOnly: 'ignored' },
    updatedAt: { schema: { kind: 'string', format: 'date-time' }, readOnly: 'ignored' },
    name: {
      schema: { kind: 'string', minLength: 1, maxLength: 100, isNotBlank: true },
      isRequired: true,
      description: 'what the token is for',
      option: {
        placeholder: '<name>', isRepeatable: true, help: 'what it is for; several: a token each',
      },
    },
    scope: {
      schema: { kind: 'string', values: SCOPES }, isRequired: true,
      option: { placeholder: '<scope>', help: SCOPES.join(', ') },
    },
    events: {
      schema: {
        kind: 'array', maxItems: EVENTS_MAX, isUnique: true,
        items: {
          kind: 'string', mustBe: NAME_PATTERN_RULE,
          canonical: (value) => createNameTest(value) === null ? null : value,
        },
      },
      isNullKept: true,
      description: 'With the scope `emit`: which events it may emit, by name, or by the beginning '
        + 'of names before a dot as `order.*`; absent: all',
      option: {
        name: 'event', placeholder: '<name>',
        help: 'with --scope emit: it may emit this event, or with order.* all below it; repeatable',
      },
    },
    webhooks: {
      // Null is refused: taken for absence, it would make a token of all webhooks.
      schema: webhooksSchema, isNullKept: true,
      description: 'With the scope `read`, `resend` or `write`: the outgoing webhooks that it is '
        + 'for, and nothing else is: names, identifiers, or beginnings of names as `acme.*`; '
        + 'absent: all',
      option: {
        name: 'webhook', placeholder: '<name>', completes: 'outgoing-webhooks',
        help: 'with --scope read, resend or write: for this outgoing webhook alone, by name or '
          + 'identifier, or with acme.* for all whose names begin so; {name} is that of the token; '
          + 'repeatable',
      },
    },
    expiresAt: {
      schema: {
        kind: 'string',
        format: 'date-time',
        mustBe: 'a date such as 2027-01-31, an RFC 3339 time such as '
          + '2027-01-31T12:00:00Z, or a span such as 30d',
        canonical: (value) =>
          parseMoment(value) !== null || SPAN_PATTERN.test(value) ? value : null,
      },
      option: {
        name: 'expires', placeholder: '<when>',
        help: 'a date (2027-01-31) or a time from now (30d, 12h; at least 1m)',
      },
    },
    lastUsedAt: { schema: { kind: 'string', format: 'date-time' }, readOnly: 'ignored' },
    revokedAt: { schema: { kind: 'string', format: 'date-time' }, readOnly: 'ignored' },
  },
  check: (token) => [...findEventsProblems(token), ...findWebhooksProblems(token)],
});

/** The rights of a caller. */
export const accessSchema = describeObject({
  kind: 'object', name: 'Access',
  members: {
    scope: { schema: { kind: 'string', values: SCOPES }, isRequired: true },
    name: {
      schema: { kind: 'string' }, isRequired: true, isNullable: true,
      description: 'Of the token; null without one',
    },
    expiresAt: {
      schema: { kind: 'string', format: 'date-time' }, isAlwaysPresent: false,
      description: 'When the token ends; absent: never by itself',
    },
    webhooks: {
      schema: webhooksSchema, isAlwaysPresent: false,
      description: 'The outgoing webhooks that the token is for; absent: all that there is',
    },
  },
});

function findEventsProblems({ scope, events }: JsonObject): readonly FieldError[] {
  if (!Array.isArray(events)) return [];
  if (scope !== 'emit') {
    const detail = 'is for the scope emit alone: tokens of other scopes are bound to no events';
    return [{ pointer: '/events', detail }];
  }
  return events.length > 0 ? []
    : [{ pointer: '/events', detail: 'must name an event; leave it out for all events' }];
}

/** Finds errors in the webhooks of a new token, and scopes that do not go with them. */
export function findWebhooksProblems({ scope, webhooks }: JsonObject): readonly FieldError[] {
  if (!Array.isArray(webhooks)) {
    return scope !== 'resend' ? [] : [{
      pointer: '/scope', detail: 'resend is for tokens of some webhooks alone: name these by '
        + '--webhook, or take write',
    }];
  }
  const detail = isBoundScope(scope) ? explainInvalidBinding(webhooks)
    : `must be absent with the scope ${String(scope)}: tokens of the scopes read, resend and write `
      + 'alone are bound to webhooks';
  return detail === null ? [] : [{ pointer: '/webhooks', detail }];
}

/** A token. `hash` is absent once it is revoked. */
export type Token = Omit<RecordOf<typeof TOKEN_MODEL>, 'lastUsedAt' | 'revokedAt'> & {
  readonly lastUsedAt?: string;
  readonly revokedAt?: string;
  readonly hash?: string;
  /**
   * True for the one record that stands for what the settings named: see `recordConfiguredToken`.
   */
  readonly isConfigured?: boolean;
};

const SPAN_PATTERN = /^[1-9]\d{0,4}[mhd]$/;
const PREFIX = 'hookshelf_';
const SECRET_BYTES = 32;
const SPAN_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The text of a new token: a prefix that secret scanners can find, and 256 random bits. */
export function generateToken(): string {
  return PREFIX + loadCrypto().randomBytes(SECRET_BYTES).toString('base64url');
}

/** The SHA-256 of a token's text, in hex. */
export function hashToken(text: string): string {
  return loadCrypto().createHash('sha256').update(text).digest('hex');
}

/** The expiry of a token that is created at `nowMs`, in UTC. Throws `invalid` for the past. */
export function parseExpiry(expiresAt: string, nowMs: number): string {
  const spanMs = SPAN_MS[expiresAt.at(-1) ?? ''];
  const isSpan = spanMs !== undefined && SPAN_PATTERN.test(expiresAt);
  const ms = isSpan ? nowMs + Number(expiresAt.slice(0, -1)) * spanMs : parseMoment(expiresAt);
  if (ms === null || ms <= nowMs) {
    const detail = 'must be in the future';
    throw new AppError('invalid', `/expiresAt: ${detail}`, {
      errors: [{ pointer: '/expiresAt', detail }],
    });
  }
  return new Date(ms).toISOString();
}

export function encodeToken({ identifier, createdAt, updatedAt, ...fields }: Token): string {
  const timestamps = { createdAt, updatedAt };
  if (fields.webhooks === undefined) {
    return encodeRecord('identifier', identifier, timestamps, fields);
  }
  const { scope: boundScope, hash: boundHash, ...others } = fields;
  return encodeRecord('identifier', identifier, timestamps, {
    ...others, scope: 'read', boundScope, ...boundHash === undefined ? {} : { boundHash },
  });
}

type StoredToken = Token & { readonly boundScope?: Token['scope']; readonly boundHash?: string };

/** Throws `damaged` for bytes that are no stored token. */
export function decodeToken(bytes: Buffer): Token {
  const { boundScope, boundHash, ...token } = decodeRecordAs<StoredToken>(bytes,
    ({ identifier, scope, webhooks, boundScope }) =>
      typeof identifier === 'string' && SCOPES.some((name) => name === scope)
      && Array.isArray(webhooks) === isBoundScope(boundScope));
  if (boundScope === undefined) return token;
  return { ...token, scope: boundScope, ...boundHash === undefined ? {} : { hash: boundHash } };
}

/** All tokens of the collection. */
export function decodeTokens(collection: Collection): Token[] {
  return [...walkRecords(collection)].map(({ bytes }) => decodeToken(bytes));
}

/**
 * Whether callers can use the token: not revoked, not expired, and not the settings' record. A
 * program from before there were bound tokens leaves the hash of one that it revokes.
 */
export function isUsable(token: Token, nowMs: number): boolean {
  return token.hash !== undefined && isInForce(token, nowMs);
}

/** Whether a token, also as the API has it, is neither revoked nor expired. */
export function isInForce({ expiresAt, revokedAt }: JsonObject | Token, nowMs: number): boolean {
  return revokedAt === undefined
    && (expiresAt === undefined || Date.parse(String(expiresAt)) > nowMs);
}

const ENDING_MS = 30 * 86_400_000;

/** Whether a token, also as the API has it, is in force and ends within 30 days. */
export function isEnding(token: JsonObject | Token, nowMs: number): boolean {
  return token.expiresAt !== undefined && isInForce(token, nowMs)
    && !isInForce(token, nowMs + ENDING_MS);
}

/** Whether callers can use the token to look at the service, and not at some webhooks alone. */
export function mayRead(token: Token, nowMs: number): boolean {
  return isUsable(token, nowMs) && token.webhooks === undefined
    && includesScope(token.scope, 'read');
}

/** Makes the grant of a token's holder. */
export function createGrant(
  { identifier, scope, name, events, webhooks, expiresAt }: Token,
): Grant {
  // Each request makes one: spreads would take longer.
  const expiresAtMs = expiresAt === undefined ? undefined : Date.parse(expiresAt);
  if (webhooks !== undefined) {
    return { scope, name, expiresAtMs, binding: { tokenId: identifier, webhooks } };
  }
  return { scope, name, expiresAtMs, events };
}

/** A token as callers see it: without its hash. */
export function toPublicToken(token: Token): JsonObject {
  const { hash: _, ...view } = token;
  return view;
}

/** Parses an RFC 3339 time, or a date as its first moment in UTC; null for other text. */
function parseMoment(text: string): number | null {
  return parseTime(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text);
}

/**
 * The model of an API token. Only its SHA-256 is stored, so that nobody who reads the data
 * directory can use it. As a token has 256 random bits, a fast hash is as good as a slow one.
 */
import { AppError, type FieldError } from '../base/errors.ts';
import { loadCrypto } from '../base/node-modules.ts';
import type { JsonObject } from '../base/schema.ts';
import { describeObject, type RecordOf } from '../base/schema-types.ts';
import { NAME_PATTERN_RULE, createNameTest } from '../base/event-name.ts';
import { parseTime } from '../base/time.ts';
import { decodeRecordAs, encodeRecord } from '../resources/record.ts';
import type { Collection } from '../store/store-port.ts';
import { SCOPES, includesScope } from './scope.ts';

const EVENTS_MAX = 50;

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
      description: 'what the token is for', option: { placeholder: '<name>' },
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
      description: 'With the scope `emit`: which events it may emit, by name, or by the beginning '
        + 'of names before a dot as `order.*`; absent: all',
      option: {
        name: 'event', placeholder: '<name>',
        help: 'with --scope emit: it may emit this event, or with order.* all below it; repeatable',
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
        help: 'a date (2027-01-31) or a time from now (30d, 12h)',
      },
    },
    lastUsedAt: { schema: { kind: 'string', format: 'date-time' }, readOnly: 'ignored' },
    revokedAt: { schema: { kind: 'string', format: 'date-time' }, readOnly: 'ignored' },
  },
  check: findEventsProblems,
});

/** What a caller may do. */
export const scopeSchema = describeObject({
  kind: 'object', name: 'Access',
  members: { scope: { schema: { kind: 'string', values: SCOPES }, isRequired: true } },
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

/** A stored token. `hash` is absent once it is revoked. */
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
  return encodeRecord('identifier', identifier, { createdAt, updatedAt }, fields);
}

/** Throws TypeError for bytes that are no stored token. */
export function decodeToken(bytes: Buffer): Token {
  return decodeRecordAs<Token>(bytes, ({ identifier, scope }) =>
    typeof identifier === 'string' && SCOPES.some((name) => name === scope));
}

/** All tokens of the collection. */
export function decodeTokens(collection: Collection): Token[] {
  const walk = collection.walk();
  const tokens: Token[] = [];
  for (let slot = walk.next(); slot >= 0; slot = walk.next()) {
    const bytes = collection.bytesAt(slot);
    if (bytes !== undefined) tokens.push(decodeToken(bytes));
  }
  return tokens;
}

/** Whether callers can use the token: not revoked, not expired, and not the settings' record. */
export function isUsable({ hash, expiresAt }: Token, nowMs: number): boolean {
  return hash !== undefined && (expiresAt === undefined || Date.parse(expiresAt) > nowMs);
}

/** Whether callers can use the token to look at the service. */
export function mayRead(token: Token, nowMs: number): boolean {
  return isUsable(token, nowMs) && includesScope(token.scope, 'read');
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

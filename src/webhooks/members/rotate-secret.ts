/**
 * Rotates the secret of a webhook. For a while, the overlap, the previous secret is valid beside
 * the current one. Only a rotation, and an apply that changes the secret, set `previousSecret`.
 */
import { formatTimestamp } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { loadCrypto } from '../../base/node-modules.ts';
import { invalid, isJsonObject, parseObject } from '../../base/fields.ts';
import { encodeJson } from '../../base/json/encode.ts';
import type { JsonObject, JsonValue, MemberSchema, ObjectSchema } from '../../base/schema.ts';
import {
  describeObject, type AnswerOf, type RecordOf, type SchemaOf,
} from '../../base/schema-types.ts';
import { logWrite } from '../../resources/change-log.ts';
import type { ListedView } from '../../resources/collection-route.ts';
import { decodeRecord } from '../../resources/record.ts';
import type { Repository } from '../../resources/repository.ts';
import type { NamedSchema, Resource } from '../../resources/resource.ts';
import { JSON_TYPE, jsonResponse } from '../../resources/route-specs.ts';
import { createKeyParameter } from '../../resources/resource-routes.ts';
import { announcesBody } from '../../server/exchange/request-head.ts';
import { problemResponses } from '../../server/problem.ts';
import type { BoundRule, Exchange, HttpRoute } from '../../server/http-route.ts';
import { keepSecrets, showRecord } from './mask-secrets.ts';
import {
  createSecretBytes, encodeSecret, secretMembers, secretSchema,
  type SecretShapeChoice,
} from './secret-members.ts';

const OVERLAP_HOURS = 24;
const HOUR_MS = 3_600_000;

export const previousSecretMember = {
  schema: describeObject({
    kind: 'object',
    members: {
      validUntil: { schema: { kind: 'string', format: 'date-time' }, isRequired: true },
      // To the minute.
      lastUsedAt: { schema: { kind: 'string', format: 'date-time' } },
      secret: { schema: secretSchema, readOnly: 'ignored', isWriteOnly: true, isSecret: true },
    },
  }),
  readOnly: 'echo', isAlwaysPresent: false,
  description: 'The secret before the last rotation, while it is still valid',
} as const satisfies MemberSchema;

const REPLACED_SECRETS_MAX = 20;

/**
 * Only digests: a secret that a rotation has ended may be known to others, and is not kept. The
 * first one stays, which is that of the secret that a document last gave: however many rotations
 * come, an unchanged document undoes none. The others are the last that rotations have replaced.
 */
export const replacedSecretsMember = {
  schema: {
    kind: 'array', items: { kind: 'string' }, maxItems: REPLACED_SECRETS_MAX,
  },
  readOnly: 'echo', isWriteOnly: true, isSecret: true, isAlwaysPresent: false,
  description: 'SHA-256 of the secrets that rotations have replaced, by which an apply finds that '
    + 'its document is from before a rotation',
} as const satisfies MemberSchema;

export type PreviousSecret = RecordOf<typeof previousSecretMember.schema>;

/** The record of a webhook of the schema; `updatedAt` names the version. */
export type WebhookRecord<Described> = Omit<RecordOf<Described>, 'hasSecret' | 'health'>;

/** The body with the secrets before that are stored, not its own, if it has a secret at all. */
export function keepPreviousSecret(body: JsonObject, current: JsonObject | null): JsonObject {
  const { previousSecret: _, replacedSecrets: __, ...rest } = body;
  const { previousSecret, replacedSecrets } = current ?? {};
  if (rest['secret'] === undefined || rest['secret'] === null) return rest;
  return {
    ...rest, ...previousSecret === undefined ? {} : { previousSecret },
    ...replacedSecrets === undefined ? {} : { replacedSecrets },
  };
}

/**
 * A stored webhook as callers see it, with the members `added`. Its previous secret is mentioned
 * while that is valid.
 */
export function showWebhook(
  schema: ObjectSchema, { secret, previousSecret, ...rest }: JsonObject, nowMs: number,
  added: JsonObject,
): JsonObject {
  return showRecord(schema, {
    ...rest, hasSecret: secret !== undefined, ...added,
    ...isValidAt(previousSecret, nowMs) ? { previousSecret } : {},
  });
}

/**
 * The webhook with the secret of `before`, which is another, as its previous one, valid for
 * `OVERLAP_HOURS`; without one if either has no secret, or if they sign or verify differently.
 */
export function overlapSecrets(
  { previousSecret: _, ...webhook }: JsonObject, before: JsonObject, nowMs: number,
): JsonObject {
  const { secret } = before;
  const isSame = ['verification', 'signing'].every((member) =>
    encodeJson(webhook[member]) === encodeJson(before[member]));
  if (secret === undefined || webhook['secret'] === undefined || !isSame) return webhook;
  const validUntil = formatTimestamp(nowMs + OVERLAP_HOURS * HOUR_MS);
  return { ...webhook, previousSecret: { secret, validUntil } };
}

/** The previous secret of a stored webhook, while it is valid; null: there is none. */
export function findValidPrevious(
  { previousSecret }: JsonObject, nowMs: number,
): { readonly secret: string; readonly validUntil: string } | null {
  if (!isValidAt(previousSecret, nowMs)) return null;
  const { secret, validUntil } = previousSecret;
  return { secret: String(secret), validUntil: String(validUntil) };
}

function isValidAt(previous: JsonValue | undefined, nowMs: number): previous is JsonObject {
  return isJsonObject(previous) && nowMs < Date.parse(String(previous['validUntil']));
}

/**
 * Whether the stored webhook had this secret before its last change, while that is still valid, or
 * before a rotation, however long ago.
 */
export function isReplacedSecret(
  stored: JsonObject, secret: JsonValue | undefined, nowMs: number,
): boolean {
  const { secret: current, replacedSecrets } = stored;
  if (typeof secret !== 'string' || current === undefined || secret === current) return false;
  return findValidPrevious(stored, nowMs)?.secret === secret
    || Array.isArray(replacedSecrets) && replacedSecrets.includes(computeDigest(secret));
}

function computeDigest(secret: string): string {
  return loadCrypto().createHash('sha256').update(secret).digest('base64url');
}

/** The webhook with a document's secret as the first that is known, once it was rotated. */
export function markGivenSecret(webhook: JsonObject, secret: JsonValue | undefined): JsonObject {
  const { replacedSecrets } = webhook;
  if (typeof secret !== 'string' || secret !== webhook['secret']) return webhook;
  if (!Array.isArray(replacedSecrets)) return webhook;
  return { ...webhook, replacedSecrets: listReplaced(computeDigest(secret), replacedSecrets) };
}

/** The member `replacedSecrets`, with the secret that a rotation replaces. */
function addReplaced(
  { replacedSecrets }: JsonObject, secret: JsonValue,
): readonly JsonValue[] {
  const before: readonly JsonValue[] = Array.isArray(replacedSecrets) ? replacedSecrets : [];
  const digest = computeDigest(String(secret));
  const [first = digest] = before;
  return listReplaced(first, [...before.filter((other) => other !== digest), digest]);
}

function listReplaced(first: JsonValue, digests: readonly JsonValue[]): readonly JsonValue[] {
  const others = digests.filter((digest) => digest !== first);
  return [first, ...others.slice(1 - REPLACED_SECRETS_MAX)];
}

type SecretOwner = {
  readonly resource: Resource;
  readonly records: Repository;
  readonly chooseShape: (webhook: JsonObject) => SecretShapeChoice;
  /** Why a secret is invalid for a stored webhook, such as `must be …`; null: it is valid. */
  readonly findProblem?: (webhook: JsonObject, secret: string) => string | null;
  /** Absent: no token that is bound to webhooks may call the route. */
  readonly bound?: {
    readonly rule: BoundRule;
    /** Finds how the caller sees the webhook; null: whole. */
    readonly findView: (exchange: Exchange) => Pick<ListedView, 'show'> | null;
    /** Stands in place of the other where the token of the caller is bound. */
    readonly findProblem: (webhook: JsonObject, secret: string) => string | null;
  };
  /** Whether the previous secret can be valid beside the current one. Absent: always. */
  readonly canOverlap?: (webhook: JsonObject) => boolean;
};

/** The schema of the response: the only time that a secret is shown. */
export function createRotatedSchema<Described extends NamedSchema>(
  schema: Described,
): SchemaOf<AnswerOf<Described> & { readonly secret?: string }> {
  const secret: MemberSchema = {
    schema: { kind: 'string' }, readOnly: 'ignored', isAlwaysPresent: false,
    description: 'The new secret, if it was made here; never shown again',
  };
  return { ...schema, name: `Rotated${schema.name}`, members: { ...schema.members, secret } };
}

/** `name` is that of the webhook's schema. */
export function createRotationSchema(name: string) {
  return describeObject({
    kind: 'object', name: `${name}Rotation`,
    members: {
      secret: {
        ...secretMembers.secret,
        description: 'The new secret; when absent one is made and answered as `secret`, this once',
      },
      overlapHours: {
        schema: { kind: 'integer', minimum: 0, maximum: 720 }, default: OVERLAP_HOURS,
        description: 'For how many hours the old secret counts as well',
      },
      force: {
        schema: { kind: 'boolean' }, default: false,
        description: 'Rotate although the secret before is still valid; it ends at once',
      },
    },
  });
}

export function rotationRoute(owner: SecretOwner): HttpRoute {
  const { resource: { path, noun, schema, collection }, records, bound } = owner;
  const inputSchema = createRotationSchema(schema.name);
  return {
    method: 'POST', path: `${path}/{${collection.key}}/rotate-secret`, access: 'admin',
    ...bound === undefined ? {} : { bound: bound.rule },
    operationId: `rotate${schema.name}Secret`,
    summary: `Give one ${noun} a new secret; the old one counts for a while`, tool: 'none',
    parameters: [createKeyParameter({ collection, noun })],
    body: { mediaTypes: [JSON_TYPE], schema: inputSchema, isOptional: true },
    responses: [
      jsonResponse(`The ${noun} as stored, with \`secret\` if it was made`,
        createRotatedSchema(schema)),
      ...problemResponses(400, 404, 409, 413, 415, 422, 503, 507),
    ],
    async handle(exchange) {
      // A new secret cannot be `***`: there is nothing that it could keep.
      const input = keepSecrets(inputSchema, parseObject(inputSchema,
        announcesBody(exchange.request) ? await exchange.readJson() : {}), null, 'add');
      const view = bound?.findView(exchange) ?? null;
      const checkedOwner = view === null || bound === undefined ? owner
        : { ...owner, findProblem: bound.findProblem };
      const bytes = createSecretBytes();
      // The answer shows none of the stored secrets: the new one is kept for it here.
      let secret = '';
      const representation = await logWrite(exchange, noun, (options) =>
        records.changeServiceMembers(exchange.params[0] ?? '', (stored, nowMs) => {
          const after = rotate(checkedOwner, stored, input, bytes, nowMs);
          secret = String(after['secret']);
          return after;
        }, options));
      const webhook = decodeRecord(view?.show(representation.bytes) ?? representation.bytes);
      exchange.sendJson(200, input['secret'] === undefined ? { ...webhook, secret } : webhook);
    },
  };
}

/** The webhook with its new secret. Throws `invalid`, and `conflict` within an overlap. */
function rotate(
  { chooseShape, findProblem, canOverlap = () => true }: SecretOwner,
  { previousSecret, ...webhook }: JsonObject, input: JsonObject, bytes: Buffer, nowMs: number,
): JsonObject {
  if (isValidAt(previousSecret, nowMs) && input['force'] !== true) {
    const until = String(previousSecret['validUntil']);
    throw new AppError('conflict', `the secret before still counts, until ${until}: wait, or `
      + 'rotate with `"force": true` (--force), which ends it at once');
  }
  const problem = input['secret'] === undefined ? null
    : findProblem?.(webhook, String(input['secret']));
  if (typeof problem === 'string') throw invalid([{ pointer: '/secret', detail: problem }]);
  const { secret: oldSecret } = webhook;
  const secret = input['secret']
    ?? makeSecret(chooseShape(webhook), bytes, String(oldSecret ?? ''));
  if (oldSecret === undefined) return { ...webhook, secret };
  const rotated = { ...webhook, secret, replacedSecrets: addReplaced(webhook, oldSecret) };
  if (input['overlapHours'] === 0 || !canOverlap(webhook)) return rotated;
  const validUntil = formatTimestamp(nowMs + Number(input['overlapHours']) * HOUR_MS);
  return { ...rotated, previousSecret: { secret: oldSecret, validUntil } };
}

function makeSecret(choice: SecretShapeChoice, bytes: Buffer, oldSecret: string): string {
  if (choice.problem === undefined) return encodeSecret(choice.shape, bytes, oldSecret);
  throw invalid([{ pointer: '/secret', detail: choice.problem }]);
}

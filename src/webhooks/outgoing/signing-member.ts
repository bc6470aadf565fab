/**
 * The member `signing` of an outgoing webhook: the dialect in which its requests are signed, a row
 * of the table that verifies incoming requests, or a scheme. Without it: see outgoing-signature.ts.
 */
import { assert } from '../../base/assert.ts';
import type { FieldError } from '../../base/errors.ts';
import { isAbsent, isJsonObject, pointerStep } from '../../base/fields.ts';
import type { JsonObject, JsonValue, MemberSchemas } from '../../base/schema.ts';
import { describeObject, type RecordOf } from '../../base/schema-types.ts';
import { RecentValues } from '../../base/structures/recent-values.ts';
import { CHAIN_HEADER } from '../../base/webhook-chain.ts';
import { decodeRecordAs } from '../../resources/record.ts';
import { SYSTEM_EVENT_HEADER } from '../actions/event-name.ts';
import type { SecretShapeChoice } from '../members/secret-members.ts';
import { findAuthorizationProblems, findHeaderProblems } from '../members/target-rules.ts';
import {
  PRESETS, explainUnknownPreset, findPreset, findPresetObstacle, getPreset, readScheme,
} from '../senders/presets/preset-table.ts';
import {
  findDeliveryObstacle, findEventHeader, listPlacements,
} from '../senders/scheme/placement.ts';
import { isSource, schemeSchema } from '../senders/scheme/scheme-schema.ts';
import { isPublicKey, type Scheme, type ValueSource } from '../senders/scheme/scheme.ts';
import { createSigningKey, formatPublicKey, SEED_PREFIX } from '../senders/signing/signing-key.ts';
import { canHoldSeveral } from '../senders/signing/sign-request.ts';
import { encodeHeaderText } from '../senders/verification/encoding.ts';
import type { Quirk } from '../senders/verification/verify.ts';
import { SIGNATURE_HEADERS, decodeKey, findSecretProblem } from './outgoing-signature.ts';

const signingSchema = describeObject({
  kind: 'object',
  name: 'WebhookSigning',
  members: {
    preset: {
      schema: {
        kind: 'string', maxLength: 64, mustBe: 'the name of a preset that can sign',
        canonical: (name) => findPresetProblem(name) === null ? name : null,
        explain: (name) => findPresetProblem(name) ?? '',
      },
      description: 'As whom to sign: GET /api/verification-presets lists them',
    },
    scheme: {
      schema: schemeSchema, isPublic: true, description: 'How to sign where no preset says it',
      form: { field: 'json' },
    },
  },
  check({ scheme }, input) {
    if (isAbsent(input['preset']) === isAbsent(input['scheme'])) {
      return [{ pointer: '', detail: 'must have one of preset and scheme' }];
    }
    return findSchemeProblems(scheme);
  },
});

type Signing = RecordOf<typeof signingSchema>;

export const signingMembers = {
  signing: {
    schema: signingSchema, label: 'Signed as', form: {
      group: 'access', field: 'signing',
      hint: 'How requests are signed, for a receiver that knows this sender. It needs a secret',
    },
    description: 'The sender as whom requests are signed, such as `{ "preset": "github" }`, or a '
      + 'scheme. It needs a secret. Without it: Standard Webhooks, and X-Signature',
  },
  publicKey: {
    schema: { kind: 'string' }, readOnly: 'ignored', isAlwaysPresent: false,
    description: 'What receivers verify with, where `signing` has the secret as a private key',
  },
} as const satisfies MemberSchemas;

function findPresetProblem(name: string): string | null {
  const preset = findPreset(name);
  if (preset === undefined) return explainUnknownPreset(name, listSigningPresets());
  const obstacle = findPresetObstacle(preset);
  return obstacle === null ? null : `${name} cannot be signed as: ${obstacle}`;
}

/** In the order of the table. */
export function listSigningPresets(): readonly string[] {
  return PRESETS.filter((preset) => findPresetObstacle(preset) === null).map(({ name }) => name);
}

function findSchemeProblems(value: JsonValue | undefined): readonly FieldError[] {
  const checkedScheme = toScheme(value);
  if (checkedScheme === null) return [];
  const obstacle = findDeliveryObstacle(checkedScheme);
  if (obstacle !== null) {
    const [reason, pointer] = obstacle;
    return [{ pointer: `/scheme${pointer}`, detail: `cannot be signed: ${reason}` }];
  }
  const { signature: { prefix = '', param = '' }, timestamp } = checkedScheme;
  const textInHeader = encodeHeaderText(prefix + param + (timestamp?.param ?? ''));
  const places = listPlaces(checkedScheme);
  const details = [
    ...places.flatMap(([, source]) => 'header' in source
      ? findPlaceProblems(source.header, textInHeader).map((detail) => `${source.header} ${detail}`)
      : []),
    ...findSharedPlaces(places),
  ];
  return details.map((detail) => ({ pointer: '/scheme', detail: `cannot be signed: ${detail}` }));
}

type ValuePlace = readonly [name: string, source: ValueSource];

/** The places that a delivery adds values to: those of the signature, and the event's header. */
function listPlaces(scheme: Scheme): readonly ValuePlace[] {
  const header = findEventHeader(scheme);
  return [...listPlacements(scheme), ...header === null ? [] : [['event', { header }] as const]];
}

/** One of two values in the same place would be lost. */
function findSharedPlaces(places: readonly ValuePlace[]): readonly string[] {
  const namesByPlace = new Map<string, string>();
  return places.flatMap(([name, source]) => {
    if (!('header' in source) && !('query' in source)) return [];
    const place = 'header' in source ? `header ${source.header.toLowerCase()}`
      : `query ${source.query}`;
    const otherName = namesByPlace.get(place);
    namesByPlace.set(place, name);
    return otherName === undefined ? []
      : [`its ${otherName} and ${name} would stand in one place: give each its own`];
  });
}

/** They tell the type of the body, and the length of the chain of webhooks, which ends loops. */
const OUR_HEADERS = ['content-type', CHAIN_HEADER, SYSTEM_EVENT_HEADER];

function findPlaceProblems(header: string, text: string): readonly string[] {
  return OUR_HEADERS.includes(header.toLowerCase()) ? ['says something else: name another header']
    : findHeaderProblems({ [header]: text }).map(({ detail }) => detail);
}

/** A checked scheme; null: a member was refused. Decoding gives the scheme its type. */
function toScheme(value: JsonValue | undefined): Scheme | null {
  if (!isJsonObject(value)) return null;
  const { algorithm, key, content, signature } = value;
  const { from, encoding } = isJsonObject(signature) ? signature : {};
  const isWhole = [algorithm, key, content, encoding].every((one) => one !== undefined);
  const places: readonly (JsonValue | undefined)[] = Array.isArray(from) ? from : [from];
  if (!isWhole || places.length === 0 || !places.every(isSource)) return null;
  return decodeRecordAs<Scheme>(JSON.stringify(value), () => true);
}

/** Throws as `getPreset`. */
export function getDialect(
  { preset: name = '', scheme }: Signing,
): { readonly scheme: Scheme; readonly quirk: Quirk } {
  if (scheme !== undefined) return { scheme, quirk: {} };
  const { scheme: presetScheme, quirk = {} } = getPreset(name);
  assert(presetScheme !== null, 'a preset that signs has a scheme');
  return { scheme: presetScheme, quirk };
}

/** The webhook is stored or checked; null: it has no `signing`. */
function findScheme({ signing }: JsonObject): Scheme | null {
  if (!isJsonObject(signing)) return null;
  const { preset, scheme } = signing;
  return typeof preset === 'string' ? findPreset(preset)?.scheme ?? null : toScheme(scheme);
}

/** Whether requests hold the secret itself. The members of the webhook may be unchecked. */
export function sendsSecret({ signing }: JsonObject): boolean {
  return readScheme(signing)['algorithm'] === 'token';
}

export function findSigningProblems(webhook: JsonObject): readonly FieldError[] {
  const { secret, signing, oauth2 } = webhook;
  const errors = [
    ...setsAuthorization(webhook)
      ? findAuthorizationProblems('signing', webhook, oauth2 === undefined ? [] : ['oauth2']) : [],
    ...findReplacedHeaders(webhook),
  ];
  const problem = typeof secret === 'string' ? findDialectSecretProblem(webhook, secret)
    : MISSING_SECRET;
  const isChecked = typeof secret === 'string' || signing !== undefined;
  return isChecked && problem !== null ? [...errors, { pointer: '/secret', detail: problem }]
    : errors;
}

/** Errors for configured headers whose values the signing of each request would replace. */
function findReplacedHeaders(webhook: JsonObject): readonly FieldError[] {
  const { secret, headers } = webhook;
  const scheme = findScheme(webhook);
  if (!isJsonObject(headers) || (scheme === null && secret === undefined)) return [];
  const signatureNames: readonly string[] = scheme === null ? SIGNATURE_HEADERS
    : listPlacements(scheme).flatMap(([, source]) =>
      'header' in source ? [source.header.toLowerCase()] : []);
  return Object.keys(headers).filter((name) => signatureNames.includes(name.toLowerCase())
    // `findAuthorizationProblems` tells of it.
    && name.toLowerCase() !== 'authorization')
    .map((name) => ({
      pointer: `/headers${pointerStep(name)}`,
      detail: 'cannot be configured, as the signing of each request sets it: remove it',
    }));
}

const MISSING_SECRET = 'is needed by signing, which has nothing else to sign with';

function setsAuthorization(webhook: JsonObject): boolean {
  const scheme = findScheme(webhook);
  return scheme !== null && listPlaces(scheme).some(([, source]) =>
    'header' in source && source.header.toLowerCase() === 'authorization');
}

/** Returns a clause; null: the secret is valid for the webhook. */
export function findDialectSecretProblem(webhook: JsonObject, secret: string): string | null {
  if (webhook['signing'] === undefined) return findSecretProblem(secret);
  const scheme = findScheme(webhook);
  if (scheme === null) return null;
  const key = createSigningKey(scheme, secret);
  if ('problem' in key) return key.problem;
  const isText = scheme.algorithm === 'token' && scheme.signature.encoding === 'utf8';
  const isSendable = !isText || findHeaderProblems({ value: encodeHeaderText(secret) }).length === 0
    && secret.trim() === secret;
  return isSendable ? null
    : 'must have no control characters and no space at its ends: it is sent as it is';
}

// Standard Webhooks asks for 24 to 64 bytes; HMAC hashes a longer key.
const KEY_BYTES_MIN = 24;

/**
 * The same for a secret that a customer gives. By Standard Webhooks its key must be long; other
 * systems make the secrets of their dialects as they do.
 */
export function findChosenSecretProblem(webhook: JsonObject, secret: string): string | null {
  const problem = findDialectSecretProblem(webhook, secret);
  const isStandard = webhook['signing'] === undefined || findScheme(webhook)?.key === 'whsec';
  if (problem !== null || !isStandard) return problem;
  const { length } = decodeKey(secret);
  return length >= KEY_BYTES_MIN ? null
    : `must be a key of at least ${KEY_BYTES_MIN} bytes, not ${length}: leave it out, and one is `
      + 'made';
}

export function canHoldPrevious(webhook: JsonObject): boolean {
  const scheme = findScheme(webhook);
  return scheme === null || canHoldSeveral(scheme);
}

/** Drops a previous secret that signs nothing, as after a change of `signing`. */
export function dropUnusedPrevious(webhook: JsonObject): JsonObject {
  const { previousSecret, ...rest } = webhook;
  if (!isJsonObject(previousSecret)) return webhook;
  const isUsable = findDialectSecretProblem(webhook, String(previousSecret['secret'])) === null;
  return isUsable && canHoldPrevious(webhook) ? webhook : rest;
}

const PUBLIC_KEYS_MAX = 1000;
/** By `signing` and secret: a list shows every webhook, and making a key takes long. */
const publicKeys = new RecentValues<{ readonly publicKey: string | undefined }>(PUBLIC_KEYS_MAX);

/** undefined: the webhook has no private key. */
export function findPublicKey(webhook: JsonObject): string | undefined {
  const { secret, signing } = webhook;
  if (!isJsonObject(signing) || typeof secret !== 'string') return undefined;
  return publicKeys.use(JSON.stringify([signing, secret]), () =>
    ({ publicKey: makePublicKey(findScheme(webhook), secret) })).publicKey;
}

function makePublicKey(scheme: Scheme | null, secret: string): string | undefined {
  if (scheme === null) return undefined;
  const key = createSigningKey(scheme, secret);
  return 'problem' in key ? undefined : formatPublicKey(scheme, key) ?? undefined;
}

/** Some keys are made by other programs. */
export function chooseOutgoingSecretShape(webhook: JsonObject): SecretShapeChoice {
  const { signing, secret } = webhook;
  const scheme = findScheme(webhook);
  if (scheme === null || !isJsonObject(signing)) return { shape: 'whsec' };
  const { preset } = signing;
  // Saving refuses such a preset by its name, whatever the secret.
  if (typeof preset === 'string' && findPresetProblem(preset) !== null) return { shape: 'whsec' };
  const { algorithm, key } = scheme;
  // A webhook as people see it has no secret, but then has the public key.
  const isSeed = key === 'whsec'
    && (String(secret).startsWith(SEED_PREFIX) || webhook['publicKey'] !== undefined);
  if (algorithm === 'ed25519' || isSeed) return { shape: 'whsk' };
  if (isPublicKey(algorithm)) {
    return { problem: 'is needed: make the key with `openssl genpkey`, which writes PKCS#8 PEM' };
  }
  if (preset === 'basic') return { shape: 'user:password' };
  return { shape: key === 'base64' || key === 'whsec' ? key : 'hex' };
}

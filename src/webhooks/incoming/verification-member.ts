/**
 * The member `verification` of an incoming webhook: its rules, the verifier that is compiled from
 * it once for each change of the webhook, and the secret it needs, which a handshake may bring.
 */
import { assert } from '../../base/assert.ts';
import type { FieldError } from '../../base/errors.ts';
import { isJsonObject } from '../../base/fields.ts';
import { suggestName, quote } from '../../base/text/error-message.ts';
import type { JsonObject, JsonValue, StringSchema } from '../../base/schema.ts';
import { describeObject, type RecordOf } from '../../base/schema-types.ts';
import type { WriteCause } from '../../resources/resource.ts';
import {
  secretText, type SecretShape, type SecretShapeChoice,
} from '../members/secret-members.ts';
import { targetUrlSchema } from '../members/target-rules.ts';
import { formatExampleScheme, schemeSchema } from '../senders/scheme/scheme-schema.ts';
import type { Preset } from '../senders/presets/preset.ts';
import { PRESETS, findPreset, getPreset, readScheme } from '../senders/presets/preset-table.ts';
import { NEEDS, usesOrigins, type Need } from '../senders/scheme/scheme.ts';
import { createRejection } from '../senders/verification/verdict.ts';
import {
  createVerifier, listSecrets, type SecretMembers, type Verifier,
} from '../senders/verification/verify.ts';

/** The preset of webhooks that have a secret and no `verification`: they sign by X-Signature. */
export const X_SIGNATURE_PRESET = 'hookshelf';

const TOLERANCE_MAX_S = 86_400;
const ORIGINS_MAX = 20;
const textSchema: StringSchema = { kind: 'string', minLength: 1, maxLength: 1024 };
const { format: _, ...urlSchema } = targetUrlSchema;

const NEED_DESCRIPTIONS: Readonly<Record<Need, string>> = {
  url: 'the URL as registered with the sender, word by word',
  webhookId: 'the identifier that the sender gave this webhook',
  verifyToken: 'the token that the sender is to show when it asks who listens',
};

export const verificationSchema = describeObject({
  kind: 'object',
  name: 'WebhookVerification',
  members: {
    preset: {
      schema: {
        kind: 'string', maxLength: 64, mustBe: 'the name of a preset',
        canonical: (name) => findPreset(name) === undefined ? null : name,
        explain: explainUnknownPreset,
      },
      isRequired: true,
      description: 'Whose requests these are: GET /api/verification-presets lists them',
    },
    toleranceS: {
      schema: { kind: 'integer', minimum: 1, maximum: TOLERANCE_MAX_S }, label: 'Clock difference',
      description: 'Seconds that the signed time may be before or after now. Without it, those of '
        + 'the preset',
    },
    url: {
      schema: { ...textSchema, ...urlSchema }, label: 'Address',
      description: `For presets that need it: ${NEED_DESCRIPTIONS.url}`,
    },
    webhookId: {
      schema: textSchema, description: `For presets that need it: ${NEED_DESCRIPTIONS.webhookId}`,
    },
    verifyToken: {
      schema: { ...textSchema, ...secretText }, isSecret: true,
      description: `For presets that need it: ${NEED_DESCRIPTIONS.verifyToken}. Shown as \`***\`, `
        + 'and stays while `***` is sent back',
    },
    origins: {
      schema: {
        kind: 'array', maxItems: ORIGINS_MAX, isUnique: true,
        items: {
          kind: 'string', maxLength: 253, mustBe: 'a name such as eventgrid.azure.net, or *',
          canonical: (origin) => isOrigin(origin) ? origin.toLowerCase() : null,
        },
      },
      form: { item: 'Origin' },
      description: 'For the preset cloudevents: who may ask to send here, such as '
        + '`eventgrid.azure.net`; `*` is anybody',
    },
    scheme: {
      schema: schemeSchema, isPublic: true,
      description: 'For the preset custom: how its sender signs', form: { field: 'json' },
    },
  },
  check: findVerificationProblems,
});

export type Verification = RecordOf<typeof verificationSchema>;

function explainUnknownPreset(name: string): string {
  return `${quote(name)} is not a known preset`
    + suggestName(name, PRESETS.map((preset) => preset.name));
}

function isOrigin(origin: string): boolean {
  return origin === '*' || /^[A-Za-z0-9](?:[A-Za-z0-9._:-]*[A-Za-z0-9])?$/.test(origin);
}

function findVerificationProblems(verification: JsonObject): FieldError[] {
  const { preset: name, scheme, toleranceS, origins } = verification;
  const preset = findPreset(String(name));
  if (preset === undefined) return [];
  if (preset.scheme === null && scheme === undefined) {
    return [{
      pointer: '/scheme',
      detail: `is needed by the preset ${preset.name}, such as ${formatExampleScheme(undefined)}`,
    }];
  }
  const errors: FieldError[] = [];
  if (preset.scheme !== null && scheme !== undefined) {
    const detail = `is for the preset custom alone, not ${preset.name}: remove it`;
    errors.push({ pointer: '/scheme', detail });
  }
  const { needs, timestamp } = readScheme(verification);
  for (const need of NEEDS) {
    const isPresent = verification[need] !== undefined;
    const isNeeded = Array.isArray(needs) && needs.includes(need);
    if (isPresent === isNeeded) continue;
    errors.push({
      pointer: `/${need}`,
      detail: isNeeded ? `is needed by the preset ${preset.name}: ${NEED_DESCRIPTIONS[need]}`
        : `cannot be used by the preset ${preset.name}: remove it`,
    });
  }
  if (origins !== undefined && !usesOrigins(preset.scheme ?? {})) {
    const detail = `cannot be used by the preset ${preset.name}: remove it`;
    errors.push({ pointer: '/origins', detail });
  }
  if (toleranceS !== undefined && timestamp === undefined) {
    const detail = `cannot be used by the preset ${preset.name}, which signs no time: remove it`;
    errors.push({ pointer: '/toleranceS', detail });
  }
  return errors;
}

/** A webhook's verifier, compiled once for each change. */
export type SenderVerifier = {
  readonly preset: Preset;
  /** Its `problem` says why the webhook can accept no request, such as that it has no secret. */
  readonly verifier: Verifier;
};

type VerifiedMembers = SecretMembers & {
  readonly verification?: Verification; readonly secretAwaitedUntil?: string;
};

/**
 * null: the webhook has no `verification`. `ratePerS` is its rate limit; 0: none. A node of a later
 * version may store a preset that is new there: requests to that webhook are rejected.
 */
export function prepareSenderVerifier(
  webhook: VerifiedMembers, ratePerS = 0,
): SenderVerifier | null {
  const { verification } = webhook;
  if (verification === undefined) return null;
  const { preset } = verification;
  return findPreset(preset) === undefined ? createRefusingVerifier(preset)
    : createSenderVerifier(webhook, ratePerS);
}

/** A verifier has to have a scheme, so all but its problem is that of X-Signature. */
function createRefusingVerifier(name: string): SenderVerifier {
  const problem = createRejection('configuration', `this version knows no preset ${quote(name)}`);
  const { preset, verifier } = createSenderVerifier({});
  return { preset: { ...preset, name }, verifier: { ...verifier, problem } };
}

/**
 * The verifier of a webhook; without `verification` that of X-Signature. Throws what
 * `getPreset` throws.
 */
export function createSenderVerifier(webhook: VerifiedMembers, ratePerS = 0): SenderVerifier {
  const verification: Verification = webhook.verification ?? { preset: X_SIGNATURE_PRESET };
  const { preset: name, toleranceS = null, scheme: ownScheme, origins, ...settings } = verification;
  const preset = getPreset(name);
  const scheme = preset.scheme ?? ownScheme;
  assert(scheme !== undefined, 'a custom sender has a scheme');
  return { preset, verifier: createVerifier({
    scheme, settings, toleranceS, secrets: listSecrets(webhook), quirk: preset.quirk ?? {},
    awaitsSecretUntilMs: readAwaitedUntil(webhook),
    ...origins === undefined ? {} : { origins },
    ...ratePerS === 0 ? {} : { ratePerMinute: String(Math.max(1, Math.floor(ratePerS * 60))) },
  }) };
}

/** The shape of a new secret for a webhook; some secrets can only be made by the sender. */
export function chooseSecretShape({ verification }: JsonObject): SecretShapeChoice {
  if (!isJsonObject(verification)) return { shape: 'hex' };
  const { preset: name, scheme } = verification;
  const preset = findPreset(String(name));
  if (preset === undefined) {
    return { problem: `is needed: ${explainUnknownPreset(String(name))}` };
  }
  const shape = preset.scheme === null ? findKeyShape(scheme) : preset.newSecret ?? null;
  if (shape !== null) return { shape };
  return {
    problem: `is needed: only the sender (${preset.sender}) can make it, and shows it here: `
      + preset.setup.secret,
  };
}

/** null: the key is a public key. */
function findKeyShape(scheme: JsonValue | undefined): SecretShape | null {
  const { key, algorithm } = isJsonObject(scheme) ? scheme : {};
  if (algorithm !== 'token' && !String(algorithm).startsWith('hmac-')) return null;
  return key === 'whsec' || key === 'base64' ? key : 'hex';
}

/** Whether the sender of a webhook brings its secret with its handshake. */
export function bringsSecret({ verification }: JsonObject): boolean {
  const { challenge } = readScheme(verification);
  return Array.isArray(challenge)
    && challenge.some((row) => isJsonObject(row) && row['secret'] !== undefined);
}

/** Whether a webhook without a secret takes that of its sender's next handshake. */
export function isSecretAwaited(
  webhook: Pick<VerifiedMembers, 'secretAwaitedUntil'>, nowMs: number,
): boolean {
  return nowMs < readAwaitedUntil(webhook);
}

/** Milliseconds since the epoch; 0: no secret is awaited. */
function readAwaitedUntil(
  { secretAwaitedUntil }: Pick<VerifiedMembers, 'secretAwaitedUntil'>,
): number {
  return secretAwaitedUntil === undefined ? 0 : Date.parse(secretAwaitedUntil);
}

/**
 * The webhook with the stored `secretAwaitedUntil` in the place of that of the body. A file that is
 * applied cannot know the secret that a handshake brought: it keeps the stored one.
 */
export function keepAwaitedSecret(
  body: JsonObject, current: JsonObject | null, cause: WriteCause,
): JsonObject {
  const { secretAwaitedUntil: _, ...webhook } = body;
  const { secret, secretAwaitedUntil } = current ?? {};
  if (webhook['secret'] !== undefined || !bringsSecret(webhook)) return webhook;
  if (secret !== undefined) return cause === 'apply' ? { ...webhook, secret } : webhook;
  return secretAwaitedUntil === undefined ? webhook : { ...webhook, secretAwaitedUntil };
}

/** A sentence for each webhook, as callers see it, that has no secret and so refuses requests. */
export function findWebhooksWithoutSecret(webhooks: readonly JsonObject[]): string[] {
  return webhooks.flatMap((webhook) => {
    const { name, pathSegment, verification, hasSecret } = webhook;
    if (!isJsonObject(verification) || hasSecret !== false) return [];
    const remedy = bringsSecret(webhook) ? '. Its sender brings it: '
      + `hookshelf incomingwebhook:await-secret ${String(name ?? pathSegment)}` : '';
    return [`the incoming webhook ${String(name ?? pathSegment)} has no secret, which the preset `
      + `${String(verification['preset'])} needs: it refuses every request${remedy}`];
  });
}

/**
 * The member `verification` of an incoming webhook: its rules, and the verifier that is compiled
 * from it once for each change of the webhook. The secret that it needs: see sender-secret.ts.
 */
import { assert } from '../../base/assert.ts';
import type { FieldError } from '../../base/errors.ts';
import { isAbsent, isJsonObject } from '../../base/fields.ts';
import { quote } from '../../base/text/error-message.ts';
import type { JsonObject, MemberSchema, StringSchema } from '../../base/schema.ts';
import { describeObject, type RecordOf } from '../../base/schema-types.ts';
import { secretText } from '../members/secret-members.ts';
import { targetUrlSchema } from '../members/target-rules.ts';
import { formatExampleScheme, schemeSchema } from '../senders/scheme/scheme-schema.ts';
import type { Preset } from '../senders/presets/preset.ts';
import {
  explainUnknownPreset, findPreset, getPreset, readScheme,
} from '../senders/presets/preset-table.ts';
import { NEEDS, usesOrigins, type Need } from '../senders/scheme/scheme.ts';
import { createRejection } from '../senders/verification/verdict.ts';
import {
  createVerifier, listSecrets, type SecretMembers, type Verifier,
} from '../senders/verification/verify.ts';
import { readAwaitedUntil, type AwaitedSecret } from './sender-secret.ts';

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

const TOLERANCE = 'Seconds that the signed time may be before or after now. Without it';
const ORIGINS = 'who may ask to send here, such as `eventgrid.azure.net`; `*` is anybody';

export const verificationSchema = describeObject({
  kind: 'object',
  name: 'WebhookVerification',
  members: {
    preset: {
      schema: {
        kind: 'string', maxLength: 64, mustBe: 'the name of a preset',
        canonical: (name) => findPreset(name) === undefined ? null : name,
        explain: (name) => explainUnknownPreset(name),
      },
      isRequired: true,
      description: 'Whose requests these are: GET /api/verification-presets lists them',
    },
    toleranceS: {
      schema: { kind: 'integer', minimum: 1, maximum: TOLERANCE_MAX_S }, label: 'Clock difference',
      description: `${TOLERANCE}, those of the preset`,
      form: { hint: `${TOLERANCE}, what fits the sender` },
    },
    url: {
      schema: { ...textSchema, ...urlSchema }, label: 'Address',
      ...describeNeed(NEED_DESCRIPTIONS.url),
    },
    webhookId: {
      schema: textSchema, ...describeNeed(NEED_DESCRIPTIONS.webhookId),
    },
    verifyToken: {
      schema: { ...textSchema, ...secretText }, isSecret: true,
      ...describeNeed(`${NEED_DESCRIPTIONS.verifyToken}. Shown as \`***\`, and stays while \`***\` `
        + 'is sent back'),
    },
    origins: {
      schema: {
        kind: 'array', maxItems: ORIGINS_MAX, isUnique: true,
        items: {
          kind: 'string', maxLength: 253, mustBe: 'a name such as eventgrid.azure.net, or *',
          canonical: (origin) => isOrigin(origin) ? origin.toLowerCase() : null,
        },
      },
      description: `For the preset cloudevents: ${ORIGINS}`,
      form: { item: 'Origin', hint: capitalize(ORIGINS) },
    },
    scheme: {
      schema: schemeSchema, isPublic: true,
      description: 'For the preset custom: how its sender signs', form: { field: 'json' },
    },
  },
  check: (_, input) => findVerificationProblems(input),
});

export type Verification = RecordOf<typeof verificationSchema>;

/** Forms have the member for these presets alone. */
function describeNeed(need: string): Pick<MemberSchema, 'description' | 'form'> {
  return { description: `For presets that need it: ${need}`, form: { hint: capitalize(need) } };
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function isOrigin(origin: string): boolean {
  return origin === '*' || /^[A-Za-z0-9](?:[A-Za-z0-9._:-]*[A-Za-z0-9])?$/.test(origin);
}

/**
 * Looks at the members as they came: a part of a scheme that did not parse has an error of its own,
 * and what stands beside it is not wrong for that.
 */
function findVerificationProblems(input: JsonObject): FieldError[] {
  const { preset: name, scheme, origins } = input;
  const preset = findPreset(String(name));
  if (preset === undefined) return [];
  if (preset.scheme === null && isAbsent(scheme)) {
    return [{
      pointer: '/scheme',
      detail: `is needed by the preset ${preset.name}, such as ${formatExampleScheme(undefined)}`,
    }];
  }
  const errors: FieldError[] = [];
  if (preset.scheme !== null && !isAbsent(scheme)) {
    const detail = `is for the preset custom alone, not ${preset.name}: remove it`;
    errors.push({ pointer: '/scheme', detail });
  }
  if (!isAbsent(origins) && !usesOrigins(preset.scheme ?? {})) {
    const detail = `cannot be used by the preset ${preset.name}: remove it`;
    errors.push({ pointer: '/origins', detail });
  }
  return preset.scheme === null && !isJsonObject(scheme) ? errors
    : [...errors, ...findSchemeMismatches(preset.name, input)];
}

/** The members that the scheme needs and lacks, and those that it has no use for. */
function findSchemeMismatches(name: string, input: JsonObject): FieldError[] {
  const { needs = [], timestamp } = readScheme(input);
  const neededNames: readonly unknown[] | null = Array.isArray(needs) ? needs : null;
  const isReadable = neededNames?.every((each) => NEEDS.some((need) => need === each)) ?? false;
  const errors = NEEDS.flatMap((need): FieldError[] => {
    const isNeeded = neededNames?.includes(need) ?? false;
    if (isNeeded === !isAbsent(input[need]) || !isNeeded && !isReadable) return [];
    return [{
      pointer: `/${need}`,
      detail: isNeeded ? `is needed by the preset ${name}: ${NEED_DESCRIPTIONS[need]}`
        : `cannot be used by the preset ${name}: remove it`,
    }];
  });
  if (!isAbsent(input['toleranceS']) && isAbsent(timestamp)) {
    const detail = `cannot be used by the preset ${name}, which signs no time: remove it`;
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

type VerifiedMembers = SecretMembers & AwaitedSecret & { readonly verification?: Verification };

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

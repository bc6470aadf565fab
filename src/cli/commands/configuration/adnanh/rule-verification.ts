/**
 * Converts the rules that prove who sends into a `verification` and its secret: signatures, and
 * values that are a token.
 */
import type { JsonObject, JsonValue } from '../../../../base/schema.ts';
import { at, type HookReport, type HookText } from './hook-report.ts';
import { findValuePath, textOf } from './request-values.ts';

export type SenderVerification = {
  readonly verification: JsonObject;
  /** A reference to a variable. */
  readonly secret: JsonObject;
};

type SignatureRule = {
  readonly type: SignatureType; readonly parameter: JsonObject; readonly secret: string;
  readonly pointer: string;
};

const HASHES = {
  'payload-hmac-sha1': 'sha1', 'payload-hmac-sha256': 'sha256', 'payload-hmac-sha512': 'sha512',
  // Their names before version 2.8 of adnanh/webhook.
  'payload-hash-sha1': 'sha1', 'payload-hash-sha256': 'sha256', 'payload-hash-sha512': 'sha512',
} as const;
type SignatureType = keyof typeof HASHES | 'scalr-signature';

/** The presets of senders that sign the body alone, by HMAC-SHA256 and the name of the header. */
const PRESET_OF_HEADER: ReadonlyMap<string, string> = new Map([
  ['x-hub-signature-256', 'github'], ['x-hub-signature', 'bitbucket'],
  ['x-gitea-signature', 'gitea'], ['x-forgejo-signature', 'forgejo'],
  ['x-gogs-signature', 'gogs'],
]);

const SCALR_SCHEME: JsonObject = {
  algorithm: 'hmac-sha1', key: 'utf8', content: '{body}{timestamp}',
  signature: { from: { header: 'X-Signature' }, encoding: 'hex' },
  timestamp: { from: { header: 'Date' }, unit: 'http-date', tolerance: 300 },
};

export function isSignatureType(type: unknown): type is SignatureType {
  return type === 'scalr-signature' || typeof type === 'string' && Object.hasOwn(HASHES, type);
}

/** null: the rule has no counterpart, which is reported. */
export function convertSignature(
  { type, parameter, secret, pointer }: SignatureRule, report: HookReport,
): SenderVerification | null {
  if (secret === '') {
    report.lock(pointer, 'a signature without a secret lets nothing through',
      'set the secret of the sender');
    return null;
  }
  const verification = type === 'scalr-signature' ? { preset: 'custom', scheme: SCALR_SCHEME }
    : createHmacVerification(HASHES[type], parameter, pointer, report);
  if (verification === null) return null;
  const place = { value: secret, pointer: at(pointer, 'secret') };
  return { verification, secret: report.referToSecret(place) };
}

function createHmacVerification(
  hash: string, parameter: JsonObject, pointer: string, report: HookReport,
): JsonObject | null {
  const headers = parameter['headers-to-add-to-signature-payload'];
  if (Array.isArray(headers) && headers.length > 0) {
    report.lock(at(pointer, 'parameter', 'headers-to-add-to-signature-payload'),
      'headers that are signed behind the body are not added by themselves',
      'describe the sender: manual custom-sender, with {body}{id} and the header as id');
    return null;
  }
  const name = textOf(parameter['name']);
  const preset = hash === 'sha256' && parameter['source'] === 'header'
    ? PRESET_OF_HEADER.get(name.toLowerCase()) : undefined;
  if (preset !== undefined) return { preset };
  const path = findValuePath(parameter);
  const source = typeof path === 'string' ? path.split('.', 1)[0] : undefined;
  if (source !== 'headers' && source !== 'query') {
    report.lock(at(pointer, 'parameter'), 'a signature cannot stand in the body that it covers',
      'have the sender send it in a header');
    return null;
  }
  return {
    preset: 'custom', scheme: {
      algorithm: `hmac-${hash}`, key: 'utf8', content: '{body}',
      signature: {
        from: source === 'headers' ? { header: name } : { query: name },
        prefix: `${hash}=`, prefixOptional: true, split: ',', encoding: 'hex',
      },
    },
  };
}

/** Makes the comparison of a value with a secret the check of a token. */
export function createTokenVerification(
  { path, parameter, text }: {
    readonly path: string; readonly parameter: JsonObject; readonly text: HookText;
  }, report: HookReport,
): SenderVerification {
  const secret = report.referToSecret(text);
  if (path === 'headers.x-gitlab-token') {
    return { secret, verification: { preset: 'gitlab-token' } };
  }
  return {
    secret, verification: {
      preset: 'custom', scheme: {
        algorithm: 'token', key: 'utf8', content: '',
        signature: { from: findTokenPlace(path, textOf(parameter['name'])), encoding: 'utf8' },
      },
    },
  };
}

/** The source of the token. A name in the payload is a member of JSON, or a field of a form. */
function findTokenPlace(path: string, name: string): JsonValue {
  if (path.startsWith('headers.')) return { header: name };
  if (path.startsWith('query.')) return { query: name };
  const member = path.slice('payload.'.length);
  return member.includes('.') ? { json: member } : [{ json: member }, { form: member }];
}

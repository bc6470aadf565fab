/**
 * Makes the verification key from a webhook's secret. A key must fit the algorithm, so that a
 * public key never serves as the key of an HMAC.
 */
import type { KeyObject } from 'node:crypto';
import { loadCrypto } from '../../../base/node-modules.ts';
import { createHmacKey, type HmacHash, type HmacKey } from '../hmac.ts';
import { decodeBytes } from './encoding.ts';
import { isPublicKey, type Algorithm, type KeyForm, type Scheme } from '../scheme/scheme.ts';

export type VerificationKey = {
  readonly algorithm: Algorithm;
  readonly key: KeyObject;
  /** null: the algorithm is no HMAC. */
  readonly hmac: HmacKey | null;
  /** The prefix of each signature that this key can verify. */
  readonly prefix: string;
};

// These bytes before an Ed25519 public key of 32 bytes make SubjectPublicKeyInfo (RFC 8410 §4).
const ED25519_SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');
const ED25519_BYTES = 32;
/** Stands before the signatures of Ed25519 keys in a scheme whose other signatures are HMACs. */
export const STANDARD_ED25519_PREFIX = 'v1a,';

/** Says what is wrong with a secret, in a sentence fragment without the secret: `is not hex`. */
export type SecretProblem = { readonly problem: string };

export function createVerificationKey(
  scheme: Scheme, secretText: string,
): VerificationKey | SecretProblem {
  const { algorithm, key: form, signature: { prefix = '' } } = scheme;
  const secret = form === 'whsec' ? normalizeStandardSecret(secretText) : secretText;
  if (form === 'whsec' && secret.startsWith('whpk_')) {
    const raw = decodeBytes(secret.slice('whpk_'.length), 'base64');
    if (raw?.length !== ED25519_BYTES) return { problem: 'is not 32 bytes of base64 after whpk_' };
    const ed25519Key = createEd25519Key(raw);
    return {
      algorithm: 'ed25519', key: ed25519Key, hmac: null, prefix: STANDARD_ED25519_PREFIX,
    };
  }
  if (form === 'whsec' && secret.startsWith('whsk_')) return IS_PRIVATE_KEY;
  if (isPublicKey(algorithm)) return createPublicVerificationKey(algorithm, form, secret, prefix);
  if (isPublicKeyText(secret)) {
    return { problem: 'is a public key, which anybody may know: give the secret' };
  }
  if (isBasicToken(scheme) && !secret.includes(':')) return { problem: 'is not user:password' };
  const bytes = decodeSecret(form, secret);
  if ('problem' in bytes) return bytes;
  const hash = HMAC_HASHES[algorithm];
  const hmac = hash === undefined ? null : createHmacKey(hash, bytes);
  return { algorithm, key: loadCrypto().createSecretKey(bytes), hmac, prefix };
}

// Forms of Standard Webhooks (standard-webhooks/spec, "Signature scheme"), as people copy them.
// `v1,` stands before some in the pages of senders, such as Supabase's.
const STANDARD_FORM = /^\s*(?:v1a?[,\s]\s*)?(whsec|whpk|whsk)[_:-]/i;
const PUBLIC_FORM =
  /^\s*(?:(?:v1a?[,\s]\s*)?whpk[_:-]|-----BEGIN (?:PUBLIC KEY|CERTIFICATE)-)/i;

/** `whsec_…`, `whpk_…` or `whsk_…` where that is meant, as by `v1,whsec_…` and `whsec-…`. */
export function normalizeStandardSecret(secret: string): string {
  const [start = '', prefix] = STANDARD_FORM.exec(secret) ?? [];
  return prefix === undefined
    ? secret : `${prefix.toLowerCase()}_${secret.slice(start.length).trimEnd()}`;
}

/** Whether it is a public key or a certificate: what anybody may know is no secret. */
export function isPublicKeyText(secret: string): boolean {
  return PUBLIC_FORM.test(secret);
}

/** Whether the signature is the user and the password of HTTP Basic (RFC 7617). */
function isBasicToken({ algorithm, signature: { prefix = '', encoding } }: Scheme): boolean {
  return algorithm === 'token' && encoding === 'base64' && prefix.trim().toLowerCase() === 'basic';
}

const HMAC_HASHES: Readonly<Partial<Record<Algorithm, HmacHash>>> = {
  'hmac-sha1': 'sha1', 'hmac-sha256': 'sha256', 'hmac-sha512': 'sha512',
};

function decodeSecret(form: KeyForm, secret: string): Buffer | SecretProblem {
  if (form === 'base64' || form === 'hex') {
    return decodeBytes(secret, form) ?? { problem: `is not ${form}` };
  }
  if (form === 'whsec' && secret.startsWith('whsec_')) {
    return decodeBytes(secret.slice('whsec_'.length), 'base64')
      ?? { problem: 'is not base64 after whsec_' };
  }
  return Buffer.from(secret, 'utf8');
}

function createPublicVerificationKey(
  algorithm: Algorithm, form: KeyForm, secret: string, prefix: string,
): VerificationKey | SecretProblem {
  const key = decodePublicKey(algorithm, form, secret.trim());
  if ('problem' in key) return key;
  if (!isKeyForAlgorithm(algorithm, key)) return { problem: `is no key for ${algorithm}` };
  return { algorithm, key, hmac: null, prefix };
}

function decodePublicKey(
  algorithm: Algorithm, form: KeyForm, text: string,
): KeyObject | SecretProblem {
  const isPem = text.startsWith('-----BEGIN ');
  if (form === 'pem' && !isPem) return { problem: 'is not PEM: it begins with -----BEGIN' };
  try {
    // Node would derive the public key of a private key, and that secret is not ours to hold.
    if (isPem && text.includes('PRIVATE KEY')) return IS_PRIVATE_KEY;
    if (isPem) return loadCrypto().createPublicKey(text);
    const bytes = decodeBytes(text, form === 'hex' ? 'hex' : 'base64');
    if (bytes === null) return { problem: `is not ${form === 'hex' ? 'hex' : 'base64'}` };
    if (algorithm === 'ed25519' && bytes.length === ED25519_BYTES) return createEd25519Key(bytes);
    return loadCrypto().createPublicKey({ key: bytes, format: 'der', type: 'spki' });
  } catch {
    return { problem: `cannot be read as a public key (${form})` };
  }
}

const IS_PRIVATE_KEY: SecretProblem = {
  problem: 'is a private key: give the public key or certificate',
};

function createEd25519Key(raw: Buffer): KeyObject {
  return loadCrypto().createPublicKey({
    key: Buffer.concat([ED25519_SPKI_PREFIX, raw]), format: 'der', type: 'spki',
  });
}

/** Whether it is a key, public or private, for a public-key algorithm. */
export function isKeyForAlgorithm(algorithm: Algorithm, key: KeyObject): boolean {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (algorithm === 'ed25519') return type === 'ed25519';
  if (algorithm === 'rsa-sha256') return type === 'rsa';
  return type === 'ec' && details?.namedCurve === 'prime256v1';
}

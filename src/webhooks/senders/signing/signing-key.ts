/**
 * Makes the key that signs from a webhook's secret: an HMAC key or a token as the verification key
 * has it, or a private key.
 *
 * - Ed25519: `whsk_` and the base64 of 32 bytes, the seed (RFC 8032 §5.1.5), or of 64, the seed and
 *   its public key, as the libraries of Standard Webhooks and libsodium write it.
 * - ECDSA and RSA: PKCS#8 as PEM (RFC 5958, RFC 7468 §10), not encrypted.
 */
import type { KeyObject } from 'node:crypto';
import { loadCrypto } from '../../../base/node-modules.ts';
import { computeHmac } from '../hmac.ts';
import { isPublicKey, type Scheme } from '../scheme/scheme.ts';
import { decodeBytes } from '../verification/encoding.ts';
import {
  createVerificationKey, isKeyForAlgorithm, normalizeStandardSecret, STANDARD_ED25519_PREFIX,
  type SecretProblem,
} from '../verification/verification-key.ts';

export type SigningKey = {
  /** Stands before each signature of this key. */
  readonly prefix: string;
  /** null: the secret both signs and verifies. */
  readonly privateKey: KeyObject | null;
  /** The signature of the pieces one after the other. The next call may overwrite the bytes. */
  readonly sign: (pieces: readonly (string | Buffer)[]) => Buffer;
};

export const SEED_PREFIX = 'whsk_';
const SEED_BYTES = 32;
const PAIR_BYTES = 64;
// These bytes before an Ed25519 seed make PKCS#8 (RFC 8410 §7).
const ED25519_PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

export function createSigningKey(
  scheme: Scheme, secretText: string,
): SigningKey | SecretProblem {
  const { algorithm, key: form, signature: { prefix = '' } } = scheme;
  const secret = form === 'whsec' ? normalizeStandardSecret(secretText) : secretText;
  if (form === 'whsec' && secret.startsWith('whpk_')) {
    return {
      problem: 'is a public key, which cannot sign: give the private one, '
        + `${SEED_PREFIX} and base64`,
    };
  }
  if (form === 'whsec' && secret.startsWith(SEED_PREFIX)) {
    return createEd25519Key(secret, STANDARD_ED25519_PREFIX);
  }
  if (algorithm === 'ed25519') return createEd25519Key(secret, prefix);
  if (isPublicKey(algorithm)) return createPemKey(scheme, secret, prefix);
  const key = createVerificationKey(scheme, secret);
  if ('problem' in key) return key;
  const { hmac } = key;
  return {
    prefix, privateKey: null,
    // Without an HMAC it is a token: the secret itself is sent.
    sign: (pieces) => hmac === null ? key.key.export() : computeHmac(hmac, pieces),
  };
}

/**
 * The public key in the form in which a webhook that verifies the scheme takes it as its secret;
 * null: the secret is no private key.
 */
export function formatPublicKey({ key: form }: Scheme, { privateKey }: SigningKey): string | null {
  if (privateKey === null) return null;
  const publicKey = loadCrypto().createPublicKey(privateKey);
  if (form === 'pem') return String(publicKey.export({ format: 'pem', type: 'spki' }));
  const spki = publicKey.export({ format: 'der', type: 'spki' });
  if (form === 'spki') return spki.toString('base64');
  const raw = spki.subarray(spki.length - SEED_BYTES);
  if (form === 'hex') return raw.toString('hex');
  return `${form === 'whsec' ? 'whpk_' : ''}${raw.toString('base64')}`;
}

const IS_NO_SEED: SecretProblem = {
  problem: `must be ${SEED_PREFIX} and the base64 of ${SEED_BYTES} bytes, the seed of an `
    + `Ed25519 key, or of ${PAIR_BYTES}, the seed and its public key`,
};

function createEd25519Key(secret: string, prefix: string): SigningKey | SecretProblem {
  if (!secret.startsWith(SEED_PREFIX)) return IS_NO_SEED;
  const bytes = decodeBytes(secret.slice(SEED_PREFIX.length).trim(), 'base64');
  if (bytes?.length !== SEED_BYTES && bytes?.length !== PAIR_BYTES) return IS_NO_SEED;
  const privateKey = loadCrypto().createPrivateKey({
    key: Buffer.concat([ED25519_PKCS8_PREFIX, bytes.subarray(0, SEED_BYTES)]),
    format: 'der', type: 'pkcs8',
  });
  const spki = loadCrypto().createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  const statedKey = bytes.subarray(SEED_BYTES);
  if (statedKey.length > 0 && !spki.subarray(-SEED_BYTES).equals(statedKey)) {
    return { problem: `holds a public key in its last ${SEED_BYTES} bytes that is not the seed's` };
  }
  return createAsymmetricKey(privateKey, prefix, null);
}

const PEM_START = '-----BEGIN PRIVATE KEY-----';
const PEM_FORM = `must be a private key as PKCS#8 PEM, which begins with ${PEM_START}`;
// A form with one line, or a variable of the environment, may have lost the line ends.
const PEM = /^-----BEGIN PRIVATE KEY-----([\sA-Za-z0-9+/=]+)-----END PRIVATE KEY-----$/;
const CONVERT = ': `openssl pkcs8 -topk8 -nocrypt` makes it of other forms';

function createPemKey(
  { algorithm }: Scheme, secret: string, prefix: string,
): SigningKey | SecretProblem {
  const [, base64] = PEM.exec(secret.trim()) ?? [];
  if (base64 === undefined) return { problem: `${PEM_FORM}${CONVERT}` };
  let key: KeyObject;
  try {
    const bytes = Buffer.from(base64, 'base64');
    key = loadCrypto().createPrivateKey({ key: bytes, format: 'der', type: 'pkcs8' });
  } catch {
    return { problem: `${PEM_FORM}, and this one cannot be read` };
  }
  if (!isKeyForAlgorithm(algorithm, key)) return { problem: `is no key for ${algorithm}` };
  return createAsymmetricKey(key, prefix, 'sha256');
}

function createAsymmetricKey(
  privateKey: KeyObject, prefix: string, hash: 'sha256' | null,
): SigningKey {
  return {
    prefix, privateKey,
    sign(pieces) {
      const data = Buffer.concat(pieces.map((piece) => Buffer.from(piece)));
      return loadCrypto().sign(hash, data, privateKey);
    },
  };
}

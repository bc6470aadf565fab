/** Ways in which deliveries can be signed, each with a secret, for tests of sender and receiver. */
import { generateKeyPairSync } from 'node:crypto';

const SEED = Buffer.from('a seed of thirty-two bytes, or so').subarray(0, 32);
const WHSEC = `whsec_${Buffer.from('thirty-two bytes of a secret key').toString('base64')}`;
export const ECDSA = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  .export({ format: 'pem', type: 'pkcs8' }).toString();
export const RSA = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  .export({ format: 'pem', type: 'pkcs8' }).toString();
export const WHSK = `whsk_${SEED.toString('base64')}`;
/** The secret of a preset that takes no text; others take any. */
export const SECRETS: Readonly<Record<string, string>> = {
  standard: WHSEC, svix: WHSEC, gitlab: WHSEC, discord: WHSK, sendgrid: ECDSA,
  basic: 'user:p\u00e4ssword',
};

export type Scheme = Readonly<Record<string, unknown>>;
export const scheme = (algorithm: string, key: string, more: Scheme = {}): Scheme => ({
  algorithm, key, content: '{id}|{timestamp}|{body}',
  signature: { from: { header: 'X-Acme-Signature' }, encoding: 'base64' },
  timestamp: { from: { header: 'X-Acme-Time' }, unit: 'ms', tolerance: 60 },
  id: { header: 'X-Acme-Id' }, event: { header: 'X-Acme-Event' }, ...more,
});

/** Schemes that no preset has, and their secrets. */
export const SCHEMES: readonly (readonly [string, Scheme, string])[] = [
  ['an HMAC of SHA-512', scheme('hmac-sha512', 'hex'), 'ab'.repeat(32)],
  ['an HMAC of SHA-1 and base64', scheme('hmac-sha1', 'base64'), SEED.toString('base64')],
  ['Ed25519 in hex', scheme('ed25519', 'hex'), WHSK],
  ['Ed25519 in base64', scheme('ed25519', 'base64'), WHSK],
  ['Ed25519 as SPKI', scheme('ed25519', 'spki'), WHSK],
  ['Ed25519 as PEM', scheme('ed25519', 'pem'), WHSK],
  ['ECDSA as PEM', scheme('ecdsa-p256', 'pem'), ECDSA],
  ['RSA as PEM', scheme('rsa-sha256', 'pem'), RSA],
  ['ECDSA as PEM without line ends', scheme('ecdsa-p256', 'spki'), ECDSA.replaceAll('\n', '')],
  ['RSA as SPKI', scheme('rsa-sha256', 'spki'), RSA],
  ['ISO times', scheme('hmac-sha256', 'utf8', {
    timestamp: { from: { header: 'X-Acme-Time' }, unit: 'iso', tolerance: 60 },
  }), 's\u00e9cret'],
  ['HTTP dates', scheme('hmac-sha256', 'utf8', {
    timestamp: { from: { header: 'Date' }, unit: 'http-date', tolerance: 60 },
  }), 'secret'],
  ['pairs with a prefix', scheme('hmac-sha256', 'utf8', {
    signature: {
      from: { header: 'X-Acme-Signature' }, param: 'v1', split: ' ', prefix: 'a~',
      encoding: 'hex',
    },
    timestamp: { param: 't', unit: 's', tolerance: 60 },
  }), 'secret'],
  ['a signature in the query', scheme('hmac-sha256', 'utf8', {
    signature: { from: { query: 'acme sig' }, encoding: 'base64' },
    timestamp: { from: { query: 'at' }, unit: 's', tolerance: 60 },
    id: { query: 'id' },
  }), 'secret'],
  ['a token in the query', {
    algorithm: 'token', key: 'utf8', signature: { from: { query: 'acme' }, encoding: 'utf8' },
    id: { header: 'X-Acme-Id' },
  }, 'planted+t\u00f6ken'],
  ['a token under a name of its own', {
    algorithm: 'token', key: 'utf8',
    signature: { from: { header: 'X-Acme' }, prefix: 'Key ', encoding: 'utf8' },
    id: { header: 'X-Acme-Id' },
  }, 'planted-t\u00f6ken'],
];

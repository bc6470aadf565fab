/**
 * `X-Signature: sha256=<hex>`: HMAC-SHA256 of the raw body, as GitHub's X-Hub-Signature-256. Pure.
 * The comparison takes the same time wherever the first wrong byte is.
 */
import { loadCrypto } from '../../base/node-modules.ts';
import { createHmacKey, computeHmac, type HmacKey } from './hmac.ts';
import { createRefusal, type Refusal } from './verification/verdict.ts';

const PREFIX = 'sha256=';
const PATTERN = /^sha256=[0-9a-fA-F]{64}$/;

const HASH_BYTES = 32;

/** Of the secret's UTF-8 bytes. */
export function createSignatureKey(secret: string): HmacKey {
  return createHmacKey('sha256', Buffer.from(secret, 'utf8'));
}

/** The header's value for a body. */
export function signBody(key: HmacKey, body: Uint8Array): string {
  return PREFIX + computeHmac(key, [body]).toString('hex');
}

/**
 * Whether `header` is the body's signature. Two headers of the name arrive joined by a comma, or
 * as an array, and are never one.
 */
export function isSignatureValid(
  key: HmacKey, body: Uint8Array, header: string | readonly string[] | undefined,
): boolean {
  if (typeof header !== 'string' || !PATTERN.test(header)) return false;
  claimedDigest.write(header.slice(PREFIX.length), 'hex');
  return loadCrypto().timingSafeEqual(claimedDigest, computeHmac(key, [body]));
}

const claimedDigest = Buffer.alloc(HASH_BYTES);

/** Why a signature is not valid, for the log; never what it is or should be. */
export function explainInvalidSignature(header: string | readonly string[] | undefined): Refusal {
  if (header === undefined) return createRefusal('signature_missing', 'there is no X-Signature');
  return typeof header === 'string' && PATTERN.test(header)
    ? createRefusal('mismatch', 'X-Signature is not of this body with this secret')
    : createRefusal('signature_form', 'X-Signature is not sha256= and 64 hexadecimal digits, once');
}

/**
 * `X-Signature: sha256=<hex>`: HMAC-SHA256 of the raw body, as GitHub's X-Hub-Signature-256. Pure.
 * The comparison takes the same time wherever the first wrong byte is.
 */
import { loadCrypto } from '../../base/node-modules.ts';
import { hmacKey, hmacOf, type HmacKey } from './hmac.ts';
import { refusal, type Refusal } from './verification/verdict.ts';

const PREFIX = 'sha256=';
const PATTERN = /^sha256=[0-9a-fA-F]{64}$/;

const HASH_BYTES = 32;

/** Of the secret's UTF-8 bytes. */
export function signatureKey(secret: string): HmacKey {
  return hmacKey('sha256', Buffer.from(secret, 'utf8'));
}

/** The header's value for a body. */
export function signBody(key: HmacKey, body: Uint8Array): string {
  return PREFIX + hmacOf(key, [body]).toString('hex');
}

/**
 * Whether `header` is the body's signature. Two headers of the name arrive joined by a comma, or
 * as an array, and are never one.
 */
export function isSignatureValid(
  key: HmacKey, body: Uint8Array, header: string | readonly string[] | undefined,
): boolean {
  if (typeof header !== 'string' || !PATTERN.test(header)) return false;
  claimed.write(header.slice(PREFIX.length), 'hex');
  return loadCrypto().timingSafeEqual(claimed, hmacOf(key, [body]));
}

const claimed = Buffer.alloc(HASH_BYTES);

/** Why a signature is not valid, for the log; never what it is or should be. */
export function signatureRefusal(header: string | readonly string[] | undefined): Refusal {
  if (header === undefined) return refusal('signature_missing', 'there is no X-Signature');
  return typeof header === 'string' && PATTERN.test(header)
    ? refusal('mismatch', 'X-Signature is not of this body with this secret')
    : refusal('signature_form', 'X-Signature is not sha256= and 64 hexadecimal digits, once');
}

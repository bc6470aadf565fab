/**
 * `X-Signature: sha256=<hex>`: HMAC-SHA256 of the raw body, as in GitHub's X-Hub-Signature-256. The
 * time of a comparison does not depend on where the first wrong byte is. Pure.
 */
import { loadCrypto } from '../../base/node-modules.ts';
import { createHmacKey, computeHmac, type HmacKey } from './hmac.ts';
import { createRejection, type SenderRejection } from './verification/verdict.ts';

const PREFIX = 'sha256=';
const PATTERN = /^sha256=[0-9a-fA-F]{64}$/;

const HASH_BYTES = 32;

export function createSignatureKey(secret: string): HmacKey {
  return createHmacKey('sha256', Buffer.from(secret, 'utf8'));
}

/** The value of the header for a body. */
export function signBody(key: HmacKey, body: Uint8Array): string {
  return PREFIX + computeHmac(key, [body]).toString('hex');
}

/**
 * Whether `header` is the signature of the body. Two headers of the name, joined by a comma or as
 * an array, are not.
 */
export function isSignatureValid(
  key: HmacKey, body: Uint8Array, header: string | readonly string[] | undefined,
): boolean {
  if (typeof header !== 'string' || !PATTERN.test(header)) return false;
  claimedDigest.write(header.slice(PREFIX.length), 'hex');
  return loadCrypto().timingSafeEqual(claimedDigest, computeHmac(key, [body]));
}

const claimedDigest = Buffer.alloc(HASH_BYTES);

/** Explains for the log why a signature is invalid. It never says what it is or should be. */
export function explainInvalidSignature(
  header: string | readonly string[] | undefined,
): SenderRejection {
  if (header === undefined) return createRejection('signature_missing', 'there is no X-Signature');
  return typeof header === 'string' && PATTERN.test(header)
    ? createRejection('mismatch', 'X-Signature is not of this body with this secret')
    : createRejection(
      'signature_form', 'X-Signature is not sha256= and 64 hexadecimal digits, once');
}

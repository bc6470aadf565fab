/**
 * `X-Signature: sha256=<hex>`: HMAC-SHA256 of the raw body, as GitHub's X-Hub-Signature-256. Pure.
 * The comparison takes the same time wherever the first wrong byte is.
 */
import { loadCrypto } from '../../base/node-modules.ts';
import { refusal, type Refusal } from './verification/verdict.ts';

const PREFIX = 'sha256=';
const PATTERN = /^sha256=[0-9a-fA-F]{64}$/;

const BLOCK_BYTES = 64;
const HASH_BYTES = 32;
const INNER_PAD = 0x36;
const OUTER_PAD = 0x5c;
const SMALL_BODY_BYTES_MAX = 1 << 14;

/** A secret as HMAC-SHA256 begins its two hashes with it (RFC 2104 §2). Kept per hook. */
export type SignatureKey = { readonly inner: Uint8Array; readonly outer: Uint8Array };

/** Of the secret's UTF-8 bytes. */
export function signatureKey(secret: string): SignatureKey {
  const given = Buffer.from(secret, 'utf8');
  const block = new Uint8Array(BLOCK_BYTES);
  block.set(given.length <= BLOCK_BYTES ? given
    : loadCrypto().createHash('sha256').update(given).digest());
  return {
    inner: block.map((byte) => byte ^ INNER_PAD), outer: block.map((byte) => byte ^ OUTER_PAD),
  };
}

/** The header's value for a body. */
export function signBody(key: SignatureKey, body: Uint8Array): string {
  return PREFIX + digestOf(key, body).toString('hex');
}

/**
 * Whether `header` is the body's signature. Two headers of the name arrive joined by a comma, or
 * as an array, and are never one.
 */
export function isSignatureValid(
  key: SignatureKey, body: Uint8Array, header: string | readonly string[] | undefined,
): boolean {
  if (typeof header !== 'string' || !PATTERN.test(header)) return false;
  claimed.write(header.slice(PREFIX.length), 'hex');
  return loadCrypto().timingSafeEqual(claimed, digestOf(key, body));
}

const claimed = Buffer.alloc(HASH_BYTES);
const digest = Buffer.alloc(HASH_BYTES);
const innerMessage = Buffer.alloc(BLOCK_BYTES + SMALL_BODY_BYTES_MAX);
const outerMessage = Buffer.alloc(BLOCK_BYTES + HASH_BYTES);

/**
 * The HMAC-SHA256 of a body, good until the next one. Of two hashes that are made at once it takes
 * half the time that createHmac takes, 2.1 µs of 4.1 for 1 KB, and leaves no object for the garbage
 * collector to finalize.
 */
function digestOf({ inner, outer }: SignatureKey, body: Uint8Array): Buffer {
  const { hash } = loadCrypto();
  outerMessage.set(outer);
  outerMessage.write(innerHash(inner, body), BLOCK_BYTES, 'binary');
  digest.write(hash('sha256', outerMessage, 'binary'), 'binary');
  return digest;
}

function innerHash(inner: Uint8Array, body: Uint8Array): string {
  const { createHash, hash } = loadCrypto();
  if (body.length > SMALL_BODY_BYTES_MAX) {
    return createHash('sha256').update(inner).update(body).digest('binary');
  }
  innerMessage.set(inner);
  innerMessage.set(body, BLOCK_BYTES);
  return hash('sha256', innerMessage.subarray(0, BLOCK_BYTES + body.length), 'binary');
}

/** Why a signature is not valid, for the log; never what it is or should be. */
export function signatureRefusal(header: string | readonly string[] | undefined): Refusal {
  if (header === undefined) return refusal('signature_missing', 'there is no X-Signature');
  return typeof header === 'string' && PATTERN.test(header)
    ? refusal('mismatch', 'X-Signature is not of this body with this secret')
    : refusal('signature_form', 'X-Signature is not sha256= and 64 hexadecimal digits, once');
}

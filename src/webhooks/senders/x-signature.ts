/**
 * `X-Signature: sha256=<hex>`: HMAC-SHA256 of the raw body, as GitHub's X-Hub-Signature-256. Pure.
 * The comparison takes the same time wherever the first wrong byte is.
 */
import type { KeyObject } from 'node:crypto';
import { loadCrypto } from '../../base/node-modules.ts';
import { refusal, type Refusal } from './verification/verdict.ts';

const PREFIX = 'sha256=';
const PATTERN = /^sha256=[0-9a-fA-F]{64}$/;

/** The secret's UTF-8 bytes as a key. Kept per hook: making one costs as much as a short HMAC. */
export function signatureKey(secret: string): KeyObject {
  return loadCrypto().createSecretKey(Buffer.from(secret, 'utf8'));
}

/** The header's value for a body. */
export function signBody(key: KeyObject, body: Uint8Array): string {
  return PREFIX + loadCrypto().createHmac('sha256', key).update(body).digest('hex');
}

/**
 * Whether `header` is the body's signature. Two headers of the name arrive joined by a comma, or
 * as an array, and are never one.
 */
export function isSignatureValid(
  key: KeyObject, body: Uint8Array, header: string | readonly string[] | undefined,
): boolean {
  if (typeof header !== 'string' || !PATTERN.test(header)) return false;
  const claimed = Buffer.from(header.slice(PREFIX.length), 'hex');
  const { createHmac, timingSafeEqual } = loadCrypto();
  return timingSafeEqual(claimed, createHmac('sha256', key).update(body).digest());
}

/** Why a signature is not valid, for the log; never what it is or should be. */
export function signatureRefusal(header: string | readonly string[] | undefined): Refusal {
  if (header === undefined) return refusal('signature_missing', 'there is no X-Signature');
  return typeof header === 'string' && PATTERN.test(header)
    ? refusal('mismatch', 'X-Signature is not of this body with this secret')
    : refusal('signature_form', 'X-Signature is not sha256= and 64 hexadecimal digits, once');
}

/** Standard Webhooks' headers (its spec, "Webhook Headers"), and our own `X-Signature`. Pure. */
import { loadCrypto } from '../../base/node-modules.ts';
import type { PreviousSecret } from '../members/rotate-secret.ts';
import { SEED_PREFIX } from '../senders/signing/signing-key.ts';
import { decodeBytes } from '../senders/verification/encoding.ts';
import {
  isPublicKeyText, normalizeStandardSecret,
} from '../senders/verification/verification-key.ts';
import { signBody, createSignatureKey } from '../senders/x-signature.ts';

type SignatureHeaders = Readonly<Record<string, string>>;

/** The headers that `createSignatureHeaders` makes. */
export const SIGNATURE_HEADERS =
  ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'x-signature'] as const;

const PREFIX = 'whsec_';

/**
 * The signature headers of one attempt, names in lower case. `id` is that of the event, `atMs` the
 * time of the attempt. While the previous secret is valid, `webhook-signature` has its signature
 * behind that of the current one; `x-signature` has only the current one's.
 */
export function createSignatureHeaders(
  secret: string, id: string, atMs: number, body: Buffer, previous: PreviousSecret | null = null,
): SignatureHeaders {
  const timestamp = String(Math.floor(atMs / 1000));
  const sign = (text: string): string => {
    const mac = loadCrypto().createHmac('sha256', decodeKey(text));
    return `v1,${mac.update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
  };
  const isPreviousValid = previous !== null && atMs < Date.parse(previous.validUntil);
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': isPreviousValid
      ? `${sign(secret)} ${sign(previous.secret)}` : sign(secret),
    'x-signature': signBody(createSignatureKey(secret), body),
  };
}

/** Returns a clause ("must be …"); null: the secret is valid. */
export function findSecretProblem(secret: string): string | null {
  const text = normalizeStandardSecret(secret);
  if (isPublicKeyText(text)) return 'must not be a public key, which cannot sign';
  if (text.startsWith(SEED_PREFIX)) {
    return `is a key of Ed25519 (${SEED_PREFIX}), which needs the signing {"preset":"standard"}`;
  }
  if (!text.startsWith(PREFIX)) return null;
  // Node decodes any text as base64; a receiver's library would not.
  return decodeBytes(text.slice(PREFIX.length), 'base64') === null
    ? `must be base64 after ${PREFIX}` : null;
}

/** Whether the secret is the base64 of its key, as libraries of Standard Webhooks take it. */
export function isStandardSecret(secret: string): boolean {
  return normalizeStandardSecret(secret).startsWith(PREFIX);
}

/** A secret not in the form of Standard Webhooks is its own key. */
export function decodeKey(secret: string): Buffer {
  return isStandardSecret(secret)
    ? Buffer.from(normalizeStandardSecret(secret).slice(PREFIX.length), 'base64')
    : Buffer.from(secret, 'utf8');
}

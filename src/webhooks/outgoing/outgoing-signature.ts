/**
 * What a receiver can check: the Standard Webhooks headers (standard-webhooks/spec, "Webhook
 * Headers") and `X-Signature`, which another hookshelf checks. Pure.
 */
import { loadCrypto } from '../../base/node-modules.ts';
import type { PreviousSecret } from '../http/rotate-secret.ts';
import { signBody, createSignatureKey } from '../senders/x-signature.ts';

type SignatureHeaders = Readonly<Record<string, string>>;

const PREFIX = 'whsec_';
const BASE64_PATTERN = /^[A-Za-z0-9+/_-]+={0,2}$/;

/**
 * Headers of one attempt, lower-case. `atMs` is the attempt's time; `id` the message's. While the
 * previous secret counts its signature stands after the new one's; X-Signature has the new one's.
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

/** What is wrong with a secret, as a sentence fragment ("must be …"), or null. */
export function findSecretProblem(secret: string): string | null {
  if (!secret.startsWith(PREFIX)) return null;
  return isBase64(secret.slice(PREFIX.length)) ? null : `must be base64 after ${PREFIX}`;
}

// Node decodes anything; a receiver's library would not.
function isBase64(text: string): boolean {
  const hasPadding = text.endsWith('=');
  return BASE64_PATTERN.test(text) && (hasPadding ? text.length % 4 === 0 : text.length % 4 !== 1);
}

function decodeKey(secret: string): Buffer {
  return secret.startsWith(PREFIX)
    ? Buffer.from(secret.slice(PREFIX.length), 'base64') : Buffer.from(secret, 'utf8');
}

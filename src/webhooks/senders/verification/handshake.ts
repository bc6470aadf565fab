/**
 * Answers handshakes: requests by which senders check who listens. They run no action and are no
 * events. The response is exactly what the sender's documentation asks for.
 */
import type { KeyObject } from 'node:crypto';
import { loadCrypto } from '../../../base/node-modules.ts';
import { quote } from '../../../base/text/error-message.ts';
import { isSameSecret } from '../hmac.ts';
import type { RequestReader } from '../request/request-reader.ts';
import type { Handshake, Scheme, ValueSource } from '../scheme/scheme.ts';
import { SECRET_BYTES_MAX } from '../../members/secret-members.ts';
import { createVerificationKey } from './verification-key.ts';
import { createRejection, type SenderRejection } from './verdict.ts';
import type { Verifier } from './verify.ts';

export type HandshakeResponse = {
  readonly status: number; readonly type: string; readonly body: string;
  /** Names and values in turn, beside Content-Type. */
  readonly headers: readonly string[];
  /** The webhook's secret from now on, to be stored before the response is sent; null: none. */
  readonly newSecret: string | null;
};

/** null: the request is no handshake of that kind. */
export function findHandshake(
  scheme: Scheme, reader: RequestReader, kind: 'signed' | 'unsigned',
): Handshake | null {
  const { method } = reader.request;
  return scheme.challenge?.find((handshake) => handshake.method === method
    && (handshake.verify === 'signature') === (kind === 'signed')
    && handshake.when.every((condition) => isConditionMet(condition, reader)))
    ?? null;
}

/**
 * Whether a request without an event, by its method, is meant as a handshake, complete or not: it
 * has a part of one.
 */
export function isHandshakeAttempt(scheme: Scheme, reader: RequestReader): boolean {
  const { method } = reader.request;
  if (method === 'POST' || scheme.challenge === undefined) return false;
  return scheme.challenge.some((handshake) => {
    if (handshake.method !== method) return false;
    const sources = listHandshakeSources(handshake);
    return sources.length === 0 || sources.some((source) => reader.has(source));
  });
}

/**
 * Rejects a handshake that is incomplete, whose token is wrong, or whose secret is not to become
 * that of the webhook.
 */
export function buildHandshakeResponse(
  handshake: Handshake, verifier: Verifier, reader: RequestReader, nowMs: number,
  secret: 'current' | 'previous' = 'current',
): HandshakeResponse | SenderRejection {
  const { verify, answer } = handshake;
  if (typeof verify === 'object') {
    const finding = verify.setting === 'origins' ? checkOrigin(verifier, reader.read(verify.from))
      : checkToken(verifier.settings[verify.setting], reader.read(verify.from));
    if (finding !== null) return createRejection('handshake', finding);
  }
  const body = typeof answer.body === 'string'
    ? fillTemplate(answer.body, handshake, reader, findKey(verifier, secret))
      : reader.read(answer.body);
  const headers = readAnswerHeaders(handshake, verifier, reader);
  if (body === null || body === '' && typeof answer.body !== 'string' || headers === null) {
    return createRejection('handshake', 'the challenge is not whole');
  }
  const offeredSecret = handshake.secret === undefined ? null : reader.read(handshake.secret) ?? '';
  const finding = offeredSecret === null ? null
    : checkOfferedSecret(verifier, offeredSecret, nowMs);
  if (finding !== null) return createRejection('handshake', finding);
  const newSecret = findKey(verifier, 'current') === undefined ? offeredSecret : null;
  return { status: answer.status, type: answer.type, body, headers, newSecret };
}

/** A sender that got no answer brings the same secret again. */
function checkOfferedSecret(
  verifier: Verifier, secret: string, nowMs: number,
): string | null {
  const current = findKey(verifier, 'current');
  if (current === undefined && nowMs >= verifier.awaitsSecretUntilMs) {
    return 'nobody has asked for the secret that the handshake brings: run hookshelf '
      + 'incomingwebhook:await-secret, and register the webhook within ten minutes';
  }
  const isTooLong = Buffer.byteLength(secret) > SECRET_BYTES_MAX;
  const offeredKey = secret === '' || isTooLong ? { problem: 'is empty or too long' }
    : createVerificationKey(verifier.scheme, secret);
  if ('problem' in offeredKey) {
    return `the secret that the handshake brings ${offeredKey.problem}`;
  }
  return current === undefined || offeredKey.key.equals(current) ? null
    : 'the webhook has a secret, and the handshake brings another one: each registration needs a '
      + 'webhook of its own, or has the secret before removed first';
}

/** Names and values in turn; null: a value is missing, or no header can hold it. */
function readAnswerHeaders(
  { answer }: Handshake, { ratePerMinute }: Verifier, reader: RequestReader,
): readonly string[] | null {
  const headers = Object.entries(answer.headers ?? {}).flatMap(([name, value]) => {
    const text = typeof value === 'string' ? value.replace('{ratePerMinute}', ratePerMinute)
      : reader.read(value);
    return [name, text ?? ''];
  });
  return headers.every((text) => HEADER_TEXT.test(text)) ? headers : null;
}

/** Visible Latin-1 with spaces in between (RFC 9110 §5.5). */
const HEADER_TEXT = /^[\x21-\x7e\xa0-\xff](?:[\t\x20-\x7e\xa0-\xff]{0,8190}[\x21-\x7e\xa0-\xff])?$/;

function checkToken(expectedToken: string | undefined, token: string | null): string | null {
  return token !== null && expectedToken !== undefined && isSameSecret(token, expectedToken) ? null
    : 'the challenge\'s token is not verification.verifyToken';
}

function checkOrigin({ origins }: Verifier, origin: string | null): string | null {
  const isAllowed = origin !== null && origin !== ''
    && (origins.includes('*') || origins.includes(origin.toLowerCase()));
  return isAllowed ? null
    : `the origin ${quote(origin ?? '')} is not among verification.origins: add it there`;
}

function listHandshakeSources(
  { when, verify, secret, answer: { body, value, headers = {} } }: Handshake,
): readonly ValueSource[] {
  return [
    ...when.map(({ from }) => from),
    ...typeof verify === 'object' ? [verify.from] : [],
    ...typeof body === 'object' ? [body] : [],
    ...value === undefined ? [] : [value],
    ...secret === undefined ? [] : [secret],
    ...Object.values(headers).filter((header) => typeof header !== 'string'),
  ];
}

function isConditionMet(
  { from, equals }: Handshake['when'][number], reader: RequestReader,
): boolean {
  if (equals === null) return !reader.has(from);
  const value = reader.read(from);
  return equals === undefined ? value !== null : value === String(equals);
}

function fillTemplate(
  template: string, { answer: { value: source, hmac } }: Handshake, reader: RequestReader,
  key: KeyObject | undefined,
): string | null {
  if (source === undefined) return template;
  const value = reader.read(source);
  if (value === null || value === '' || key === undefined) return null;
  const digest = hmac === undefined ? ''
    : loadCrypto().createHmac('sha256', key).update(value).digest(hmac);
  return template.replace('{value}', () => JSON.stringify(value)).replace('{hmac}', () => digest);
}

function findKey({ keys }: Verifier, secret: 'current' | 'previous'): KeyObject | undefined {
  return keys.find(({ role }) => role === secret)?.key;
}

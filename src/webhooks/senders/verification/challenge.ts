/**
 * The requests by which senders find out who listens. They run no action and are no events; what
 * they are answered is exactly what the sender's documentation asks for.
 */
import type { KeyObject } from 'node:crypto';
import { loadCrypto } from '../../../base/node-modules.ts';
import type { RequestReader } from '../request/reader.ts';
import type { Challenge, Scheme, ValueSource } from '../scheme/scheme.ts';
import { refusal } from './verdict.ts';
import type { Refusal } from './verdict.ts';
import type { Verifier } from './verify.ts';

export type ChallengeAnswer = {
  readonly status: number; readonly type: string; readonly body: string;
};

/** What is asked; null: the request is none of the scheme's challenges of that kind. */
export function findChallenge(
  scheme: Scheme, parts: RequestReader, kind: 'signed' | 'unsigned',
): Challenge | null {
  const { method } = parts.request;
  return scheme.challenge?.find((challenge) => challenge.method === method
    && (challenge.verify === 'signature') === (kind === 'signed')
    && challenge.when.every((condition) => holds(condition, parts)))
    ?? null;
}

/** Whether a GET takes itself for a challenge, whole or not: it names any part of one. */
export function isChallengeAttempt(scheme: Scheme, parts: RequestReader): boolean {
  if (parts.request.method !== 'GET' || scheme.challenge === undefined) return false;
  return scheme.challenge.some((challenge) =>
    challenge.method === 'GET' && sourcesOf(challenge).some((source) => parts.has(source)));
}

/** A challenge that is not whole, or whose token is wrong, is refused. */
export function answerChallenge(
  challenge: Challenge, verifier: Verifier, parts: RequestReader,
  secret: 'current' | 'previous' = 'current',
): ChallengeAnswer | Refusal {
  const { verify, answer } = challenge;
  if (typeof verify === 'object') {
    const given = parts.read(verify.from);
    const wanted = verifier.settings[verify.setting];
    if (given === null || wanted === undefined || !isSameText(given, wanted)) {
      return refusal('handshake', `the challenge's token is not verification.${verify.setting}`);
    }
  }
  const body = typeof answer.body === 'string'
    ? fill(answer.body, challenge, parts, keyOf(verifier, secret)) : parts.read(answer.body);
  if (body === null || body === '' && typeof answer.body !== 'string') {
    return refusal('handshake', 'the challenge is not whole');
  }
  return { status: answer.status, type: answer.type, body };
}

function sourcesOf({ when, verify, answer: { body, value } }: Challenge): readonly ValueSource[] {
  return [
    ...when.map(({ from }) => from),
    ...typeof verify === 'object' ? [verify.from] : [],
    ...typeof body === 'object' ? [body] : [],
    ...value === undefined ? [] : [value],
  ];
}

function holds({ from, equals }: Challenge['when'][number], parts: RequestReader): boolean {
  if (equals === null) return !parts.has(from);
  const given = parts.read(from);
  return equals === undefined ? given !== null : given === String(equals);
}

function fill(
  template: string, { answer: { value: source, hmac } }: Challenge, parts: RequestReader,
  key: KeyObject | undefined,
): string | null {
  if (source === undefined) return template;
  const value = parts.read(source);
  if (value === null || value === '' || key === undefined) return null;
  const digest = hmac === undefined ? '' : hmacOf(key, value, hmac);
  return template.replace('{value}', () => JSON.stringify(value)).replace('{hmac}', () => digest);
}

function keyOf({ keys }: Verifier, secret: 'current' | 'previous'): KeyObject | undefined {
  return keys.find((key) => key.secret === secret)?.key;
}

function hmacOf(key: KeyObject, text: string, encoding: 'hex' | 'base64'): string {
  return loadCrypto().createHmac('sha256', key).update(text).digest(encoding);
}

function isSameText(left: string, right: string): boolean {
  const { createHash, timingSafeEqual } = loadCrypto();
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(left), digest(right));
}

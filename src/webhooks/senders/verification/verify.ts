/**
 * Verifies that a request is its sender's. This is the only interpreter of schemes: a new sender is
 * a row in a table of presets/, and nothing here knows a sender by name.
 *
 * The checks come in this order, and the first that fails is the verdict: configuration, secret,
 * presence of the signature, its form, the signed time, the signed id, the plain body, match, age.
 * The age comes last, so that only a genuine request is called stale; it is limited in the past and
 * in the future. The signed bytes are the raw bytes. The time of a comparison does not depend on
 * where the first wrong byte is. Findings are for the webhook's owner: they hold neither a secret
 * nor an expected signature.
 */
import { assert } from '../../../base/assert.ts';
import { loadCrypto } from '../../../base/node-modules.ts';
import { parseHttpDate, parseTime } from '../../../base/time.ts';
import { computeHmac, isSameSecret } from '../hmac.ts';
import { collectPieces, parseContent, type ContentPart } from './signed-content.ts';
import { decodeBytes, decodeHeaderText } from './encoding.ts';
import { createVerificationKey, type VerificationKey } from './verification-key.ts';
import { isDecoded } from '../request/plain-body.ts';
import type { RequestReader } from '../request/request-reader.ts';
import {
  toSourceList, type Need, type Scheme, type TimeUnit, type ValueSource,
} from '../scheme/scheme.ts';
import { readSignatures, type Signature } from './read-signatures.ts';
import {
  describeSources, createRejection, type SenderRejection, type SenderVerdict,
} from './verdict.ts';

/** The code beside a preset's row for rules that its scheme cannot express. */
export type Quirk = {
  /** Gives the bytes of `{body}`. */
  readonly body?: (reader: RequestReader) => Buffer;
  /** Gives the addresses that `{url}` may be, the likeliest first. */
  readonly urls?: (url: string, reader: RequestReader) => Iterable<string>;
  /** Checks the rest after the match; gives a finding if it is wrong. */
  readonly check?: (reader: RequestReader) => string | null;
  /** Checks that a genuine request is whole; gives a finding if it is not, for an answer 400. */
  readonly findContentProblem?: (reader: RequestReader) => string | null;
  /**
   * For signing: the query parameter that makes the signature cover this body. null: the body needs
   * none. `check` verifies it.
   */
  readonly makeBodyParameter?: (body: Buffer, isForm: boolean) => string | null;
};

type VerifierKey = VerificationKey & {
  /** Tells from which secret of the webhook the key is made. */
  readonly role: SecretRole;
  /** The key is invalid from then on; Infinity for the current key. */
  readonly validUntilMs: number;
};

/** A scheme compiled for one webhook. */
export type Verifier = {
  readonly scheme: Scheme;
  readonly settings: Readonly<Partial<Record<Need, string>>>;
  /** The origins that a handshake may name, in lower case; `*` stands for any. */
  readonly origins: readonly string[];
  /** Requests a minute that the webhook takes, or `*`, for a handshake. */
  readonly ratePerMinute: string;
  /** A webhook without a secret takes the secret of a handshake until this time; 0: never. */
  readonly awaitsSecretUntilMs: number;
  readonly toleranceMs: number | null;
  readonly content: readonly ContentPart[];
  readonly needsId: boolean;
  readonly needsPlainBody: boolean;
  readonly keys: readonly VerifierKey[];
  readonly quirk: Quirk;
  /**
   * Why no request can be genuine, except one signed with a previous secret that is still valid.
   */
  readonly problem: SenderRejection | null;
};

/** Which of the two secrets a webhook may have. Verdicts and stored requests call it `secret`. */
type SecretRole = 'current' | 'previous';

/** A secret of a webhook, in the form in which a verifier and a signer take it. */
export type VerifierSecret = {
  readonly text: string; readonly role: SecretRole; readonly validUntilMs: number;
};

export type SecretMembers = {
  readonly secret?: string;
  readonly previousSecret?: { readonly secret: string; readonly validUntil: string };
};

/** The current secret first. */
export function listSecrets({ secret, previousSecret }: SecretMembers): VerifierSecret[] {
  const secrets: VerifierSecret[] = [];
  if (secret !== undefined) {
    secrets.push({ text: secret, role: 'current', validUntilMs: Infinity });
  }
  if (previousSecret !== undefined) {
    const validUntilMs = Date.parse(previousSecret.validUntil);
    secrets.push({ text: previousSecret.secret, role: 'previous', validUntilMs });
  }
  return secrets;
}

export function createVerifier(input: {
  readonly scheme: Scheme;
  readonly settings: Readonly<Partial<Record<Need, string>>>;
  /** null: the tolerance of the scheme. */
  readonly toleranceS: number | null;
  readonly secrets: readonly VerifierSecret[];
  readonly quirk: Quirk;
  readonly origins?: readonly string[];
  readonly ratePerMinute?: string;
  readonly awaitsSecretUntilMs?: number;
}): Verifier {
  const { scheme, settings, secrets, quirk, origins = [], ratePerMinute = '*' } = input;
  const { awaitsSecretUntilMs = 0 } = input;
  const toleranceS = input.toleranceS ?? scheme.timestamp?.tolerance ?? null;
  const keys: VerifierKey[] = [];
  let problem = findConfigurationProblem(scheme, settings, secrets.length > 0);
  for (const { text, role, validUntilMs } of secrets) {
    const key = createVerificationKey(scheme, text);
    if (!('problem' in key)) keys.push({ ...key, role, validUntilMs });
    // An unusable previous secret is no reason to reject what the current secret signs.
    else if (role === 'current') {
      problem ??= createRejection('secret', `the current secret ${key.problem}`);
    }
  }
  const content = parseContent(scheme.content);
  return {
    scheme, settings, origins, ratePerMinute, awaitsSecretUntilMs, keys, quirk, problem, content,
    // `{token}` is another name of `{id}`, and not the secret of the algorithm `token`.
    needsId: content.some((part) => part.kind === 'id' || part.kind === 'token'),
    needsPlainBody: content.some((part) => part.kind === 'plainBody'),
    toleranceMs: toleranceS === null ? null : toleranceS * 1000,
  };
}

export function verify(verifier: Verifier, reader: RequestReader, nowMs: number): SenderVerdict {
  const { scheme, keys, quirk, problem } = verifier;
  if (problem !== null && !hasValidPreviousKey(verifier, nowMs)) return problem;
  if (scheme.algorithm === 'token') return verifyToken(verifier, reader, nowMs);
  const signatureSet = readSignatures(scheme, reader, keys);
  if ('finding' in signatureSet) return signatureSet;
  const signedTime = readSignedTime(scheme, reader, signatureSet.time);
  if ('finding' in signedTime) return signedTime;
  const id = readSignedId(verifier, reader);
  if (typeof id !== 'string') return id;
  if (verifier.needsPlainBody) {
    const plainBody = reader.plainBody();
    if (!isDecoded(plainBody)) return createRejection('parts', plainBody.reason);
  }
  const values = { timestamp: signedTime.text, id };
  const matchingKey = findMatch(verifier, reader, values, signatureSet.signatures, nowMs);
  if (matchingKey === null) {
    return problem ?? createRejection('mismatch', 'the signature is not that of this request');
  }
  const quirkFinding = quirk.check?.(reader) ?? null;
  if (quirkFinding !== null) return createRejection('mismatch', quirkFinding);
  return verifyAge(verifier, matchingKey.role, signedTime.atMs, nowMs);
}

/** Whether the current secret is unusable while a previous secret can still verify requests. */
function hasValidPreviousKey({ problem, keys }: Verifier, nowMs: number): boolean {
  return problem?.check === 'secret' && keys.some(({ validUntilMs }) => nowMs < validUntilMs);
}

function findMatch(
  verifier: Verifier, reader: RequestReader,
  { timestamp, id }: { readonly timestamp: string; readonly id: string },
  signatures: readonly Signature[], nowMs: number,
): VerifierKey | null {
  const { content, keys, quirk, settings: { url = '', webhookId = '' } } = verifier;
  const body = quirk.body?.(reader) ?? reader.request.body;
  for (const candidate of quirk.urls?.(url, reader) ?? [url]) {
    const values = { timestamp, id, url: candidate, webhookId, body, reader };
    const pieces = collectPieces(content, values);
    const match = keys.find((key) => nowMs < key.validUntilMs && isMatch(key, pieces, signatures));
    if (match !== undefined) return match;
  }
  return null;
}

function isMatch(
  key: VerificationKey, pieces: readonly (string | Buffer)[], signatures: readonly Signature[],
): boolean {
  const { hmac, prefix } = key;
  // Computed once, and only if a signature has the prefix.
  let expectedDigest: Buffer | null = null;
  for (const { bytes, prefix: signaturePrefix } of signatures) {
    if (signaturePrefix !== prefix) continue;
    if (hmac === null) {
      if (isSignedBy(key, pieces, bytes)) return true;
      continue;
    }
    expectedDigest ??= computeHmac(hmac, pieces);
    if (isEqualInConstantTime(bytes, expectedDigest)) return true;
  }
  return false;
}

function isSignedBy(
  { algorithm, key }: VerificationKey, pieces: readonly (string | Buffer)[], signature: Buffer,
): boolean {
  const data = Buffer.concat(pieces.map((piece) => Buffer.from(piece)));
  const hash = algorithm === 'ed25519' ? null : 'sha256';
  return loadCrypto().verify(hash, data, key, signature);
}

/**
 * Verifies a request that holds the secret itself, for the algorithm `token`. Where a path with
 * `[]` finds several values, each must be the secret.
 */
function verifyToken(verifier: Verifier, reader: RequestReader, nowMs: number): SenderVerdict {
  const { scheme, scheme: { signature }, problem, keys } = verifier;
  const source = findTokenSource(scheme, reader);
  if ('header' in source && reader.countHeaderLines(source) > 1) {
    return createRejection('signature_form', `${source.header} is there more than once`);
  }
  const texts = reader.readEvery(source);
  const hasEveryToken = texts.length > 0 && texts.every((text) => text !== null && text !== '');
  if (!hasEveryToken) {
    return createRejection('signature_missing', `no ${describeSources(signature.from)}`);
  }
  const tokens = texts.map((text) =>
    decodeToken('header' in source ? decodeHeaderText(text ?? '') : text ?? '', signature));
  if (tokens.includes(null)) {
    return createRejection('signature_form', explainMalformedToken(signature));
  }
  const match = keys.find(({ key, validUntilMs }) => nowMs < validUntilMs
    && tokens.every((token) => token !== null && isSameSecret(token, key.export())));
  if (match === undefined) {
    return problem ?? createRejection('mismatch', 'the token is not the secret');
  }
  return { isGenuine: true, secret: match.role, signedAtMs: null };
}

/** The first place that has a value; without any value, the first place. */
function findTokenSource({ signature: { from } }: Scheme, reader: RequestReader): ValueSource {
  const sources = toSourceList(from);
  const source = sources.find((one) => reader.has(one)) ?? sources[0];
  assert(source !== undefined, 'a scheme has a place of its signature');
  return source;
}

// Authorization schemes have names in either case (RFC 9110 §11.1).
function decodeToken(
  text: string, { prefix = '', prefixOptional = false, encoding }: Scheme['signature'],
): Buffer | null {
  const hasPrefix = text.slice(0, prefix.length).toLowerCase() === prefix.toLowerCase();
  if (!hasPrefix) return prefixOptional ? decodeBytes(text.trim(), encoding) : null;
  return decodeBytes(text.slice(prefix.length).trim(), encoding);
}

function explainMalformedToken({ from, prefix = '', encoding }: Scheme['signature']): string {
  const form = encoding === 'utf8' ? '' : ` and ${encoding}`;
  return `${describeSources(from)} is not \`${prefix.trim()}\`${form}`;
}

type SignedTime = { readonly text: string; readonly atMs: number | null };

function readSignedTime(
  { timestamp }: Scheme, reader: RequestReader, fromPairs: string | null,
): SignedTime | SenderRejection {
  if (timestamp === undefined) return { text: '', atMs: null };
  const { from, unit } = timestamp;
  const text = from === undefined ? fromPairs : reader.read(from);
  if (text === null || text === '') {
    return createRejection('parts', `no ${describeTimeSource(timestamp)}`);
  }
  const atMs = parseSignedTime(text, unit);
  if (typeof atMs === 'number') return { text, atMs };
  return createRejection('parts', `${describeTimeSource(timestamp)} ${atMs.problem}`);
}

function describeTimeSource({ from, param }: NonNullable<Scheme['timestamp']>): string {
  return from === undefined ? `time \`${param ?? ''}\`` : describeSources(from);
}

/** Reads the value of `{id}`; '' if the content does not hold it. */
function readSignedId(
  { scheme, needsId }: Verifier, reader: RequestReader,
): string | SenderRejection {
  if (!needsId) return '';
  const id = reader.read(scheme.id ?? []) ?? '';
  return id === '' ? createRejection('parts', `no ${describeSources(scheme.id)}`) : id;
}

function verifyAge(
  { toleranceMs }: Verifier, secret: SecretRole, atMs: number | null, nowMs: number,
): SenderVerdict {
  const ageMs = atMs === null ? 0 : nowMs - atMs;
  if (toleranceMs === null || Math.abs(ageMs) <= toleranceMs) {
    return { isGenuine: true, secret, signedAtMs: atMs };
  }
  const limit = `limit ${toleranceMs / 1000} s`;
  const seconds = Math.round(Math.abs(ageMs) / 1000);
  return createRejection('stale', ageMs > 0 ? `signed ${seconds} s ago, ${limit}`
    : `signed ${seconds} s in the future, ${limit}: check the clock`);
}

function findConfigurationProblem(
  { needs = [] }: Scheme, settings: Verifier['settings'], hasSecret: boolean,
): SenderRejection | null {
  const missing = needs.find((need) => settings[need] === undefined);
  if (missing !== undefined) {
    return createRejection('configuration', `verification.${missing} is not set`);
  }
  return hasSecret ? null : createRejection('configuration', 'the webhook has no secret');
}

function isEqualInConstantTime(left: Buffer, right: Buffer): boolean {
  return left.length === right.length && loadCrypto().timingSafeEqual(left, right);
}

const DIGITS = /^[0-9]{1,16}$/;
/**
 * The bound tells seconds from milliseconds: it is the year 5138 in seconds, and 1973 in
 * milliseconds.
 */
const SECONDS_BELOW = 100_000_000_000;

/**
 * Parses the time that a sender signed, into milliseconds since the epoch. `problem` goes on after
 * the place of the time in a sentence: `is no RFC 3339 time`.
 */
function parseSignedTime(text: string, unit: TimeUnit): number | { readonly problem: string } {
  if (unit === 'iso') return parseTime(text) ?? { problem: 'is no RFC 3339 time' };
  if (unit === 'http-date') {
    return parseHttpDate(text)
      ?? { problem: 'is no HTTP date such as Fri, 08 Sep 2017 11:24:32 GMT' };
  }
  if (!DIGITS.test(text)) {
    return { problem: `is no number of ${unit === 's' ? 'seconds' : 'milliseconds'}` };
  }
  const value = Number(text);
  if (unit === 's') {
    return value < SECONDS_BELOW ? value * 1000
      : { problem: `${text} is in milliseconds, expected seconds` };
  }
  return value >= SECONDS_BELOW ? value
    : { problem: `${text} is in seconds, expected milliseconds` };
}

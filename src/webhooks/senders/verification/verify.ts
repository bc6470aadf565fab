/**
 * Whether a request is its sender's: the interpreter of schemes, and the only one. A new sender is
 * a row in a table of presets/; nothing here knows a sender by name.
 *
 * The checks stand in one order: configuration, secret, signature there, its form, time and id
 * there, match, age. Time counts after the signature only, in both directions. What was signed is
 * the raw bytes. Comparisons take the same time wherever the first wrong byte is. Findings are for
 * the webhook's owner: they hold neither a secret nor an expected signature.
 */
import { loadCrypto } from '../../../base/node-modules.ts';
import { hmacOf } from '../hmac.ts';
import { contentPieces, parseContent } from './content.ts';
import type { ContentPart } from './content.ts';
import { decodeBytes, headerText } from './encoding.ts';
import { makeKey } from './keys.ts';
import type { VerificationKey } from './keys.ts';
import type { RequestReader } from '../request/reader.ts';
import type { Need, Scheme } from '../scheme/scheme.ts';
import { readSignatures } from './signatures.ts';
import type { Signature } from './signatures.ts';
import { parseSignedTime } from './time.ts';
import { placesOf, refusal } from './verdict.ts';
import type { Refusal, SenderVerdict } from './verdict.ts';

/** What a scheme cannot say: code that stands beside a row. */
export type Quirk = {
  /** The bytes that `{body}` stands for. */
  readonly body?: (parts: RequestReader) => Buffer;
  /** The addresses that `{url}` may stand for, the likeliest first. */
  readonly urls?: (url: string, parts: RequestReader) => Iterable<string>;
  /** What else must be right, told after the match; a finding when it is not. */
  readonly check?: (parts: RequestReader) => string | null;
};

type VerifierKey = VerificationKey & {
  readonly secret: 'current' | 'previous';
  /** From then on it does not count; Infinity for the current one. */
  readonly validUntilMs: number;
};

/** A scheme made ready for one webhook. */
export type Verifier = {
  readonly scheme: Scheme;
  readonly settings: Readonly<Partial<Record<Need, string>>>;
  readonly toleranceMs: number | null;
  readonly content: readonly ContentPart[];
  /** Whether what is signed holds the id. */
  readonly needsId: boolean;
  readonly keys: readonly VerifierKey[];
  readonly quirk: Quirk;
  /** Why no request can be right, but for those of a previous secret that still counts. */
  readonly problem: Refusal | null;
};

export type VerifierSecret = {
  readonly text: string; readonly secret: 'current' | 'previous'; readonly validUntilMs: number;
};

export function makeVerifier(given: {
  readonly scheme: Scheme;
  readonly settings: Readonly<Partial<Record<Need, string>>>;
  /** null: the scheme's own. */
  readonly toleranceS: number | null;
  readonly secrets: readonly VerifierSecret[];
  readonly quirk: Quirk;
}): Verifier {
  const { scheme, settings, secrets, quirk } = given;
  const toleranceS = given.toleranceS ?? scheme.timestamp?.tolerance ?? null;
  const keys: VerifierKey[] = [];
  let problem = findGap(scheme, settings, secrets.length > 0);
  for (const { text, secret, validUntilMs } of secrets) {
    const key = makeKey(scheme, text);
    if (typeof key !== 'string') keys.push({ ...key, secret, validUntilMs });
    // A previous secret that never matched is no reason to refuse what the current one signs.
    else if (secret === 'current') problem ??= refusal('secret', `the current secret ${key}`);
  }
  const content = parseContent(scheme.content);
  return {
    scheme, settings, keys, quirk, problem, content,
    needsId: content.some((part) => part.kind === 'id' || part.kind === 'token'),
    toleranceMs: toleranceS === null ? null : toleranceS * 1000,
  };
}

export function verify(verifier: Verifier, parts: RequestReader, nowMs: number): SenderVerdict {
  const { scheme, keys, quirk, problem } = verifier;
  if (problem !== null && !isBridged(verifier, nowMs)) return problem;
  if (scheme.algorithm === 'token') return verifyToken(verifier, parts, nowMs);
  const found = readSignatures(scheme, parts, keys);
  if ('finding' in found) return found;
  const time = readTime(scheme, parts, found.time);
  if ('finding' in time) return time;
  const id = verifier.needsId ? parts.read(scheme.id ?? []) ?? '' : null;
  if (id === '') return refusal('parts', `no ${placesOf(scheme.id)}`);
  const values = { timestamp: time.text, id: id ?? '' };
  const matching = findMatch(verifier, parts, values, found.signatures, nowMs);
  if (matching === null) {
    return problem ?? refusal('mismatch', 'the signature is not that of this request');
  }
  const broken = quirk.check?.(parts) ?? null;
  if (broken !== null) return refusal('mismatch', broken);
  return judgeAge(verifier, matching.secret, time.atMs, nowMs);
}

/** A secret that cannot be used took the place of one that still counts. */
function isBridged({ problem, keys }: Verifier, nowMs: number): boolean {
  return problem?.check === 'secret' && keys.some(({ validUntilMs }) => nowMs < validUntilMs);
}

function findMatch(
  verifier: Verifier, parts: RequestReader,
  { timestamp, id }: { readonly timestamp: string; readonly id: string },
  signatures: readonly Signature[], nowMs: number,
): VerifierKey | null {
  const { content, keys, quirk, settings: { url = '', webhookId = '' } } = verifier;
  const body = quirk.body?.(parts) ?? parts.request.body;
  for (const candidate of quirk.urls?.(url, parts) ?? [url]) {
    const values = { timestamp, id, url: candidate, webhookId, body, parts };
    const pieces = contentPieces(content, values);
    const match = keys.find((key) => nowMs < key.validUntilMs && isMatch(key, pieces, signatures));
    if (match !== undefined) return match;
  }
  return null;
}

function isMatch(
  key: VerificationKey, pieces: readonly (string | Buffer)[], signatures: readonly Signature[],
): boolean {
  const { hmac, prefix } = key;
  let expected: Buffer | null = null;
  for (const { bytes, prefix: given } of signatures) {
    if (given !== prefix) continue;
    if (hmac === null) {
      if (isSignedBy(key, pieces, bytes)) return true;
      continue;
    }
    expected ??= hmacOf(hmac, pieces);
    if (isEqual(bytes, expected)) return true;
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

/** The secret itself is sent. Every value of a path with `[]` must be it. */
function verifyToken(verifier: Verifier, parts: RequestReader, nowMs: number): SenderVerdict {
  const { scheme: { signature }, keys } = verifier;
  const [source] = Array.isArray(signature.from) ? signature.from : [signature.from];
  if ('header' in source && parts.count(source) > 1) {
    return refusal('signature_form', `${source.header} is there more than once`);
  }
  const texts = parts.readEvery(source);
  const isWhole = texts.length > 0 && texts.every((text) => text !== null && text !== '');
  if (!isWhole) return refusal('signature_missing', `no ${placesOf(signature.from)}`);
  const given = texts.map((text) =>
    decodeToken('header' in source ? headerText(text ?? '') : text ?? '', signature));
  if (given.includes(null)) return refusal('signature_form', malformedToken(signature));
  const digests = given.map((bytes) => digestOf(bytes ?? Buffer.alloc(0)));
  const match = keys.find(({ key, validUntilMs }) => {
    const wanted = digestOf(key.export());
    return nowMs < validUntilMs && digests.every((digest) => isEqual(digest, wanted));
  });
  if (match === undefined) return refusal('mismatch', 'the token is not the secret');
  return { isGenuine: true, secret: match.secret, signedAtMs: null };
}

// The name of an Authorization scheme is taken in either case (RFC 9110 §11.1).
function decodeToken(text: string, { prefix = '', encoding }: Scheme['signature']): Buffer | null {
  if (text.slice(0, prefix.length).toLowerCase() !== prefix.toLowerCase()) return null;
  return decodeBytes(text.slice(prefix.length).trim(), encoding);
}

function malformedToken({ from, prefix = '', encoding }: Scheme['signature']): string {
  const form = encoding === 'utf8' ? '' : ` and ${encoding}`;
  return `${placesOf(from)} is not \`${prefix.trim()}\`${form}`;
}

type Time = { readonly text: string; readonly atMs: number | null };

function readTime(
  { timestamp }: Scheme, parts: RequestReader, fromPairs: string | null,
): Time | Refusal {
  if (timestamp === undefined) return { text: '', atMs: null };
  const { from, unit } = timestamp;
  const text = from === undefined ? fromPairs : parts.read(from);
  if (text === null || text === '') return refusal('parts', `no ${placeOf(timestamp)}`);
  const atMs = parseSignedTime(text, unit);
  if (typeof atMs === 'number') return { text, atMs };
  return refusal('parts', `${placeOf(timestamp)} ${atMs}`);
}

function placeOf({ from, param }: NonNullable<Scheme['timestamp']>): string {
  return from === undefined ? `time \`${param ?? ''}\`` : placesOf(from);
}

function judgeAge(
  { toleranceMs }: Verifier, secret: 'current' | 'previous', atMs: number | null, nowMs: number,
): SenderVerdict {
  const ageMs = atMs === null ? 0 : nowMs - atMs;
  if (toleranceMs !== null && Math.abs(ageMs) > toleranceMs) return stale(ageMs, toleranceMs);
  return { isGenuine: true, secret, signedAtMs: atMs };
}

function stale(ageMs: number, toleranceMs: number): Refusal {
  const limit = `limit ${toleranceMs / 1000} s`;
  const seconds = Math.round(Math.abs(ageMs) / 1000);
  if (ageMs > 0) return refusal('stale', `signed ${seconds} s ago, ${limit}`);
  return refusal('stale', `signed ${seconds} s in the future, ${limit}: check the clock`);
}

function findGap(
  { needs = [] }: Scheme, settings: Verifier['settings'], hasSecret: boolean,
): Refusal | null {
  const missing = needs.find((need) => settings[need] === undefined);
  if (missing !== undefined) {
    return refusal('configuration', `verification.${missing} is not set`);
  }
  return hasSecret ? null : refusal('configuration', 'the webhook has no secret');
}

function isEqual(left: Buffer, right: Buffer): boolean {
  return left.length === right.length && loadCrypto().timingSafeEqual(left, right);
}

// Digests have one length, which is what a comparison in constant time needs.
function digestOf(bytes: Buffer): Buffer {
  return loadCrypto().createHash('sha256').update(bytes).digest();
}

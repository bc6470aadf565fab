/** Reads the signatures of a request, as its scheme says. */
import { decodeBytes } from './encoding.ts';
import type { VerificationKey } from './verification-key.ts';
import type { RequestReader } from '../request/request-reader.ts';
import { toSourceList, type Algorithm, type Scheme } from '../scheme/scheme.ts';
import { describeSources, createRejection, type SenderRejection } from './verdict.ts';

export type Signature = { readonly bytes: Buffer; readonly prefix: string };

/** `time` is the text beside the signatures, if the scheme has it there. */
type SignatureSet = {
  readonly signatures: readonly Signature[]; readonly time: string | null;
};

/** The most signatures in a header; each may cost a public-key operation. */
const SIGNATURES_MAX = 8;

export function readSignatures(
  scheme: Scheme, reader: RequestReader, keys: readonly VerificationKey[],
): SignatureSet | SenderRejection {
  const value = readSignatureValue(scheme, reader);
  if (typeof value !== 'string') return value;
  const pairs = scheme.signature.param === undefined ? null : parsePairs(value, scheme);
  const { split } = scheme.signature;
  const candidates = pairs?.signatures
    ?? (split === undefined ? [value] : value.split(split, SIGNATURES_MAX));
  const signatures = decodeSignatures(scheme, candidates, keys);
  if (!Array.isArray(signatures)) return signatures;
  return { signatures, time: pairs?.time ?? null };
}

function readSignatureValue(
  { signature: { from } }: Scheme, reader: RequestReader,
): string | SenderRejection {
  const value = reader.read(from);
  if (value === null || value === '') {
    return createRejection('signature_missing', `no ${describeSources(from)}`);
  }
  const repeatedSource = toSourceList(from).find((source) =>
    'header' in source && reader.countHeaderLines(source) > 1);
  if (repeatedSource === undefined) return value;
  return createRejection(
    'signature_form', `${describeSources(repeatedSource)} is there more than once`);
}

type Pairs = { readonly signatures: readonly string[]; readonly time: string | null };

/** Parses pairs such as Stripe's `t=1700000000,v1=…,v1=…`; a repeated time is ignored. */
function parsePairs(value: string, { signature, timestamp }: Scheme): Pairs {
  const signatures: string[] = [];
  let time: string | null = null;
  let timeCount = 0;
  for (const pair of value.split(signature.split ?? ',', 2 * SIGNATURES_MAX)) {
    const [name, text] = splitPair(pair.trim());
    if (name === signature.param && signatures.length < SIGNATURES_MAX) signatures.push(text);
    if (name === timestamp?.param) {
      time = text;
      timeCount += 1;
    }
  }
  return { signatures, time: timeCount === 1 ? time : null };
}

/** Splits at the first `=`: base64 may end in more of them. */
function splitPair(pair: string): readonly [string, string] {
  const at = pair.indexOf('=');
  return at === -1 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)];
}

function decodeSignatures(
  { signature: { encoding, from, param, prefixOptional = false } }: Scheme,
  candidates: readonly string[], keys: readonly VerificationKey[],
): Signature[] | SenderRejection {
  const signatures: Signature[] = [];
  let finding = `has no \`${param ?? ''}\``;
  for (const candidate of candidates) {
    const prefixedKey = keys.find(({ prefix }) => candidate.startsWith(prefix));
    const key = prefixedKey ?? (prefixOptional ? keys[0] : undefined);
    if (key === undefined) {
      finding = `lacks the prefix ${keys[0]?.prefix ?? ''}`;
      continue;
    }
    const text = prefixedKey === undefined ? candidate : candidate.slice(key.prefix.length);
    const bytes = decodeBytes(text, encoding);
    if (bytes !== null && hasExpectedLength(bytes, key.algorithm)) {
      signatures.push({ bytes, prefix: key.prefix });
    } else {
      const expectedText = describeExpectedText(key.algorithm, encoding);
      finding = `is ${describeText(text)}, expected ${expectedText}`;
    }
  }
  if (signatures.length > 0) return signatures;
  return createRejection('signature_form', `${describeSources(from)} ${finding}`);
}

const SIGNATURE_BYTES: Readonly<Partial<Record<Algorithm, number>>> = {
  'hmac-sha1': 20, 'hmac-sha256': 32, 'hmac-sha512': 64, ed25519: 64,
};

function hasExpectedLength(bytes: Buffer, algorithm: Algorithm): boolean {
  const length = SIGNATURE_BYTES[algorithm];
  return length === undefined ? bytes.length > 0 : bytes.length === length;
}

function describeText(text: string): string {
  const encoding = (['hex', 'base64'] as const).find((one) => decodeBytes(text, one) !== null);
  return `${text.length} characters${encoding === undefined ? '' : ` of ${encoding}`}`;
}

function describeExpectedText(
  algorithm: Algorithm, encoding: Scheme['signature']['encoding'],
): string {
  const length = SIGNATURE_BYTES[algorithm];
  if (length === undefined) return encoding;
  const characters = encoding === 'hex' ? length * 2 : Math.ceil(length / 3) * 4;
  return `${characters} of ${encoding}`;
}

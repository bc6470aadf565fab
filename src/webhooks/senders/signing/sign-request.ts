/**
 * Signs a request as its sender would, for tests of one's own webhook. It works only with a secret
 * that signs as well as it verifies: HMAC and tokens.
 */
import { computeHmac } from '../hmac.ts';
import { FORM_TYPE, parseMediaType } from '../request/parse-form.ts';
import { RequestReader } from '../request/request-reader.ts';
import { isPublicKey, type Need, type Scheme, type ValueSource } from '../scheme/scheme.ts';
import { collectPieces, parseContent } from '../verification/signed-content.ts';
import { encodeHeaderText } from '../verification/encoding.ts';
import { createVerificationKey, type VerificationKey } from '../verification/verification-key.ts';
import type { Quirk } from '../verification/verify.ts';
import { isInBody, isJsonInForm, listPlacements, type PlacementName } from './placement.ts';

/** A request before it is signed. */
export type UnsignedRequest = {
  readonly method: string;
  /** Text with {timestamp}, {id} and {signature} in their places. */
  readonly body: Buffer;
  /** null: the request has no body. */
  readonly contentType: string | null;
  readonly id: string;
  readonly atMs: number;
  /** The raw query without `?`, to be extended. */
  readonly search: string;
};

export type SignedRequest = {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly search: string;
};

export type SigningContext = {
  readonly scheme: Scheme;
  readonly quirk: Quirk;
  readonly secret: string;
  readonly settings: Readonly<Partial<Record<Need, string>>>;
};

/** null: the secret cannot sign, as it is a public key or no key at all. */
export function signRequest(
  { scheme, quirk, secret, settings }: SigningContext, request: UnsignedRequest,
): SignedRequest | null {
  const key = createVerificationKey(scheme, secret);
  // Instead of a key, a text says what is wrong with the secret.
  if (typeof key === 'string' || isPublicKey(key.algorithm)) return null;
  const timestamp = formatSignedTime(scheme, request.atMs);
  const { id, contentType, method } = request;
  // The body and the query get first what the signature covers, and then the signature itself.
  const coveredValues = { timestamp, id };
  const coveredBody = fillBody(request.body, scheme, coveredValues);
  const isForm = parseMediaType(contentType ?? '') === FORM_TYPE;
  const bodyParameter = quirk.makeBodyParameter?.(coveredBody, isForm) ?? null;
  const searchWithBody = bodyParameter === null ? request.search
    : joinQuery(request.search, bodyParameter);
  const coveredSearch = addParameters(searchWithBody, scheme, coveredValues);
  const typeHeaders = contentType === null ? {} : { 'content-type': contentType };
  const reader = new RequestReader({
    method, headers: typeHeaders, rawHeaders: [], search: coveredSearch, body: coveredBody,
  });
  // The first is the likeliest one, which the sender itself would sign.
  const [url = ''] = quirk.urls?.(settings.url ?? '', reader) ?? [settings.url ?? ''];
  // Only a token has no HMAC here: the secret itself is sent as the signature.
  const signatureBytes = key.hmac === null ? key.key.export() : computeHmac(key.hmac,
    collectPieces(parseContent(scheme.content), {
      url, webhookId: settings.webhookId ?? '', timestamp, id, reader,
      body: quirk.body?.(reader) ?? coveredBody,
    }));
  const signature = formatSignature(
    scheme, key, signatureBytes.toString(scheme.signature.encoding), timestamp);
  return {
    headers: {
      ...contentType === null ? {} : { 'Content-Type': contentType },
      ...buildSchemeHeaders(scheme, { timestamp, id, signature: encodeHeaderText(signature) }),
    },
    search: addParameters(coveredSearch, scheme, { signature }),
    body: fillBody(coveredBody, scheme, { signature }),
  };
}

/** The signature after the prefix of its key, or as a pair (`v1=…`) after that of the time. */
function formatSignature(
  { signature: { param }, timestamp, algorithm }: Scheme, key: VerificationKey,
  text: string, time: string,
): string {
  if (algorithm === 'token' || param === undefined) return key.prefix + text;
  return `${timestamp?.param === undefined ? '' : `${timestamp.param}=${time},`}${param}=${text}`;
}

function formatSignedTime({ timestamp }: Scheme, atMs: number): string {
  if (timestamp === undefined) return '';
  if (timestamp.unit === 'iso') return new Date(atMs).toISOString();
  if (timestamp.unit === 'http-date') return new Date(atMs).toUTCString();
  return String(timestamp.unit === 's' ? Math.floor(atMs / 1000) : atMs);
}

type PlacementValues = Readonly<Partial<Record<PlacementName, string>>>;

function buildSchemeHeaders(
  scheme: Scheme, values: PlacementValues,
): Readonly<Record<string, string>> {
  return Object.fromEntries(listPlacements(scheme).flatMap(([name, source]) =>
    'header' in source ? [[source.header, values[name] ?? '']] : []));
}

function addParameters(search: string, scheme: Scheme, values: PlacementValues): string {
  return listPlacements(scheme).reduce((whole, [name, source]) => {
    const value = values[name];
    return 'query' in source && value !== undefined
      ? joinQuery(whole, `${encodeURIComponent(source.query)}=${encodeURIComponent(value)}`)
      : whole;
  }, search);
}

/**
 * Replaces the placeholders in the body by their values. A body without any is returned as it is:
 * it may be binary, which decoding as UTF-8 would destroy.
 */
function fillBody(body: Buffer, scheme: Scheme, values: PlacementValues): Buffer {
  const escapedValues = new Map(listPlacements(scheme).flatMap(([name, source]) => {
    const value = values[name];
    return value !== undefined && isInBody(source) && body.includes(`{${name}}`)
      ? [[name, escapeValue(scheme, source, value)] as const] : [];
  }));
  if (escapedValues.size === 0) return body;
  const text = body.toString('utf8').replace(/\{(timestamp|id|signature)\}/g,
    (placeholder, name: PlacementName) => escapedValues.get(name) ?? placeholder);
  return Buffer.from(text, 'utf8');
}

function escapeValue(scheme: Scheme, source: ValueSource, value: string): string {
  const text = 'json' in source ? JSON.stringify(value).slice(1, -1) : value;
  return 'form' in source || isJsonInForm(scheme) ? encodeURIComponent(text) : text;
}

function joinQuery(search: string, parameter: string): string {
  return search === '' ? parameter : `${search}&${parameter}`;
}

/**
 * Signs a request as its sender would: this interprets a scheme as verification/verify.ts does,
 * read the other way. Deliveries and single sends of outgoing webhooks use it, and tests of one's
 * own incoming webhook.
 */
import { FORM_TYPE, parseMediaType } from '../../../base/text/parse-form.ts';
import { RequestReader } from '../request/request-reader.ts';
import type { Need, Scheme, ValueSource } from '../scheme/scheme.ts';
import { encodeHeaderText } from '../verification/encoding.ts';
import { collectPieces, parseContent, type ContentPart } from '../verification/signed-content.ts';
import type { SecretProblem } from '../verification/verification-key.ts';
import type { Quirk, VerifierSecret } from '../verification/verify.ts';
import { isInBody, isJsonInForm, listPlacements, type PlacementName } from '../scheme/placement.ts';
import { createSigningKey, type SigningKey } from './signing-key.ts';

export type UnsignedRequest = {
  readonly method: string;
  readonly body: Buffer;
  /** null: the request has no body. */
  readonly contentType: string | null;
  readonly id: string;
  readonly atMs: number;
  /** The raw query without `?`, to be extended. */
  readonly search: string;
};

/** The parts of a request that signing adds or changes. */
type RequestSignature = {
  readonly headers: Readonly<Record<string, string>>;
  readonly search: string;
  /** The value that holds the signature, for where it has no header. */
  readonly text: string;
};

export type SignedRequest = Omit<RequestSignature, 'text'> & { readonly body: Buffer };

export type SigningContext = {
  readonly scheme: Scheme;
  readonly quirk: Quirk;
  readonly settings: Readonly<Partial<Record<Need, string>>>;
  /** The current secret first. */
  readonly secrets: readonly VerifierSecret[];
};

type SignerKey = SigningKey & Pick<VerifierSecret, 'validUntilMs'>;

/** A scheme compiled for one webhook that signs. */
export type Signer = Omit<SigningContext, 'secrets'> & {
  readonly content: readonly ContentPart[];
  readonly placements: ReturnType<typeof listPlacements>;
  /** Of the current secret, then of the previous one where a request can hold both signatures. */
  readonly keys: readonly SignerKey[];
};

/** The signer, or the problem of the current secret. */
export function createSigner(
  { scheme, quirk, settings, secrets }: SigningContext,
): Signer | SecretProblem {
  const keys: SignerKey[] = [];
  for (const { text, role, validUntilMs } of secrets) {
    if (role === 'previous' && !canHoldSeveral(scheme)) continue;
    const key = createSigningKey(scheme, text);
    if (!('problem' in key)) keys.push({ ...key, validUntilMs });
    // An unusable previous secret is no reason not to sign with the current secret.
    else if (role === 'current') return key;
  }
  if (keys.length === 0) return { problem: 'is missing' };
  const content = parseContent(scheme.content);
  return { scheme, quirk, settings, content, keys, placements: listPlacements(scheme) };
}

/** Whether a request can hold the signatures of two keys, of which the receiver tries each. */
export function canHoldSeveral({ algorithm, signature: { split, param } }: Scheme): boolean {
  return algorithm !== 'token' && (split !== undefined || param !== undefined);
}

/** The body stays as it is. */
export function signRequest(signer: Signer, request: UnsignedRequest): RequestSignature {
  const { scheme, placements } = signer;
  const { id } = request;
  const timestamp = formatSignedTime(scheme, request.atMs);
  // The query gets first what the signature covers, and then the signature itself.
  const reader = readCoveredRequest(signer, request, { timestamp, id });
  const signature = formatSignature(signer, request.atMs, timestamp, computePieces(
    signer, reader, { timestamp, id }));
  const values = { timestamp, id, signature: encodeHeaderText(signature) };
  return {
    headers: Object.fromEntries(placements.flatMap(([name, source]) =>
      'header' in source ? [[source.header, values[name]]] : [])),
    search: addParameters(reader.request.search, placements, { signature }),
    text: signature,
  };
}

/**
 * Signs a sample, whose body has {timestamp}, {id} and {signature} in their places. They are filled
 * in before the signature if it covers them, which it does with the first two.
 */
export function signSample(signer: Signer, request: UnsignedRequest): SignedRequest {
  const { scheme } = signer;
  const { contentType, id } = request;
  const timestamp = formatSignedTime(scheme, request.atMs);
  const body = fillBody(request.body, signer, { timestamp, id });
  const { headers, search, text } = signRequest(signer, { ...request, body });
  return {
    headers: { ...contentType === null ? {} : { 'Content-Type': contentType }, ...headers },
    search,
    body: fillBody(body, signer, { signature: text }),
  };
}

type CoveredValues = { readonly timestamp: string; readonly id: string };

function readCoveredRequest(
  { placements, quirk }: Signer, { method, body, contentType, search }: UnsignedRequest,
  values: CoveredValues,
): RequestReader {
  const isForm = parseMediaType(contentType ?? '') === FORM_TYPE;
  const bodyParameter = quirk.makeBodyParameter?.(body, isForm) ?? null;
  const searchWithBody = bodyParameter === null ? search : joinQuery(search, bodyParameter);
  return new RequestReader({
    method, headers: contentType === null ? {} : { 'content-type': contentType }, rawHeaders: [],
    search: addParameters(searchWithBody, placements, values), body,
  });
}

function computePieces(
  { content, quirk, settings }: Signer, reader: RequestReader, values: CoveredValues,
): readonly (string | Buffer)[] {
  // The first URL is the likeliest, which the sender itself would sign.
  const [url = ''] = quirk.urls?.(settings.url ?? '', reader) ?? [settings.url ?? ''];
  return collectPieces(content, {
    ...values, url, webhookId: settings.webhookId ?? '', reader,
    body: quirk.body?.(reader) ?? reader.request.body,
  });
}

/**
 * The signature of each valid key after its prefix, or as a pair (`v1=…`) after that of the time.
 */
function formatSignature(
  { scheme: { signature: { param, split, encoding }, timestamp, algorithm }, keys }: Signer,
  atMs: number, time: string, pieces: readonly (string | Buffer)[],
): string {
  const texts = keys.filter(({ validUntilMs }) => atMs < validUntilMs)
    .map(({ prefix, sign }) => {
      const text = sign(pieces).toString(encoding);
      // The prefix of a pair stands within it: `v1=<prefix><signature>`.
      return algorithm === 'token' || param === undefined ? prefix + text
        : `${param}=${prefix}${text}`;
    });
  const pairs = algorithm === 'token' || timestamp?.param === undefined ? texts
    : [`${timestamp.param}=${time}`, ...texts];
  return pairs.join(split ?? ',');
}

function formatSignedTime({ timestamp }: Scheme, atMs: number): string {
  if (timestamp === undefined) return '';
  if (timestamp.unit === 'iso') return new Date(atMs).toISOString();
  if (timestamp.unit === 'http-date') return new Date(atMs).toUTCString();
  return String(timestamp.unit === 's' ? Math.floor(atMs / 1000) : atMs);
}

type PlacementValues = Readonly<Partial<Record<PlacementName, string>>>;

function addParameters(
  search: string, placements: Signer['placements'], values: PlacementValues,
): string {
  let whole = search;
  for (const [name, source] of placements) {
    const value = values[name];
    if (!('query' in source) || value === undefined) continue;
    whole = joinQuery(whole, `${encodeURIComponent(source.query)}=${encodeURIComponent(value)}`);
  }
  return whole;
}

/**
 * Replaces the placeholders in the body by their values. A body without any is returned as it is:
 * it may be binary, which decoding as UTF-8 would destroy.
 */
function fillBody(
  body: Buffer, { scheme, placements }: Signer, values: PlacementValues,
): Buffer {
  const escapedValues = new Map(placements.flatMap(([name, source]) => {
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

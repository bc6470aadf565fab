/**
 * A request as the sender would make it, for tests of one's own webhook and for `curl` examples.
 * Only where the secret signs as well as it verifies: HMAC and tokens.
 */
import { loadCrypto } from '../../../base/node-modules.ts';
import { hmacOf } from '../hmac.ts';
import { FORM_TYPE, mediaTypeOf } from '../request/form.ts';
import { RequestReader } from '../request/reader.ts';
import { isPublicKey, type Need, type Scheme, type ValueSource } from '../scheme/scheme.ts';
import { contentPieces, parseContent } from '../verification/content.ts';
import { headerValue } from '../verification/encoding.ts';
import { makeKey, type VerificationKey } from '../verification/keys.ts';
import type { Quirk } from '../verification/verify.ts';
import { isInBody, isJsonInForm, placesIn, type PlacedName } from './placement.ts';

/** A request before it is signed. */
export type Unsigned = {
  readonly method: string;
  /** Text in which {timestamp}, {id} and {signature} stand where the sender has them. */
  readonly body: Buffer;
  /** null: it has no body. */
  readonly contentType: string | null;
  readonly id: string;
  readonly atMs: number;
  /** The raw query without `?`, to be extended. */
  readonly search: string;
};

export type SignedCall = {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly search: string;
};

export type Signing = {
  readonly scheme: Scheme;
  readonly quirk: Quirk;
  readonly secret: string;
  readonly settings: Readonly<Partial<Record<Need, string>>>;
};

/** null: the secret is not enough to sign, as it is a public key or no key at all. */
export function signRequest(
  { scheme, quirk, secret, settings }: Signing, unsigned: Unsigned,
): SignedCall | null {
  const key = makeKey(scheme, secret);
  if (typeof key === 'string' || isPublicKey(key.algorithm)) return null;
  const timestamp = timeIn(scheme, unsigned.atMs);
  const { id, contentType, method } = unsigned;
  const covered = { timestamp, id };
  const body = fill(unsigned.body, scheme, covered);
  const isForm = mediaTypeOf(contentType ?? '') === FORM_TYPE;
  // Twilio covers a body that is no form in this way: see quirks.ts.
  const search = withParameters(quirk.check !== undefined && !isForm && body.length > 0
    ? joined(unsigned.search, `bodySHA256=${sha256(body)}`) : unsigned.search, scheme, covered);
  const typed = contentType === null ? {} : { 'content-type': contentType };
  const parts = new RequestReader({ method, headers: typed, rawHeaders: [], search, body });
  const [url = ''] = quirk.urls?.(settings.url ?? '', parts) ?? [settings.url ?? ''];
  const signed = key.hmac === null ? key.key.export() : hmacOf(key.hmac,
    contentPieces(parseContent(scheme.content), {
      url, webhookId: settings.webhookId ?? '', timestamp, id, parts,
      body: quirk.body?.(parts) ?? body,
    }));
  const signature = signatureText(
    scheme, key, signed.toString(scheme.signature.encoding), timestamp);
  return {
    headers: {
      ...contentType === null ? {} : { 'Content-Type': contentType },
      ...headersFor(scheme, { timestamp, id, signature: headerValue(signature) }),
    },
    search: withParameters(search, scheme, { signature }),
    body: fill(body, scheme, { signature }),
  };
}

/** As it stands in its place: with its prefix, or among pairs with the time. */
function signatureText(
  { signature: { param, prefix = '' }, timestamp, algorithm }: Scheme, key: VerificationKey,
  text: string, time: string,
): string {
  if (algorithm === 'token') return prefix + text;
  if (param === undefined) return key.prefix + text;
  return `${timestamp?.param === undefined ? '' : `${timestamp.param}=${time},`}${param}=${text}`;
}

function timeIn({ timestamp }: Scheme, atMs: number): string {
  if (timestamp === undefined) return '';
  if (timestamp.unit === 'iso') return new Date(atMs).toISOString();
  return String(timestamp.unit === 's' ? Math.floor(atMs / 1000) : atMs);
}

type Values = Readonly<Partial<Record<PlacedName, string>>>;

function headersFor(scheme: Scheme, values: Values): Readonly<Record<string, string>> {
  return Object.fromEntries(placesIn(scheme).flatMap(([name, source]) =>
    'header' in source ? [[source.header, values[name] ?? '']] : []));
}

function withParameters(search: string, scheme: Scheme, values: Values): string {
  return placesIn(scheme).reduce((whole, [name, source]) => {
    const value = values[name];
    return 'query' in source && value !== undefined
      ? joined(whole, `${encodeURIComponent(source.query)}=${encodeURIComponent(value)}`) : whole;
  }, search);
}

/** Fills in the values that stand in the body, where their placeholders are. */
function fill(body: Buffer, scheme: Scheme, values: Values): Buffer {
  const escaped = new Map(placesIn(scheme).flatMap(([name, source]) => {
    const value = values[name];
    return value !== undefined && isInBody(source) && body.includes(`{${name}}`)
      ? [[name, escapeIn(scheme, source, value)] as const] : [];
  }));
  if (escaped.size === 0) return body;
  const text = body.toString('utf8').replace(/\{(timestamp|id|signature)\}/g,
    (whole, name: PlacedName) => escaped.get(name) ?? whole);
  return Buffer.from(text, 'utf8');
}

function escapeIn(scheme: Scheme, source: ValueSource, value: string): string {
  const escaped = 'json' in source ? JSON.stringify(value).slice(1, -1) : value;
  return 'form' in source || isJsonInForm(scheme) ? encodeURIComponent(escaped) : escaped;
}

function joined(search: string, parameter: string): string {
  return search === '' ? parameter : `${search}&${parameter}`;
}

function sha256(bytes: Buffer): string {
  return loadCrypto().createHash('sha256').update(bytes).digest('hex');
}

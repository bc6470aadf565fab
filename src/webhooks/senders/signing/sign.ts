/**
 * A request as the sender would make it, for tests of one's own webhook and for `curl` examples.
 * Only where the secret signs as well as it verifies: HMAC and tokens.
 */
import { loadCrypto } from '../../../base/node-modules.ts';
import { hmacOf } from '../hmac.ts';
import { FORM_TYPE, mediaTypeOf } from '../request/form.ts';
import { RequestReader } from '../request/reader.ts';
import {
  isPublicKey, sourcesOf, type Need, type Scheme, type ValueSources,
} from '../scheme/scheme.ts';
import { contentPieces, parseContent } from '../verification/content.ts';
import { headerValue } from '../verification/encoding.ts';
import { makeKey, type VerificationKey } from '../verification/keys.ts';
import type { Quirk } from '../verification/verify.ts';

type UnsignedRequest = {
  /** Text in which {timestamp}, {id} and {signature} stand where the sender has them. */
  readonly body: Buffer;
  readonly contentType: string;
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
  { scheme, quirk, secret, settings }: Signing, unsigned: UnsignedRequest,
): SignedCall | null {
  const key = makeKey(scheme, secret);
  if (typeof key === 'string' || isPublicKey(key.algorithm)) return null;
  const timestamp = timeIn(scheme, unsigned.atMs);
  const { id, contentType } = unsigned;
  const isTemplate = isInBody(scheme);
  const body = isTemplate ? fill(unsigned.body, { timestamp, id }) : unsigned.body;
  const isForm = mediaTypeOf(contentType) === FORM_TYPE;
  // Twilio covers a body that is no form in this way: see quirks.ts.
  const search = quirk.check !== undefined && !isForm && body.length > 0
    ? joined(unsigned.search, `bodySHA256=${sha256(body)}`) : unsigned.search;
  const parts = new RequestReader({
    method: 'POST', headers: { 'content-type': contentType }, rawHeaders: [], search, body,
  });
  const [url = ''] = quirk.urls?.(settings.url ?? '', parts) ?? [settings.url ?? ''];
  const signed = key.hmac === null ? key.key.export() : hmacOf(key.hmac,
    contentPieces(parseContent(scheme.content), {
      url, webhookId: settings.webhookId ?? '', timestamp, id, parts,
      body: quirk.body?.(parts) ?? body,
    }));
  const text = signed.toString(scheme.signature.encoding);
  const headers: Record<string, string> = { 'Content-Type': contentType };
  put(headers, scheme.timestamp?.from, timestamp);
  put(headers, scheme.id, id);
  put(headers, scheme.signature.from, signatureText(scheme, key, text, timestamp));
  return { headers, search, body: isTemplate ? fill(body, { signature: text }) : body };
}

/** As it stands in its header: with its prefix, or among pairs with the time. */
function signatureText(
  { signature: { param, prefix = '' }, timestamp, algorithm }: Scheme, key: VerificationKey,
  text: string, time: string,
): string {
  if (algorithm === 'token') return prefix + headerValue(text);
  if (param === undefined) return key.prefix + text;
  return `${timestamp?.param === undefined ? '' : `${timestamp.param}=${time},`}${param}=${text}`;
}

/** Whether the sender has anything of the signature in the body. */
function isInBody({ signature, timestamp, id }: Scheme): boolean {
  return [signature.from, timestamp?.from, id].some((sources) =>
    sourcesOf(sources).some((source) => 'json' in source));
}

function timeIn({ timestamp }: Scheme, atMs: number): string {
  if (timestamp === undefined) return '';
  if (timestamp.unit === 'iso') return new Date(atMs).toISOString();
  return String(timestamp.unit === 's' ? Math.floor(atMs / 1000) : atMs);
}

/** Values that belong into the body stand there already: see `fill`. */
function put(
  headers: Record<string, string>, sources: ValueSources | undefined, value: string,
): void {
  const place = sourcesOf(sources).find((source) => 'header' in source);
  if (place !== undefined) headers[place.header] = value;
}

/** The body is JSON, as only there a sender has something of the signature. */
function fill(body: Buffer, values: Readonly<Record<string, string>>): Buffer {
  if (!Object.keys(values).some((name) => body.includes(`{${name}}`))) return body;
  const text = body.toString('utf8').replace(/\{(timestamp|id|signature)\}/g,
    (whole, name: string) => {
      const value = values[name];
      return value === undefined ? whole : JSON.stringify(value).slice(1, -1);
    });
  return Buffer.from(text, 'utf8');
}

function joined(search: string, parameter: string): string {
  return search === '' ? parameter : `${search}&${parameter}`;
}

function sha256(bytes: Buffer): string {
  return loadCrypto().createHash('sha256').update(bytes).digest('hex');
}

/**
 * A scheme: how a sender signs its requests, as data. verification/verify.ts interprets it. A
 * custom scheme (preset `custom`) is the same object, checked by scheme-schema.ts.
 *
 * Stripe, for example, sends `Stripe-Signature: t=1700000000,v1=5257a8…,v1=99ab…`, where each `v1`
 * is the hex of the HMAC of the time, a dot and the body:
 *
 *     { algorithm: 'hmac-sha256', key: 'utf8', content: '{timestamp}.{body}',
 *       signature: {
 *         from: { header: 'Stripe-Signature' }, split: ',', param: 'v1', encoding: 'hex',
 *       },
 *       timestamp: { param: 't', unit: 's', tolerance: 300 } }
 *
 * Placeholders of `content`, which is otherwise literal text:
 * - {body}: the raw bytes
 * - {plainBody}: the bytes without their Content-Encoding, for senders that compress what they have
 *   signed
 * - {timestamp}, {id}: the texts as they came
 * - {token}: another name of {id}, for senders such as Mailgun whose documents call it a token; it
 *   is not the secret
 * - {url}, {webhookId}: those of the webhook's `verification`
 * - {formSorted}: the names and values of a form, sorted by name
 * - {bodyCrc32}: the CRC-32 of the body in decimal
 */

/**
 * The place of a value in a request. A path of `json` has member names and array indexes joined by
 * dots; a name that ends in `[]` stands for every element, and all of them count.
 */
export type ValueSource =
  | { readonly header: string } | { readonly json: string }
  | { readonly form: string } | { readonly query: string }
  // An attribute of a CloudEvent in any mode (request/cloud-event.ts). Only presets have it.
  | { readonly cloudEvent: 'type' | 'id' };

/** One source, or several of which the first that has a value counts. */
export type ValueSources = ValueSource | readonly ValueSource[];

export function toSourceList(sources: ValueSources | undefined): readonly ValueSource[] {
  if (sources === undefined) return [];
  return 'length' in sources ? sources : [sources];
}

export const ALGORITHMS = [
  'hmac-sha1', 'hmac-sha256', 'hmac-sha512', 'ed25519', 'ecdsa-p256', 'rsa-sha256', 'token',
] as const;
export type Algorithm = typeof ALGORITHMS[number];

/** `whsec`: base64 behind `whsec_`, an Ed25519 key behind `whpk_`, else UTF-8. */
export const KEY_FORMS = ['utf8', 'base64', 'hex', 'whsec', 'spki', 'pem'] as const;
export type KeyForm = typeof KEY_FORMS[number];

export const ENCODINGS = ['hex', 'base64', 'utf8'] as const;
export type Encoding = typeof ENCODINGS[number];

export const PLACEHOLDERS = [
  'body', 'plainBody', 'timestamp', 'id', 'token', 'url', 'formSorted', 'webhookId', 'bodyCrc32',
] as const;
export type Placeholder = typeof PLACEHOLDERS[number];

/** `http-date`: as in the header Date (RFC 9110 §5.6.7), or as Scalr writes it. */
export const TIME_UNITS = ['s', 'ms', 'iso', 'http-date'] as const;
export type TimeUnit = typeof TIME_UNITS[number];

/** The values that a scheme may need and that no request holds. */
export const NEEDS = ['url', 'webhookId', 'verifyToken'] as const;
export type Need = typeof NEEDS[number];

export type Scheme = {
  readonly algorithm: Algorithm;
  readonly key: KeyForm;
  /** Empty for the algorithm `token`. */
  readonly content: string;
  readonly signature: {
    /** The place of the value that holds the signature, or several. */
    readonly from: ValueSources;
    /** Stands before each signature; without `prefixOptional`, other signatures are ignored. */
    readonly prefix?: string;
    readonly prefixOptional?: boolean;
    /**
     * The separator of several signatures in the value, of which any may match. Absent: the value
     * is one signature or, with `param`, pairs between commas.
     */
    readonly split?: ' ' | ',' | ';';
    /**
     * Absent: each piece of the value is a signature. Else the pieces are pairs `name=value`, and
     * the signatures are those with this name, such as `v1`.
     */
    readonly param?: string;
    readonly encoding: Encoding;
  };
  /**
   * The time of the request, whose age is limited. It has either `from` or `param`. The signature
   * covers the time if `content` holds `{timestamp}`, or the body in which `from` finds the time.
   * Any other time may be changed by whoever replays a request, so its limit keeps out no replay.
   * Absent: the request has no time.
   */
  readonly timestamp?: {
    /** A place of its own, such as the header `X-Slack-Request-Timestamp`. */
    readonly from?: ValueSources;
    /** The name of the time among the pairs of the signature's value, such as `t`. */
    readonly param?: string;
    readonly unit: TimeUnit;
    /** Seconds before and after now; null: no limit, as retries may carry the first time. */
    readonly tolerance: number | null;
  };
  /** The value of `{id}`; it tells duplicates as well, unless `dedupe` names another. */
  readonly id?: ValueSources;
  readonly dedupe?: ValueSources;
  /** Whether the signature covers the id that tells duplicates. */
  readonly dedupeSigned?: boolean;
  /** Seconds for which the sender may send the same event again. It informs readers alone. */
  readonly retryWindow?: number;
  readonly event?: ValueSources;
  /** `formField`: the field of a form that holds the payload as JSON. */
  readonly payload?: 'json' | 'form' | { readonly formField: string };
  /** Seconds within which the sender expects its response: a duplicate waits no longer. */
  readonly ackWithin?: number;
  /** The handshakes of the sender: schemes of users call them so. */
  readonly challenge?: readonly Handshake[];
  readonly needs?: readonly Need[];
};

type HandshakeCondition = {
  readonly from: ValueSource;
  readonly equals?: string | number | null;
};

/** A request by which a sender checks who listens at a URL. It is not an event. */
export type Handshake = {
  /** OPTIONS is for presets alone. */
  readonly method: 'GET' | 'HEAD' | 'POST' | 'OPTIONS';
  /**
   * All must hold: the value is present, equals `equals`, or (null) is absent. Only HEAD, which no
   * event has, may go without any.
   */
  readonly when: readonly HandshakeCondition[];
  /**
   * `signature`: the handshake must be signed like any other request. A setting: the value must be
   * the webhook's, or one of its `origins`. Absent: anybody may ask.
   */
  readonly verify?: 'signature'
    | { readonly from: ValueSource; readonly setting: 'verifyToken' | 'origins' };
  /**
   * The place of the secret, if the sender chooses it and brings it with the handshake. It becomes
   * that of the webhook if somebody has asked for it; then the handshake is answered.
   */
  readonly secret?: ValueSource;
  readonly answer: {
    readonly status: number;
    readonly type: string;
    /**
     * A value of the request, which is sent back as it is; or a text. With `value`, the text has
     * two placeholders of its own. Zoom's `{"plainToken":{value},"encryptedToken":"{hmac}"}`
     * becomes `{"plainToken":"qgg8vlvZ","encryptedToken":"23a89b63…"}`.
     */
    readonly body: ValueSource | string;
    /** `{value}` is this value of the request, as JSON text. */
    readonly value?: ValueSource;
    /**
     * `{hmac}` is the HMAC-SHA256 of `value` under the secret, in this encoding. Only presets have
     * it: unless the handshake is signed, anybody may have any text signed by it.
     */
    readonly hmac?: 'hex' | 'base64';
    /**
     * Headers beside Content-Type: a value of the request, or a text, in which `{ratePerMinute}`
     * is the rate limit of the webhook, or `*`.
     */
    readonly headers?: Readonly<Record<string, ValueSource | string>>;
  };
};

/** Whether a handshake of the scheme names the origin that asks, so that it needs `origins`. */
export function usesOrigins({ challenge = [] }: Partial<Scheme>): boolean {
  return challenge.some(({ verify }) => typeof verify === 'object' && verify.setting === 'origins');
}

/** Whether a handshake of the scheme brings the secret. */
export function takesSecret({ challenge = [] }: Partial<Scheme>): boolean {
  return challenge.some(({ secret }) => secret !== undefined);
}

type CoveredPart = 'body' | 'time' | 'id';

export function listCoveredParts(scheme: Scheme): readonly CoveredPart[] {
  const { content, algorithm, timestamp, dedupe, dedupeSigned } = scheme;
  if (algorithm === 'token') return [];
  const hasBody = /\{(?:body|plainBody|formSorted)\}/.test(content);
  const from = timestamp?.from;
  const hasTime = content.includes('{timestamp}')
    || (hasBody && from !== undefined && 'json' in from);
  // The id that duplicates are told by; PayPal signs another id.
  const hasId = dedupeSigned === true
    || (dedupe === undefined && /\{(?:id|token)\}/.test(content));
  const parts: readonly (readonly [CoveredPart, boolean])[] =
    [['body', hasBody], ['time', hasTime], ['id', hasId]];
  return parts.flatMap(([part, isCovered]) => isCovered ? [part] : []);
}

/** Whether the algorithm verifies with a public key, so that only the sender can sign. */
export function isPublicKey(algorithm: Algorithm): boolean {
  return algorithm === 'ed25519' || algorithm === 'ecdsa-p256' || algorithm === 'rsa-sha256';
}

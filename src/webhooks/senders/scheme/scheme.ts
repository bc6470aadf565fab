/**
 * How a sender signs its requests, as data. One scheme describes one sender; verification/verify.ts
 * reads it, and a user's own scheme (preset `custom`) is the same object, checked by check.ts.
 *
 * Placeholders of `content`: {body} the raw bytes; {timestamp} and {id} as they came; {token} the
 * same as {id}; {url} and {webhookId} from the webhook's `verification`; {formSorted} the names and
 * values of a form, sorted by name; {bodyCrc32} the CRC-32 of the body in decimal. All else is
 * literal text.
 */

/**
 * Where something stands in a request. Paths of `json` are member names and array indexes joined by
 * dots; a name that ends in `[]` means every element, and all of them count.
 */
export type ValueSource =
  | { readonly header: string } | { readonly json: string }
  | { readonly form: string } | { readonly query: string };

/** The first of several that is there. */
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
  'body', 'timestamp', 'id', 'token', 'url', 'formSorted', 'webhookId', 'bodyCrc32',
] as const;
export type Placeholder = typeof PLACEHOLDERS[number];

export const TIME_UNITS = ['s', 'ms', 'iso'] as const;

/** What a scheme needs that cannot be read off a request. */
export const NEEDS = ['url', 'webhookId', 'verifyToken'] as const;
export type Need = typeof NEEDS[number];

export type Scheme = {
  readonly algorithm: Algorithm;
  readonly key: KeyForm;
  /** Empty for the algorithm `token`. */
  readonly content: string;
  readonly signature: {
    readonly from: ValueSources;
    /** In front of each signature; those without it are not looked at. */
    readonly prefix?: string;
    /** Several signatures in one value, of which any may match. */
    readonly split?: ' ' | ',';
    /** The name of the signature among `name=value` pairs, such as Stripe's `v1`. */
    readonly param?: string;
    readonly encoding: Encoding;
  };
  readonly timestamp?: {
    readonly from?: ValueSources;
    /** The name of the time among the pairs of the signature's own value, such as `t`. */
    readonly param?: string;
    readonly unit: typeof TIME_UNITS[number];
    /** Seconds before and after now; null: no limit, as retries may carry the first time. */
    readonly tolerance: number | null;
  };
  /** `{id}`, and what duplicates are told by unless `dedupe` names another. */
  readonly id?: ValueSources;
  readonly dedupe?: ValueSources;
  /** Whether the signature covers what duplicates are told by. */
  readonly dedupeSigned?: boolean;
  /** Seconds for which the sender may send the same event again. */
  readonly retryWindow?: number;
  /** What happened, in the sender's words. */
  readonly event?: ValueSources;
  /** `formField`: a form carries the payload as JSON in that field. */
  readonly payload?: 'json' | 'form' | { readonly formField: string };
  /** Seconds within which the sender wants its answer. */
  readonly ackWithin?: number;
  readonly challenge?: readonly Challenge[];
  readonly needs?: readonly Need[];
};

type ChallengeCondition = {
  readonly from: ValueSource;
  readonly equals?: string | number | null;
};

/** A request by which a sender finds out who listens at a URL. It is no event. */
export type Challenge = {
  readonly method: 'GET' | 'POST';
  /** All must hold: the value stands there, equals `equals`, or (null) does not stand there. */
  readonly when: readonly ChallengeCondition[];
  /**
   * `signature`: answered only when the request is signed like any other. A setting: the value
   * there must be the webhook's. Absent: anybody may ask.
   */
  readonly verify?: 'signature' | { readonly from: ValueSource; readonly setting: 'verifyToken' };
  readonly answer: {
    readonly status: number;
    readonly type: string;
    /** A part of the request, or text in which `{value}` is `value`, as JSON text, and `{hmac}`
     * its HMAC-SHA256 under the secret in `hmac`'s encoding. */
    readonly body: ValueSource | string;
    readonly value?: ValueSource;
    readonly hmac?: 'hex' | 'base64';
  };
};

/** Whether the algorithm verifies with a public key, so that only the sender can sign. */
export function isPublicKey(algorithm: Algorithm): boolean {
  return algorithm === 'ed25519' || algorithm === 'ecdsa-p256' || algorithm === 'rsa-sha256';
}

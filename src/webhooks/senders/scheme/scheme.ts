/**
 * A scheme: how a sender signs its requests, as data. verification/verify.ts interprets it. A
 * custom scheme (preset `custom`) is the same object, checked by scheme-schema.ts.
 *
 * Placeholders of `content`: {body} is the raw bytes; {timestamp} and {id} are the texts as they
 * came; {token} is the same as {id}; {url} and {webhookId} are those of the webhook's
 * `verification`; {formSorted} is the names and values of a form, sorted by name; {bodyCrc32} is
 * the CRC-32 of the body in decimal. All else is literal text.
 */

/**
 * The place of a value in a request. A path of `json` has member names and array indexes joined by
 * dots; a name that ends in `[]` stands for every element, and all of them count.
 */
export type ValueSource =
  | { readonly header: string } | { readonly json: string }
  | { readonly form: string } | { readonly query: string };

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
  'body', 'timestamp', 'id', 'token', 'url', 'formSorted', 'webhookId', 'bodyCrc32',
] as const;
export type Placeholder = typeof PLACEHOLDERS[number];

export const TIME_UNITS = ['s', 'ms', 'iso'] as const;

/** The values that a scheme may need and that no request holds. */
export const NEEDS = ['url', 'webhookId', 'verifyToken'] as const;
export type Need = typeof NEEDS[number];

export type Scheme = {
  readonly algorithm: Algorithm;
  readonly key: KeyForm;
  /** Empty for the algorithm `token`. */
  readonly content: string;
  readonly signature: {
    readonly from: ValueSources;
    /** Stands before each signature; signatures without it are ignored. */
    readonly prefix?: string;
    /** The separator of several signatures in one value, of which any may match. */
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
  /** The value of `{id}`; it tells duplicates as well, unless `dedupe` names another. */
  readonly id?: ValueSources;
  readonly dedupe?: ValueSources;
  /** Whether the signature covers the id that tells duplicates. */
  readonly dedupeSigned?: boolean;
  /** Seconds for which the sender may send the same event again. It informs readers alone. */
  readonly retryWindow?: number;
  /** The sender's name of the event. */
  readonly event?: ValueSources;
  /** `formField`: the field of a form that holds the payload as JSON. */
  readonly payload?: 'json' | 'form' | { readonly formField: string };
  /** Seconds within which the sender expects its response: a duplicate waits no longer. */
  readonly ackWithin?: number;
  readonly challenge?: readonly Challenge[];
  readonly needs?: readonly Need[];
};

type ChallengeCondition = {
  readonly from: ValueSource;
  readonly equals?: string | number | null;
};

/** A request by which a sender checks who listens at a URL. It is not an event. */
export type Challenge = {
  readonly method: 'GET' | 'POST';
  /** All must hold: the value is present, equals `equals`, or (null) is absent. */
  readonly when: readonly ChallengeCondition[];
  /**
   * `signature`: the challenge must be signed like any other request. A setting: the value must be
   * the webhook's. Absent: anybody may ask.
   */
  readonly verify?: 'signature' | { readonly from: ValueSource; readonly setting: 'verifyToken' };
  readonly answer: {
    readonly status: number;
    readonly type: string;
    /**
     * A value of the request; or a text in which `{value}` is replaced by `value`, as JSON text,
     * and `{hmac}` by its HMAC-SHA256 under the secret, in `hmac`'s encoding.
     */
    readonly body: ValueSource | string;
    readonly value?: ValueSource;
    readonly hmac?: 'hex' | 'base64';
  };
};

/** Whether the algorithm verifies with a public key, so that only the sender can sign. */
export function isPublicKey(algorithm: Algorithm): boolean {
  return algorithm === 'ed25519' || algorithm === 'ecdsa-p256' || algorithm === 'rsa-sha256';
}

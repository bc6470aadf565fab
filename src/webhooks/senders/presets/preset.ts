/** What a row of the table of presets says: how to verify a sender, and how to set it up there. */
import type { Scheme } from '../scheme/scheme.ts';
import type { Quirk } from '../verification/verify.ts';

export type Preset = {
  /** What `verification.preset` says. */
  readonly name: string;
  readonly sender: string;
  /** null: the webhook brings its own (`custom`). */
  readonly scheme: Scheme | null;
  readonly quirk?: Quirk;
  readonly setup: {
    /** Where to paste the URL, and where the secret is pasted or found. */
    readonly url: string;
    readonly secret: string;
  };
  /** What the sender does when it is not answered with success; absent: not known. */
  readonly onFailure?: string;
  /** The sender's own page. */
  readonly documentation: string;
  /** What a new secret looks like; null: only the sender can make it. */
  readonly newSecret: 'hex' | 'whsec' | 'user:password' | null;
  /** A request as the sender makes it, for tests. */
  readonly sample: {
    readonly body: string;
    readonly contentType: string;
    /** Beside the signature's own. */
    readonly headers?: Readonly<Record<string, string>>;
  };
  /** What nothing but memory or a third party says of this row. */
  readonly unconfirmed?: string;
};

export const JSON_TYPE = 'application/json';

/** HMAC-SHA256 of the body in hex, behind `sha256=`: what GitHub began and many took over. */
export function hubSignature(header: string): Scheme {
  return {
    algorithm: 'hmac-sha256', key: 'utf8', content: '{body}',
    signature: { from: { header }, prefix: 'sha256=', encoding: 'hex' },
  };
}

/** Standard Webhooks: `<prefix>-id`, `-timestamp` and `-signature`. */
export function standardWebhooks(prefix: string): Scheme {
  return {
    algorithm: 'hmac-sha256', key: 'whsec', content: '{id}.{timestamp}.{body}',
    signature: {
      from: { header: `${prefix}-signature` }, prefix: 'v1,', split: ' ', encoding: 'base64',
    },
    timestamp: { from: { header: `${prefix}-timestamp` }, unit: 's', tolerance: 300 },
    id: { header: `${prefix}-id` },
    dedupeSigned: true,
    event: { json: 'type' },
    retryWindow: 5 * 24 * 3600,
    ackWithin: 15,
  };
}

/** A preset: how to verify one sender's requests, and how to set the webhook up there. */
import type { Scheme } from '../scheme/scheme.ts';
import type { Quirk } from '../verification/verify.ts';

export type Preset = {
  /** The value of `verification.preset`. */
  readonly name: string;
  readonly sender: string;
  /** null: the webhook has a scheme of its own (`custom`). */
  readonly scheme: Scheme | null;
  readonly quirk?: Quirk;
  /** Why nobody else can sign so that the sender's receivers accept it; absent: one can. */
  readonly signingObstacle?: string;
  readonly setup: {
    /** The places at the sender to paste the URL, and to paste or find the secret. */
    readonly url: string;
    readonly secret: string;
  };
  /** The sender's reaction to a response that is no success; absent: unknown. */
  readonly onFailure?: string;
  /**
   * The responses in place of our JSON that the sender wants to its forms, and to requests without
   * a body. A webhook may have responses of its own over them.
   */
  readonly responses?: PresetResponses;
  readonly documentation: string;
  /** The form of a new secret; absent: only the sender can make one. */
  readonly newSecret?: 'hex' | 'whsec' | 'user:password';
  /** A request as the sender would make it: users see it, and send it to try a webhook. */
  readonly sample: {
    readonly body: string;
    readonly contentType: string;
    /** The headers that carry no signature. */
    readonly headers?: Readonly<Record<string, string>>;
  };
  /** The facts of this row for which there is no source but memory or a third party. */
  readonly unconfirmed?: string;
};

/** The responses by outcome of a request; a body is a template for its Content-Type. */
type PresetResponses = Readonly<Partial<Record<'accepted' | 'duplicate', {
  readonly status: number;
  readonly headers: { readonly 'Content-Type': string };
  readonly body: string;
}>>>;

export const JSON_TYPE = 'application/json';

export function jsonSample(
  body: string, headers: Readonly<Record<string, string>> = {},
): Preset['sample'] {
  return { body, contentType: JSON_TYPE, headers };
}

/**
 * HMAC-SHA256 of the body in hex after `sha256=`, which many senders have taken over from GitHub.
 */
export function hubSignature(header: string): Scheme {
  return {
    algorithm: 'hmac-sha256', key: 'utf8', content: '{body}',
    signature: { from: { header }, prefix: 'sha256=', encoding: 'hex' },
  };
}

/** Standard Webhooks, with the headers `<prefix>-id`, `-timestamp` and `-signature`. */
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

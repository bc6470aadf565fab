/** Signs the requests of a webhook with `signing`, by a signer made once for each change. */
import { AppError } from '../../base/errors.ts';
import type { PassedHeaders } from '../members/pass-through.ts';
import { hideUrlSecrets } from '../members/url-credentials.ts';
import { hideSignatureHeaders, listQueryParameters } from '../senders/request/hide-signature.ts';
import { findEventHeader } from '../senders/scheme/placement.ts';
import type { Scheme } from '../senders/scheme/scheme.ts';
import { createSigner, signRequest, type Signer } from '../senders/signing/sign-request.ts';
import { encodeHeaderText } from '../senders/verification/encoding.ts';
import { listSecrets } from '../senders/verification/verify.ts';
import type { StoredOutgoingWebhook } from './outgoing-webhook.ts';
import { getDialect } from './signing-member.ts';

type RequestToSign = {
  /** The id of the delivery, which all retries share. */
  readonly id: string;
  readonly event: string;
  readonly method: string;
  /** Names in lower case. */
  readonly headers: PassedHeaders;
  readonly body: Buffer | null;
};

type SignedParts = {
  readonly url: string;
  readonly headers: PassedHeaders;
  /** The stored URL and added headers, without secrets. */
  readonly shown: ShownParts;
  /** The forms of the secret in the request; empty: it has none. */
  readonly sentSecrets: readonly string[];
};

/** `headers` has names and values in turn. */
export type ShownParts = { readonly url: string; readonly headers: readonly string[] };

export type WebhookSigner = (request: RequestToSign, atMs: number) => SignedParts;

const NO_BODY = Buffer.alloc(0);

/** Throws `invalid` for a secret or preset that a later version of this program has stored. */
export function createWebhookSigner(webhook: StoredOutgoingWebhook): WebhookSigner {
  const { signing = {}, targetUrl } = webhook;
  const dialect = getDialect(signing);
  const signer = createSigner({
    ...dialect, settings: { url: targetUrl }, secrets: listSecrets(webhook),
  });
  if ('problem' in signer) throw new AppError('invalid', `its secret ${signer.problem}`);
  const search = new URL(targetUrl).search.slice(1);
  const eventHeader = findEventHeader(dialect.scheme)?.toLowerCase() ?? null;
  return (request, atMs) => signParts(signer, { targetUrl, search, eventHeader }, request, atMs);
}

function signParts(
  signer: Signer,
  target: {
    readonly targetUrl: string; readonly search: string; readonly eventHeader: string | null;
  },
  { id, event, method, headers, body }: RequestToSign, atMs: number,
): SignedParts {
  const { targetUrl, search, eventHeader } = target;
  const contentType = headers['content-type'];
  const signature = signRequest(signer, {
    method, body: body ?? NO_BODY, id, atMs, search,
    contentType: typeof contentType === 'string' ? contentType : null,
  });
  // A configured header replaces the event's name: a receiver may know another.
  const eventHeaders = eventHeader === null || headers[eventHeader] !== undefined ? {}
    : { [eventHeader]: encodeHeaderText(event) };
  const addedHeaders = { ...eventHeaders, ...toLowerCaseNames(signature.headers) };
  const sources = signer.placements.flatMap(([name, source]) =>
    name === 'signature' ? [source] : []);
  const url = signature.search === search ? targetUrl : replaceQuery(targetUrl, signature.search);
  return {
    url, headers: { ...headers, ...addedHeaders },
    shown: {
      url: hideUrlSecrets(url, listQueryParameters(sources)),
      headers: Object.entries(hideSignatureHeaders(addedHeaders, sources)).flat(),
    },
    sentSecrets: listSentSecrets(signer, signature.text),
  };
}

/**
 * Lists a token in its encoding, its text, and the forms in which a target may read it from a
 * header, or repeat it from the query: ASCII is found in percent signs as well, the rest only as it
 * was sent.
 */
function listSentSecrets({ scheme }: Signer, text: string): readonly string[] {
  const { algorithm, signature, signature: { prefix = '', encoding } } = scheme;
  if (algorithm !== 'token') return [];
  const token = text.slice(prefix.length);
  const secret = Buffer.from(token, encoding).toString('utf8');
  // RFC 7617: user and password; a target may repeat the password alone.
  const password = isBasic(signature) ? secret.slice(secret.indexOf(':') + 1) : secret;
  const texts = [secret, password].filter((one) => one !== '');
  return [...new Set([
    token, ...texts, ...texts.map(encodeHeaderText), ...texts.map(encodeURIComponent),
  ])];
}

function isBasic({ prefix, encoding }: Scheme['signature']): boolean {
  return encoding === 'base64' && prefix?.trim().toLowerCase() === 'basic';
}

function toLowerCaseNames(
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) =>
    [name.toLowerCase(), value]));
}

/** A fragment is not sent. */
function replaceQuery(url: string, search: string): string {
  const [bare = ''] = url.split(/[?#]/, 1);
  return `${bare}?${search}`;
}

/** The request that a single `send` and an attempt of a delivery make, and its signature. */
import { addTraceHeaders, type TraceContext } from '../../../base/trace-context.ts';
import type { ClientCertificate } from '../../../client/client-certificate.ts';
import type { HttpRequest } from '../../../client/http-client.ts';
import type { PassedHeaders } from '../../members/pass-through.ts';
import type { PreviousSecret } from '../../members/rotate-secret.ts';
import { hasRequestBody } from '../../members/target-rules.ts';
import type { ReadyOutgoingWebhook } from '../../outgoing/outgoing-webhook-index.ts';
import type { Oauth2 } from '../../outgoing/oauth2-member.ts';
import type { SuccessTest } from '../../outgoing/success-when.ts';
import { createSignatureHeaders } from '../../outgoing/outgoing-signature.ts';
import type { ShownParts, WebhookSigner } from '../../outgoing/webhook-signer.ts';

/** A request without its signature, which depends on the time. */
export type OutgoingRequest = {
  readonly id: string;
  readonly url: string;
  readonly method: string;
  readonly headers: PassedHeaders;
  readonly secret: string | null;
  /** It may be expired. */
  readonly previousSecret: PreviousSecret | null;
  readonly dialect: Dialect | null;
  readonly body: Buffer | null;
  /** The limit of one attempt, and of all together. Absent: the client's settings. */
  readonly timeoutMs?: number | undefined;
  readonly oauth2?: Oauth2 | undefined;
  readonly clientCertificate?: ClientCertificate | undefined;
  /** Absent or null: a status of 2xx delivers. */
  readonly isSuccess?: SuccessTest | null;
};

/** `event` is the name in the request, where the sender has a header for it. */
export type Dialect = { readonly signer: WebhookSigner; readonly event: string };

const NO_BODY = Buffer.alloc(0);

/** `hops` is the length of the request's chain. */
export function buildWebhookRequest(
  webhook: ReadyOutgoingWebhook, id: string, body: Buffer, hops: number,
  dialect: Dialect | null,
): OutgoingRequest {
  return {
    id,
    url: webhook.targetUrl,
    method: webhook.httpMethod,
    headers: webhook.createHeaders(hops),
    secret: webhook.secret ?? null,
    previousSecret: webhook.previousSecret ?? null,
    dialect,
    body: hasRequestBody(webhook.httpMethod) ? body : null,
    timeoutMs: webhook.timeout === undefined ? undefined : webhook.timeout * 1000,
    oauth2: webhook.oauth2,
    clientCertificate: webhook.clientCertificate,
    isSuccess: webhook.isSuccess,
  };
}

/** Adds the trace, unless the webhook's headers name one. */
export function addTrace(request: OutgoingRequest, trace: TraceContext | null): OutgoingRequest {
  return trace === null ? request
    : { ...request, headers: addTraceHeaders(request.headers, trace) };
}

/** The client's request, with the parts that depend on its signature. */
type RequestToSend = SecretParts & { readonly http: HttpRequest };

type SecretParts = {
  /** The parts that a dialect added, without secrets. */
  readonly shown: ShownParts | null;
  /** The secrets that a target which repeats the request would tell: see `hideSecrets`. */
  readonly sentSecrets: readonly string[];
};

/** Signs for the time `atMs` if there is a secret. */
export function signRequest(
  request: OutgoingRequest, atMs: number, retries: number, signal?: AbortSignal,
): RequestToSend {
  const { method, body, timeoutMs, clientCertificate } = request;
  const { url, headers, shown, sentSecrets } = signParts(request, atMs);
  return {
    shown, sentSecrets,
    http: {
      method, url, headers, body: body ?? undefined, timeoutMs, totalTimeoutMs: timeoutMs, retries,
      signal, clientCertificate,
    },
  };
}

function signParts(
  request: OutgoingRequest, atMs: number,
): Pick<OutgoingRequest, 'url' | 'headers'> & SecretParts {
  const { id, url, headers, secret, previousSecret, body, dialect } = request;
  if (dialect !== null) {
    const { event, signer } = dialect;
    return signer({ ...request, event }, atMs);
  }
  if (secret === null) return { url, headers, shown: null, sentSecrets: [] };
  const signature = createSignatureHeaders(secret, id, atMs, body ?? NO_BODY, previousSecret);
  return { url, headers: { ...headers, ...signature }, shown: null, sentSecrets: [] };
}

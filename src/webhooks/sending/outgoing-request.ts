/** The request that a single `send` and an attempt of a delivery make, and its signature. */
import type { ClientCertificate } from '../../client/client-certificate.ts';
import type { HttpRequest } from '../../client/http-client.ts';
import type { PassedHeaders } from '../http/pass-through.ts';
import type { PreviousSecret } from '../http/rotate-secret.ts';
import { hasRequestBody } from '../http/target-rules.ts';
import type { ReadyOutgoingWebhook } from '../outgoing/outgoing-webhook-index.ts';
import type { Oauth2 } from '../outgoing/oauth2-member.ts';
import { createSignatureHeaders } from '../outgoing/outgoing-signature.ts';

/** A request that is ready but for its signature, which depends on the time. */
export type OutgoingRequest = {
  /** The `webhook-id`, which all retries share. */
  readonly id: string;
  readonly url: string;
  readonly method: string;
  readonly headers: PassedHeaders;
  readonly secret: string | null;
  /** The secret before a rotation; it may be expired. */
  readonly previousSecret: PreviousSecret | null;
  /** null if the method has no body. */
  readonly body: Buffer | null;
  /** The limit for one attempt, and for all together. Absent: the client's settings. */
  readonly timeoutMs?: number | undefined;
  /** The credentials of the access token that it is sent with; absent: it has none. */
  readonly oauth2?: Oauth2 | undefined;
  readonly clientCertificate?: ClientCertificate | undefined;
};

const NO_BODY = Buffer.alloc(0);

/** Builds a request by the present settings of a webhook. `hops` is the length of its chain. */
export function buildWebhookRequest(
  webhook: ReadyOutgoingWebhook, id: string, body: Buffer, hops: number,
): OutgoingRequest {
  return {
    id,
    url: webhook.targetUrl,
    method: webhook.httpMethod,
    headers: webhook.createHeaders(hops),
    secret: webhook.secret ?? null,
    previousSecret: webhook.previousSecret ?? null,
    body: hasRequestBody(webhook.httpMethod) ? body : null,
    timeoutMs: webhook.timeout === undefined ? undefined : webhook.timeout * 1000,
    oauth2: webhook.oauth2,
    clientCertificate: webhook.clientCertificate,
  };
}

/** Makes the request of the client, with signatures for the time `atMs` if there is a secret. */
export function signRequest(
  request: OutgoingRequest, atMs: number, retries: number, signal?: AbortSignal,
): HttpRequest {
  const { id, url, method, secret, previousSecret, body, timeoutMs, clientCertificate } = request;
  const headers = secret === null ? request.headers
    : {
      ...request.headers,
      ...createSignatureHeaders(secret, id, atMs, body ?? NO_BODY, previousSecret),
    };
  return {
    method, url, headers, body: body ?? undefined, timeoutMs, totalTimeoutMs: timeoutMs, retries,
    signal, clientCertificate,
  };
}

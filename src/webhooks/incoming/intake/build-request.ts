/** A request that came in, as the inbox keeps it. */
import { formatTimestamp } from '../../../base/clock.ts';
import { loadCrypto } from '../../../base/node-modules.ts';
import type { Exchange } from '../../../server/http-route.ts';
import { createInlineBody } from '../../inbox/request-body.ts';
import {
  ATTEMPT_DATA_BYTES_MAX, type StoredRequest, type RunAttempt,
} from '../../inbox/stored-request.ts';
import { resolveOrigin, type AdmittedRequest } from '../receiving/admitted-request.ts';
import type { ReadyIncomingWebhook } from '../receiving/incoming-webhook-index.ts';
import type { RouteOutcome } from '../receiving/run-webhook-routes.ts';
import { storedHead } from './stored-head.ts';
import { X_SIGNATURE_PRESET } from '../receiving/verify-request.ts';

/** What happened to it. */
type Fate = Pick<StoredRequest, 'id' | 'status' | 'routes'> & Partial<
  Pick<StoredRequest, 'answered' | 'duplicateOf' | 'eventIdReused'>>;

const MESSAGE_LENGTH_MAX = 1024;

/** One that passed its checks. */
export function acceptedRequest(
  exchange: Exchange, received: AdmittedRequest, fate: Fate,
): StoredRequest {
  const { webhook, body, eventNames, verified, signedAtMs, receivedAtMs } = received;
  return requestOf(exchange, webhook, { body, bodyBytes: body.length, atMs: receivedAtMs }, fate, {
    event: eventNames.event, eventId: eventNames.eventId, unparsed: received.unparsed,
    verdict: {
      preset: verified?.preset ?? null, accepted: true, failedCheck: null,
      secret: verified?.secret ?? null,
      signedAt: signedAtMs === null ? null : formatTimestamp(signedAtMs),
    },
  });
}

/** One that did not; `body` is null when it was not read. */
export function rejectedRequest(
  exchange: Exchange, hook: ReadyIncomingWebhook, body: Buffer | null,
  { id, atMs, failedCheck }: {
    readonly id: string; readonly atMs: number; readonly failedCheck: string | null;
  },
): StoredRequest {
  const preset = hook.sender?.preset ?? (hook.hasSecret ? X_SIGNATURE_PRESET : null);
  const announced = Number(exchange.request.headers['content-length'] ?? 0);
  const bodyBytes = body?.length ?? (Number.isSafeInteger(announced) ? announced : 0);
  return requestOf(exchange, hook, { body, bodyBytes, atMs }, {
    id, status: 'rejected', routes: [],
  }, {
    event: null, eventId: null, unparsed: null,
    verdict: { preset, accepted: false, failedCheck, secret: null, signedAt: null },
  });
}

/** About what the request will take. */
export function estimatedBytes({ request, search }: Exchange, body: Buffer): number {
  let bytes = RECORD_BYTES + search.length + body.length;
  for (const part of request.rawHeaders) bytes += part.length + HEADER_BYTES;
  return bytes;
}

/** One run of a route, as it is kept. */
export function attemptOf(
  { result: { success, message }, dataJson, startedAtMs, durationMs }: RouteOutcome,
): RunAttempt {
  const isKept = Buffer.byteLength(dataJson) <= ATTEMPT_DATA_BYTES_MAX;
  return {
    at: formatTimestamp(startedAtMs), durationMs: Math.round(durationMs), success,
    message: message === null ? null : message.slice(0, MESSAGE_LENGTH_MAX).toWellFormed(),
    // What an action gave may change under us; its JSON does not.
    data: isKept ? dataIn(dataJson) : null,
  };
}

function dataIn(json: string): object {
  return json === '{}' ? {} : JSON.parse(json) as object;
}

// The members that are always there, and the quotes and commas around a header.
const RECORD_BYTES = 512;
const HEADER_BYTES = 3;

type Came = {
  readonly body: Buffer | null; readonly bodyBytes: number;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
};

// Each member is named, in one order: spread into one another, the parts made an object whose shape
// V8 makes anew for each, which took 10 of the 70 µs of CPU time that keeping a request takes.
function requestOf(
  exchange: Exchange, hook: ReadyIncomingWebhook, { body, bodyBytes, atMs }: Came, fate: Fate,
  said: Pick<StoredRequest, 'event' | 'eventId' | 'verdict' | 'unparsed'>,
): StoredRequest {
  const { request: { rawHeaders, method = '' }, search } = exchange;
  const { clientAddress, host, protocol } = resolveOrigin(exchange);
  const head = storedHead(rawHeaders, search, hook.sender?.verifier.scheme ?? null);
  const at = formatTimestamp(atMs);
  return {
    id: fate.id,
    receivedAt: at,
    updatedAt: at,
    status: fate.status,
    pinned: false,
    hook: hook.identifier,
    method,
    path: `/webhook/in/${hook.pathSegment}`,
    query: head.query,
    headers: head.headers,
    signatures: head.signatures,
    bodyBytes,
    bodySha256: body === null ? '' : loadCrypto().hash('sha256', body, 'hex'),
    client: clientAddress,
    host,
    protocol,
    event: said.event,
    eventId: said.eventId,
    eventIdReused: fate.eventIdReused ?? false,
    verdict: said.verdict,
    routes: fate.routes,
    answered: fate.answered ?? null,
    duplicateOf: fate.duplicateOf ?? null,
    replayOf: null,
    isReplay: false,
    unparsed: said.unparsed,
    // What is in memory alone has its body beside it.
    inlineBody: body === null || fate.status === 'rejected' ? null
      : createInlineBody(body, fate.status),
  };
}

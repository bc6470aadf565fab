/**
 * Builds the form in which the inbox stores a request. A rejected request is never stored, but has
 * the same form, so that both are listed and shown by the same code.
 */
import { formatTimestamp } from '../../../base/clock.ts';
import { parseJsonText } from '../../../base/json/exact-parser.ts';
import { loadCrypto } from '../../../base/node-modules.ts';
import type { Exchange } from '../../../server/http-route.ts';
import { createInlineBody } from '../request-body.ts';
import {
  ChainRefusal, CoalescedResult, DetailedRunResult, getRecordMessage,
} from '../../actions/run-action.ts';
import { ATTEMPT_DATA_BYTES_MAX, type RunOutcome } from '../../deliveries/delivery.ts';
import type { StoredRequest } from '../../incoming/stored-request.ts';
import {
  readNameOrId, resolveOrigin, type AdmittedRequest,
} from '../../incoming/receiving/admitted-request.ts';
import type { ReadyIncomingWebhook } from '../../incoming/receiving/incoming-webhook-index.ts';
import type { RejectedCall } from '../../incoming/receiving/receive.ts';
import { createReader } from '../../incoming/receiving/verify-request.ts';
import type { RouteOutcome } from '../../incoming/run-webhook-routes.ts';
import { redactHead } from './stored-head.ts';
import { X_SIGNATURE_PRESET } from '../../incoming/verification-member.ts';

/**
 * The members of a stored request that its processing sets: status, deliveries and answer, and
 * whether it repeats an earlier request or its event id.
 */
type RequestOutcome = Pick<StoredRequest, 'id' | 'status' | 'deliveries'> & Partial<
  Pick<StoredRequest, 'answered' | 'duplicateOf' | 'eventIdReused'>>;

const MESSAGE_LENGTH_MAX = 1024;
// Bytes of the members that every record has, and of the quotes and commas around a header.
const RECORD_BYTES = 512;
const HEADER_BYTES = 3;
/** A longer body is not parsed for a caller who cannot sign. */
const READ_BODY_BYTES_MAX = 8 * 1024;
const NO_BODY = Buffer.alloc(0);

export function buildAdmittedRequest(
  request: AdmittedRequest, state: RequestOutcome,
): StoredRequest {
  const { exchange, webhook, body: { received: body }, receivedAtMs: atMs } = request;
  return buildRequest(
    exchange, webhook, { body, bodyBytes: body.length, atMs }, state, request);
}

/**
 * The form of a request that failed a check. It has the sender's name of the event, for people to
 * read, and no id of it: the id must not pass for that of a genuine request.
 */
export function buildRejectedRequest(
  exchange: Exchange, webhook: ReadyIncomingWebhook,
  { body, check: failedCheck, answered }: RejectedCall,
  { id, atMs }: { readonly id: string; readonly atMs: number },
): StoredRequest {
  const preset = webhook.sender?.preset.name ?? (webhook.hasSecret ? X_SIGNATURE_PRESET : null);
  const declaredBytes = Number(exchange.request.headers['content-length'] ?? 0);
  const bodyBytes = body?.length ?? (Number.isSafeInteger(declaredBytes) ? declaredBytes : 0);
  const state: RequestOutcome = { id, status: 'rejected', deliveries: [], answered };
  const readBody = body !== null && body.length <= READ_BODY_BYTES_MAX ? body : NO_BODY;
  const reader = createReader(exchange, readBody, webhook.sender, 0);
  const event = readNameOrId(reader, webhook.sender?.verifier.scheme.event);
  return buildRequest(exchange, webhook, { body, bodyBytes, atMs }, state, {
    event, eventId: null, unparsed: null,
    verdict: { preset, accepted: false, failedCheck, secret: null, signedAt: null },
  });
}

/** An estimate of the bytes that the request will take on disk. */
export function estimateRequestBytes(
  { exchange: { request, search }, body: { received } }: AdmittedRequest,
): number {
  let bytes = RECORD_BYTES + search.length + received.length;
  for (const text of request.rawHeaders) bytes += text.length + HEADER_BYTES;
  return bytes;
}

/** The outcome of one run of a route, for its delivery. */
export function toRunOutcome(
  { result, dataJson, startedAtMs, durationMs }: RouteOutcome,
): RunOutcome {
  const message = getRecordMessage(result);
  const { success } = result;
  const recordData = result instanceof DetailedRunResult ? result.recordData : null;
  const attempt = {
    at: formatTimestamp(startedAtMs), durationMs: Math.round(durationMs), success,
    message: message === null ? null : message.slice(0, MESSAGE_LENGTH_MAX).toWellFormed(),
    data: recordData ?? parseData(dataJson),
  };
  // Duplicates are answered what a success was: after a failure the request runs again.
  const hasCallerData = success && recordData !== null;
  const successEnd = result instanceof CoalescedResult ? 'coalesced' : 'delivered';
  return {
    end: success ? successEnd : 'failed',
    attempt: hasCallerData ? { ...attempt, callerData: parseData(dataJson) ?? {} } : attempt,
    isChainRefused: result instanceof ChainRefusal,
  };
}

/**
 * Parses the JSON, as the action may go on changing the object that it returned; null: the data is
 * too long to be stored.
 */
function parseData(json: string): object | null {
  if (Buffer.byteLength(json) > ATTEMPT_DATA_BYTES_MAX) return null;
  // Most actions return no data.
  return json === '{}' ? {} : parseJsonText(json) as object;
}

type ReceivedBody = {
  /** null: the body was not read. */
  readonly body: Buffer | null;
  /** The length that the body has, or was announced with. */
  readonly bodyBytes: number;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
};

// Each member is named, in one order. Objects spread into one another get a shape that V8 creates
// anew for each request, which took 10 of the 70 µs of CPU time that storing a request takes.
function buildRequest(
  exchange: Exchange, webhook: ReadyIncomingWebhook,
  { body, bodyBytes, atMs }: ReceivedBody, state: RequestOutcome,
  findings: Pick<StoredRequest, 'event' | 'eventId' | 'verdict' | 'unparsed'>,
): StoredRequest {
  const { request: { rawHeaders, method = '' }, search } = exchange;
  const { clientAddress, host, protocol } = resolveOrigin(exchange);
  const head = redactHead(rawHeaders, search, webhook.sender?.verifier.scheme ?? null);
  const at = formatTimestamp(atMs);
  return {
    id: state.id,
    receivedAt: at,
    updatedAt: at,
    status: state.status,
    pinned: false,
    hook: webhook.identifier,
    method,
    path: exchange.path,
    query: head.query,
    headers: head.headers,
    signatures: head.signatures,
    bodyBytes,
    bodySha256: body === null ? '' : loadCrypto().hash('sha256', body, 'hex'),
    client: clientAddress,
    host,
    protocol,
    event: findings.event,
    eventId: findings.eventId,
    eventIdReused: state.eventIdReused ?? false,
    verdict: findings.verdict,
    deliveries: state.deliveries,
    answered: state.answered ?? null,
    duplicateOf: state.duplicateOf ?? null,
    // A replay (inbox/replay.ts) sets isReplay, and replayOf only in a copy that it makes.
    replayOf: null,
    isReplay: false,
    unparsed: findings.unparsed,
    // null: the body was not read; or the request is rejected, which is in memory alone with its
    // body beside it; or the body is so long that it gets a record of its own.
    inlineBody: body === null || state.status === 'rejected' ? null
      : createInlineBody(body),
  };
}

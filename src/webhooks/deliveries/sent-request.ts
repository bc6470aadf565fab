/** The request that a delivery sent last: its body byte for byte, its head without secrets. */
import { MASK } from '../../base/log.ts';
import { addTraceHeaders, type TraceContext } from '../../base/trace-context.ts';
import { CHAIN_HEADER } from '../../base/webhook-chain.ts';
import { findCommitted } from '../../store/find-record.ts';
import type { Store } from '../../store/store-port.ts';
import { isSystemEventName, SYSTEM_EVENT_HEADER } from '../actions/event-name.ts';
import { redactHeaders } from '../members/redact-headers.ts';
import { hasRequestBody } from '../members/target-rules.ts';
import { hideUrlSecrets } from '../members/url-credentials.ts';
import type { StoredDelivery, SentHead } from './delivery.ts';
import { findMadeBody } from './delivery-body.ts';
import type { PublicSentRequest } from './delivery-schema.ts';
import { decodeEventHead, findEventRecord, readPayloadBytes } from './event-record.ts';
import { decodeForward } from './queued-forward.ts';

export type SentHttpRequest = SentHead & {
  /** null: the method has none. */
  readonly body: Buffer | null;
};

/** End the stored head of a signed request: a webhook may have own headers of these names. */
export const SIGNATURES = ['webhook-signature', MASK, 'x-signature', MASK];

/** null: nothing was sent, or the event is gone. */
export function findSentRequest(store: Store, delivery: StoredDelivery): SentHttpRequest | null {
  const eventRecord = findEventRecord(findCommitted(store), delivery.item);
  const { attempts, sent, hook } = delivery.item;
  if (attempts.length === 0 || eventRecord === undefined) return null;
  if (hook === null) {
    const { url, method, headers, body, hiddenParameters } = decodeForward(eventRecord);
    const publicUrl = hideUrlSecrets(url, hiddenParameters);
    return { url: publicUrl, method, headers: redactHeaders(headers), body };
  }
  if (sent === null) return null;
  const headers = [...sent.headers, ...buildDerivedHeaders(delivery, eventRecord)];
  const body = hasRequestBody(sent.method) ? findSentBody(store, delivery, eventRecord) : null;
  return { ...sent, headers, body };
}

export function toPublicSentRequest(sent: SentHttpRequest | null): PublicSentRequest | null {
  if (sent === null) return null;
  const { method, url, headers, body } = sent;
  const pairs = headers.flatMap((name, index) =>
    index % 2 === 0 ? [[name, headers[index + 1] ?? ''] as const] : []);
  return { method, url, headers: pairs, bodyBytes: body?.length ?? 0 };
}

function findSentBody(store: Store, { item }: StoredDelivery, eventRecord: Buffer): Buffer | null {
  return findMadeBody(findCommitted(store), item) ?? readPayloadBytes(eventRecord);
}

function buildDerivedHeaders({ item }: StoredDelivery, eventRecord: Buffer): string[] {
  const { identifier, event, attempts, sent } = item;
  const isSigned = sent !== null && endsWithSignatures(sent.headers);
  const atMs = Date.parse(attempts.at(-1)?.at ?? '');
  const { hops, trace } = decodeEventHead(eventRecord);
  return [
    CHAIN_HEADER, String(hops),
    ...listTraceHeaders(sent?.headers ?? [], trace),
    ...isSystemEventName(event) ? [SYSTEM_EVENT_HEADER, event] : [],
    ...isSigned
      ? ['webhook-id', identifier, 'webhook-timestamp', String(Math.floor(atMs / 1000))] : [],
  ];
}

/** A trace among the webhook's own headers stays. */
function listTraceHeaders(
  headers: readonly string[], trace: TraceContext | null,
): readonly string[] {
  if (trace === null || headers.includes('traceparent')) return [];
  return Object.entries(addTraceHeaders<string>({}, trace)).flat();
}

function endsWithSignatures(headers: readonly string[]): boolean {
  const end = headers.slice(-SIGNATURES.length);
  return SIGNATURES.every((text, index) => end[index] === text);
}

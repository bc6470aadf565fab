/** What a delivery sent last, as it is kept: of the body every byte, of the head no secret. */
import { CHAIN_HEADER } from '../../base/webhook-chain.ts';
import type { Store } from '../../store/store-port.ts';
import { isSystemEventName } from '../actions/event-name.ts';
import { redactHeaders } from '../http/redact-headers.ts';
import { hasRequestBody } from '../http/target-rules.ts';
import { hideUrlSecrets } from '../http/url-credentials.ts';
import type { KnownDelivery, SentHead } from './delivery.ts';
import { decodeForward, depthOf, messageBytesOf, payloadOf } from './message.ts';
import { OWN_EVENT_HEADER } from './own-events.ts';

export type Sent = SentHead & {
  /** null: the method has none. */
  readonly body: Buffer | null;
};

export type ShownSent = {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly bodyBytes: number;
};

/** null when nothing has been sent, or version 1.0.0 has sent it, which kept nothing. */
export function findSent(store: Store, known: KnownDelivery): Sent | null {
  const message = messageBytesOf(store, known);
  const { attempts, sent, hook } = known.item;
  if (attempts.length === 0 || message === undefined) return null;
  if (hook === null) {
    const { url, method, headers, body, hiddenParameters } = decodeForward(message);
    const shownUrl = hideUrlSecrets(url, hiddenParameters);
    return { url: shownUrl, method, headers: redactHeaders(headers), body };
  }
  if (sent === null) return null;
  const headers = [...sent.headers, ...headersOf(known, depthOf(message))];
  return { ...sent, headers, body: hasRequestBody(sent.method) ? bodyOf(known, message) : null };
}

export function shownSent(sent: Sent | null): ShownSent | null {
  if (sent === null) return null;
  const { method, url, headers, body } = sent;
  const pairs = headers.flatMap((name, index) =>
    index % 2 === 0 ? [[name, headers[index + 1] ?? ''] as const] : []);
  return { method, url, headers: pairs, bodyBytes: body?.length ?? 0 };
}

function bodyOf({ item }: KnownDelivery, message: Buffer): Buffer | null {
  return item.body === null ? payloadOf(message) : Buffer.from(item.body, 'utf8');
}

/** Those that follow from the delivery and its last attempt. */
function headersOf({ item }: KnownDelivery, depth: number): string[] {
  const { identifier, event, attempts, sent } = item;
  const isSigned = sent?.headers.includes('webhook-signature') === true;
  const atMs = Date.parse(attempts.at(-1)?.at ?? '');
  return [
    CHAIN_HEADER, String(depth),
    ...isSystemEventName(event) ? [OWN_EVENT_HEADER, event] : [],
    ...isSigned
      ? ['webhook-id', identifier, 'webhook-timestamp', String(Math.floor(atMs / 1000))] : [],
  ];
}

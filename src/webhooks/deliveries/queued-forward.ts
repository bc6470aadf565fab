/**
 * A queued forward goes to the URL that an action names, as a delivery of its own. It is a record
 * of the collection `events` (event-record.ts) with that URL. Its `name` is null and its `hooks`
 * are `[null]`: nobody hears it, and the record is deleted with its one delivery. The delivery has
 * no webhook, so it is tried again as the setting `outgoing.retrySchedule` says. The payload is
 * what is sent to the URL:
 *
 *     {"method","headers","hiddenParameters"?,"encoding"?,"text":"<body>"}
 *
 * `text` is the received body in UTF-8, or in base64 if `encoding` says so, or null.
 */
import { isUtf8 } from 'node:buffer';
import { assert } from '../../base/assert.ts';
import { formatTimestamp } from '../../base/clock.ts';
import { readTraceContext } from '../../base/trace-context.ts';
import { CHAIN_HEADER, parseHops } from '../../base/webhook-chain.ts';
import { decodeRecordAs } from '../../resources/record.ts';
import type { FindRecord } from '../../store/store-port.ts';
import type { Forward } from '../actions/http-forward-action.ts';
import type { RelayContext } from '../relay-context.ts';
import { formatTargetLabel } from '../webhook-label.ts';
import { stageEventWithDelivery } from './delivery-changes.ts';
import type { Delivery } from './delivery.ts';
import {
  decodeEventHead, encodeEvent, findEventHead, readPayloadBytes, type EventHead,
} from './event-record.ts';
import type { QueueCapacity } from './queue-capacity.ts';

type ForwardRecord = Omit<Forward, 'url' | 'body'> & {
  readonly encoding?: 'base64'; readonly text: string | null;
};

/** Resolves with the identifier of the delivery. Throws `unavailable` when the queue is full. */
export async function queueForward(
  { store, clock, makeId }: RelayContext, capacity: QueueCapacity, forward: Forward,
): Promise<string> {
  const origin = { identifier: makeId(), createdAt: formatTimestamp(clock.now()) };
  const json = encodeForward(origin, forward);
  const bytes = Buffer.byteLength(json);
  const delivery = await store.transact((transaction) => {
    capacity.reserve(transaction, 1, bytes);
    return stageEventWithDelivery(
      transaction, { ...origin, name: null, webhookIds: [null] }, json);
  });
  return delivery.identifier;
}

/** The hops and the trace of a forward are in its headers. */
export function encodeForward(
  event: Pick<EventHead, 'identifier' | 'createdAt'>, { url, body, ...forward }: Forward,
): string {
  const encoding = body === null || isUtf8(body) ? undefined : 'base64';
  const text = body === null ? null : body.toString(encoding ?? 'utf8');
  return encodeEvent({
    identifier: event.identifier, createdAt: event.createdAt, name: null, source: 'action', url,
    hops: parseHops(forward.headers[CHAIN_HEADER]), trace: readTraceContext(forward.headers),
    webhookIds: [null],
  }, JSON.stringify({ ...forward, encoding, text }));
}

export function decodeForward(record: Buffer): Forward {
  const { url } = decodeEventHead(record);
  assert(url !== null, 'a queued forward has a URL');
  const { encoding = 'utf8', text, ...forward } = decodeRecordAs<ForwardRecord>(
    readPayloadBytes(record), ({ method }) => typeof method === 'string', JSON.parse);
  return { ...forward, url, body: text === null ? null : Buffer.from(text, encoding) };
}

/** The host and path of a queued forward's target; null when its event is gone. */
export function findForwardTarget(find: FindRecord, delivery: Delivery): string | null {
  const url = findEventHead(find, delivery)?.url ?? null;
  return url === null ? null : formatTargetLabel(url);
}

/** The `host:port` of a queued forward; empty when its event is gone. */
export function findForwardHost(find: FindRecord, delivery: Delivery): string {
  const url = findEventHead(find, delivery)?.url ?? null;
  return url === null ? '' : new URL(url).host;
}

/** Makes the request that an attempt sends from a stored delivery. */
import { AppError, messageOf } from '../../base/errors.ts';
import { formatTimestamp } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { createTaggedLogger } from '../../base/log.ts';
import type { Logger } from '../../base/log.ts';
import type { Store } from '../../store/store-port.ts';
import { isSystemEventName } from '../actions/event-name.ts';
import type { BodyMaker } from './body-maker.ts';
import { decodeDelivery, readStatus } from '../deliveries/delivery-codec.ts';
import {
  deliveryCollection, type StoredDelivery, type AttemptOutcome, type SentHead,
} from '../deliveries/delivery.ts';
import { changeDeliveries } from '../deliveries/delivery-changes.ts';
import {
  decodeForward, readHops, findEventRecord, readPayloadBytes,
} from '../deliveries/event-record.ts';
import { SYSTEM_EVENT_HEADER } from '../deliveries/system-events.ts';
import type {
  OutgoingWebhookIndex, ReadyOutgoingWebhook,
} from '../outgoing/outgoing-webhook-index.ts';
import type { QueueCapacity } from '../deliveries/queue-capacity.ts';
import { formatTargetLabel } from '../webhook-label.ts';
import { buildRequest, type DeliveryRequest } from './webhook-sender.ts';
import { sentHeadOf } from './sent-head.ts';

export type RequestDeps = {
  readonly store: Store;
  readonly hooks: Pick<OutgoingWebhookIndex, 'find'>;
  readonly bodies: BodyMaker;
  readonly clock: Clock;
  readonly log: Logger;
  readonly capacity: Pick<QueueCapacity, 'mayMakeBody' | 'checkBodyRoom' | 'reserveWhile'>;
};

export type PreparedAttempt = {
  /** What is to be kept of its head; null for what its message holds, or when nothing goes out. */
  readonly sent: SentHead | null;
  readonly stored: StoredDelivery;
} & ({ readonly request: DeliveryRequest } | { readonly failure: AttemptOutcome });

/** There is no room for a body at present; the delivery is to wait as it is. */
export const NO_BODY_ROOM = 'held back';

/**
 * The request, by what the hook's record says now; or the failure when there is nothing to send; or
 * null when the delivery is not to be attempted any more. The body that an action or a template
 * makes is stored before the first attempt, so that every retry sends the same bytes. Returns a
 * promise only where there is something to wait for.
 */
export function prepareRequest(
  deps: RequestDeps, identifier: string,
): PreparedAttempt | null | Promise<PreparedAttempt | typeof NO_BODY_ROOM | null> {
  const bytes = deps.store.collection(deliveryCollection.name).findBytes(identifier);
  if (bytes === undefined || readStatus(bytes) !== 'pending') return null;
  const stored = { bytes, item: decodeDelivery(bytes) };
  const delivery = stored.item;
  const eventRecord = findEventRecord(deps.store, stored);
  const fail = (failure: AttemptOutcome): PreparedAttempt => ({ failure, sent: null, stored });
  if (eventRecord === undefined) return fail(createFailure(deps.clock, 'its payload is gone'));
  const payload = readPayloadBytes(eventRecord);
  if (payload === null || delivery.hook === null) {
    return { request: buildForwardRequest(identifier, eventRecord), sent: null, stored };
  }
  const hook = deps.hooks.find(delivery.hook);
  if (hook === undefined || !hook.enabled) return null;
  const hops = readHops(eventRecord);
  const sendBody = (body: Buffer): PreparedAttempt => {
    const request = addSystemEventHeader(
      buildRequest(hook, identifier, body, hops), delivery.event);
    return { request, sent: sentHeadOf(hook), stored };
  };
  if (delivery.body !== null) return sendBody(Buffer.from(delivery.body, 'utf8'));
  if (delivery.isPayload || !deps.bodies.needsMaking(hook)) return sendBody(payload);
  // That takes a while: by then the delivery may be cancelled or its hook changed.
  // The action runs beside the request, and not after it: what it sends is the same hop.
  return makeAndStoreBody(deps, hook, identifier, hops - 1, payload)
    .then((failure) => {
      if (failure === NO_BODY_ROOM) return NO_BODY_ROOM;
      return failure === null ? prepareRequest(deps, identifier) : fail(failure);
    });
}

/** What one of our own events causes elsewhere is not told by another one. */
function addSystemEventHeader(request: DeliveryRequest, event: string | null): DeliveryRequest {
  if (!isSystemEventName(event)) return request;
  return { ...request, headers: { ...request.headers, [SYSTEM_EVENT_HEADER]: event } };
}

/**
 * Makes the body and stores it; returns the failure when it cannot be made. What is made and what
 * is being stored are counted as if they were stored: many are made at the same time.
 */
async function makeAndStoreBody(
  deps: RequestDeps, hook: ReadyOutgoingWebhook, identifier: string, hops: number, payload: Buffer,
): Promise<AttemptOutcome | typeof NO_BODY_ROOM | null> {
  const { capacity } = deps;
  if (!capacity.mayMakeBody(identifier)) return NO_BODY_ROOM;
  let text: string;
  let isChainRefused = false;
  const origin = {
    hops, log: createTaggedLogger(deps.log, { delivery: identifier, ...hook.labels }),
    onChainRefused: () => {
      isChainRefused = true;
    },
  };
  try {
    // How long it becomes is not known yet.
    const body = await capacity.reserveWhile(payload.length, () =>
      deps.bodies.make(hook, payload, origin));
    text = body.toString('utf8');
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown;
    return { ...createFailure(deps.clock, messageOf(thrown)), isChainRefused };
  }
  // As the record holds it.
  const bytes = Buffer.byteLength(JSON.stringify(text));
  const room = capacity.checkBodyRoom(identifier, bytes, payload.length);
  if (room === 'later') return NO_BODY_ROOM;
  if (room === 'never') {
    return createFailure(deps.clock,
      'there is no room to keep its body (outgoing.maxPendingBytes)');
  }
  await capacity.reserveWhile(bytes, () => deps.store.transact((transaction) =>
    changeDeliveries(transaction, (unit) => unit.change(identifier, (before) =>
      before.status === 'pending' ? { ...before, body: text } : null))));
  return null;
}

function buildForwardRequest(id: string, eventRecord: Buffer): DeliveryRequest {
  const { url, method, headers, body } = decodeForward(eventRecord);
  return {
    id, url, method, headers, secret: null, previousSecret: null, body,
  };
}

/** An attempt that failed before anything could go out. */
export function createFailure(clock: Clock, error: string): AttemptOutcome {
  const at = formatTimestamp(clock.now());
  const attempt = { at, durationMs: 0, statusCode: null, error, response: null };
  return { kind: 'failed', attempt, retryAfterMs: 0, isUnsent: true };
}

/** Host and path that a queued forward goes to; null when its message is gone. */
export function findForwardTarget(store: Store, stored: StoredDelivery): string | null {
  const bytes = findEventRecord(store, stored);
  return bytes === undefined ? null : formatTargetLabel(decodeForward(bytes).url);
}

/** `host:port` that a queued forward goes to. */
export function findForwardHost(store: Store, stored: StoredDelivery): string {
  const bytes = findEventRecord(store, stored);
  return bytes === undefined ? '' : new URL(decodeForward(bytes).url).host;
}

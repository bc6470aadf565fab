/** Builds the request that an attempt sends, from a stored delivery. */
import { AppError, messageOf } from '../../../base/errors.ts';
import { formatTimestamp, type Clock } from '../../../base/clock.ts';
import { createTraceFields } from '../../../base/trace-context.ts';
import { createTaggedLogger, MASK } from '../../../base/log.ts';
import { findCommitted } from '../../../store/find-record.ts';
import type { Transaction } from '../../../store/store-port.ts';
import { isSystemEventName, SYSTEM_EVENT_HEADER } from '../../actions/event-name.ts';
import { SwitchedOffError } from '../../actions/run-action.ts';
import type { SentEvent } from './body-maker.ts';
import { decodeDelivery, deliveryHead } from '../delivery-codec.ts';
import {
  deliveryCollection, type SendOutcome, type Delivery, type SentHead, type StoredDelivery,
} from '../delivery.ts';
import { deliveryBodyCollection, encodeBodyRecord, findMadeBody } from '../delivery-body.ts';
import {
  decodeEventHead, findEventRecord, readPayloadBytes, type EventHead,
} from '../event-record.ts';
import { decodeForward } from '../queued-forward.ts';
import { nameSentEvent } from '../durable-send.ts';
import { SIGNATURES } from '../sent-request.ts';
import { redactHeaders } from '../../members/redact-headers.ts';
import { resolveHeaders } from '../../members/target-rules.ts';
import { hideUrlSecrets } from '../../members/url-credentials.ts';
import type { ReadyOutgoingWebhook } from '../../outgoing/outgoing-webhook-index.ts';
import type { Postponement } from '../../work/queue-worker.ts';
import {
  addTrace, buildWebhookRequest, type Dialect, type OutgoingRequest,
} from './outgoing-request.ts';
import { addCloudEvent, listCloudEventHeaders, readCloudEvent } from './cloud-event.ts';
import type { DeliveryContext } from './delivery-context.ts';

export type PreparedAttempt = {
  /** The head to be stored; null for a queued forward, whose event has it, and for a failure. */
  readonly sent: SentHead | null;
  readonly isPayload: boolean;
  readonly storedDelivery: StoredDelivery;
} & ({ readonly request: OutgoingRequest } | { readonly failure: SendOutcome });

export const NO_BODY_ROOM: Postponement = { postponedMs: 10_000 };

/**
 * Whether the next start of a delivery makes its body and sends nothing. The pace of its webhook,
 * which has a `rate`, does not count that start: at a counted start the request can leave at once.
 * A webhook that is off is probed in one start.
 */
export function isBodyToMake(
  { store, webhooks, bodies }: Pick<DeliveryContext, 'store' | 'webhooks' | 'bodies'>,
  webhookId: string, deliveryId: string,
): boolean {
  const webhook = webhooks.find(webhookId);
  if (webhook === undefined || !isBodyMadeApart(webhook)) return false;
  if (!bodies.needsMaking(webhook)) return false;
  const bytes = store.collection(deliveryCollection.name).findBytes(deliveryId);
  if (bytes === undefined) return false;
  const delivery = decodeDelivery(bytes);
  return !delivery.isPayload && findMadeBody(findCommitted(store), delivery) === null;
}

function isBodyMadeApart({ enabled, rate }: ReadyOutgoingWebhook): boolean {
  return enabled && rate !== undefined;
}

/**
 * Prepares the request by the present settings of the webhook. Returns a failure when there is
 * nothing to send, and null when the delivery must not be attempted any more. A body made by an
 * action, a template or a format is stored before the first attempt, so that every retry sends the
 * same bytes.
 */
export async function prepareRequest(
  context: DeliveryContext, identifier: string,
): Promise<PreparedAttempt | Postponement | null> {
  const bytes = context.store.collection(deliveryCollection.name).findBytes(identifier);
  if (bytes === undefined) return null;
  const delivery = decodeDelivery(bytes);
  if (delivery.status !== 'pending') return null;
  const storedDelivery = { bytes, item: delivery };
  const eventRecord = findEventRecord(findCommitted(context.store), delivery);
  const fail = (failure: SendOutcome): PreparedAttempt =>
    ({ failure, sent: null, isPayload: delivery.isPayload, storedDelivery });
  if (eventRecord === undefined) return fail(createFailure(context.clock, 'its payload is gone'));
  const head = decodeEventHead(eventRecord);
  if (isDelayedSend(delivery, head) && await isCancelled(context, identifier)) return null;
  if (delivery.hook === null) {
    const request = buildForwardRequest(identifier, eventRecord);
    return { request, sent: null, isPayload: delivery.isPayload, storedDelivery };
  }
  const webhook = context.webhooks.find(delivery.hook);
  if (webhook === undefined || (!webhook.enabled && !webhook.isProbed)) return null;
  const { hops, trace, createdAt } = head;
  const name = nameSentEvent(delivery, head);
  const dialect = webhook.getSigner === null ? null : prepareDialect(webhook.getSigner, name);
  if (typeof dialect === 'string') return fail(createFailure(context.clock, dialect));
  const sendBody = (body: Buffer, isPayload: boolean): PreparedAttempt => {
    const request = addTrace(addSystemEventHeader(
      buildWebhookRequest(webhook, identifier, body, hops, dialect), delivery.event), trace);
    const sent = buildSentHead(webhook);
    if (webhook.format !== 'cloudevents') return { request, sent, isPayload, storedDelivery };
    const event = readCloudEvent(delivery, eventRecord, context.cloudEventSource);
    // Before the other headers, as signatures are known by their place at the end.
    const headers = [...listCloudEventHeaders(event), ...sent.headers];
    return {
      request: addCloudEvent(request, event), sent: { ...sent, headers }, isPayload, storedDelivery,
    };
  };
  const payload = readPayloadBytes(eventRecord);
  const madeBody = findMadeBody(findCommitted(context.store), delivery);
  if (madeBody !== null) return sendBody(madeBody, false);
  if (delivery.isPayload || !context.bodies.needsMaking(webhook)) return sendBody(payload, true);
  // The action runs beside the request, not after it: what it sends is the same hop.
  const cause = { hops: hops - 1, trace, event: { name, createdAt } };
  const failure = await makeAndStoreBody(context, webhook, identifier, cause, payload);
  if (failure !== null) return 'postponedMs' in failure ? failure : fail(failure);
  // A webhook changed meanwhile may be off, or have a rate, or another host.
  const isChanged = context.webhooks.find(delivery.hook) !== webhook;
  if (isChanged || isBodyMadeApart(webhook)) return { postponedMs: 0 };
  // Check all again: the delivery may be cancelled meanwhile.
  return prepareRequest(context, identifier);
}

/** Returns a text if the webhook's `signing` cannot be used. */
function prepareDialect(
  getSigner: NonNullable<ReadyOutgoingWebhook['getSigner']>, event: string,
): Dialect | string {
  try {
    return { signer: getSigner(), event };
  } catch (thrown) {
    if (thrown instanceof AppError) return messageOf(thrown);
    throw thrown;
  }
}

/** See durable-send.ts. */
function isDelayedSend({ queuedAt, attempts }: Delivery, { to }: EventHead): boolean {
  return queuedAt !== null && attempts.length === 0 && to !== null;
}

/** A delivery that is still there may be cancelled: its removal may be being written. */
async function isCancelled({ store }: DeliveryContext, identifier: string): Promise<boolean> {
  const find = (transaction: Transaction): Buffer | undefined =>
    transaction.find(deliveryCollection.name, identifier);
  return await store.transact(find) === undefined;
}

// The head is the same for all deliveries of a webhook until the webhook changes.
const sentHeads = new WeakMap<ReadyOutgoingWebhook, SentHead>();

/** The head to be stored, without headers that follow from the attempt: see `sent-request.ts`. */
function buildSentHead(webhook: ReadyOutgoingWebhook): SentHead {
  const cachedHead = sentHeads.get(webhook);
  if (cachedHead !== undefined) return cachedHead;
  const {
    httpMethod: method, targetUrl, secret, headers, contentType, oauth2, getSigner,
  } = webhook;
  const head = {
    method,
    url: hideUrlSecrets(targetUrl),
    headers: [
      ...redactHeaders(resolveHeaders(method, headers, contentType)),
      ...oauth2 === undefined ? [] : ['authorization', MASK],
      // A dialect has its own headers: see `addShownParts` in delivery-attempter.ts.
      ...secret === undefined || getSigner !== null ? [] : SIGNATURES,
    ],
  };
  sentHeads.set(webhook, head);
  return head;
}

/** A request with a system event is marked: it must not cause another system event elsewhere. */
function addSystemEventHeader(request: OutgoingRequest, event: string | null): OutgoingRequest {
  if (!isSystemEventName(event)) return request;
  return { ...request, headers: { ...request.headers, [SYSTEM_EVENT_HEADER]: event } };
}

/**
 * Makes the body and stores it. Resolves with null, or with the failure when the body cannot be
 * made. A body counts for the queue's capacity while it is made and stored, because many are made
 * at the same time.
 */
async function makeAndStoreBody(
  context: DeliveryContext, webhook: ReadyOutgoingWebhook, identifier: string,
  { hops, trace, event }: Pick<EventHead, 'hops' | 'trace'> & { readonly event: SentEvent },
  payload: Buffer,
): Promise<SendOutcome | Postponement | null> {
  const { capacity } = context;
  if (!capacity.mayMakeBody(identifier)) return NO_BODY_ROOM;
  let text: string;
  let isChainRefused = false;
  const origin = {
    hops, trace,
    log: createTaggedLogger(context.log, {
      delivery: identifier, ...webhook.labels, ...createTraceFields(trace),
    }),
    onChainRefused: () => {
      isChainRefused = true;
    },
  };
  try {
    // The length of the body is not known yet: that of the payload is reserved.
    const body = await capacity.reserveBodyWhile(payload.length, () =>
      context.bodies.make(webhook, payload, event, origin));
    text = body.toString('utf8');
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown;
    if (thrown instanceof SwitchedOffError) return { postponedMs: thrown.remainingMs };
    return { ...createFailure(context.clock, messageOf(thrown)), isChainRefused };
  }
  const record = encodeBodyRecord(identifier, text);
  const recordBytes = Buffer.byteLength(record);
  const room = capacity.checkBodyRoom(identifier, recordBytes, payload.length);
  if (room === 'later') return NO_BODY_ROOM;
  if (room === 'never') {
    return createFailure(context.clock,
      'there is no room to keep its body (outgoing.maxPendingBytes)');
  }
  await capacity.reserveBodyWhile(recordBytes, () => context.store.transact((transaction) => {
    const bytes = transaction.find(deliveryCollection.name, identifier);
    if (bytes === undefined || deliveryHead.readStatus(bytes) !== 'pending') return;
    // An attempt that began after ours was cut off may have sent its body.
    if (transaction.find(deliveryBodyCollection.name, identifier) !== undefined) return;
    transaction.put(deliveryBodyCollection.name, identifier, record);
  }));
  return null;
}

function buildForwardRequest(id: string, eventRecord: Buffer): OutgoingRequest {
  const { url, method, headers, body } = decodeForward(eventRecord);
  return { id, url, method, headers, secret: null, previousSecret: null, dialect: null, body };
}

/** The outcome of a failed attempt that sent nothing. */
export function createFailure(clock: Clock, error: string): SendOutcome {
  const at = formatTimestamp(clock.now());
  const attempt = { at, durationMs: 0, statusCode: null, error, response: null };
  return { end: 'failed', attempt, retryAfterMs: 0, isUnsent: true };
}

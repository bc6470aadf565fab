/**
 * Resends a delivery by hand: either the same delivery, with its bytes and its `webhook-id`, so
 * that a receiver that has it may drop it; or a new delivery of the same event, whose body is made
 * anew.
 */
import { formatTimestamp } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { deriveIds } from '../../base/uuid.ts';
import { findStaged } from '../../store/find-record.ts';
import { notFoundError } from '../../resources/not-found.ts';
import type { Transaction, TransactionInputs } from '../../store/store-port.ts';
import { changeItem } from '../work/change-items.ts';
import { outgoingCollection } from '../outgoing/outgoing-webhook.ts';
import type { QueueCapacity } from './queue-capacity.ts';
import { deliveryBodyCollection } from './delivery-body.ts';
import { decodeDelivery, readEventId } from './delivery-codec.ts';
import {
  DELIVERY_STATUSES, countsAsQueued, createDelivery, deliveryCollection, deriveDeliveryIds,
  resetForRetry, type Delivery, type DeliveryStatus, type StoredDelivery,
} from './delivery.ts';
import { addLateDeliveries } from './late-deliveries.ts';
import { eventCollection, findEventRecord } from './event-record.ts';
import { decodeForward, encodeForward } from './queued-forward.ts';
import { deliverySpec, stageDelivery } from './delivery-changes.ts';

export type ResendMode = 'retry' | 'new';

export type ResendCapacity = Pick<QueueCapacity, 'isEventQueued'> & {
  reserve(transaction: Transaction, count: number, bytes: number): void;
};

/**
 * Returns the delivery, due now. Throws `not_found`; `conflict` when the event or the webhook is
 * gone, for a delivery to a route, and for a new delivery of a pending one; `unavailable` when the
 * queue is full.
 */
export function stageResend(
  transaction: Transaction, identifier: string, mode: ResendMode,
  inputs: Omit<TransactionInputs, 'hops'>, capacity: ResendCapacity,
): Delivery {
  return mode === 'new' ? stageNewDelivery(transaction, identifier, inputs, capacity)
    : stageRetry(transaction, identifier, DELIVERY_STATUSES, inputs.nowMs, capacity);
}

/**
 * Makes a delivery with one of the `statuses` due now. It may still wait for those before it in a
 * strict order, and for a backfill, which holds what is placed behind its begin. Throws what
 * `stageResend` throws, and `conflict` for another status.
 */
export function stageRetry(
  transaction: Transaction, identifier: string, statuses: readonly DeliveryStatus[], nowMs: number,
  capacity: ResendCapacity,
): Delivery {
  const storedDelivery = getDelivery(transaction, identifier);
  const { status } = storedDelivery.item;
  if (!statuses.includes(status)) {
    throw new AppError('conflict', `delivery ${identifier} is ${status}; only `
      + `${statuses.join(' and ')} ones can be tried again, and this one resent`);
  }
  checkWebhookExists(transaction, storedDelivery.item);
  const eventRecord = getEventRecord(transaction, storedDelivery);
  if (status !== 'pending') {
    reserveRoom(transaction, storedDelivery, eventRecord, 'retry', capacity);
  }
  const change = (before: Delivery): Delivery => resetForRetry(before, nowMs);
  return changeItem(deliverySpec, transaction, identifier, change, storedDelivery)?.after
    ?? storedDelivery.item;
}

/**
 * Reserves a place, and the bytes by which a resend lengthens the queue: a new delivery is taken to
 * need what the former one has. An event that several resends share is reserved once.
 */
function reserveRoom(
  transaction: Transaction, storedDelivery: StoredDelivery, eventRecord: Buffer, mode: ResendMode,
  capacity: ResendCapacity,
): void {
  const { identifier, hook, status } = storedDelivery.item;
  const reserve = (bytes: number): void => capacity.reserve(transaction, 1, bytes);
  // A new forward has an event of its own.
  if (mode === 'new' && hook === null) return reserve(eventRecord.length);
  // The bytes of a pending or failed delivery are counted already.
  if (mode === 'retry' && countsAsQueued(status)) return reserve(0);
  const eventId = readEventId(storedDelivery.bytes);
  const eventResource = `event ${eventId}`;
  const isCounted = capacity.isEventQueued(eventId) || transaction.countReserved(eventResource) > 0;
  const eventBytes = isCounted ? 0 : eventRecord.length;
  const bodyBytes = findStaged(transaction)(deliveryBodyCollection.name, identifier)?.length ?? 0;
  reserve(storedDelivery.bytes.length + bodyBytes + eventBytes);
  transaction.reserve(eventResource, 1);
}

/** Throws `not_found`, and `conflict` for a delivery to a route. */
export function getDelivery(transaction: Transaction, identifier: string): StoredDelivery {
  const bytes = transaction.find(deliveryCollection.name, identifier);
  if (bytes === undefined) throw notFoundError('delivery', identifier);
  const item = decodeDelivery(bytes);
  if (item.request !== null) {
    throw new AppError('conflict', `delivery ${identifier} is a part of request ${item.request}: `
      + 'replay or delete that request instead');
  }
  return { bytes, item };
}

function checkWebhookExists(transaction: Transaction, delivery: Delivery): void {
  if (isWebhookGone(transaction, delivery)) {
    throw new AppError('conflict', `the webhook of delivery ${delivery.identifier} is gone`);
  }
}

/** Throws `conflict` if the event is gone. */
function getEventRecord(transaction: Transaction, storedDelivery: StoredDelivery): Buffer {
  const eventRecord = findEventRecord(findStaged(transaction), storedDelivery.item);
  if (eventRecord === undefined) {
    throw new AppError('conflict',
      `what delivery ${storedDelivery.item.identifier} sent has not been kept`);
  }
  return eventRecord;
}

/** False for a queued forward. */
export function isWebhookGone(
  transaction: Transaction, { hook: webhookId }: Pick<Delivery, 'hook'>,
): boolean {
  return webhookId !== null && transaction.find(outgoingCollection.name, webhookId) === undefined;
}

function stageNewDelivery(
  transaction: Transaction, identifier: string, inputs: Omit<TransactionInputs, 'hops'>,
  capacity: ResendCapacity,
): Delivery {
  const storedDelivery = getDelivery(transaction, identifier);
  checkWebhookExists(transaction, storedDelivery.item);
  const eventRecord = getEventRecord(transaction, storedDelivery);
  const { status, hook, event } = storedDelivery.item;
  if (status === 'pending') {
    throw new AppError('conflict', `delivery ${identifier} is still pending: resend it as "retry", `
      + 'which sends the same body now, or cancel it first, and then resend it as "new"');
  }
  reserveRoom(transaction, storedDelivery, eventRecord, 'new', capacity);
  const nextId = deriveIds(inputs.seed);
  const createdAt = formatTimestamp(inputs.nowMs);
  if (hook === null) {
    // The request of a forward is deleted with its delivery: another delivery needs its own.
    const origin = { identifier: nextId(), createdAt };
    const [id = ''] = deriveDeliveryIds(origin.identifier, [hook]);
    const delivery = createDelivery({
      identifier: id, hook, event, eventId: origin.identifier, resendOf: identifier,
    }, createdAt);
    const json = encodeForward(origin, decodeForward(eventRecord));
    transaction.put(eventCollection.name, origin.identifier, json);
    stageDelivery(transaction, delivery);
    return delivery;
  }
  const eventId = readEventId(storedDelivery.bytes);
  const delivery =
    createDelivery({ identifier: nextId(), hook, event, eventId, resendOf: identifier }, createdAt);
  stageDelivery(transaction, delivery);
  addLateDeliveries(transaction, eventId, [delivery.identifier], [hook]);
  return delivery;
}

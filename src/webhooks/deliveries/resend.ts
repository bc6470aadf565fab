/**
 * Resends a delivery for an operator: either the same delivery, with its bytes and its
 * `webhook-id`, so that a receiver that has it may drop it; or a new delivery of the same event,
 * whose body is made anew.
 */
import { formatTimestamp } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { deriveIds } from '../../base/uuid.ts';
import { findStaged } from '../../store/find-record.ts';
import { notFoundError } from '../../resources/not-found.ts';
import type { TransactionInputs, Transaction } from '../../store/store-port.ts';
import { outgoingCollection } from '../outgoing/outgoing-webhook.ts';
import type { QueueCapacity } from './queue-capacity.ts';
import { decodeDelivery } from './delivery-codec.ts';
import {
  countsAsQueued, createDelivery, deliveryCollection, resetForRetry,
  type Delivery, type StoredDelivery,
} from './delivery.ts';
import { checkNewForm } from '../durable-queue/record-form.ts';
import { addReceivers } from './event-receivers.ts';
import { decodeForward, encodeForward, eventCollection } from './event-record.ts';
import { checkNoRoute } from './route-delivery-id.ts';
import { acceptDeliveries, changeDeliveries, deliveryQueue } from './delivery-changes.ts';

export type ResendMode = 'retry' | 'new';

/**
 * Stages the resend and returns the delivery that is due now. Throws `not_found`; `conflict` when
 * the event or the webhook is gone, and for a new delivery of a pending one; `unavailable` when the
 * queue is full.
 */
export function stageResend(
  transaction: Transaction, identifier: string, mode: ResendMode,
  inputs: Omit<TransactionInputs, 'hops'>,
  capacity: Pick<QueueCapacity, 'assertRoom'>,
): Delivery {
  const bytes = transaction.find(deliveryCollection.name, identifier);
  if (bytes === undefined) throw notFoundError('delivery', identifier);
  checkNoRoute(identifier);
  const stored = { bytes, item: decodeDelivery(bytes) };
  const eventRecord = getEventRecord(transaction, stored);
  return mode === 'new' ? stageNewDelivery(transaction, stored, eventRecord, inputs, capacity)
    : stageRetry(transaction, stored, eventRecord, inputs.nowMs, capacity);
}

/** Returns the record that has the event. Throws `conflict` if it or the webhook is gone. */
function getEventRecord(transaction: Transaction, { bytes, item }: StoredDelivery): Buffer {
  const { identifier, embeddedEvent, eventId } = item;
  if (isWebhookGone(transaction, item)) {
    throw new AppError('conflict', `the webhook of delivery ${identifier} is gone`);
  }
  const eventRecord = embeddedEvent === null
    ? transaction.find(eventCollection.name, eventId) : bytes;
  // Version 1.0.0 kept no events of deliveries that were delivered or cancelled.
  if (eventRecord === undefined) {
    throw new AppError('conflict', `what delivery ${identifier} sent has not been kept`);
  }
  return eventRecord;
}

/** Whether the outgoing webhook of a delivery was removed; false for a queued forward. */
export function isWebhookGone(
  transaction: Transaction, { hook: webhookId }: Pick<Delivery, 'hook'>,
): boolean {
  return webhookId !== null && transaction.find(outgoingCollection.name, webhookId) === undefined;
}

function stageRetry(
  transaction: Transaction, stored: StoredDelivery, eventRecord: Buffer, nowMs: number,
  capacity: Pick<QueueCapacity, 'assertRoom'>,
): Delivery {
  const { identifier, status, embeddedEvent } = stored.item;
  if (status !== 'pending') {
    // The bytes of a failed delivery count already.
    const bytes = countsAsQueued(status) ? 0
      : stored.bytes.length + (embeddedEvent === null ? eventRecord.length : 0);
    capacity.assertRoom(deliveryQueue.totals.read(transaction).pending, 1, bytes);
  }
  const change = (before: Delivery): Delivery => resetForRetry(before, nowMs);
  return changeDeliveries(transaction, (unit) =>
    unit.change(identifier, change, stored)) ?? stored.item;
}

/** Stages a delivery that shares the event of the one that is resent. */
function stageNewDelivery(
  transaction: Transaction, stored: StoredDelivery, eventRecord: Buffer,
  inputs: Omit<TransactionInputs, 'hops'>,
  capacity: Pick<QueueCapacity, 'assertRoom'>,
): Delivery {
  const { identifier: resendOf, status, hook, event, eventId } = stored.item;
  if (status === 'pending') {
    throw new AppError('conflict', `delivery ${resendOf} is still pending: resend it as "retry", `
      + 'which makes it due now');
  }
  const { pending } = deliveryQueue.totals.read(transaction);
  capacity.assertRoom(pending, 1, eventRecord.length);
  const nextId = deriveIds(inputs.seed);
  const createdAt = formatTimestamp(inputs.nowMs);
  if (hook === null) {
    // The request of a forward is deleted with its delivery, so another delivery has its own.
    const origin = { identifier: nextId(), createdAt };
    const delivery = createDelivery(
      { identifier: nextId(), hook, event, eventId: origin.identifier, resendOf }, createdAt);
    const json = encodeForward(origin, delivery.identifier, decodeForward(eventRecord));
    changeDeliveries(transaction, (unit) =>
      acceptDeliveries(transaction, unit, [delivery], { identifier: origin.identifier, json }));
    return delivery;
  }
  checkNewForm(findStaged(transaction), 'resending as a new delivery');
  const delivery =
    createDelivery({ identifier: nextId(), hook, event, eventId, resendOf }, createdAt);
  changeDeliveries(transaction, (unit) => {
    // An event that is embedded becomes a record that both share.
    if (stored.item.embeddedEvent !== null) unit.change(resendOf, (before) => before, stored);
    acceptDeliveries(transaction, unit, [delivery], null);
  });
  addReceivers(transaction, eventId, [delivery.identifier], [hook]);
  return delivery;
}

/**
 * Resends a delivery for an operator: either the same delivery, with its bytes and its
 * `webhook-id`, so that a receiver that has it may drop it; or a new delivery of the same event,
 * whose body is made anew.
 */
import { formatTimestamp } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { deriveIds } from '../../base/uuid.ts';
import { notFoundError } from '../../resources/not-found.ts';
import type { TransactionInputs, Transaction } from '../../store/store-port.ts';
import { outgoingCollection } from '../outgoing/outgoing-webhook.ts';
import type { QueueCapacity } from './queue-capacity.ts';
import { decodeDelivery } from './delivery-codec.ts';
import {
  countsAsQueued, createDelivery, deliveryCollection, resetForRetry,
  type Delivery, type StoredDelivery,
} from './delivery.ts';
import {
  EMBEDDED_LENGTH_MAX, copyEventMembers, encodeEventRecord, eventCollection,
} from './event-record.ts';
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

function stageNewDelivery(
  transaction: Transaction, stored: StoredDelivery, original: Buffer,
  inputs: Omit<TransactionInputs, 'hops'>,
  capacity: Pick<QueueCapacity, 'assertRoom'>,
): Delivery {
  const { identifier: resendOf, status, hook, event } = stored.item;
  if (status === 'pending') {
    throw new AppError('conflict', `delivery ${resendOf} is still pending: resend it as "retry", `
      + 'which makes it due now');
  }
  const identifier = deriveIds(inputs.seed)();
  const at = formatTimestamp(inputs.nowMs);
  const isEmbedded = original.length <= EMBEDDED_LENGTH_MAX;
  const members = copyEventMembers(original, isEmbedded ? [] : [identifier]);
  capacity.assertRoom(deliveryQueue.totals.read(transaction).pending, 1, members.length);
  const delivery = createDelivery({
    identifier, hook, event, eventId: identifier, embeddedEvent: isEmbedded ? members : null,
    resendOf,
  }, at);
  const eventRecord = isEmbedded ? null
    : { identifier, json: encodeEventRecord(identifier, at, event, members) };
  changeDeliveries(transaction, (unit) =>
    acceptDeliveries(transaction, unit, [delivery], eventRecord));
  return delivery;
}

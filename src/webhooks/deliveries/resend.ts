/**
 * A delivery that an operator sends again: as the same one, with its bytes and its `webhook-id`, so
 * that a receiver that has it may drop it; or as a new one of the same event, whose body is made
 * anew.
 */
import { formatTimestamp } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { deriveIds } from '../../base/uuid.ts';
import { notFoundError } from '../../resources/not-found.ts';
import type { TransactionInputs, Transaction } from '../../store/store-port.ts';
import { outgoingCollection } from '../outgoing/webhook.ts';
import type { Capacity } from './capacity.ts';
import { decodeDelivery } from './codec.ts';
import {
  deliveryCollection, isQueued, newDelivery, retried, type Delivery, type KnownDelivery,
} from './delivery.ts';
import {
  CARRIED_LENGTH_MAX, copiedMembers, encodeMessage, eventCollection,
} from './message.ts';
import { acceptDeliveries, changeDeliveries, deliveryKind } from './unit-of-work.ts';

export type ResendAs = 'retry' | 'new';

/**
 * Stages it and returns the delivery that is due now. Throws `not_found`; `conflict` when there is
 * nothing to send or nobody to send it to, and for a new one of what is pending; `unavailable` when
 * the queue is full.
 */
export function stageResend(
  transaction: Transaction, identifier: string, as: ResendAs,
  drawn: Omit<TransactionInputs, 'hops'>,
  capacity: Pick<Capacity, 'check'>,
): Delivery {
  const bytes = transaction.find(deliveryCollection.name, identifier);
  if (bytes === undefined) throw notFoundError('delivery', identifier);
  const known = { bytes, item: decodeDelivery(bytes) };
  const message = messageOf(transaction, known);
  return as === 'new' ? stageNew(transaction, known, message, drawn, capacity)
    : stageRetry(transaction, known, message, drawn.nowMs, capacity);
}

/** The record that has what is to be sent. */
function messageOf(transaction: Transaction, { bytes, item }: KnownDelivery): Buffer {
  const { identifier, hook, carried, message } = item;
  if (hook !== null && transaction.find(outgoingCollection.name, hook) === undefined) {
    throw new AppError('conflict', `the webhook of delivery ${identifier} is gone`);
  }
  const found = carried === null ? transaction.find(eventCollection.name, message) : bytes;
  // Version 1.0.0 kept nothing of those that were delivered or cancelled.
  if (found === undefined) {
    throw new AppError('conflict', `what delivery ${identifier} sent has not been kept`);
  }
  return found;
}

function stageRetry(
  transaction: Transaction, known: KnownDelivery, message: Buffer, nowMs: number,
  capacity: Pick<Capacity, 'check'>,
): Delivery {
  const { identifier, status, carried } = known.item;
  if (status !== 'pending') {
    // The bytes of a failed one are counted already.
    const bytes = isQueued(status) ? 0
      : known.bytes.length + (carried === null ? message.length : 0);
    capacity.check(deliveryKind.totals.read(transaction).pending, 1, bytes);
  }
  const change = (before: Delivery): Delivery => retried(before, nowMs);
  return changeDeliveries(transaction, (unit) =>
    unit.change(identifier, change, known)) ?? known.item;
}

function stageNew(
  transaction: Transaction, known: KnownDelivery, source: Buffer,
  drawn: Omit<TransactionInputs, 'hops'>,
  capacity: Pick<Capacity, 'check'>,
): Delivery {
  const { identifier: resendOf, status, hook, event } = known.item;
  if (status === 'pending') {
    throw new AppError('conflict', `delivery ${resendOf} is still pending: resend it as "retry", `
      + 'which makes it due now');
  }
  const identifier = deriveIds(drawn.seed)();
  const at = formatTimestamp(drawn.nowMs);
  const isCarried = source.length <= CARRIED_LENGTH_MAX;
  const members = copiedMembers(source, isCarried ? [] : [identifier]);
  capacity.check(deliveryKind.totals.read(transaction).pending, 1, members.length);
  const delivery = newDelivery({
    identifier, hook, event, message: identifier, carried: isCarried ? members : null, resendOf,
  }, at);
  const shared = isCarried ? null
    : { identifier, json: encodeMessage(identifier, at, event, members) };
  changeDeliveries(transaction, (unit) =>
    acceptDeliveries(transaction, unit, [delivery], shared));
  return delivery;
}

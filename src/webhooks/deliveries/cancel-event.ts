/**
 * Cancels an event that has not begun: a delayed one, or a delayed send to one webhook, which has
 * its delivery already (durable-send.ts). Nothing is left of it.
 */
import { parseTimestamp, type Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { notFoundError } from '../../resources/not-found.ts';
import type { Store, Transaction } from '../../store/store-port.ts';
import { removeItems } from '../durable-queue/change-items.ts';
import { stageCancelOfDelayed } from './delayed-events.ts';
import { deliveryQueue } from './delivery-changes.ts';
import { decodeDelivery } from './delivery-codec.ts';
import { deliveryCollection } from './delivery.ts';
import {
  decodeEventDeliveries, decodeEventHead, deleteEvent, eventCollection, isEvent,
} from './event-record.ts';

/** Throws `not_found`, and `conflict` once the event has begun. */
export async function cancelEvent(
  store: Store, clock: Pick<Clock, 'now'>, id: string,
): Promise<void> {
  const nowMs = clock.now();
  await store.transact((transaction) => stageCancelOfEvent(transaction, id, nowMs));
}

function stageCancelOfEvent(transaction: Transaction, id: string, nowMs: number): void {
  if (stageCancelOfDelayed(transaction, id)) return;
  const bytes = transaction.find(eventCollection.name, id);
  if (bytes === undefined || !isEvent(bytes)) throw notFoundError('event', id);
  const [delivery = ''] = decodeEventDeliveries(bytes).deliveries;
  if (decodeEventHead(bytes).to === null || !hasNotBegun(transaction, delivery, nowMs)) {
    throw new AppError('conflict', `event ${id} has begun; what it still has to deliver ends with `
      + '`delivery:cancel`, or `POST /api/deliveries/{identifier}/cancel`');
  }
  removeItems(deliveryQueue, transaction, [delivery], 'agedOut');
  deleteEvent(transaction, id);
}

/** Whether the first attempt of a delivery is still to come. */
function hasNotBegun(transaction: Transaction, id: string, nowMs: number): boolean {
  const bytes = transaction.find(deliveryCollection.name, id);
  if (bytes === undefined) return false;
  const { status, queuedAt, nextAttemptAt, attemptCount } = decodeDelivery(bytes);
  return status === 'pending' && attemptCount === 0 && nextAttemptAt !== null
    && nextAttemptAt === queuedAt && parseTimestamp(nextAttemptAt) > nowMs;
}

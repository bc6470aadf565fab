/**
 * The deliveries that were made later than their event: by a resend as a new one, for example, or
 * when a delayed event began. An event is written once, so they stand beside it, in a record of the
 * collection `event-receivers`:
 *
 *     {"identifier":"<event>","deliveries":["<delivery>",…],"hooks":["<webhook>",…]}
 *
 * Both lists are parallel, oldest first. The record is deleted with its event.
 */
import type { CollectionSpec, Transaction } from '../../store/store-port.ts';
import { decodeRecordAs } from '../../resources/record.ts';

export const receiverCollection: CollectionSpec = { name: 'event-receivers', key: 'identifier' };

/** Deliveries of an event, and their webhooks in the same order. */
type Receivers = {
  readonly deliveries: readonly string[];
  readonly hooks: readonly string[];
};

/** Stages that more deliveries of an event are made. Both lists are parallel. */
export function addReceivers(
  transaction: Transaction, eventId: string, deliveries: readonly string[],
  webhookIds: readonly string[],
): void {
  const before = findReceivers(transaction, eventId);
  transaction.put(receiverCollection.name, eventId, JSON.stringify({
    identifier: eventId, deliveries: [...before.deliveries, ...deliveries],
    hooks: [...before.hooks, ...webhookIds],
  }));
}

/** Finds the deliveries that were made later than their event. */
export function findReceivers(
  transaction: Pick<Transaction, 'find'>, eventId: string,
): Receivers {
  const bytes = transaction.find(receiverCollection.name, eventId);
  if (bytes === undefined) return { deliveries: [], hooks: [] };
  return decodeRecordAs<Receivers>(bytes, ({ deliveries, hooks }) =>
    Array.isArray(deliveries) && Array.isArray(hooks));
}

export function deleteReceivers(transaction: Transaction, eventId: string): void {
  transaction.delete(receiverCollection.name, eventId);
}

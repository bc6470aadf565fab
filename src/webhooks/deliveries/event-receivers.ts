/**
 * The deliveries that were made later than their event: by a resend as a new one, for example. An
 * event is written once, so they stand beside it, in a record of the collection `event-receivers`:
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

/** Stages that one more delivery of an event is made, to that webhook. */
export function addReceiver(
  transaction: Transaction, eventId: string, delivery: string, webhookId: string,
): void {
  const { deliveries, hooks } = findReceivers(transaction, eventId);
  transaction.put(receiverCollection.name, eventId, JSON.stringify({
    identifier: eventId, deliveries: [...deliveries, delivery], hooks: [...hooks, webhookId],
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

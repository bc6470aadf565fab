/**
 * The deliveries that were made later than their event: by a resend as a new one, for example, or
 * when a delayed event began. An event is written once, so they stand beside it, in a record of the
 * collection `event-receivers`:
 *
 *     {"identifier":"<event>","deliveries":["<delivery>",…],"hooks":["<webhook>",…]}
 *
 * Both lists are parallel, oldest first. The record is deleted with its event. Each addition writes
 * it anew, as hardly any event is resent as a new delivery more than a few times.
 */
import type { CollectionSpec, Transaction } from '../../store/store-port.ts';
import { decodeRecordAs } from '../../resources/record.ts';

export const lateDeliveryCollection: CollectionSpec = {
  name: 'event-receivers', key: 'identifier',
};

/** Deliveries and their webhooks, in the same order. */
type LateDeliveries = {
  readonly deliveries: readonly string[];
  readonly webhookIds: readonly string[];
};

type LateDeliveryRecord = {
  readonly deliveries: readonly string[];
  readonly hooks: readonly string[];
};

export function addLateDeliveries(
  transaction: Transaction, eventId: string, deliveries: readonly string[],
  webhookIds: readonly string[],
): void {
  const before = findLateDeliveries(transaction, eventId);
  transaction.put(lateDeliveryCollection.name, eventId, JSON.stringify({
    identifier: eventId, deliveries: [...before.deliveries, ...deliveries],
    hooks: [...before.webhookIds, ...webhookIds],
  }));
}

export function findLateDeliveries(
  transaction: Pick<Transaction, 'find'>, eventId: string,
): LateDeliveries {
  const bytes = transaction.find(lateDeliveryCollection.name, eventId);
  if (bytes === undefined) return { deliveries: [], webhookIds: [] };
  const { deliveries, hooks } = decodeRecordAs<LateDeliveryRecord>(bytes, (record) =>
    Array.isArray(record['deliveries']) && Array.isArray(record['hooks']));
  return { deliveries, webhookIds: hooks };
}

export function deleteLateDeliveries(transaction: Transaction, eventId: string): void {
  transaction.delete(lateDeliveryCollection.name, eventId);
}

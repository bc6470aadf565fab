/**
 * The durable queue of stored requests, and every change of a request. A request is a record with a
 * delivery for each of its routes, and maybe a record of its body. A change writes the records that
 * it concerns; all are deleted together.
 */
import { findStaged } from '../../store/find-record.ts';
import type { FindRecord, Transaction } from '../../store/store-port.ts';
import { deliveryCollection, type Delivery } from '../deliveries/delivery.ts';
import { stageDelivery } from '../deliveries/delivery-changes.ts';
import { createRouteDeliveryId } from '../deliveries/route-delivery-id.ts';
import { isSameMemory, type ItemSpec, type StoredItem } from '../work/item-spec.ts';
import { encodeBodyRecord } from './request-body.ts';
import {
  decodeRequest, encodeRequest, listDeliveryRecords, readStatusWithDeliveries, requestCollection,
} from './request-codec.ts';
import { deleteEventId } from './event-ids.ts';
import { requestBodyCollection, type StoredRequest } from '../incoming/stored-request.ts';

export const requestSpec: ItemSpec<StoredRequest> = {
  noun: 'requests',
  collection: requestCollection,
  idOf: ({ id }) => id,
  read: decodeRequest,
  isCurrent,
  stageChange,
  stageRemoval,
};

/**
 * Stages a new request, its deliveries, and its body if that has a record of its own. Once they are
 * committed, work/queue-worker.ts learns of the deliveries, as it follows the collection.
 */
export function addRequest(
  transaction: Transaction, request: StoredRequest, body: Buffer,
): StoredItem<StoredRequest> {
  const { id, inlineBody, deliveries } = request;
  // When the request is applied, its body must be there, and when a delivery is, its request.
  if (inlineBody === null) {
    transaction.put(requestBodyCollection.name, id, encodeBodyRecord(id, body));
  }
  const bytes = putRecord(transaction, request);
  // The put of a request implies its deliveries as they begin (`requestCollection.imply`).
  const isImplied = deliveries.every((delivery) => isAsMade(delivery, request.receivedAt));
  const partBytes = deliveries.map((delivery) => stageDelivery(transaction, delivery, isImplied));
  return { item: request, bytes, partBytes };
}

/** Whether a delivery is as `createRouteDeliveries` makes it for a request of that time. */
function isAsMade(
  { status, updatedAt, nextAttemptAt, queuedAt, attemptCount }: Delivery, at: string,
): boolean {
  return status === 'pending' && attemptCount === 0 && updatedAt === at && nextAttemptAt === at
    && queuedAt === null;
}

/** `partBytes` are the deliveries of the stored request, in the order of its routes. */
function isCurrent(
  { item, bytes: storedBytes, partBytes = [] }: StoredItem<StoredRequest>, bytes: Buffer,
  find: FindRecord,
): boolean {
  // A delivery is only added together with a change of the request's record.
  return isSameMemory(storedBytes, bytes) && partBytes.every((storedDelivery, index) => {
    const delivery = find(deliveryCollection.name, createRouteDeliveryId(item.id, index));
    return delivery !== undefined && isSameMemory(storedDelivery, delivery);
  });
}

/** Stages the records that differ from the records of `before`. */
function stageChange(
  transaction: Transaction, request: StoredRequest, before: StoredRequest,
): void {
  const changedDeliveries = request.deliveries.filter((delivery, index) =>
    before.deliveries[index] !== delivery);
  for (const delivery of changedDeliveries) stageDelivery(transaction, delivery);
  // If no record differs, `updatedAt` alone has changed, and the request's record gets it.
  if (changedDeliveries.length === 0 || !hasSameRecord(request, before)) {
    putRecord(transaction, request);
  }
}

function putRecord(transaction: Transaction, request: StoredRequest): Buffer {
  return transaction.put(requestCollection.name, request.id, encodeRequest(request)).bytes;
}

/**
 * Whether two versions of a request have the same record; their deliveries may differ. It compares
 * all members that a change may touch, and a test says which these are.
 */
function hasSameRecord(left: StoredRequest, right: StoredRequest): boolean {
  return left.pinned === right.pinned && left.answered === right.answered
    && left.isReplay === right.isReplay && left.unparsed === right.unparsed
    && (left.deliveries.length === 0) === (right.deliveries.length === 0);
}

function stageRemoval(transaction: Transaction, id: string, bytes: Buffer): void {
  const find = findStaged(transaction);
  const routes = listDeliveryRecords(id, find);
  const status = readStatusWithDeliveries(bytes, routes);
  // The event was not handled, and may come again.
  if (status === 'failed' || status === 'pending') {
    deleteEventId(transaction, decodeRequest(bytes, find));
  }
  transaction.delete(requestCollection.name, id);
  transaction.delete(requestBodyCollection.name, id);
  for (const index of routes.keys()) {
    transaction.delete(deliveryCollection.name, createRouteDeliveryId(id, index));
  }
}

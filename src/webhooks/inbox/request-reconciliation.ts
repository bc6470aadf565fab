/** Checks that the totals match the stored requests, and that each has its body and deliveries. */
import { findCommitted } from '../../store/find-record.ts';
import type { Store } from '../../store/store-port.ts';
import { deliveryCollection } from '../deliveries/delivery.ts';
import { isRouteDeliveryId, parseRequestId } from '../deliveries/route-delivery-id.ts';
import {
  compareWithTotals, type QueueReconciliation,
} from '../durable-queue/queue-reconciliation.ts';
import { visitInSteps } from '../records/stepped-scan.ts';
import { hasBodyRecord, hasDeliveries, listRouteRecords } from './request-codec.ts';
import type { RequestStates } from './request-states.ts';
import { requestBodyCollection, requestCollection } from './stored-request.ts';
import { requestQueue, type StoredStatus, type RequestRemoval } from './request-changes.ts';

export type RequestReconciliation = QueueReconciliation<StoredStatus, RequestRemoval>;

export async function reconcileRequests(
  store: Store, states: RequestStates,
): Promise<RequestReconciliation> {
  const problems = [...await findOrphans(store), ...await findIncompleteRequests(store)];
  // The totals and the states are those of one moment.
  return compareWithTotals(
    requestQueue, requestQueue.totals.readCommitted(store), states.countByStatus(), problems);
}

/** Finds the requests that have lost their body or a delivery. */
async function findIncompleteRequests(store: Store): Promise<string[]> {
  const records = store.collection(requestCollection.name);
  const bodies = store.collection(requestBodyCollection.name);
  const find = findCommitted(store);
  const problems: string[] = [];
  await visitInSteps(records, (bytes, slot) => {
    const id = records.idAt(slot) ?? '';
    if (hasBodyRecord(bytes) && bodies.findSlot(id) === -1) {
      problems.push(`request ${id} has lost its body`);
    }
    if (hasDeliveries(bytes) && listRouteRecords(id, find).length === 0) {
      problems.push(`request ${id} has lost its deliveries`);
    }
    return 'searched';
  });
  return problems;
}

async function findOrphans(store: Store): Promise<string[]> {
  const records = store.collection(requestCollection.name);
  const bodies = store.collection(requestBodyCollection.name);
  const problems: string[] = [];
  await visitInSteps(bodies, (_, slot) => {
    const id = bodies.idAt(slot) ?? '';
    if (records.findSlot(id) === -1) problems.push(`body ${id} belongs to no request`);
    return 'searched';
  });
  const deliveries = store.collection(deliveryCollection.name);
  await visitInSteps(deliveries, (_, slot) => {
    const id = deliveries.idAt(slot) ?? '';
    if (isRouteDeliveryId(id) && records.findSlot(parseRequestId(id)) === -1) {
      problems.push(`delivery ${id} belongs to no request`);
    }
    return 'searched';
  });
  return problems;
}

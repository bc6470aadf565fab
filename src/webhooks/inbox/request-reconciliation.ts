/** Checks that each stored request has its body and deliveries, and each of these its request. */
import { findCommitted } from '../../store/find-record.ts';
import type { Store } from '../../store/store-port.ts';
import { deliveryCollection } from '../deliveries/delivery.ts';
import { isRouteDeliveryId, parseRequestId } from '../deliveries/route-delivery-id.ts';
import { findOrphans, reportProblems } from '../work/queue-reconciliation.ts';
import { visitInSteps } from '../records/stepped-scan.ts';
import {
  countWrittenDeliveries, hasBodyRecord, listDeliveryRecords, requestCollection,
} from './request-codec.ts';
import type { RequestReconciliation } from './request-schema.ts';
import type { RequestTotals } from './request-states.ts';
import { requestBodyCollection } from '../incoming/stored-request.ts';

export async function reconcileRequests(
  store: Store, countTotals: () => RequestTotals,
): Promise<RequestReconciliation> {
  const problems = [
    ...await findOrphans(store, requestBodyCollection, requestCollection, (id) =>
      `body ${id} belongs to no request`),
    ...await findOrphans(store, deliveryCollection, requestCollection, (id) =>
      `delivery ${id} belongs to no request`,
      (id) => isRouteDeliveryId(id) ? parseRequestId(id) : null),
    ...await findIncompleteRequests(store),
  ];
  return reportProblems(countTotals(), problems);
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
    if (listDeliveryRecords(id, find).length < countWrittenDeliveries(bytes)) {
      problems.push(`request ${id} has lost deliveries`);
    }
    return 'searched';
  });
  return problems;
}

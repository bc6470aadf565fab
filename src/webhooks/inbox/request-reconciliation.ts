/** Checks that the totals match the stored requests, and that each request has its body. */
import type { Store } from '../../store/store-port.ts';
import { reconcileQueue, type QueueReconciliation } from '../durable-queue/queue-reconciliation.ts';
import { visitInSteps } from '../durable-queue/stepped-scan.ts';
import { hasBodyRecord } from './request-codec.ts';
import { requestBodyCollection, requestCollection } from './stored-request.ts';
import { requestQueue, type StoredStatus, type RequestRemoval } from './request-changes.ts';

export type RequestReconciliation = QueueReconciliation<StoredStatus, RequestRemoval>;

export async function reconcileRequests(store: Store): Promise<RequestReconciliation> {
  const records = store.collection(requestCollection.name);
  const bodies = store.collection(requestBodyCollection.name);
  return reconcileQueue(store, requestQueue, {
    earlierProblems: await findOrphans(store),
    countUnwritten: () => ({}),
    inspect(bytes, slot, problems) {
      const id = records.idAt(slot) ?? '';
      if (hasBodyRecord(bytes) && bodies.findSlot(id) === -1) {
        problems.push(`request ${id} has lost its body`);
      }
      return 'searched';
    },
  });
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
  return problems;
}

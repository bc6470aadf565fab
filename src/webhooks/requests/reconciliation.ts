/** Proves that the totals are what the kept requests add up to, and that each has its body. */
import type { Store } from '../../store/store-port.ts';
import { reconcileQueue, type QueueReconciliation } from '../durable-queue/queue-reconciliation.ts';
import { visitInSteps } from '../durable-queue/stepped-scan.ts';
import { hasBodyApart } from './codec.ts';
import { requestBodyCollection, requestCollection } from './request.ts';
import { requestKind, type KeptStatus, type RequestGone } from './unit-of-work.ts';

export type RequestReconciliation = QueueReconciliation<KeptStatus, RequestGone>;

export async function reconcileRequests(store: Store): Promise<RequestReconciliation> {
  const records = store.collection(requestCollection.name);
  const bodies = store.collection(requestBodyCollection.name);
  return reconcileQueue(store, requestKind, {
    earlierProblems: await findOrphans(store),
    countUnwritten: () => ({}),
    inspect(bytes, slot, problems) {
      const id = records.idAt(slot) ?? '';
      if (hasBodyApart(bytes) && bodies.findSlot(id) === -1) {
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

/** Proves that the totals are what the kept requests add up to, and that each has its body. */
import type { Store } from '../../store/port.ts';
import { countInSteps, visitInSteps } from '../work/steps.ts';
import { hasBodyApart, statusOf } from './codec.ts';
import { requestBodyCollection, requestCollection, type RequestStatus } from './request.ts';
import {
  committedRequestTotals, requestTotalsCollection, type RequestTotals,
} from './totals.ts';

export type RequestReconciliation = RequestTotals & {
  readonly isReconciled: boolean;
  /** What does not add up, one sentence each; the first hundred. */
  readonly problems: readonly string[];
};

const PROBLEMS_MAX = 100;
const COUNTED = ['pending', 'done', 'failed', 'filtered', 'duplicate'] as const;

export async function reconcileRequests(store: Store): Promise<RequestReconciliation> {
  const records = store.collection(requestCollection.name);
  const bodies = store.collection(requestBodyCollection.name);
  const counts = new Map<RequestStatus, number>();
  const problems = await findOrphans(store);
  return countInSteps(records, (bytes, by) => {
    const status = statusOf(bytes);
    counts.set(status, (counts.get(status) ?? 0) + by);
  }, () => {
    const totals = committedRequestTotals(store.collection(requestTotalsCollection.name));
    return compare(totals, counts, problems);
  }, (bytes, slot) => {
    const id = records.idAt(slot) ?? '';
    if (hasBodyApart(bytes) && bodies.slotOf(id) === -1) {
      problems.push(`request ${id} has lost its body`);
    }
    return 'searched';
  });
}

async function findOrphans(store: Store): Promise<string[]> {
  const records = store.collection(requestCollection.name);
  const bodies = store.collection(requestBodyCollection.name);
  const problems: string[] = [];
  await visitInSteps(bodies, (_, slot) => {
    const id = bodies.idAt(slot) ?? '';
    if (records.slotOf(id) === -1) problems.push(`body ${id} belongs to no request`);
    return 'searched';
  });
  return problems;
}

function compare(
  totals: RequestTotals, counts: ReadonlyMap<RequestStatus, number>, problems: string[],
): RequestReconciliation {
  const { accepted, agedOut, deleted } = totals;
  let sum = agedOut + deleted;
  for (const status of COUNTED) {
    const found = counts.get(status) ?? 0;
    sum += totals[status];
    if (totals[status] === found) continue;
    problems.push(`${totals[status]} requests should be ${status}, and ${found} are`);
  }
  if (accepted !== sum) problems.push(`${accepted} were accepted, and ${sum} are accounted for`);
  return {
    ...totals, isReconciled: problems.length === 0, problems: problems.slice(0, PROBLEMS_MAX),
  };
}

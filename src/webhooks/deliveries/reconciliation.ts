/** Proves that the totals are what the stored deliveries add up to. */
import type { Store } from '../../store/port.ts';
import { decodeDelivery, statusOf } from './codec.ts';
import { deliveryCollection, type DeliveryStatus } from './delivery.ts';
import type { FanOuts } from './fan-out.ts';
import { countInSteps, visitInSteps } from './list.ts';
import { eventCollection, hasDelivery } from './message.ts';
import { committedTotals, totalsCollection, type Totals } from './totals.ts';
import { fanOutCollection } from './unit-of-work.ts';

export type Reconciliation = Totals & {
  readonly isReconciled: boolean;
  /** What does not add up, one sentence each; the first hundred. */
  readonly problems: readonly string[];
};

const PROBLEMS_MAX = 100;

export async function reconcile(
  store: Store, fanOuts: Pick<FanOuts, 'unwritten'>,
): Promise<Reconciliation> {
  const records = store.collection(deliveryCollection.name);
  const messages = store.collection(eventCollection.name);
  const counts = { pending: 0, delivered: 0, failed: 0, cancelled: 0 };
  const problems: string[] = [];
  const orphans = await findOrphans(store);
  return countInSteps(records, (bytes, by) => {
    counts[statusOf(bytes)] += by;
  }, () => {
    counts.pending += fanOuts.unwritten;
    const totals = committedTotals(store.collection(totalsCollection.name));
    return compare(totals, counts, [...problems, ...orphans]);
  }, (bytes, slot) => {
    if (statusOf(bytes) !== 'pending') return 'searched';
    const { carried, message } = decodeDelivery(bytes);
    if (carried === null && messages.slotOf(message) === -1) {
      problems.push(`pending delivery ${records.idAt(slot)} has lost its payload`);
    }
    return 'parsed';
  });
}

async function findOrphans(store: Store): Promise<string[]> {
  const messages = store.collection(eventCollection.name);
  const records = store.collection(deliveryCollection.name);
  const fanOuts = store.collection(fanOutCollection.name);
  const problems: string[] = [];
  await visitInSteps(messages, (bytes, slot) => {
    const isNeeded = hasDelivery(bytes, (id) => records.slotOf(id) !== -1)
      || fanOuts.find(messages.idAt(slot) ?? '') !== undefined;
    if (!isNeeded) problems.push(`payload ${messages.idAt(slot)} belongs to no delivery`);
    return 'searched';
  });
  return problems;
}

function compare(
  totals: Totals, counts: Readonly<Record<DeliveryStatus, number>>, problems: string[],
): Reconciliation {
  for (const status of ['pending', 'delivered', 'failed', 'cancelled'] as const) {
    if (totals[status] === counts[status]) continue;
    problems.push(`${totals[status]} deliveries should be ${status}, and ${counts[status]} are`);
  }
  const { accepted, pending, delivered, failed, cancelled: dropped, agedOut } = totals;
  const sum = pending + delivered + failed + dropped + agedOut;
  if (accepted !== sum) problems.push(`${accepted} were accepted, and ${sum} are accounted for`);
  return {
    ...totals, isReconciled: problems.length === 0, problems: problems.slice(0, PROBLEMS_MAX),
  };
}

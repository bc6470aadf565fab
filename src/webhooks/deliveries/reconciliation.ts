/** Proves that the totals are what the stored deliveries add up to. */
import type { Collection, Store } from '../../store/port.ts';
import { decodeDelivery, statusOf } from './codec.ts';
import { deliveryCollection, type Delivery, type DeliveryStatus } from './delivery.ts';
import type { FanOuts } from './fan-out.ts';
import { Steps } from './list.ts';
import { eventCollection, hasDelivery } from './message.ts';
import { committedTotals, totalsCollection, type Totals } from './totals.ts';
import { fanOutCollection } from './unit-of-work.ts';

export type Reconciliation = Totals & {
  readonly isReconciled: boolean;
  /** What does not add up, one sentence each; the first hundred. */
  readonly problems: readonly string[];
};

const PROBLEMS_MAX = 100;

/**
 * Counts what is stored beside the totals that every change keeps. Changes during the count are
 * counted as they are applied, so the comparison is of one moment.
 */
export async function reconcile(
  store: Store, fanOuts: Pick<FanOuts, 'unwritten'>,
): Promise<Reconciliation> {
  const records = store.collection(deliveryCollection.name);
  const messages = store.collection(eventCollection.name);
  const counts = { pending: 0, delivered: 0, failed: 0, cancelled: 0 };
  const problems: string[] = [];
  let seen = '';
  let isAllSeen = false;
  const unlisten = records.onChange(({ id, before, after }) => {
    if (id > seen && !isAllSeen) return;
    if (before !== null) counts[statusOf(before)] -= 1;
    if (after !== null) counts[statusOf(after)] += 1;
  });
  try {
    const walk = records.walk();
    const steps = new Steps();
    for (let slot = walk.next(); slot !== -1; slot = walk.next()) {
      const bytes = records.bytesAt(slot);
      if (bytes === undefined) continue;
      seen = records.idAt(slot) ?? seen;
      const status = statusOf(bytes);
      counts[status] += 1;
      if (status === 'pending' && hasLostMessage(messages, decodeDelivery(bytes))) {
        problems.push(`pending delivery ${seen} has lost its payload`);
      }
      const pause = steps.next(bytes.length, status === 'pending');
      if (pause !== null) await pause;
    }
    isAllSeen = true;
    await findOrphans(store, problems);
    counts.pending += fanOuts.unwritten;
    const totals = committedTotals(store.collection(totalsCollection.name));
    return compare(totals, counts, problems);
  } finally {
    unlisten();
  }
}

function hasLostMessage(messages: Collection, { carried, message }: Delivery): boolean {
  return carried === null && messages.slotOf(message) === -1;
}

async function findOrphans(store: Store, problems: string[]): Promise<void> {
  const messages = store.collection(eventCollection.name);
  const records = store.collection(deliveryCollection.name);
  const fanOuts = store.collection(fanOutCollection.name);
  const walk = messages.walk();
  const steps = new Steps();
  for (let slot = walk.next(); slot !== -1; slot = walk.next()) {
    const bytes = messages.bytesAt(slot);
    const isNeeded = bytes === undefined
      || hasDelivery(bytes, (id) => records.slotOf(id) !== -1)
      || fanOuts.find(messages.idAt(slot) ?? '') !== undefined;
    if (!isNeeded) problems.push(`payload ${messages.idAt(slot)} belongs to no delivery`);
    const pause = steps.next(bytes?.length ?? 0, false);
    if (pause !== null) await pause;
  }
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

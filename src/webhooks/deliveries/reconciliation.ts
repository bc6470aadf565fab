/** Proves that the totals are what the stored deliveries add up to; none has lost its payload. */
import type { Store } from '../../store/store-port.ts';
import { reconcileQueue, type QueueReconciliation } from '../durable-queue/queue-reconciliation.ts';
import { visitInSteps } from '../durable-queue/stepped-scan.ts';
import { decodeDelivery, statusOf } from './codec.ts';
import { deliveryCollection, type DeliveryStatus } from './delivery.ts';
import type { FanOuts } from './fan-out.ts';
import { eventCollection, hasDelivery, isIdleId } from './message.ts';
import { deliveryKind, fanOutCollection } from './unit-of-work.ts';

export type Reconciliation = QueueReconciliation<DeliveryStatus>;

export async function reconcile(
  store: Store, fanOuts: Pick<FanOuts, 'unwritten'>,
): Promise<Reconciliation> {
  const records = store.collection(deliveryCollection.name);
  const messages = store.collection(eventCollection.name);
  return reconcileQueue(store, deliveryKind, {
    earlierProblems: await findOrphans(store),
    countUnwritten: () => ({ pending: fanOuts.unwritten }),
    inspect(bytes, slot, problems) {
      if (statusOf(bytes) !== 'pending') return 'searched';
      const { carried, message } = decodeDelivery(bytes);
      if (carried === null && messages.findSlot(message) === -1) {
        problems.push(`pending delivery ${records.idAt(slot)} has lost its payload`);
      }
      return 'parsed';
    },
  });
}

async function findOrphans(store: Store): Promise<string[]> {
  const messages = store.collection(eventCollection.name);
  const records = store.collection(deliveryCollection.name);
  const fanOuts = store.collection(fanOutCollection.name);
  const problems: string[] = [];
  await visitInSteps(messages, (bytes, slot) => {
    const id = messages.idAt(slot) ?? '';
    const isNeeded = isIdleId(id) ? messages.findSlot(id.slice(0, -1)) !== -1
      : hasDelivery(bytes, (delivery) => records.findSlot(delivery) !== -1)
        || fanOuts.find(id) !== undefined;
    if (!isNeeded) problems.push(`payload ${id} belongs to no delivery`);
    return 'searched';
  });
  return problems;
}

/** Checks that the totals match the stored deliveries, and that no delivery has lost its event. */
import type { Store } from '../../store/store-port.ts';
import { reconcileQueue, type QueueReconciliation } from '../durable-queue/queue-reconciliation.ts';
import { visitInSteps } from '../durable-queue/stepped-scan.ts';
import { decodeDelivery, readStatus } from './delivery-codec.ts';
import { deliveryCollection, type DeliveryStatus } from './delivery.ts';
import type { FanOuts } from './fan-out.ts';
import { eventCollection, someListedDelivery, isFinishedMarkId } from './event-record.ts';
import { deliveryQueue, fanOutCollection } from './delivery-changes.ts';
import { isRouteDeliveryId } from './route-delivery-id.ts';

export type DeliveryReconciliation = QueueReconciliation<DeliveryStatus>;

export async function reconcileDeliveries(
  store: Store, fanOuts: Pick<FanOuts, 'unwrittenCount'>,
): Promise<DeliveryReconciliation> {
  const records = store.collection(deliveryCollection.name);
  const events = store.collection(eventCollection.name);
  return reconcileQueue(store, deliveryQueue, {
    isCounted: (id) => !isRouteDeliveryId(id),
    earlierProblems: await findOrphans(store),
    countUnwritten: () => ({ pending: fanOuts.unwrittenCount }),
    inspect(bytes, slot, problems) {
      if (readStatus(bytes) !== 'pending') return 'searched';
      const { embeddedEvent, eventId } = decodeDelivery(bytes);
      if (embeddedEvent === null && events.findSlot(eventId) === -1) {
        problems.push(`pending delivery ${records.idAt(slot)} has lost its payload`);
      }
      return 'parsed';
    },
  });
}

async function findOrphans(store: Store): Promise<string[]> {
  const events = store.collection(eventCollection.name);
  const records = store.collection(deliveryCollection.name);
  const fanOuts = store.collection(fanOutCollection.name);
  const problems: string[] = [];
  await visitInSteps(events, (bytes, slot) => {
    const id = events.idAt(slot) ?? '';
    const isNeeded = isFinishedMarkId(id) ? events.findSlot(id.slice(0, -1)) !== -1
      : someListedDelivery(bytes, (delivery) => records.findSlot(delivery) !== -1)
        || fanOuts.find(id) !== undefined;
    if (!isNeeded) problems.push(`payload ${id} belongs to no delivery`);
    return 'searched';
  });
  return problems;
}

/**
 * Checks that the totals match the stored deliveries, that no delivery that waits has lost its
 * event, and that nothing is kept for a delivery that is gone.
 */
import type { Store } from '../../store/store-port.ts';
import { reconcileQueue, type QueueReconciliation } from '../durable-queue/queue-reconciliation.ts';
import { visitInSteps } from '../durable-queue/stepped-scan.ts';
import { deliveryBodyCollection } from './delivery-body.ts';
import { decodeDelivery, readStatus } from './delivery-codec.ts';
import { deliveryCollection, type DeliveryStatus } from './delivery.ts';
import type { FanOuts } from './fan-out.ts';
import {
  eventCollection, findForwardUrl, isFinishedMarkId, someListedDelivery,
} from './event-record.ts';
import { deliveryQueue } from './delivery-changes.ts';
import { isRouteDeliveryId } from './route-delivery-id.ts';

export type DeliveryReconciliation = QueueReconciliation<DeliveryStatus>;

export async function reconcileDeliveries(
  store: Store, fanOuts: Pick<FanOuts, 'unwrittenCount'>,
): Promise<DeliveryReconciliation> {
  const records = store.collection(deliveryCollection.name);
  const events = store.collection(eventCollection.name);
  return reconcileQueue(store, deliveryQueue, {
    earlierProblems: [...await findForwardsWithoutDelivery(store), ...await findBodies(store)],
    countUnwritten: () => ({ pending: fanOuts.unwrittenCount }),
    isCounted: (id) => !isRouteDeliveryId(id),
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

/** Finds what was to be forwarded by a delivery that is gone. Any other event may stay alone. */
async function findForwardsWithoutDelivery(store: Store): Promise<string[]> {
  const events = store.collection(eventCollection.name);
  const records = store.collection(deliveryCollection.name);
  const problems: string[] = [];
  await visitInSteps(events, (bytes, slot) => {
    const id = events.idAt(slot) ?? '';
    if (isFinishedMarkId(id) || findForwardUrl(bytes) === null) return 'searched';
    if (!someListedDelivery(bytes, (delivery) => records.findSlot(delivery) !== -1)) {
      problems.push(`payload ${id} belongs to no delivery`);
    }
    return 'searched';
  });
  return problems;
}

/** Finds the bodies of deliveries that are gone. */
async function findBodies(store: Store): Promise<string[]> {
  const bodies = store.collection(deliveryBodyCollection.name);
  const records = store.collection(deliveryCollection.name);
  const problems: string[] = [];
  await visitInSteps(bodies, (_, slot) => {
    const id = bodies.idAt(slot) ?? '';
    if (records.findSlot(id) === -1) problems.push(`body ${id} belongs to no delivery`);
    return 'searched';
  });
  return problems;
}

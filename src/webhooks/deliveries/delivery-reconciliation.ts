/**
 * Checks that no delivery that waits and no delayed event has lost its payload, that each delayed
 * event will begin, and that nothing is kept for a delivery or an event that is gone.
 */
import { parseTimestamp } from '../../base/clock.ts';
import { findCommitted } from '../../store/find-record.ts';
import type { FindRecord, Store } from '../../store/store-port.ts';
import { findOrphans, reportProblems } from '../work/queue-reconciliation.ts';
import { visitInSteps } from '../records/stepped-scan.ts';
import { delayedEventCollection } from './delayed-events.ts';
import { deliveryBodyCollection } from './delivery-body.ts';
import { deliveryHead, readEventId } from './delivery-codec.ts';
import type { DeliveryReconciliation } from './delivery-schema.ts';
import { deliveryCollection } from './delivery.ts';
import { lateDeliveryCollection } from './late-deliveries.ts';
import { decodeEventDeliveries, decodeEventHead, eventCollection } from './event-record.ts';
import type { DeliveryTotals } from './delivery-changes.ts';
import { isRouteDeliveryId } from './route-delivery-id.ts';

/** `otherProblems` are of records that other rooms keep beside deliveries. */
export async function reconcileDeliveries(
  store: Store, countTotals: () => DeliveryTotals, nowMs: number, otherProblems: readonly string[],
): Promise<DeliveryReconciliation> {
  const problems = [
    ...await findLostPayloads(store),
    ...await findEventProblems(store, nowMs),
    ...await findOrphans(store, deliveryBodyCollection, deliveryCollection, (id) =>
      `body ${id} belongs to no delivery`),
    ...await findOrphans(store, delayedEventCollection, eventCollection, (id) =>
      `delayed event ${id} has lost its payload`),
    ...await findOrphans(store, lateDeliveryCollection, eventCollection, (id) =>
      `the late deliveries of event ${id} have lost it`),
    ...otherProblems,
  ];
  return reportProblems(countTotals(), problems);
}

async function findLostPayloads(store: Store): Promise<string[]> {
  const records = store.collection(deliveryCollection.name);
  const events = store.collection(eventCollection.name);
  const problems: string[] = [];
  await visitInSteps(records, (bytes, slot) => {
    const id = records.idAt(slot) ?? '';
    if (!isRouteDeliveryId(id) && deliveryHead.readStatus(bytes) === 'pending'
      && events.findSlot(readEventId(bytes)) === -1) {
      problems.push(`pending delivery ${id} has lost its payload`);
    }
    return 'searched';
  });
  return problems;
}

/** Finds forwards without their delivery, and delayed events that nothing will begin. */
async function findEventProblems(store: Store, nowMs: number): Promise<string[]> {
  const events = store.collection(eventCollection.name);
  const records = store.collection(deliveryCollection.name);
  const find = findCommitted(store);
  const problems: string[] = [];
  await visitInSteps(events, (bytes, slot) => {
    const id = events.idAt(slot) ?? '';
    const { url, deliverAt, to } = decodeEventHead(bytes);
    if (url === null) {
      if (deliverAt === null || parseTimestamp(deliverAt) <= nowMs) return 'searched';
      if (to !== null || mayBegin(find, id)) return 'searched';
      problems.push(`event ${id} is to begin at ${deliverAt}, and nothing will begin it`);
    } else if (!decodeEventDeliveries(bytes).deliveries.some((delivery) =>
      records.findSlot(delivery) !== -1)) {
      problems.push(`payload ${id} belongs to no delivery`);
    }
    return 'searched';
  });
  return problems;
}

/**
 * Whether a delayed event will begin, or has begun by a clock ahead of ours. Once its time has
 * passed, an event that nobody heard looks like one that did not begin.
 */
function mayBegin(find: FindRecord, id: string): boolean {
  return find(delayedEventCollection.name, id) !== undefined
    || find(lateDeliveryCollection.name, id) !== undefined;
}

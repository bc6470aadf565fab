/**
 * Keeps new ids of deliveries and requests after all existing ones. They are worked off in order of
 * their ids, which must be the order in which they were committed. An id begins with the time of
 * the machine that drew it, so with several nodes whose clocks differ a later one could sort before
 * an earlier. Therefore a node draws ids past all that it has applied.
 */
import type { AdvancingIdSource } from '../base/uuid.ts';
import type { Store } from '../store/store-port.ts';
import { deliveryCollection } from '../webhooks/deliveries/delivery.ts';
import { fanOutCollection } from '../webhooks/deliveries/delivery-changes.ts';
import { requestCollection } from '../webhooks/inbox/stored-request.ts';

const ORDERED_COLLECTIONS = [deliveryCollection, fanOutCollection, requestCollection];

export function keepIdsInOrder(makeId: AdvancingIdSource, store: Pick<Store, 'collection'>): void {
  for (const { name } of ORDERED_COLLECTIONS) {
    const collection = store.collection(name);
    makeId.advancePast(collection.idAt(collection.walk({ isDescending: true }).next()) ?? '');
    collection.onChange(({ id, before }) => {
      if (before === null) makeId.advancePast(id);
    });
  }
}

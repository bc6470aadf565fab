/**
 * Ids of work sort in the order in which it is committed, as it begins in order of its ids. An id
 * begins with the time of the machine that drew it: where the clocks of several nodes differ, one
 * that is drawn later would sort before. So ids are drawn past all that are there, as far as they
 * are applied here.
 */
import type { AdvancingIdSource } from '../base/uuid.ts';
import type { Store } from '../store/store-port.ts';
import { deliveryCollection } from '../webhooks/deliveries/delivery.ts';
import { fanOutCollection } from '../webhooks/deliveries/delivery-changes.ts';
import { requestCollection } from '../webhooks/inbox/stored-request.ts';

const ORDERED = [deliveryCollection, fanOutCollection, requestCollection];

export function keepIdsInOrder(makeId: AdvancingIdSource, store: Pick<Store, 'collection'>): void {
  for (const { name } of ORDERED) {
    const collection = store.collection(name);
    makeId.advancePast(collection.idAt(collection.walk({ isDescending: true }).next()) ?? '');
    collection.onChange(({ id, before }) => {
      if (before === null) makeId.advancePast(id);
    });
  }
}

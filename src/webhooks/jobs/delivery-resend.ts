/** Deliveries sent again in bulk. */
import { deriveIds } from '../../base/uuid.ts';
import type { Store } from '../../store/store-port.ts';
import { DELIVERY_STATUSES, deliveryCollection } from '../deliveries/delivery.ts';
import { createDeliveryMatcher } from '../deliveries/delivery-list.ts';
import type { DeliveryService } from '../deliveries/delivery-service.ts';
import { filterOf } from './filter.ts';
import type { JobKind } from './kind.ts';
import { countEach, selectionIn } from './matching.ts';

type Parts = {
  readonly store: Store;
  readonly service: Pick<DeliveryService, 'stageResend'>;
  /** Resolves once all deliveries are there of the events so far. */
  readonly settled: () => Promise<void>;
};

export function createDeliveryResend({ store, service, settled }: Parts): JobKind {
  return {
    select(given) {
      const isWanted = createDeliveryMatcher(filterOf(given, DELIVERY_STATUSES));
      const as = given['as'] === 'new' ? 'new' : 'retry';
      const selection = selectionIn(store.collection(deliveryCollection.name), isWanted);
      return {
        ...selection,
        async begin() {
          await settled();
          return selection.begin();
        },
        stage(transaction, ids, { nowMs, seed }) {
          const nextSeed = deriveIds(seed);
          return countEach(ids, (id) => {
            const bytes = transaction.find(deliveryCollection.name, id);
            if (bytes === undefined || !isWanted(bytes)) return false;
            service.stageResend(transaction, id, as, { nowMs, seed: nextSeed() });
            return true;
          });
        },
      };
    },
  };
}

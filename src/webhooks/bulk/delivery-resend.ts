/** The kind of job that sends many deliveries again. */
import type { Turns } from '../../base/turns.ts';
import { deriveIds } from '../../base/uuid.ts';
import type { Store } from '../../store/store-port.ts';
import { deliveryCollection } from '../deliveries/delivery.ts';
import { isOutgoingKind } from '../deliveries/delivery-fields.ts';
import { decodeListed } from '../deliveries/delivery-list.ts';
import type { DeliveryService } from '../deliveries/delivery-service.ts';
import { SearchedDelivery } from '../deliveries/delivery-search.ts';
import { eventCollection } from '../deliveries/event-record.ts';
import { EVENT_FACT_SOURCES } from '../deliveries/searched-event.ts';
import { createFieldTest, parseFilterBody } from '../records/fields.ts';
import { prepareWhere } from '../search/search-query.ts';
import type { JobKind } from './job-kind.ts';
import { countEach, createSelection } from './record-selection.ts';

type DeliveryResendDeps = {
  readonly store: Store;
  readonly turns: Turns;
  readonly service: Pick<DeliveryService, 'fields' | 'stageResend' | 'reserveResends'>;
  /** Resolves when the deliveries of all events so far are written. */
  readonly whenFannedOut: () => Promise<void>;
};

export function createDeliveryResend(
  { store, turns, service, whenFannedOut }: DeliveryResendDeps,
): JobKind {
  return {
    select(filter) {
      const isMet = createFieldTest(
        service.fields, { ...parseFilterBody(service.fields, filter), kind: isOutgoingKind });
      const matches = (bytes: Buffer, id: string): boolean => isMet(decodeListed(bytes, id));
      const as = filter['as'] === 'new' ? 'new' : 'retry';
      const test = prepareWhere(filter, EVENT_FACT_SOURCES);
      const events = store.collection(eventCollection.name);
      const selection = createSelection(store.collection(deliveryCollection.name), matches,
        test && { turns, holds: ({ bytes }) => test(new SearchedDelivery(events, bytes)) });
      return {
        ...selection,
        async begin() {
          await whenFannedOut();
          return selection.begin();
        },
        reserveWhile: (ids, commit) => service.reserveResends(ids, as, commit),
        stage(transaction, ids, { nowMs, seed }) {
          const nextSeed = deriveIds(seed);
          return countEach(ids, (id) => {
            const bytes = transaction.find(deliveryCollection.name, id);
            if (bytes === undefined || !matches(bytes, id)) return false;
            service.stageResend(transaction, id, as, { nowMs, seed: nextSeed() });
            return true;
          });
        },
      };
    },
  };
}

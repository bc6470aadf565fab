/** The kind of job that runs many stored requests again. */
import type { JsonObject } from '../../base/schema.ts';
import type { Steps, Turns } from '../../base/turns.ts';
import { deriveIds } from '../../base/uuid.ts';
import { findCommitted, findStaged } from '../../store/find-record.ts';
import type { FindRecord, Store } from '../../store/store-port.ts';
import type { RequestLookup } from '../deliveries/public-route.ts';
import { SOURCES } from '../filters/facts.ts';
import { decodeRequest } from '../inbox/request-codec.ts';
import { requestFields } from '../inbox/request-fields.ts';
import { requestCollection } from '../inbox/stored-request.ts';
import type { RequestService } from '../inbox/request-service.ts';
import { createFieldTest, parseFilterBody } from '../records/fields.ts';
import { prepareWhere } from '../search/search-query.ts';
import type { JobKind } from './job-kind.ts';
import { countEach, createSelection } from './record-selection.ts';

type RequestReplayDeps = {
  readonly store: Store;
  readonly turns: Turns;
  readonly findSearched: RequestLookup['findSearched'];
  readonly service: Pick<RequestService, 'stageReplay'>;
};

export function createRequestReplay(
  { store, turns, findSearched, service }: RequestReplayDeps,
): JobKind {
  return {
    select(jobFilter: JsonObject) {
      const isMet = createFieldTest(requestFields, parseFilterBody(requestFields, jobFilter));
      const matches = (bytes: Buffer, find: FindRecord): boolean =>
        isMet(decodeRequest(bytes, find));
      const options = { routes: null, isNew: jobFilter['as'] === 'new' };
      const find = findCommitted(store);
      const test = prepareWhere(jobFilter, SOURCES);
      function* holds({ id }: { readonly id: string }): Steps<boolean> {
        const request = findSearched(id);
        return request !== null && test !== null && (yield* test(request));
      }
      return {
        ...createSelection(store.collection(requestCollection.name), (bytes) =>
          matches(bytes, find), test && { turns, holds }),
        stage(transaction, ids, { nowMs, seed }) {
          const nextId = deriveIds(seed);
          const findInTransaction = findStaged(transaction);
          return countEach(ids, (id) => {
            const bytes = transaction.find(requestCollection.name, id);
            if (bytes === undefined || !matches(bytes, findInTransaction)) return false;
            service.stageReplay(transaction, id, options, { nowMs, id: nextId() });
            return true;
          });
        },
      };
    },
  };
}

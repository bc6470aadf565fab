/** Kept requests run again in bulk. */
import type { JsonObject } from '../../base/schema.ts';
import { deriveIds } from '../../base/uuid.ts';
import type { Store } from '../../store/store-port.ts';
import { readEvent, readHook, readReceivedMs, readStatus } from '../inbox/request-codec.ts';
import { REQUEST_STATUSES, requestCollection } from '../inbox/stored-request.ts';
import type { RequestFilter } from '../inbox/request-columns.ts';
import type { RequestService } from '../inbox/request-service.ts';
import { toQueueFilter } from './job-filter.ts';
import type { JobKind } from './job-kind.ts';
import { countEach, createSelection } from './record-selection.ts';

type RequestReplayDeps = {
  readonly store: Store;
  readonly service: Pick<RequestService, 'stageReplay'>;
};

export function createRequestReplay({ store, service }: RequestReplayDeps): JobKind {
  return {
    select(given: JsonObject) {
      const filter = toQueueFilter(given, REQUEST_STATUSES);
      const options = { routes: null, isNew: given['as'] === 'new' };
      return {
        ...createSelection(store.collection(requestCollection.name), (bytes) =>
          matchesFilter(filter, bytes)),
        stage(transaction, ids, { nowMs, seed }) {
          const nextId = deriveIds(seed);
          return countEach(ids, (id) => {
            const bytes = transaction.find(requestCollection.name, id);
            if (bytes === undefined || !matchesFilter(filter, bytes)) return false;
            service.stageReplay(transaction, id, options, { nowMs, id: nextId() });
            return true;
          });
        },
      };
    },
  };
}

function matchesFilter(
  { hook, status, event, sinceMs, untilMs }: Omit<RequestFilter, 'eventId'>, bytes: Buffer,
): boolean {
  if (status !== null && readStatus(bytes) !== status) return false;
  if (hook !== null && readHook(bytes) !== hook) return false;
  if (event !== null && readEvent(bytes) !== event) return false;
  if (sinceMs === null && untilMs === null) return true;
  const atMs = readReceivedMs(bytes);
  return (sinceMs === null || atMs >= sinceMs) && (untilMs === null || atMs < untilMs);
}

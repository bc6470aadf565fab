/** Kept requests run again in bulk. */
import { AppError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/schema.ts';
import { deriveIds } from '../../base/uuid.ts';
import type { Store } from '../../store/port.ts';
import { eventOf, hookOf, receivedMsOf, statusOf } from '../requests/codec.ts';
import { requestCollection } from '../requests/request.ts';
import type { RequestService } from '../requests/service.ts';
import { filterOf, type Filter } from './filter.ts';
import type { Counts } from './job.ts';
import type { JobKind } from './kind.ts';
import { selectionIn } from './matching.ts';

type RequestReplayParts = {
  readonly store: Store;
  readonly service: Pick<RequestService, 'stageReplay'>;
};

export function createRequestReplay({ store, service }: RequestReplayParts): JobKind {
  return {
    select(given: JsonObject) {
      const filter = filterOf(given);
      const options = { routes: null, isNew: given['as'] === 'new' };
      return {
        ...selectionIn(store.collection(requestCollection.name), (bytes) =>
          isWanted(filter, bytes)),
        stage(transaction, ids, { nowMs, seed }) {
          const nextId = deriveIds(seed);
          return countEach(ids, (id) => {
            const bytes = transaction.find(requestCollection.name, id);
            if (bytes === undefined || !isWanted(filter, bytes)) return false;
            service.stageReplay(transaction, id, options, { nowMs, id: nextId() });
            return true;
          });
        },
      };
    },
  };
}

/** Counts what `stage` does with each; a refusal that is about the record itself is a failure. */
function countEach(ids: readonly string[], stage: (id: string) => boolean): Counts {
  let done = 0;
  let failed = 0;
  for (const id of ids) {
    try {
      if (stage(id)) done += 1;
    } catch (thrown) {
      if (!(thrown instanceof AppError) || thrown.code !== 'conflict') throw thrown;
      failed += 1;
    }
  }
  return { done, failed };
}

function isWanted({ hook, status, event, sinceMs, untilMs }: Filter, bytes: Buffer): boolean {
  if (status !== null && statusOf(bytes) !== status) return false;
  if (hook !== null && hookOf(bytes) !== hook) return false;
  if (event !== null && eventOf(bytes) !== event) return false;
  if (sinceMs === null && untilMs === null) return true;
  const atMs = receivedMsOf(bytes);
  return (sinceMs === null || atMs >= sinceMs) && (untilMs === null || atMs < untilMs);
}

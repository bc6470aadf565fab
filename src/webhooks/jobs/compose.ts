/** The jobs of the relay put together: their kinds, and the routes that ask for them. */
import type { Route } from '../../server/route.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { IdempotencyKeys } from '../../resources/idempotency.ts';
import type { Store } from '../../store/port.ts';
import { REQUEST_STATUSES } from '../requests/request.ts';
import { requestResource } from '../requests/resource.ts';
import type { RequestService } from '../requests/service.ts';
import { bulkRoute } from './bulk-route.ts';
import { filterMembers } from './filter.ts';
import { Jobs } from './jobs.ts';
import { jobRoutes } from './routes.ts';

type JobsParts = {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly makeId: () => string;
  /** Not given: an `Idempotency-Key` has no effect. */
  readonly keys: IdempotencyKeys | null;
  readonly requests: RequestService;
  /** The identifier of the incoming webhook that a person names by it or by its path segment. */
  readonly hookOf: (name: string) => string;
};

/** The rejected ones are in memory alone, and gone when the process ends: no job could go on. */
const REPLAYABLE = REQUEST_STATUSES.filter((status) => status !== 'rejected');

export function composeJobs(
  { store, clock, log, makeId, keys, requests, hookOf }: JobsParts,
): { readonly jobs: Jobs; readonly routes: readonly Route[] } {
  const jobs = new Jobs({
    store, clock, log, makeId,
    kinds: {
      'request-replay': async () => (await import('./request-replay.ts'))
        .createRequestReplay({ store, service: requests }),
    },
  });
  const replay = bulkRoute({ jobs, store, keys }, {
    kind: 'request-replay', path: `${requestResource.path}/replay`,
    operationId: 'replayRequests', name: 'RequestsReplay',
    summary: 'Run many kept requests again, as a job that goes on after a restart',
    members: filterMembers(REPLAYABLE, {
      hook: 'Of this incoming webhook only: its identifier or path segment',
      event: 'Only those that the sender names so, such as `push`',
      time: 'Received',
      as: '`retry` runs the same requests again, under the same ids; `new` copies of them',
    }),
    hookOf,
  });
  return { jobs, routes: [...jobRoutes(jobs), replay] };
}

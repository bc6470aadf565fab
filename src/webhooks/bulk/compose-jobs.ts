/** Composes the jobs of the relay: their kinds, and the routes that ask for them. */
import type { HttpRoute } from '../../server/http-route.ts';
import { lazyImport } from '../../base/lazy-import.ts';
import { createTurns } from '../../base/turns.ts';
import type { Outgoing, Queue } from '../compose-outgoing.ts';
import { ALL_OWNED } from '../durable-queue/ownership.ts';
import type { WebhooksOptions } from '../webhooks-options.ts';
import type { JobKindDeps } from './job-kinds.ts';
import { jobRoutes, type JobRouteDeps } from './job-routes.ts';
import { Jobs } from './jobs.ts';

const loadKinds = lazyImport(() => import('./job-kinds.ts'));

export function composeJobs(
  options: WebhooksOptions,
  { webhooks, outgoing, queue, ...requests }: Pick<JobRouteDeps, 'webhooks'>
    & Pick<JobKindDeps, 'requests' | 'findSearched'>
    & { readonly outgoing: Outgoing; readonly queue: Queue },
): { readonly jobs: Jobs; readonly routes: readonly HttpRoute[] } {
  const { store, clock, makeId, logger: log, keys = null, ownership = ALL_OWNED } = options;
  const { turns = createTurns(clock) } = options;
  const { deliveries } = outgoing;
  const kindDeps: JobKindDeps = {
    ...requests, ...queue, ...outgoing, store, turns, webhooks: webhooks.outgoing,
  };
  const jobs = new Jobs({
    store, clock, log, makeId, ownership,
    loadKinds: async () => loadKinds(({ createJobKinds }) => createJobKinds(kindDeps)),
  });
  return { jobs, routes: jobRoutes(jobs, { store, keys, deliveries, webhooks }) };
}

/** Composes the jobs of the relay: their kinds, and the routes that ask for them. */
import type { HttpRoute } from '../../server/http-route.ts';
import { lazyImport } from '../../base/lazy-import.ts';
import type { Outgoing, Queue } from '../compose-outgoing.ts';
import type { RelayContext } from '../relay-context.ts';
import type { JobWork } from './job-kinds.ts';
import { jobRoutes, type JobAdmission } from './job-routes.ts';
import { Jobs } from './jobs.ts';

const loadKinds = lazyImport(() => import('./job-kinds.ts'));

export function composeJobs(
  context: RelayContext,
  { keys, webhooks, outgoing, queue, ...requests }: Pick<JobAdmission, 'keys' | 'webhooks'>
    & Pick<JobWork, 'requests' | 'findSearched'>
    & { readonly outgoing: Outgoing; readonly queue: Queue },
): { readonly jobs: Jobs; readonly routes: readonly HttpRoute[] } {
  const { deliveries } = outgoing;
  const work: JobWork = { ...requests, ...queue, ...outgoing, webhooks: webhooks.outgoing };
  const jobs = new Jobs(context, async () =>
    loadKinds(({ createJobKinds }) => createJobKinds(context, work)));
  return { jobs, routes: jobRoutes(jobs, context.store, { keys, deliveries, webhooks }) };
}

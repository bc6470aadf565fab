/** Composes the jobs of the relay: their kinds, and the routes that ask for them. */
import type { HttpRoute } from '../../server/http-route.ts';
import type { Clock } from '../../base/clock.ts';
import { lazyImport } from '../../base/lazy-import.ts';
import type { Logger } from '../../base/log.ts';
import type { JsonObject, MemberSchema } from '../../base/schema.ts';
import { createTurns, type Turns } from '../../base/turns.ts';
import type { IdempotencyKeys } from '../../resources/idempotency-keys.ts';
import type { Store } from '../../store/store-port.ts';
import { DELIVERY_STATUSES } from '../deliveries/delivery.ts';
import { deliveryResource } from '../deliveries/delivery-resource.ts';
import type { RequestLookup } from '../deliveries/public-route.ts';
import { EVENT_FACT_SOURCES } from '../deliveries/searched-event.ts';
import { SOURCES } from '../filters/facts.ts';
import { REQUEST_STATUSES } from '../inbox/stored-request.ts';
import { requestResource } from '../inbox/request-resource.ts';
import { requestFields } from '../inbox/request-fields.ts';
import { resolveHook, type WebhookDirectory } from '../naming/directory.ts';
import type { RequestService } from '../inbox/request-service.ts';
import type { Outgoing, Queue } from '../compose-outgoing.ts';
import type { OutgoingWebhookIndex } from '../outgoing/outgoing-webhook-index.ts';
import { BACKFILL_KIND, backfillRoute } from './backfill-route.ts';
import { bulkRoute } from './bulk-route.ts';
import type { Ownership } from '../durable-queue/ownership.ts';
import { fieldMembers, type RecordFields } from '../records/fields.ts';
import { findWhereProblems, whereMember } from '../search/search-query.ts';
import { Jobs } from './jobs.ts';
import { jobRoutes } from './job-routes.ts';

// Each calls its argument with the module, which its first call imports.
const loadReplay = lazyImport(() => import('./request-replay.ts'));
const loadBackfill = lazyImport(() => import('./backfill.ts'));
const loadResend = lazyImport(() => import('./delivery-resend.ts'));

type ComposeJobsDeps = {
  readonly store: Store;
  readonly clock: Clock;
  readonly turns: Turns | undefined;
  readonly log: Logger;
  readonly makeId: () => string;
  /** null: an `Idempotency-Key` has no effect. */
  readonly keys: IdempotencyKeys | null;
  readonly ownership: Pick<Ownership, 'isMaintainer' | 'onChange'>;
  readonly requests: RequestService;
  readonly lookup: Pick<RequestLookup, 'findSearched'>;
  readonly outgoing: Pick<Outgoing, 'deliveries' | 'isAllHeld'>;
  readonly queue: Pick<Queue, 'fanOuts' | 'capacity'>;
  readonly webhooks: {
    readonly incoming: WebhookDirectory; readonly outgoing: OutgoingWebhookIndex;
  };
};

/** Rejected requests are in memory alone: after a restart a job could not go on with them. */
const REPLAYABLE = REQUEST_STATUSES.filter((status) => status !== 'rejected');

export function composeJobs(
  deps: ComposeJobsDeps,
): { readonly jobs: Jobs; readonly routes: readonly HttpRoute[] } {
  const { store, clock, log, makeId, ownership, keys, requests, outgoing, queue } = deps;
  const { turns = createTurns(clock), lookup: { findSearched } } = deps;
  const { deliveries, isAllHeld } = outgoing;
  const { capacity, fanOuts } = queue;
  const webhooks = deps.webhooks.outgoing;
  const whenFannedOut = (): Promise<void> => fanOuts.whenWritten();
  const jobs = new Jobs({
    store, clock, log, makeId, ownership,
    kinds: {
      'request-replay': async () => loadReplay(({ createRequestReplay }) =>
        createRequestReplay({ store, turns, findSearched, service: requests })),
      'delivery-resend': async () => loadResend(({ createDeliveryResend }) =>
        createDeliveryResend({ store, turns, service: deliveries, whenFannedOut })),
      [BACKFILL_KIND]: async () => loadBackfill(({ createBackfill }) =>
        createBackfill({ store, webhooks, capacity, isAllHeld, whenFannedOut })),
    },
  });
  const routes = [
    ...jobRoutes(jobs), replayRoute(jobs, deps), resendRoute(jobs, deps),
    backfillRoute(jobs, { store, keys, webhooks }),
  ];
  return { jobs, routes };
}

function replayRoute(jobs: Jobs, { keys, webhooks }: ComposeJobsDeps): HttpRoute {
  return bulkRoute({ jobs, keys }, {
    kind: 'request-replay', path: `${requestResource.path}/replay`,
    operationId: 'replayRequests', name: 'RequestsReplay',
    summary: 'Run many kept requests again, as a job that goes on after a restart',
    members: {
      ...jobMembers(requestFields, REPLAYABLE),
      as: replayModeMember(
        '`retry` runs the same requests again, under the same ids; `new` copies of them'),
    },
    bodyRules: { check: (body) => findWhereProblems(body, SOURCES) },
    resolveFilter: (filter) => resolveHookMember(webhooks.incoming, filter),
  });
}

function resendRoute(jobs: Jobs, { keys, outgoing, webhooks }: ComposeJobsDeps): HttpRoute {
  return bulkRoute({ jobs, keys }, {
    kind: 'delivery-resend', path: `${deliveryResource.path}/resend`,
    operationId: 'resendDeliveries', name: 'DeliveriesResend',
    summary: 'Send many deliveries again, as a job that goes on after a restart',
    members: {
      // All statuses: a `retry` of a pending delivery sends it now, not at its next attempt.
      ...jobMembers(outgoing.deliveries.fields, DELIVERY_STATUSES),
      as: replayModeMember('`retry` sends the same deliveries again, under the same '
        + '`webhook-id`; `new` makes new ones'),
    },
    bodyRules: { check: (body) => findWhereProblems(body, EVENT_FACT_SOURCES) },
    resolveFilter: (filter) => resolveHookMember(webhooks.outgoing, filter),
  });
}

/** The members of a job's filter, which is for records of these statuses. */
function jobMembers<Filter>(
  fields: RecordFields<never, Filter>, statuses: readonly string[],
): Readonly<Record<string, MemberSchema>> {
  return {
    ...fieldMembers(fields, ['hook', 'status', 'event', 'since', 'until']),
    status: { schema: { kind: 'string', values: statuses }, description: 'Only these' },
    where: whereMember,
  };
}

/** Puts the identifier of a webhook in the place of its name. */
function resolveHookMember(directory: WebhookDirectory, filter: JsonObject): JsonObject {
  const { hook } = filter;
  return typeof hook === 'string' ? { ...filter, hook: resolveHook(directory, hook) } : filter;
}

function replayModeMember(description: string): MemberSchema {
  return { schema: { kind: 'string', values: ['retry', 'new'] }, default: 'retry', description };
}

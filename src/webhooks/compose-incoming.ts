/** Composes the receiving side: the public endpoint, and the inbox of stored requests. */
import { MemoryBudget } from '../base/memory-budget.ts';
import { ExpiringRecords } from '../resources/expiring-records.ts';
import { FAILED_MESSAGE, type ConfiguredActions } from './actions/run-action.ts';
import type { EventPublisher } from './deliveries/event-publisher.ts';
import type { SystemEvents } from './deliveries/system-events.ts';
import type { HealthMonitor } from './health/health-monitor.ts';
import { Duplicates } from './inbox/intake/duplicates.ts';
import { Intake } from './inbox/intake/intake.ts';
import { createSearchedFacts, findStoredRequestRoutes } from './inbox/intake/stored-facts.ts';
import { buildRejectedRequest } from './inbox/intake/build-request.ts';
import { RecentRequests } from './inbox/intake/recent-requests.ts';
import { RejectedRing } from './inbox/rejected-requests.ts';
import type { IncomingWebhookIndex } from './incoming/receiving/incoming-webhook-index.ts';
import { createUseRecorder } from './incoming/receiving/previous-secret-uses.ts';
import type { Reception } from './incoming/receiving/receive.ts';
import type { OnRun } from './outcome-listeners.ts';
import type { RelayContext } from './relay-context.ts';
import type { WebhooksOptions } from './webhooks-options.ts';
import { InboxCapacity } from './inbox/inbox-capacity.ts';
import { estimateStoredBytes } from './inbox/request-codec.ts';
import { EVENT_ID_LIMITS, readExpiryMs, eventIdCollection } from './inbox/event-ids.ts';
import { requestRetention } from './inbox/inbox-retention.ts';
import { RequestStates } from './inbox/request-states.ts';
import { RequestService } from './inbox/request-service.ts';
import { requestSpec } from './inbox/request-changes.ts';
import { RequestRunner, RUNS_MAX } from './inbox/runs/request-runner.ts';
import { createRemovalListener } from './work/end-pending.ts';
import { QueueRetention } from './work/queue-retention.ts';
import { QueueWorker } from './work/queue-worker.ts';
import { Scheduler } from './work/scheduler.ts';

export function composeIncoming(
  context: RelayContext, options: WebhooksOptions, shared: ConfiguredActions & {
    readonly webhooks: IncomingWebhookIndex; readonly systemEvents: SystemEvents;
    readonly events: EventPublisher; readonly health: HealthMonitor;
  },
) {
  const { store, clock, log } = context;
  const { incoming, inbox, onOutcome, memoryBudget = new MemoryBudget() } = options;
  const { webhooks, health } = shared;
  const onRun = createRunListener(onOutcome, health);
  const rejectedRequests = new RejectedRing();
  const states = new RequestStates(store);
  const capacity = new InboxCapacity(store, states, inbox);
  const recentRequests = new RecentRequests();
  const duplicates = new Duplicates(store, clock);
  const intake = new Intake(context, { ...shared, capacity, recentRequests, duplicates, onRun });
  const requests = new RequestService(context, {
    states, rejected: rejectedRequests, webhooks,
    findRoutes(request, body) {
      const webhook = webhooks.find(request.hook);
      return webhook === undefined ? null : findStoredRequestRoutes(webhook, request, body);
    },
    createFacts: (request, body) => createSearchedFacts(webhooks, request, body),
    reserveRoom: (transaction, request) =>
      capacity.reserve(transaction, estimateStoredBytes(request)),
  });
  const retention =
    new QueueRetention(context, requestSpec, requestRetention(states, inbox));
  const eventIds = createExpiringEventIds(context);
  const scheduler = new Scheduler(clock, {
    runningMax: RUNS_MAX, runningPerQueueMax: incoming.maxInFlightPerHook,
  });
  const runner = new RequestRunner(context, scheduler, {
    ...shared, recentRequests, memoryBudget, schedule: incoming.retrySchedule, onRun, health,
  });
  const worker = new QueueWorker(context, scheduler, runner);
  return {
    requests, scheduler, duplicates,
    findInboxShortage: () => capacity.fullReason,
    removal: createRemovalListener(context, scheduler, runner.webhookQueues.ending),
    reception: {
      ...context, webhooks, intake, limits: incoming, onOutcome, health, memoryBudget,
      addRejected: createRejectionRecorder(context, options, rejectedRequests),
      recordPreviousSecretUse: createUseRecorder(store, log),
    },
    start() {
      worker.start();
      retention.start();
      eventIds.start();
    },
    async close(graceMs: number) {
      await Promise.all([worker.close(graceMs), retention.close(), eventIds.close()]);
      intake.close();
    },
  };
}

/** Keeps a rejected request in memory, and announces it. */
function createRejectionRecorder(
  { makeId, clock }: RelayContext, { onRejected }: WebhooksOptions, rejectedRequests: RejectedRing,
): Reception['addRejected'] {
  return (exchange, webhook, rejected) => {
    const request = buildRejectedRequest(
      exchange, webhook, rejected, { id: makeId(), atMs: clock.now() });
    rejectedRequests.add(request, rejected.body);
    onRejected?.(request);
  };
}

/** Counts each run, and has the webhook's health follow from it. */
function createRunListener(
  onOutcome: WebhooksOptions['onOutcome'], health: HealthMonitor,
): OnRun {
  return (webhookId, { success, message, isCoalesced, isCallersFault }, atMs) => {
    // A coalesced run says nothing of the action, and so of the webhook.
    if (isCoalesced) return onOutcome('runs', webhookId, 'coalesced', null);
    onOutcome('runs', webhookId, success ? 'succeeded' : 'failed', null);
    // Any caller can send a header that has the chain refused, which says nothing of the webhook.
    if (isCallersFault) return;
    if (success) health.recordSuccess(webhookId, atMs);
    else health.recordFailure(webhookId, { atMs, reason: message ?? FAILED_MESSAGE });
  };
}

function createExpiringEventIds(
  { store, clock, log, ownership }: RelayContext,
): ExpiringRecords {
  return new ExpiringRecords({
    store, clock, log, collection: eventIdCollection.name, noun: 'ids of events',
    readExpiryMs, limits: EVENT_ID_LIMITS,
    mayRemove: () => ownership.isMaintainer(),
  });
}

/** Composes the sending side: events, their deliveries, and the worker that attempts them. */
import type { ConfiguredActions } from './actions/run-action.ts';
import { formatTimestamp } from '../base/clock.ts';
import { stageHoldingJobCancel, findHoldProblems } from './bulk/stage-job.ts';
import { DELAYED_EVENT_LIMITS, DelayedEvents } from './deliveries/delayed-events.ts';
import { QueueCapacity } from './deliveries/queue-capacity.ts';
import { EventRetention } from './events/event-retention.ts';
import { EventUse } from './deliveries/event-use.ts';
import { EventPublisher } from './deliveries/event-publisher.ts';
import { FanOuts } from './deliveries/fan-out.ts';
import { SystemEvents } from './deliveries/system-events.ts';
import { deliveryRetention } from './deliveries/delivery-retention.ts';
import { DeliveryService } from './deliveries/delivery-service.ts';
import { deliverySpec } from './deliveries/delivery-changes.ts';
import type { RequestLookup } from './deliveries/delivery-fields.ts';
import type { RelayContext } from './relay-context.ts';
import type { WebhooksOptions } from './webhooks-options.ts';
import type { HealthMonitor } from './health/health-monitor.ts';
import type { WebhookDirectory } from './members/directory.ts';
import type { OutgoingWebhookIndex } from './outgoing/outgoing-webhook-index.ts';
import { EventService } from './events/event-service.ts';
import { Scheduler } from './work/scheduler.ts';
import { createBodyMaker } from './deliveries/sending/body-maker.ts';
import { isBodyToMake } from './deliveries/sending/request-builder.ts';
import { createWebhookSender } from './deliveries/sending/webhook-sender.ts';
import { StoreFailureEvents } from './deliveries/sending/store-failure-events.ts';
import { DeliveryAttempter } from './deliveries/sending/delivery-attempter.ts';
import { createRemovalListener, type RemovalListener } from './work/end-pending.ts';
import { ALL_OWNED } from './work/ownership.ts';
import { QueueRetention } from './work/queue-retention.ts';
import { QueueWorker } from './work/queue-worker.ts';

/** The entry of events and forwards; deliveries follow from them. */
export function composeEvents(
  context: RelayContext, { events: { keep }, outgoing }: WebhooksOptions,
  webhooks: { readonly incoming: WebhookDirectory; readonly outgoing: OutgoingWebhookIndex },
  requests: RequestLookup, findRateTime: (deliveryId: string) => number | null,
) {
  const { store, clock, log } = context;
  const fanOuts = new FanOuts(context);
  const eventUse = new EventUse(store);
  const capacity = new QueueCapacity(store, eventUse, fanOuts, {
    pendingMax: outgoing.maxPending, bytesMax: outgoing.maxPendingBytes,
  });
  const events =
    new EventPublisher(context, webhooks.outgoing, fanOuts, capacity, keep === 'all');
  const scheduler = new Scheduler(clock, DELAYED_EVENT_LIMITS);
  const delayedEvents = new DelayedEvents(context, scheduler, events);
  // `DelayedEvents.mayBegin` asks who the maintainer is, whatever leases this node has.
  const delayedEventWorker =
    new QueueWorker({ ...context, ownership: ALL_OWNED }, scheduler, delayedEvents);
  const systemEvents = new SystemEvents(events, log, webhooks);
  const deliveries = new DeliveryService(context, {
    fanOuts, webhooks: webhooks.outgoing, capacity, requests, findRateTime,
    findHoldProblems: () => findHoldProblems(store),
  });
  return {
    fanOuts, delayedEvents, delayedEventWorker, eventUse, capacity, events, deliveries,
    systemEvents,
  };
}

export function composeOutgoing(
  context: RelayContext, options: WebhooksOptions, shared: ConfiguredActions & {
    readonly webhooks: OutgoingWebhookIndex; readonly eventParts: ReturnType<typeof composeEvents>;
    readonly health: HealthMonitor;
  },
) {
  const { store, clock } = context;
  const { http, outgoing, onOutcome, cloudEventSource } = options;
  const { webhooks, health } = shared;
  const {
    fanOuts, delayedEvents, delayedEventWorker, eventUse, capacity, systemEvents,
  } = shared.eventParts;
  const bodies = createBodyMaker(shared);
  const scheduler = new Scheduler(clock, {
    runningMax: outgoing.maxInFlight, runningPerQueueMax: outgoing.maxInFlightPerHook,
    runningPerTargetMax: outgoing.maxInFlightPerHost,
  }, ({ id, queue }) => !isBodyToMake({ store, webhooks, bodies }, queue.key, id));
  const sender = createWebhookSender(context, http, bodies, cloudEventSource);
  const attempter = new DeliveryAttempter(context, {
    webhooks, fanOuts, delayedEvents, capacity, scheduler, bodies, sender, systemEvents, onOutcome,
    health, schedule: outgoing.retrySchedule, cloudEventSource,
  });
  const worker = new QueueWorker(context, scheduler, attempter);
  const removal = createRemovalListener(context, scheduler, attempter.webhookQueues.ending);
  const storeWatch = new StoreFailureEvents(context, systemEvents);
  const retention = new QueueRetention(
    context, deliverySpec, deliveryRetention(outgoing, store, eventUse));
  capacity.onFull((missingBytes) => retention.displaceFailed(missingBytes));
  const eventRetention = new EventRetention(context, eventUse, options.events);
  const keptEvents = new EventService(store, fanOuts, webhooks);
  const upkeep = [storeWatch, retention, eventRetention];
  const removalListener: RemovalListener = {
    ...removal,
    stageEndOfPending(transaction, webhookId, nowMs) {
      stageHoldingJobCancel(transaction, webhookId, formatTimestamp(nowMs));
      removal.stageEndOfPending(transaction, webhookId, nowMs);
    },
    countPending: (webhookId) => scheduler.countTasks(webhookId),
  };
  return {
    sender, keptEvents, scheduler, removal: removalListener,
    statistics: () => attempter.statistics(),
    start() {
      for (const part of [worker, attempter, ...upkeep, delayedEvents, delayedEventWorker]) {
        part.start();
      }
    },
    async close(graceMs: number) {
      await Promise.all([
        fanOuts.close(graceMs), worker.close(graceMs), delayedEventWorker.close(0),
        ...upkeep.map((part) => part.close()),
      ]);
      attempter.close();
      delayedEvents.close();
    },
  };
}

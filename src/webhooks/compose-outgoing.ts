/** Composes the sending side: events, their deliveries, and the worker that attempts them. */
import type { ConfigurationIndex } from './actions/configuration-index.ts';
import type { ActionRegistry } from './actions/action-registry.ts';
import type { ActionRunner } from './actions/run-action.ts';
import { QueueCapacity } from './deliveries/queue-capacity.ts';
import { createEventPublisher, type EventPublisher } from './deliveries/event-publisher.ts';
import { FanOuts } from './deliveries/fan-out.ts';
import { createSystemEvents, type SystemEvents } from './deliveries/system-events.ts';
import { deliveryRetention } from './deliveries/delivery-retention.ts';
import { createDeliveryService, type DeliveryService } from './deliveries/delivery-service.ts';
import { deliveryQueue } from './deliveries/delivery-changes.ts';
import type { WebhooksOptions } from './webhooks-options.ts';
import type { HealthMonitor } from './health/health-monitor.ts';
import type { WebhookDirectory } from './naming/directory.ts';
import type { OutgoingWebhookIndex } from './outgoing/outgoing-webhook-index.ts';
import { Scheduler } from './scheduler/scheduler.ts';
import { createBodyMaker } from './sending/body-maker.ts';
import { cancelPending, stageCancelPending } from './sending/webhook-retirement.ts';
import { createWebhookSender, type WebhookSender } from './sending/webhook-sender.ts';
import { StoreFailureEvents } from './sending/store-failure-events.ts';
import { DeliveryWorker } from './sending/delivery-worker.ts';
import type { RemovalListener } from './durable-queue/end-pending.ts';
import { ALL_OWNED } from './durable-queue/ownership.ts';
import { Retention } from './durable-queue/queue-retention.ts';

/** The entry of events and forwards; deliveries follow from them. */
type Queue = {
  readonly fanOuts: FanOuts;
  readonly capacity: QueueCapacity;
  readonly events: EventPublisher;
  readonly systemEvents: SystemEvents;
};

type Outgoing = {
  readonly deliveries: DeliveryService;
  readonly sender: WebhookSender;
  readonly worker: DeliveryWorker;
  readonly removal: RemovalListener;
  start(): void;
  close(graceMs: number): Promise<void>;
};

export function composeQueue(
  { store, clock, logger: log, makeId, outgoing }: WebhooksOptions,
  webhooks: { readonly incoming: WebhookDirectory; readonly outgoing: OutgoingWebhookIndex },
): Queue {
  const fanOuts = new FanOuts({ store, clock, log });
  const capacity = new QueueCapacity(store, {
    pendingMax: outgoing.maxPending, bytesMax: outgoing.maxPendingBytes,
  });
  const events = createEventPublisher({
    store, webhooks: webhooks.outgoing, fanOuts, makeId, clock, capacity,
  });
  return { fanOuts, capacity, events, systemEvents: createSystemEvents({ events, log, webhooks }) };
}

export function composeOutgoing(options: WebhooksOptions, shared: {
  readonly webhooks: OutgoingWebhookIndex; readonly configurations: ConfigurationIndex;
  readonly actions: ActionRegistry; readonly runner: ActionRunner; readonly queue: Queue;
  readonly health: HealthMonitor;
}): Outgoing {
  const { store, http, logger: log, clock, makeId, random, outgoing, onOutcome } = options;
  const { ownership = ALL_OWNED } = options;
  const { webhooks, configurations, actions, runner, health } = shared;
  const { fanOuts, capacity, systemEvents } = shared.queue;
  const scheduler = new Scheduler(clock, {
    runningMax: outgoing.maxInFlight, runningPerQueueMax: outgoing.maxInFlightPerHook,
  });
  const bodies = createBodyMaker({ configurations, actions, runner, clock });
  const sender = createWebhookSender({ http, bodies, makeId, clock, log });
  const worker = new DeliveryWorker({
    store, webhooks, fanOuts, capacity, scheduler, bodies, sender, clock, log, random, ownership,
    systemEvents, makeId, onOutcome, health, schedule: outgoing.retrySchedule,
  });
  const storeWatch = new StoreFailureEvents({ store, clock, log, makeId, systemEvents });
  const retention = new Retention({
    ...deliveryRetention(outgoing, store), queue: deliveryQueue, store, clock, log, ownership,
  });
  const retirement = { store, webhooks, scheduler, clock };
  return {
    sender, worker,
    deliveries: createDeliveryService({ store, fanOuts, webhooks, clock, makeId, capacity }),
    removal: {
      onRemoved: (...removal) => stageCancelPending(retirement, ...removal),
      afterRemoved: (webhookId) => cancelPending(retirement, webhookId),
    },
    start() {
      worker.start();
      storeWatch.start();
      retention.start();
    },
    async close(graceMs) {
      await Promise.all([
        fanOuts.close(graceMs), worker.close(graceMs), storeWatch.close(), retention.close(),
      ]);
      capacity.close();
    },
  };
}

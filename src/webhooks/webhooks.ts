/** The relay put together: collections in, routes and services out. Only app.ts makes one. */
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { isJsonObject } from '../base/fields.ts';
import type { Logger } from '../base/log.ts';
import { RateLimitedLog } from '../base/rate-limited-log.ts';
import type { JsonValue } from '../base/schema.ts';
import type { Route } from '../server/route.ts';
import type { CollectionSpec, Store } from '../store/port.ts';
import { configurationCollection } from './actions/action-configuration.ts';
import {
  createConfigurationIndex, type ConfigurationIndex,
} from './actions/configuration-index.ts';
import { createEmitEventAction } from './actions/emit-event.ts';
import { createHttpForwardAction } from './actions/http-forward.ts';
import { createLogAction } from './actions/log.ts';
import {
  createActionRegistry, type ActionRegistry, type ActionSource,
} from './actions/registry.ts';
import type { ActionRunner } from './actions/run-action.ts';
import type { HttpSender } from './http/client-port.ts';
import {
  createHookIndex, type HookIndex, type RejectionCount,
} from './incoming/receiving/hook-index.ts';
import { incomingCollection } from './incoming/webhook.ts';
import { Capacity } from './deliveries/capacity.ts';
import { deliveryCollection, type Delivery, type DeliveryStatus } from './deliveries/delivery.ts';
import { createEvents, type Events } from './deliveries/events.ts';
import { FanOuts } from './deliveries/fan-out.ts';
import { eventCollection } from './deliveries/message.ts';
import { deliveryRetention } from './deliveries/retention.ts';
import { deliveryRoutes } from './deliveries/routes.ts';
import { createDeliveryService, type DeliveryService } from './deliveries/service.ts';
import { deliveryKind, fanOutCollection } from './deliveries/unit-of-work.ts';
import {
  createOutgoingIndex, readUnsaved, type OutgoingIndex,
} from './outgoing/webhook-index.ts';
import { composeJobs } from './jobs/compose.ts';
import { jobCollection } from './jobs/job.ts';
import { outgoingCollection, type OutgoingWebhook } from './outgoing/webhook.ts';
import { DEFAULT_ROUTE, requestBodyCollection, requestCollection } from './requests/request.ts';
import { requestRoutes } from './requests/routes.ts';
import { createRequestService, type RequestService } from './requests/service.ts';
import { requestTotalsCollection } from './requests/totals.ts';
import { Scheduler } from './scheduler/scheduler.ts';
import { createBodyMaker } from './sending/body.ts';
import { cancelPending, stageCancelled } from './sending/retirement.ts';
import { createSender, type Sender, type SendResult } from './sending/sender.ts';
import type { DeliveryStatistics } from './sending/statistics.ts';
import { DeliveryWorker } from './sending/worker.ts';
import { Retention } from './work/retention.ts';
import { usesCollection } from './actions/references.ts';
import { createResources, type Resources } from './resources.ts';
import type { IdempotencyKeys } from '../resources/idempotency.ts';
import { notFound } from '../resources/not-found.ts';
import { PreviousSecretUses } from './incoming/receiving/previous-uses.ts';
import type { ReceiveParts } from './incoming/receiving/receive.ts';
import { warnOfUnusable } from './incoming/receiving/unusable.ts';
import { incomingRoutes } from './incoming/routes.ts';
import { findHook } from './incoming/setup/hook.ts';
import { actionRoutes } from './actions/routes.ts';
import { outgoingRoutes } from './outgoing/routes.ts';

/** To be among the store's collections before `createWebhooks`. */
export const webhookCollections: readonly CollectionSpec[] = [
  incomingCollection, configurationCollection, outgoingCollection, usesCollection,
  eventCollection, deliveryCollection, fanOutCollection, deliveryKind.totals.collection,
  requestCollection, requestBodyCollection, requestTotalsCollection, jobCollection,
];

export type WebhooksOptions = {
  readonly store: Store;
  /** Not given: an `Idempotency-Key` has no effect. */
  readonly keys?: IdempotencyKeys;
  readonly http: HttpSender;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly makeId: () => string;
  /** In [0, 1); for jitter. */
  readonly random: () => number;
  /** Custom actions: `loadActionModules` gives those of files. */
  readonly actions: readonly ActionSource[];
  /** Absolute address of the service; asked for when an example is shown. */
  readonly baseUri: () => string;
  readonly incoming: {
    readonly defaultAllowedMethods: readonly string[];
    readonly allowUnsignedWhenSecretMissing: boolean;
    readonly actionTimeoutMs: number;
    /** Requests a second for one hook; 0 is no limit. */
    readonly rateLimit: number;
    readonly maxConcurrent: number;
  };
  readonly outgoing: {
    /** Seconds between attempts. */
    readonly retrySchedule: readonly number[];
    readonly retentionMs: number;
    readonly retentionCount: number;
    readonly retentionBytes: number;
    readonly failedRetentionMs: number;
    readonly maxPending: number;
    readonly maxPendingBytes: number;
    readonly maxInFlight: number;
    readonly maxInFlightPerHook: number;
  };
};

/** An outgoing webhook, or what would be one; a stored one is found by its identifier. */
export type GivenHook = Partial<OutgoingWebhook>;

export interface Webhooks {
  readonly routes: readonly Route[];
  readonly resources: Resources;
  readonly actions: ActionRegistry;
  readonly deliveries: DeliveryService;
  readonly requests: RequestService;
  /** For the catalog's events: see `Events.emit` and `Events.isHeard`. */
  readonly events: Events;
  /**
   * Sends now, with a stored hook or one that is not. Throws `not_found` for an unknown identifier,
   * `invalid` for an unsaved hook that breaks the model's rules, never for a failed delivery.
   */
  send(hook: string | GivenHook, payload: JsonValue): Promise<SendResult>;
  emit(name: string, payload: unknown): Promise<string[]>;
  /** Begins to deliver, and to remove what is too old. Commands leave that to the server. */
  start(): void;
  /** Stops delivering; what is under way has `graceMs` to end. Idempotent. */
  close(graceMs: number): Promise<void>;
  statistics(): DeliveryStatistics;
  /** Calls of incoming webhooks that were rejected, by webhook and check. */
  rejections(): readonly RejectionCount[];
}

/** Throws `usage` when a custom action is not sound. */
export function createWebhooks(options: WebhooksOptions): Webhooks {
  const { store, clock, makeId, outgoing } = options;
  const indexes = openIndexes(options);
  const fanOuts = new FanOuts({ store, clock, log: options.logger });
  const capacity = new Capacity(store, {
    pendingMax: outgoing.maxPending, bytesMax: outgoing.maxPendingBytes,
  });
  const scheduler = new Scheduler(clock, {
    runningMax: outgoing.maxInFlight, runningPerQueueMax: outgoing.maxInFlightPerHook,
  });
  const events = createEvents({ store, hooks: indexes.outgoing, fanOuts, makeId, clock, capacity });
  const actions = makeRegistry(options, events);
  const runner = makeRunner(options);
  const { sender, worker, retention } =
    composeDelivery(options, indexes, { fanOuts, capacity, scheduler, actions, runner });
  const deliveries = createDeliveryService({ store, fanOuts, clock, capacity });
  const requests = createRequests(options, indexes.incoming);
  const keys = options.keys ?? null;
  const hookOf = (name: string): string => findHook(indexes.incoming, name)?.identifier ?? name;
  const { jobs, routes: jobRoutes } =
    composeJobs({ store, clock, makeId, log: options.logger, keys, requests, hookOf });
  const retirement = { store, hooks: indexes.outgoing, scheduler, clock };
  const resources = createResources({
    store, actions, makeId, now: () => clock.now(),
    onRemoved: (...given) => stageCancelled(retirement, ...given),
    afterRemoved: (hook) => cancelPending(retirement, hook),
  });
  const routes = [
    ...incomingRoutes({
      records: resources.incoming, baseUri: options.baseUri,
      store,
      receive: receiveParts(options, indexes, actions, runner),
    }),
    ...actionRoutes(actions, resources.configurations),
    ...outgoingRoutes({
      records: resources.outgoing, hooks: indexes.outgoing, store, now: () => clock.now(),
      send: (...given) => sender.sendText(...given),
    }),
    ...deliveryRoutes({ events, service: deliveries, keys }),
    ...requestRoutes({ service: requests, keys, hookOf }),
    ...jobRoutes,
  ];
  return {
    routes, resources, actions, deliveries, requests, events,
    async send(given, payload) {
      if (typeof given !== 'string' && !isJsonObject(given)) {
        throw new AppError('invalid', 'a hook is an identifier or an object');
      }
      const { identifier = '' } = typeof given === 'string' ? { identifier: given } : given;
      const stored = indexes.outgoing.find(identifier);
      if (stored !== undefined) return sender.send(stored, payload);
      if (typeof given === 'string' || given.targetUrl === undefined) {
        throw notFound('outgoing webhook', identifier);
      }
      return sender.send(readUnsaved(given, makeId()), payload);
    },
    emit: (name, payload) => events.emitNow(name, payload),
    start() {
      worker.start();
      retention.start();
      jobs.start();
      warnOfUnusable(indexes.incoming, options.logger);
    },
    async close(graceMs) {
      await jobs.close();
      await Promise.all([fanOuts.close(graceMs), worker.close(graceMs), retention.close()]);
      capacity.close();
      requests.close();
      runner.chainEnds.close();
      for (const index of Object.values(indexes)) index.close();
    },
    statistics: () => worker.statistics(),
    rejections: () => indexes.incoming.rejectionCounts(),
  };
}

type DeliveryRetention = Retention<Delivery, DeliveryStatus>;
type Indexes = ReturnType<typeof openIndexes>;

function openIndexes({ store, clock, logger, incoming }: WebhooksOptions): {
  readonly configurations: ConfigurationIndex;
  readonly outgoing: OutgoingIndex;
  readonly incoming: HookIndex;
} {
  return {
    configurations: createConfigurationIndex(store.collection(configurationCollection.name)),
    outgoing: createOutgoingIndex(store.collection(outgoingCollection.name)),
    incoming: createHookIndex({
      collection: store.collection(incomingCollection.name),
      defaultMethods: incoming.defaultAllowedMethods, rateLimit: incoming.rateLimit, clock,
      log: logger,
    }),
  };
}

function createRequests(
  { store, clock, makeId }: WebhooksOptions, hooks: HookIndex,
): RequestService {
  return createRequestService({
    store, clock, makeId,
    rejected: { all: () => [], find: () => undefined },
    routesOf: ({ hook }) => hooks.find(hook) === undefined ? null
      : { names: [DEFAULT_ROUTE], matching: () => [DEFAULT_ROUTE] },
    checkRoom: () => {},
  });
}

function composeDelivery(
  options: WebhooksOptions, indexes: Indexes, shared: {
    readonly fanOuts: FanOuts; readonly capacity: Capacity; readonly scheduler: Scheduler;
    readonly actions: ActionRegistry; readonly runner: ActionRunner;
  },
): {
  readonly sender: Sender; readonly worker: DeliveryWorker; readonly retention: DeliveryRetention;
} {
  const { store, http, logger: log, clock, makeId, random, outgoing } = options;
  const { fanOuts, capacity, scheduler, actions, runner } = shared;
  const { configurations, outgoing: hooks } = indexes;
  const bodies = createBodyMaker({ configurations, actions, runner, clock });
  const sender = createSender({ http, bodies, makeId, clock, log });
  const worker = new DeliveryWorker({
    store, hooks, fanOuts, capacity, scheduler, bodies, sender, clock, log, random,
    schedule: outgoing.retrySchedule,
  });
  const retention = new Retention({
    ...deliveryRetention(outgoing, store), kind: deliveryKind, store, clock, log,
  });
  return { sender, worker, retention };
}

function receiveParts(
  { clock, incoming, store, logger }: WebhooksOptions, indexes: Indexes, actions: ActionRegistry,
  runner: ActionRunner,
): ReceiveParts {
  return {
    hooks: indexes.incoming, configurations: indexes.configurations, clock, actions,
    limits: incoming, runner, previousUses: new PreviousSecretUses(store, logger),
  };
}

function makeRunner({ clock, logger, incoming }: WebhooksOptions): ActionRunner {
  return {
    timeoutMs: incoming.actionTimeoutMs, clock,
    chainEnds: new RateLimitedLog(clock, (leftOut) =>
      logger.warning('more chains were refused in actions', { leftOut })),
  };
}

function makeRegistry(options: WebhooksOptions, events: Events): ActionRegistry {
  const { http, logger: log, actions } = options;
  return createActionRegistry({
    builtIn: [
      createLogAction(),
      createHttpForwardAction({ http, queue: (forward) => events.queueForward(forward) }),
      createEmitEventAction((...event) => events.emitText(...event)),
    ],
    custom: actions,
    http, log,
  });
}

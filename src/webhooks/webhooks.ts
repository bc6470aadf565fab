/** The relay put together: collections in, routes and services out. Only app.ts makes one. */
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { JsonValue } from '../base/schema.ts';
import type { Route } from '../server/route.ts';
import type { CollectionSpec, Store, Transaction } from '../store/port.ts';
import { configurationCollection } from './actions/action-configuration.ts';
import { ActionResult } from './actions/action.ts';
import { createConfigurationIndex } from './actions/configuration-index.ts';
import { createEmitEventAction } from './actions/emit-event.ts';
import { createHttpForwardAction } from './actions/http-forward.ts';
import { createLogAction } from './actions/log.ts';
import {
  createActionRegistry, type ActionRegistry, type ActionSource,
} from './actions/registry.ts';
import type { HttpSender } from './http.ts';
import { createHookIndex } from './incoming/hook-index.ts';
import { incomingCollection } from './incoming/incoming-webhook.ts';
import { createBodyMaker } from './outgoing/body.ts';
import { createDeliveryDesk, type DeliveryDesk } from './outgoing/delivery-desk.ts';
import { DeliveryQueue, type QueueStatistics } from './outgoing/delivery-queue.ts';
import { deliveryRoutes } from './outgoing/delivery-routes.ts';
import { cancelled, deliveryCollection } from './outgoing/delivery.ts';
import { createEvents, type Events } from './outgoing/events.ts';
import { Tally, totalsCollection } from './outgoing/ledger.ts';
import { eventCollection } from './outgoing/message.ts';
import { createOutgoingIndex } from './outgoing/outgoing-index.ts';
import { outgoingCollection } from './outgoing/outgoing-webhook.ts';
import { CHUNK } from './outgoing/recorder.ts';
import { Retention } from './outgoing/retention.ts';
import { createSender, type SendResult } from './outgoing/sender.ts';
import { usesCollection } from './references.ts';
import { createResources, type Resources } from './resources.ts';
import { webhookRoutes } from './routes.ts';

/** To be among the store's collections before `createWebhooks`. */
export const webhookCollections: readonly CollectionSpec[] = [
  incomingCollection, configurationCollection, outgoingCollection, usesCollection,
  eventCollection, deliveryCollection, totalsCollection,
];

export type WebhooksOptions = {
  readonly store: Store;
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
    readonly failedRetentionMs: number;
    readonly maxPending: number;
    readonly maxInFlight: number;
    readonly maxInFlightPerHook: number;
  };
};

export interface Webhooks {
  readonly routes: readonly Route[];
  readonly resources: Resources;
  readonly actions: ActionRegistry;
  readonly desk: DeliveryDesk;
  /** For the catalog's events: see `Events.emit` and `Events.isHeard`. */
  readonly events: Events;
  /** Sends now; throws `not_found` for an unknown hook, never for a failed delivery. */
  send(hook: string, payload: JsonValue): Promise<SendResult>;
  emit(name: string, payload: unknown): Promise<string[]>;
  /** Begins to deliver, and to remove what is too old. Commands leave that to the server. */
  start(): void;
  /** Stops delivering; what is under way has `graceMs` to end. Idempotent. */
  close(graceMs: number): Promise<void>;
  statistics(): QueueStatistics;
}

/** Throws `usage` when a custom action is not sound. */
export function createWebhooks(options: WebhooksOptions): Webhooks {
  const { store, http, logger: log, clock, makeId, random, incoming, outgoing } = options;
  const configurations = createConfigurationIndex(store.collection(configurationCollection.name));
  const outgoingHooks = createOutgoingIndex(store.collection(outgoingCollection.name));
  const hooks = createHookIndex({
    collection: store.collection(incomingCollection.name),
    defaultMethods: incoming.defaultAllowedMethods, rateLimit: incoming.rateLimit, clock,
  });
  const pendingMax = outgoing.maxPending;
  const events = createEvents({ store, hooks: outgoingHooks, makeId, clock, pendingMax });
  const actions = makeRegistry(options, events);
  const { actionTimeoutMs } = incoming;
  const bodies = createBodyMaker({ configurations, actions, actionTimeoutMs, clock, log });
  const sender = createSender({ http, bodies, makeId, clock, log });
  const queue = new DeliveryQueue({
    store, hooks: outgoingHooks, bodies, sender, clock, log, random,
    schedule: outgoing.retrySchedule, inFlightMax: outgoing.maxInFlight,
    inFlightPerHookMax: outgoing.maxInFlightPerHook,
  });
  const retention = new Retention({
    store, clock, log, finishedMs: outgoing.retentionMs, finishedMax: outgoing.retentionCount,
    failedMs: outgoing.failedRetentionMs,
  });
  const desk = createDeliveryDesk({ store, clock, pendingMax });
  const resources = createResources({
    store, actions, makeId, now: () => clock.now(),
    onOutgoingRemoved: (transaction, hook) => cancelFirst(transaction, queue, hook, clock.now()),
    afterOutgoingRemoved: (hook) => queue.cancelOf(hook),
  });
  const routes = [
    ...webhookRoutes({
      resources, actions, hooks, sender, outgoing: outgoingHooks, baseUri: options.baseUri,
      collections: {
        incoming: store.collection(incomingCollection.name),
        configurations: store.collection(configurationCollection.name),
        outgoing: store.collection(outgoingCollection.name),
      },
      receive: {
        hooks, configurations, actions, clock, limits: incoming,
        runner: { timeoutMs: actionTimeoutMs, clock },
      },
    }),
    ...deliveryRoutes({ events, desk }),
  ];
  const indexes = [configurations, outgoingHooks, hooks];
  return {
    routes, resources, actions, desk, events,
    async send(identifier, payload) {
      const hook = outgoingHooks.find(identifier);
      if (hook !== undefined) return sender.send(hook, payload);
      throw new AppError('not_found', `there is no outgoing webhook ${identifier}`);
    },
    emit: (name, payload) => events.emitNow(name, payload),
    start() {
      queue.start();
      retention.start();
    },
    async close(graceMs) {
      await Promise.all([queue.close(graceMs), retention.close()]);
      for (const index of indexes) index.close();
    },
    statistics: () => queue.statistics(),
  };
}

function makeRegistry(options: WebhooksOptions, events: Events): ActionRegistry {
  const { http, logger: log, actions } = options;
  return createActionRegistry({
    builtIn: [
      createLogAction(log),
      createHttpForwardAction({ http, log, queue: (forward) => events.queueForward(forward) }),
      createEmitEventAction((name, payload, depth) => events.emitNow(name, payload, depth)),
    ],
    custom: actions,
    tools: { log, http, ActionResult },
  });
}

/** In the transaction of the removal itself; the rest follows in chunks of its own. */
function cancelFirst(
  transaction: Transaction, queue: DeliveryQueue, hook: string, nowMs: number,
): void {
  const tally = new Tally(transaction);
  for (const id of queue.pendingOf(hook).slice(0, CHUNK)) {
    tally.change(id, (before) => cancelled(before, nowMs));
  }
  tally.close();
}

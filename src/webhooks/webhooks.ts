/** The relay put together: collections in, routes and services out. Only app.ts makes one. */
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { isJsonObject } from '../base/fields.ts';
import type { Logger } from '../base/log.ts';
import type { JsonValue } from '../base/schema.ts';
import type { Route } from '../server/route.ts';
import type { CollectionSpec, Store, Transaction } from '../store/port.ts';
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
import type { HttpSender } from './http/client-port.ts';
import { createHookIndex, type HookIndex } from './incoming/hook-index.ts';
import { incomingCollection } from './incoming/incoming-webhook.ts';
import { createBodyMaker } from './sending/body.ts';
import { createDeliveryDesk, type DeliveryDesk } from './deliveries/service.ts';
import { DeliveryQueue } from './sending/worker.ts';
import { deliveryRoutes } from './deliveries/routes.ts';
import { cancelled, deliveryCollection } from './deliveries/delivery.ts';
import { createEvents, type Events } from './deliveries/events.ts';
import { FanOuts } from './deliveries/fan-out.ts';
import {
  CHUNK, Tally, chunkOf, fanOutCollection, sizesIn, totalsCollection,
} from './deliveries/unit-of-work.ts';
import { eventCollection } from './deliveries/message.ts';
import {
  createOutgoingIndex, readUnsaved, type OutgoingIndex,
} from './outgoing/webhook-index.ts';
import { outgoingCollection, type OutgoingWebhook } from './outgoing/webhook.ts';
import { QueueRoom } from './deliveries/capacity.ts';
import type { QueueStatistics } from './scheduler/statistics.ts';
import { Retention } from './deliveries/retention.ts';
import { createSender, type Sender, type SendResult } from './sending/sender.ts';
import { usesCollection } from './actions/references.ts';
import { createResources, type Resources } from './resources.ts';
import { notFound } from '../resources/not-found.ts';
import type { ReceiveParts } from './incoming/receive.ts';
import { incomingRoutes } from './incoming/routes.ts';
import { actionRoutes } from './actions/routes.ts';
import { outgoingRoutes } from './outgoing/routes.ts';

/** To be among the store's collections before `createWebhooks`. */
export const webhookCollections: readonly CollectionSpec[] = [
  incomingCollection, configurationCollection, outgoingCollection, usesCollection,
  eventCollection, deliveryCollection, fanOutCollection, totalsCollection,
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
  readonly desk: DeliveryDesk;
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
  statistics(): QueueStatistics;
}

/** Throws `usage` when a custom action is not sound. */
export function createWebhooks(options: WebhooksOptions): Webhooks {
  const { store, clock, makeId, outgoing } = options;
  const indexes = openIndexes(options);
  const fanOuts = new FanOuts({ store, clock, log: options.logger });
  const room = new QueueRoom(store, {
    pendingMax: outgoing.maxPending, bytesMax: outgoing.maxPendingBytes,
  });
  const events = createEvents({ store, hooks: indexes.outgoing, fanOuts, makeId, clock, room });
  const actions = makeRegistry(options, events);
  const { sender, queue, retention } =
    composeDelivery(options, indexes, { fanOuts, room, actions });
  const desk = createDeliveryDesk({ store, fanOuts, clock, room });
  const resources = createResources({
    store, actions, makeId, now: () => clock.now(),
    onRemoved: (transaction, hook, nowMs) =>
      cancelAll(transaction, chunkOf(queue.pendingOf(hook, CHUNK), sizesIn(store)), nowMs),
    afterRemoved: (hook) => queue.cancelOf(hook),
  });
  const routes = [
    ...incomingRoutes({
      records: resources.incoming, baseUri: options.baseUri,
      receive: receiveParts(options, indexes, actions),
    }),
    ...actionRoutes(actions, resources.configurations),
    ...outgoingRoutes({
      records: resources.outgoing, hooks: indexes.outgoing,
      send: (...given) => sender.sendText(...given),
    }),
    ...deliveryRoutes({ events, desk }),
  ];
  return {
    routes, resources, actions, desk, events,
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
      queue.start();
      retention.start();
    },
    async close(graceMs) {
      await Promise.all([fanOuts.close(graceMs), queue.close(graceMs), retention.close()]);
      room.close();
      for (const index of Object.values(indexes)) index.close();
    },
    statistics: () => queue.statistics(),
  };
}

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

function composeDelivery(
  options: WebhooksOptions, indexes: Indexes,
  { fanOuts, room, actions }: {
    readonly fanOuts: FanOuts; readonly room: QueueRoom; readonly actions: ActionRegistry;
  },
): { readonly sender: Sender; readonly queue: DeliveryQueue; readonly retention: Retention } {
  const { store, http, logger: log, clock, makeId, random, incoming, outgoing } = options;
  const { configurations, outgoing: hooks } = indexes;
  const { actionTimeoutMs } = incoming;
  const bodies = createBodyMaker({ configurations, actions, actionTimeoutMs, clock });
  const sender = createSender({ http, bodies, makeId, clock, log });
  const queue = new DeliveryQueue({
    store, hooks, fanOuts, room, bodies, sender, clock, log, random,
    schedule: outgoing.retrySchedule,
    inFlightMax: outgoing.maxInFlight, inFlightPerHookMax: outgoing.maxInFlightPerHook,
  });
  const retention = new Retention({
    store, clock, log, finishedMs: outgoing.retentionMs, finishedMax: outgoing.retentionCount,
    failedMs: outgoing.failedRetentionMs,
  });
  return { sender, queue, retention };
}

function receiveParts(
  { clock, incoming }: WebhooksOptions, indexes: Indexes, actions: ActionRegistry,
): ReceiveParts {
  return {
    hooks: indexes.incoming, configurations: indexes.configurations, clock, actions,
    limits: incoming, runner: { timeoutMs: incoming.actionTimeoutMs, clock },
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

/** In the transaction of the removal itself; the rest follows in chunks of its own. */
function cancelAll(
  transaction: Transaction, deliveries: readonly string[], nowMs: number,
): void {
  const tally = new Tally(transaction);
  for (const id of deliveries) tally.change(id, (before) => cancelled(before, nowMs));
  tally.close();
}

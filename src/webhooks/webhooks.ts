/** Composes the relay: collections in, routes and services out. Only app.ts calls it. */
import { nextHop } from '../base/webhook-chain.ts';
import { AppError } from '../base/errors.ts';
import { isJsonObject } from '../base/fields.ts';
import type { Logger } from '../base/log.ts';
import { RateLimitedLog } from '../base/rate-limited-log.ts';
import type { JsonValue } from '../base/schema.ts';
import type { IdempotencyKeys } from '../resources/idempotency-keys.ts';
import { notFoundError } from '../resources/not-found.ts';
import { bindRoutes, type HttpRoute } from '../server/http-route.ts';
import type { CollectionSpec } from '../store/store-port.ts';
import { configurationCollection } from './actions/action-configuration.ts';
import { ConfigurationIndex } from './actions/configuration-index.ts';
import { createEmitEventAction } from './actions/emit-event-action.ts';
import { createHttpForwardAction } from './actions/http-forward-action.ts';
import { createLogAction } from './actions/log-action.ts';
import { usesCollection, warnOfMissingActions } from './actions/configuration-references.ts';
import { createActionRegistry, type ActionRegistry } from './actions/action-registry.ts';
import { createActionEndpoints } from './actions/action-endpoints.ts';
import { OptionsChecks } from './actions/options-checks.ts';
import type { ActionRunner } from './actions/run-action.ts';
import { deliveryCollection } from './deliveries/delivery.ts';
import type { SystemEvents } from './deliveries/system-events.ts';
import type { EventPublisher } from './deliveries/event-publisher.ts';
import { deliveryBodyCollection } from './deliveries/delivery-body.ts';
import { lateDeliveryCollection } from './deliveries/late-deliveries.ts';
import { eventCollection } from './deliveries/event-record.ts';
import { delayedEventCollection } from './deliveries/delayed-events.ts';
import { emitRoutes } from './events/emit-routes.ts';
import {
  checkBoundSubjects, createSeenRecordsFinder, type FindSeenRecords,
} from './bound-subjects.ts';
import { deliveryRoutes } from './deliveries/delivery-routes.ts';
import type { DeliveryService } from './deliveries/delivery-service.ts';
import { fanOutCollection } from './deliveries/delivery-changes.ts';
import { eventRoutes } from './events/event-routes.ts';
import { HealthMonitor, type HealthMonitors } from './health/health-monitor.ts';
import { AttemptStatistics } from './health/webhook-statistics.ts';
import { toHostWait, type HostWait } from './health/public-health.ts';
import { healthCollection } from './health/health-record.ts';
import { webhookStatisticsCollection } from './health/webhook-statistics.ts';
import { composeIncoming } from './compose-incoming.ts';
import { appliedCollection } from './applied-records.ts';
import { configurationRoutes } from './configuration/configuration-routes.ts';
import type { ConfiguredServices } from './configuration/configuration-handlers.ts';
import type { RelayContext } from './relay-context.ts';
import {
  IncomingWebhookIndex, warnOfUnusableWebhooks,
  type RejectionCount, type UnparsedCount,
} from './incoming/receiving/incoming-webhook-index.ts';
import { createIncomingEndpoints } from './incoming-endpoints.ts';
import { createSearchedFacts } from './inbox/intake/stored-facts.ts';
import { incomingCollection } from './incoming/incoming-webhook.ts';
import { jobCollection } from './bulk/job.ts';
import { createJobKinds } from './bulk/job-kinds.ts';
import { jobRoutes } from './bulk/job-routes.ts';
import { Jobs } from './bulk/jobs.ts';
import { backfillCollection } from './deliveries/backfill-hold.ts';
import type { WebhooksOptions } from './webhooks-options.ts';
import { composeEvents, composeOutgoing } from './compose-outgoing.ts';
import { receiverRows } from './diagnostics/diagnostic-routes.ts';
import { encodePayload } from './outgoing/encode-payload.ts';
import { outgoingRoutes } from './outgoing/outgoing-routes.ts';
import {
  checkSendOptions, type SendOptions, type SendResult, type SendingWebhook,
} from './outgoing/send-options.ts';
import {
  OutgoingWebhookIndex, parseUnsavedWebhook,
} from './outgoing/outgoing-webhook-index.ts';
import type { WebhookDirectories } from './members/directory.ts';
import { createVisibilityFinder, type FindVisibility } from './members/visibility.ts';
import { outgoingCollection } from './outgoing/outgoing-webhook.ts';
import { eventIdCollection } from './inbox/event-ids.ts';
import { requestBodyCollection } from './incoming/stored-request.ts';
import type { RequestLookup } from './deliveries/delivery-fields.ts';
import { decodeRequestHead, requestCollection } from './inbox/request-codec.ts';
import { findSearchedRequest } from './inbox/request-search.ts';
import { requestRoutes } from './inbox/request-routes.ts';
import type { RequestService } from './inbox/request-service.ts';
import { createSearches, type Searches } from './records/searches.ts';
import { createWebhookResources, type WebhookResources } from './webhook-resources.ts';
import type { WebhookSender } from './deliveries/sending/webhook-sender.ts';
import type { LongLane } from './work/lanes.ts';
import type { DeliveryStatistics } from './deliveries/sending/delivery-statistics.ts';
import { formatTargetLabel, type WebhookDirection } from './webhook-label.ts';
import type { RemovalListener } from './work/end-pending.ts';
import type { Scheduler } from './work/scheduler.ts';
import { removalCollection } from './records/removals.ts';

/**
 * The collections that the store must have before `createWebhooks`. A node that loads all records
 * anew applies them in this order, so events and requests, by which deliveries are placed in their
 * queues, stand before deliveries.
 */
export const webhookCollections: readonly CollectionSpec[] = [
  incomingCollection, configurationCollection, outgoingCollection, usesCollection,
  eventCollection, lateDeliveryCollection, delayedEventCollection,
  requestBodyCollection, requestCollection, eventIdCollection,
  deliveryCollection, deliveryBodyCollection, fanOutCollection, removalCollection,
  jobCollection, backfillCollection,
  healthCollection, webhookStatisticsCollection, appliedCollection,
];

export interface Webhooks {
  readonly routes: readonly HttpRoute[];
  readonly resources: WebhookResources;
  readonly actions: ActionRegistry;
  readonly deliveries: DeliveryService;
  readonly requests: RequestService;
  readonly directories: WebhookDirectories;
  /** Finds what a caller sees whose token is bound to webhooks. */
  readonly findVisibility: FindVisibility;
  readonly findSeenRecords: FindSeenRecords;
  /**
   * The name of a webhook of either direction, and the host and path of an outgoing one's target.
   */
  describeWebhook(identifier: string): {
    readonly hookName: string | null; readonly target: string | null;
  };
  /** Publishes the catalog's events, through `mayKeep` and `stageEvent`. */
  readonly events: EventPublisher;
  /**
   * Sends now, with a stored webhook, by identifier or name, or with one that is not stored. Throws
   * `not_found` for an unknown webhook, `invalid` for an unsaved one that breaks the rules and for
   * bad options, never for a failed delivery.
   */
  send(
    webhook: string | SendingWebhook, payload: JsonValue, options?: SendOptions,
  ): Promise<SendResult>;
  emit(name: string, payload: unknown): Promise<string[]>;
  /** Emits the event that a backup has failed. Throws what `Store.transact` throws. */
  tellBackupFailed(
    failure: { readonly at: string; readonly to: string; readonly reason: string },
  ): Promise<void>;
  /** Starts deliveries and retention. Commands leave that to the server. */
  start(): void;
  /** Stops deliveries; running ones have `graceMs` to end. Idempotent. */
  close(graceMs: number): Promise<void>;
  /** The health of incoming and of outgoing webhooks. */
  readonly health: HealthMonitors;
  /** Writes the health once no requests come in any more. Idempotent. */
  closeHealth(): Promise<void>;
  statistics(): DeliveryStatistics;
  /** Why the inbox refused the last request, and would refuse it again; null: it takes more. */
  findInboxShortage(): string | null;
  /** Lists up to `max` lanes of keys that hold back many deliveries or runs, the longest first. */
  listLongLanes(max: number): readonly LongLane[];
  /** Lists the outgoing webhooks that have waited long for a permit of their host. */
  listHostWaits(): readonly (HostWait & { readonly hook: string })[];
  /** Rejected calls of incoming webhooks, by webhook and check. */
  rejections(): readonly RejectionCount[];
  /** Requests of incoming webhooks that no payload could be made of, by webhook. */
  unparsed(): readonly UnparsedCount[];
}

/** Throws `usage` for an unsound custom action. */
export function createWebhooks(context: RelayContext, ownOptions: WebhooksOptions): Webhooks {
  const { store, log, makeId } = context;
  const { keys, isDeniedTarget } = ownOptions;
  const attempts = new AttemptStatistics(context);
  const options = { ...ownOptions, onOutcome: attempts.countOutcomes(ownOptions.onOutcome) };
  const indexes = openIndexes(context, options);
  const lookup = createRequestLookup(store, indexes.incoming);
  const eventParts = composeEvents(context, options, indexes, lookup,
    (deliveryId) => outgoing.scheduler.findPaceTime(deliveryId));
  const { events, deliveries, systemEvents } = eventParts;
  const health = createMonitors(context, indexes, attempts);
  const actions = makeRegistry(context, options, eventParts);
  const runner = makeRunner(context, options);
  const configuredActions = { configurations: indexes.configurations, actions, runner };
  const outgoing = composeOutgoing(context, options, {
    ...configuredActions, webhooks: indexes.outgoing, eventParts, health: health.outgoing,
  });
  const incoming = composeIncoming(context, options, {
    ...configuredActions, webhooks: indexes.incoming, systemEvents, events, health: health.incoming,
  });
  const { sender, scheduler } = outgoing;
  const { requests, findInboxShortage } = incoming;
  const searches = createSearches(context);
  const findVisibility = createVisibilityFinder(indexes.outgoing);
  const jobs = new Jobs(context, createJobKinds(context, {
    ...eventParts, ...outgoing, ...lookup, requests, webhooks: indexes.outgoing,
  }), options.isTokenInForce);
  const removals = { incoming: incoming.removal, outgoing: outgoing.removal };
  const optionsChecks = new OptionsChecks(actions);
  const resources = createWebhookResources(context, {
    actions, optionsChecks, health, removals, isDeniedTarget,
    findHostWait: (webhookId) => findHostWait(scheduler, webhookId),
  });
  const routes = [
    ...createIncomingEndpoints(context, incoming, resources.incoming, options.baseUri),
    ...createActionEndpoints(actions, resources.configurations),
    ...createOutgoingEndpoints(context, outgoing, {
      deliveries, records: resources.outgoing, webhooks: indexes, health: health.outgoing, jobs,
      keys, searches, findVisibility, options,
    }),
    ...emitRoutes({ ...context, events, service: deliveries, keys }),
    ...requestRoutes({ service: requests, keys }, indexes.incoming, searches),
    ...configurationRoutes(context, createConfigured(resources, removals, optionsChecks, options)),
  ];
  return {
    routes, resources, actions, deliveries, requests, events, findVisibility, findInboxShortage,
    directories: indexes, findSeenRecords: createSeenRecordsFinder(store, findVisibility),
    send: async (webhook, payload, options = {}) =>
      sendNow({ webhooks: indexes.outgoing, sender, makeId }, webhook, payload, options),
    describeWebhook: (identifier) => describeWebhook(indexes, identifier),
    emit: async (name, payload) => [...(await events.emitJson(
      name, encodePayload(payload), { source: 'api', hops: 0 })).deliveries],
    tellBackupFailed: (failure) => tellBackupFailed(context, systemEvents, failure),
    start() {
      for (const part of [outgoing, incoming, jobs]) part.start();
      warnOfProblems(indexes, actions, log);
    },
    async close(graceMs) {
      await jobs.close();
      await Promise.all([outgoing.close(graceMs), incoming.close(graceMs)]);
      runner.chainRefusalLog.close();
      indexes.incoming.close();
    },
    health, closeHealth: () => closeMonitors(health), statistics: outgoing.statistics,
    listLongLanes: (max) => listLongLanes([scheduler, incoming.scheduler], max),
    listHostWaits: () => listHostWaits(scheduler),
    rejections: () => indexes.incoming.countRejections(),
    unparsed: () => indexes.incoming.countUnparsed(),
  };
}

/** The routes of what is sent. Tokens that are bound to webhooks may call some of them. */
function createOutgoingEndpoints(
  { store }: RelayContext, { sender, keptEvents }: ReturnType<typeof composeOutgoing>,
  parts: {
    readonly deliveries: DeliveryService;
    readonly records: WebhookResources['outgoing'];
    readonly webhooks: Pick<Indexes, WebhookDirection>;
    readonly health: HealthMonitor; readonly jobs: Jobs; readonly keys: IdempotencyKeys;
    readonly searches: Searches; readonly findVisibility: FindVisibility;
    readonly options: WebhooksOptions;
  },
): readonly HttpRoute[] {
  const { deliveries, records, webhooks, health, jobs, keys, searches, findVisibility } = parts;
  const { listBoundTokens = () => [], outgoing } = parts.options;
  const routes = [
    ...outgoingRoutes({
      records, webhooks: webhooks.outgoing, health, findVisibility, listBoundTokens,
      inFlightPerHookMax: outgoing.maxInFlightPerHook,
      send: sender.send,
    }),
    ...bindRoutes(receiverRows, webhooks.outgoing),
    ...deliveryRoutes({ service: deliveries, findVisibility, keys }, webhooks, searches),
    ...eventRoutes(keptEvents, findVisibility, webhooks.outgoing, searches),
    ...jobRoutes(jobs, findVisibility, { keys, webhooks }),
  ];
  return checkBoundSubjects(routes, store, findVisibility);
}

function tellBackupFailed(
  { store, clock, makeId }: RelayContext, systemEvents: SystemEvents,
  failure: Parameters<Webhooks['tellBackupFailed']>[0],
): Promise<void> {
  const inputs = { nowMs: clock.now(), seed: makeId(), hops: 0 };
  return store.transact((transaction) => systemEvents.backupFailed(transaction, inputs, failure));
}

function createConfigured(
  resources: WebhookResources, removals: Readonly<Record<WebhookDirection, RemovalListener>>,
  optionsChecks: OptionsChecks, { listBoundTokens = () => [] }: WebhooksOptions,
): ConfiguredServices {
  return {
    optionsChecks, listBoundTokens,
    repositories: {
      actionConfigurations: resources.configurations, incomingWebhooks: resources.incoming,
      outgoingWebhooks: resources.outgoing,
    },
    countWaiting({ member }, id) {
      if (member === 'actionConfigurations') return 0;
      return removals[member === 'incomingWebhooks' ? 'incoming' : 'outgoing'].countPending(id);
    },
  };
}

function listLongLanes(
  queues: readonly Pick<Webhooks, 'listLongLanes'>[], max: number,
): readonly LongLane[] {
  return queues.flatMap((queue) => queue.listLongLanes(max))
    .sort((left, right) => right.waiting - left.waiting).slice(0, max);
}

function findHostWait(scheduler: Scheduler, webhookId: string): HostWait | null {
  const wait = scheduler.findBlockedQueue(webhookId);
  return wait === null ? null : toHostWait(wait);
}

function listHostWaits(scheduler: Scheduler): ReturnType<Webhooks['listHostWaits']> {
  return scheduler.listBlockedQueues()
    .map((wait) => ({ hook: wait.queueKey, ...toHostWait(wait) }));
}

/** Does what `Webhooks.send` promises. */
function sendNow(
  { webhooks, sender, makeId }: {
    readonly webhooks: OutgoingWebhookIndex; readonly sender: WebhookSender;
    readonly makeId: () => string;
  },
  webhook: string | SendingWebhook, payload: JsonValue, options: SendOptions,
): Promise<SendResult> {
  checkSendOptions(options);
  if (typeof webhook !== 'string' && !isJsonObject(webhook)) {
    throw new AppError('invalid', 'a hook is an identifier or an object');
  }
  // A name alone refers to a stored webhook; no webhook has the key ''.
  const { identifier, name = '', targetUrl } = typeof webhook === 'string' ? {} : webhook;
  const key = typeof webhook === 'string' ? webhook
    : identifier ?? (targetUrl === undefined ? name : '');
  const storedWebhook = webhooks.findNamed(key);
  if (storedWebhook !== undefined) return sender.send(storedWebhook, payload, options);
  if (typeof webhook === 'string' || targetUrl === undefined) {
    throw notFoundError('outgoing webhook', key);
  }
  return sender.send(parseUnsavedWebhook(webhook, makeId()), payload, options);
}

function createRequestLookup(
  store: RelayContext['store'], webhooks: IncomingWebhookIndex,
): RequestLookup {
  return {
    findEvent(id) {
      const bytes = store.collection(requestCollection.name).findBytes(id);
      return bytes === undefined ? null : decodeRequestHead(bytes).event;
    },
    findSearched: (id) => findSearchedRequest(
      store, (request, body) => createSearchedFacts(webhooks, request, body), id),
    findWebhook: (identifier) => webhooks.find(identifier),
  };
}

function describeWebhook(
  { incoming, outgoing }: Indexes, identifier: string,
): ReturnType<Webhooks['describeWebhook']> {
  const { name, targetUrl } = outgoing.find(identifier) ?? {};
  return {
    hookName: name ?? incoming.find(identifier)?.name ?? null,
    target: targetUrl === undefined ? null : formatTargetLabel(targetUrl),
  };
}

type Indexes = {
  readonly configurations: ConfigurationIndex;
  readonly outgoing: OutgoingWebhookIndex;
  readonly incoming: IncomingWebhookIndex;
};

function openIndexes(
  context: RelayContext, { incoming, onOutcome }: WebhooksOptions,
): Indexes {
  return {
    configurations: new ConfigurationIndex(context.store),
    outgoing: new OutgoingWebhookIndex(context.store),
    incoming: new IncomingWebhookIndex(context, { ...incoming, onOutcome }),
  };
}

/** Warns of webhooks, and of action configurations, that cannot work as they stand. */
function warnOfProblems(
  { configurations, incoming, outgoing }: Indexes, actions: ActionRegistry, log: Logger,
): void {
  warnOfUnusableWebhooks(incoming, log);
  const webhooks = [...incoming.all(), ...outgoing.all()];
  warnOfMissingActions({ configurations, actions }, webhooks, log);
}

function createMonitors(
  context: RelayContext, { incoming, outgoing }: Indexes, attempts: AttemptStatistics,
): HealthMonitors {
  return {
    incoming: new HealthMonitor(context, {
      direction: 'incoming', collection: incomingCollection.name, webhooks: incoming,
    }),
    outgoing: new HealthMonitor(context, {
      direction: 'outgoing', collection: outgoingCollection.name, webhooks: outgoing,
    }, attempts),
  };
}

async function closeMonitors({ incoming, outgoing }: HealthMonitors): Promise<void> {
  await Promise.all([incoming.close(), outgoing.close()]);
}

function makeRunner(
  { clock, log }: RelayContext, { incoming }: WebhooksOptions,
): ActionRunner {
  return {
    timeoutMs: incoming.actionTimeoutMs, clock,
    chainRefusalLog: new RateLimitedLog(clock, (leftOut) =>
      log.warning('more chains were refused in actions', { leftOut })),
  };
}

function makeRegistry(
  { log }: RelayContext, { http, actions, optionalActions = [] }: WebhooksOptions,
  { events, deliveries }: Pick<Webhooks, 'events' | 'deliveries'>,
): ActionRegistry {
  return createActionRegistry({
    builtIn: [
      createLogAction(log),
      createHttpForwardAction(http, (forward) => deliveries.queueForward(forward)),
      createEmitEventAction(async (name, readPayload, { hops, trace }) => {
        if (!events.mayKeep(name)) {
          nextHop(hops, () => `the event ${name}`);
          return [];
        }
        const origin = { source: 'action', hops, trace } as const;
        return (await events.emitJson(name, readPayload(), origin)).deliveries;
      }),
      ...optionalActions,
    ],
    custom: actions,
    http, log,
  });
}

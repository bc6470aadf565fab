/**
 * Puts the webhook relay together, and turns changes of the catalog into its events: neither of the
 * two knows the other.
 */
import {
  clientMetrics, deliveryMetrics, healthMetrics, incomingMetrics,
} from './service-metrics.ts';
import { createClientOptions } from './room-options.ts';
import { formatTimestamp } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { MemoryBudget } from '../base/memory-budget.ts';
import type { HttpClient } from '../client/http-client.ts';
import { createLazyHttpClient } from '../client/lazy-http-client.ts';
import { createTargetCheck } from '../client/policy/deny-list.ts';
import type { Metrics } from '../server/metrics/metrics.ts';
import type { Settings } from '../settings/load-settings.ts';
import type { IdempotencyKeys } from '../resources/idempotency-keys.ts';
import type { ChangeHook } from '../resources/record-stager.ts';
import type { CATALOG_EVENTS } from '../webhooks/actions/event-name.ts';
import type { EventPublisher } from '../webhooks/deliveries/event-publisher.ts';
import type { WebhooksOptions } from '../webhooks/webhooks-options.ts';
import type { RelayContext } from '../webhooks/relay-context.ts';
import { createWebhooks } from '../webhooks/webhooks.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';

type RelayDeps = Omit<RelayContext, 'log' | 'random'> & {
  readonly keys: IdempotencyKeys;
  readonly logger: Logger;
  readonly settings: Settings;
  readonly memoryBudget: MemoryBudget;
  readonly metrics: Metrics;
  /** Custom actions. */
  readonly actions: WebhooksOptions['actions'];
  readonly optionalActions: NonNullable<WebhooksOptions['optionalActions']>;
  /**
   * The most that the pending records of each queue (inbox, deliveries) may take, whatever the
   * settings allow: an eighth of the memory. The finished deliveries that are kept may take half of
   * that.
   */
  readonly pendingBytesMax: number;
  readonly onRejected: NonNullable<WebhooksOptions['onRejected']>;
  readonly onOutcome: WebhooksOptions['onOutcome'];
  readonly isTokenInForce: NonNullable<WebhooksOptions['isTokenInForce']>;
  readonly listBoundTokens: NonNullable<WebhooksOptions['listBoundTokens']>;
  /** The absolute address of this service. */
  readonly baseUri: () => string;
};

const DAY_MS = 86_400_000;

/** Throws `usage` for a custom action that is not sound; the message says where it comes from. */
export function composeRelay(
  deps: RelayDeps,
): { readonly webhooks: Webhooks; readonly client: HttpClient } {
  const { store, clock, logger, makeId, ownership, turns } = deps;
  const { settings, metrics, keys, baseUri, memoryBudget } = deps;
  const client = createLazyHttpClient(createClientOptions(settings), { clock, logger });
  const context: RelayContext = {
    store, clock, log: logger, makeId, random: Math.random, ownership, turns,
  };
  const webhooks = createWebhooks(context, {
    onRejected: deps.onRejected, onOutcome: deps.onOutcome,
    isTokenInForce: deps.isTokenInForce,
    listBoundTokens: deps.listBoundTokens,
    ...settings.server.baseUri === null ? {} : { cloudEventSource: settings.server.baseUri },
    keys, baseUri, memoryBudget,
    http: client, isDeniedTarget: createTargetCheck(settings.http.denyAddresses),
    actions: deps.actions, optionalActions: deps.optionalActions,
    incoming: {
      defaultAllowedMethods: settings.incoming.defaultAllowedMethods,
      bodyBytesMax: settings.server.maxBodyBytes,
      allowUnsignedWhenSecretMissing: settings.incoming.allowUnsignedWhenSecretMissing,
      actionTimeoutMs: settings.incoming.actionTimeout * 1000,
      rateLimit: settings.incoming.rateLimit,
      maxConcurrent: settings.incoming.maxConcurrent,
      retrySchedule: settings.incoming.retrySchedule,
      maxInFlightPerHook: settings.incoming.maxInFlightPerHook,
    },
    inbox: {
      retentionMs: settings.inbox.retentionDays * DAY_MS,
      failedRetentionMs: settings.inbox.failedRetentionDays * DAY_MS,
      maxCount: settings.inbox.maxCount,
      maxBytes: Math.min(settings.inbox.maxBytes, deps.pendingBytesMax),
    },
    events: {
      keep: settings.events.keep,
      retentionMs: settings.events.retentionDays * DAY_MS,
      bytesMax: Math.min(settings.events.maxBytes, deps.pendingBytesMax),
    },
    outgoing: {
      retrySchedule: settings.outgoing.retrySchedule,
      retentionMs: settings.outgoing.retentionDays * DAY_MS,
      retentionCount: settings.outgoing.retentionCount,
      retentionBytes: Math.min(settings.outgoing.retentionBytes, deps.pendingBytesMax / 2),
      failedRetentionMs: settings.outgoing.failedRetentionDays * DAY_MS,
      maxPending: settings.outgoing.maxPending,
      maxPendingBytes: Math.min(settings.outgoing.maxPendingBytes, deps.pendingBytesMax),
      maxInFlight: settings.outgoing.maxInFlight,
      maxInFlightPerHook: settings.outgoing.maxInFlightPerHook,
      maxInFlightPerHost: settings.http.maxSocketsPerHost,
    },
  });
  metrics.add(
    ...clientMetrics(() => client.statistics()), ...deliveryMetrics(webhooks),
    ...incomingMetrics(webhooks), ...healthMetrics(webhooks),
  );
  return { webhooks, client };
}

/** Turns each change of a book into its event, in the transaction of the change itself. */
export function createBookEvents(events: EventPublisher): ChangeHook {
  return (transaction, { before, after }, inputs) => {
    const book = after ?? before;
    const name = chooseEventName(before, after);
    // No payload is made of an event that would not be kept, which is the usual case.
    if (book === null || !events.mayKeep(name)) return;
    const timestamp = formatTimestamp(inputs.nowMs);
    const head = JSON.stringify({ type: name, timestamp }).slice(0, -1);
    const payloadJson = `${head},"data":{"book":${book.toString()}}}`;
    events.stageEvent(transaction, inputs, name, payloadJson, { source: 'catalog' });
  };
}

function chooseEventName(
  before: Buffer | null, after: Buffer | null,
): (typeof CATALOG_EVENTS)[number] {
  if (before === null) return 'book.created';
  return after === null ? 'book.deleted' : 'book.updated';
}

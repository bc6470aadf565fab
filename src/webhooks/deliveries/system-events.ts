/**
 * Events that hookshelf tells of itself. They go to webhooks that write their name or a prefix of
 * it out, never to those on `*`, which would hear of others' targets. They are staged in the
 * transaction of what they tell of. None causes itself: the delivery of one that fails is told to
 * nobody, a request that one of them has caused is not either, and each counts as a hop of its
 * chain.
 *
 * What cannot be told, because the queue is full or the chain too long, is logged: it must not keep
 * from disk what it tells of.
 */
import { CHAIN_HEADER, parseHops } from '../../base/webhook-chain.ts';
import { formatTimestamp } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { TransactionInputs, Transaction } from '../../store/store-port.ts';
import { isSystemEventName, type SystemEventName } from '../actions/event-name.ts';
import { hideUrlSecrets } from '../http/url-credentials.ts';
import type { WebhookDirectories } from '../naming/directory.ts';
import type { Delivery } from './delivery.ts';
import type { EventPublisher } from './event-publisher.ts';

/** Names the event to whom its delivery is sent. */
export const SYSTEM_EVENT_HEADER = 'x-hookshelf-event';

/** A kept request that has failed for good. */
type FailedRequest = {
  readonly id: string;
  readonly hook: string;
  readonly event: string | null;
  readonly receivedAt: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly routes: readonly {
    readonly name: string; readonly status: string; readonly attemptCount: number;
    readonly attempts: readonly { readonly message: string | null }[];
  }[];
};

type DisabledWebhook = {
  readonly identifier: string;
  readonly targetUrl: string;
  /** `gone`: it answered 410; `failing`: every attempt has failed for `disableAfterHours`. */
  readonly reason: 'gone' | 'failing';
  /** The delivery whose attempt it was. */
  readonly delivery: Pick<Delivery, 'identifier' | 'event'>;
};

/** `drawn.hops` is the length of the chain that led to what is told. */
export interface SystemEvents {
  deliveryFailed(transaction: Transaction, inputs: TransactionInputs, delivery: Delivery): void;
  /** Everyone is told but the webhook itself. */
  webhookDisabled(
    transaction: Transaction, inputs: TransactionInputs, webhook: DisabledWebhook,
  ): void;
  requestFailed(
    transaction: Transaction, inputs: Omit<TransactionInputs, 'hops'>, request: FailedRequest,
  ): void;
  /** The store took no writes since `sinceMs`, and does again; `seeds` are one for each event. */
  storeRecovered(
    transaction: Transaction, seeds: readonly [string, string], nowMs: number,
    failure: { readonly sinceMs: number; readonly reason: string },
  ): void;
  /** Whether anybody hears that the store takes no writes, or does again. */
  hasStoreListeners(): boolean;
}

export function createSystemEvents(deps: {
  readonly events: Pick<EventPublisher, 'stageEvent' | 'hasListeners'>; readonly log: Logger;
  readonly hooks: WebhookDirectories;
}): SystemEvents {
  const { events, log, hooks } = deps;
  const stage = (
    transaction: Transaction, inputs: TransactionInputs, name: SystemEventName, data: object,
    except: string | null = null,
  ): void => {
    if (!events.hasListeners(name, true)) return;
    const payload = { type: name, timestamp: formatTimestamp(inputs.nowMs), data };
    try {
      const options = { except, isSystem: true };
      events.stageEvent(transaction, inputs, name, JSON.stringify(payload), options);
    } catch (thrown) {
      if (!(thrown instanceof AppError)) throw thrown;
      log.warning('an event of our own could not be told', { event: name, error: thrown });
    }
  };
  return {
    deliveryFailed(transaction, inputs, delivery) {
      if (isSystemEventName(delivery.event)) return;
      const { name = null } = hooks.outgoing.find(delivery.hook ?? '') ?? {};
      stage(transaction, inputs, 'delivery.failed', { delivery: describeDelivery(delivery, name) });
    },
    webhookDisabled(transaction, inputs, { identifier, targetUrl, reason, delivery }) {
      if (delivery.event === 'webhook.disabled') return;
      const { name = null } = hooks.outgoing.find(identifier) ?? {};
      const webhook = { identifier, name, targetUrl: hideUrlSecrets(targetUrl) };
      stage(transaction, inputs, 'webhook.disabled',
        { webhook, reason, delivery: delivery.identifier }, identifier);
    },
    requestFailed(transaction, inputs, request) {
      const valuesOf = (headerName: string): string[] => request.headers.flatMap(([name, value]) =>
        name.toLowerCase() === headerName ? [value] : []);
      if (valuesOf(SYSTEM_EVENT_HEADER).some(isSystemEventName)) return;
      const hops = parseHops(valuesOf(CHAIN_HEADER));
      const { name = null } = hooks.incoming.find(request.hook) ?? {};
      stage(transaction, { ...inputs, hops }, 'request.failed',
        { request: describeRequest(request, name) });
    },
    storeRecovered(transaction, [first, second], nowMs, { sinceMs, reason }) {
      const since = formatTimestamp(sinceMs);
      const inputs = (seed: string): TransactionInputs => ({ nowMs, seed, hops: 0 });
      stage(transaction, inputs(first), 'store.unwritable', { since, reason });
      stage(transaction, inputs(second), 'store.recovered',
        { since, until: formatTimestamp(nowMs), reason });
    },
    hasStoreListeners: () =>
      events.hasListeners('store.unwritable', true) || events.hasListeners('store.recovered', true),
  };
}

function describeDelivery(delivery: Delivery, hookName: string | null): object {
  const { identifier, hook, event, createdAt, attempts } = delivery;
  const { at = null, statusCode = null, error = null } = attempts.at(-1) ?? {};
  return {
    identifier, hook, hookName, event, createdAt, attempts: attempts.length,
    lastAttempt: { at, statusCode, error },
  };
}

function describeRequest(
  { id, hook, event, receivedAt, routes }: FailedRequest, hookName: string | null,
): object {
  const failed = routes.filter(({ status }) => status === 'failed');
  return {
    id, hook, hookName, event, receivedAt,
    routes: failed.map(({ name, attemptCount, attempts }) =>
      ({ name, attempts: attemptCount, message: attempts.at(-1)?.message ?? null })),
  };
}

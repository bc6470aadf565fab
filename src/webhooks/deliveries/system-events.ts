/**
 * System events: events about hookshelf itself. They go to webhooks whose trigger is their name or
 * a prefix of it, never to those for `*`, which would learn about the targets of others. A system
 * event is staged in the transaction of its cause. It must not cause itself, so there is none for
 * the failed delivery of a system event, or for a failed request that a system event has caused;
 * and each one counts as a hop of its chain.
 *
 * A system event that cannot be staged, because the queue is full or the chain is too long, is
 * logged: its cause must be written all the same.
 */
import { encodeJson } from '../../base/json/encode.ts';
import { CHAIN_HEADER, parseHops } from '../../base/webhook-chain.ts';
import { formatTimestamp } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { isJsonObject } from '../../base/fields.ts';
import type { Logger } from '../../base/log.ts';
import type { JsonObject, JsonValue } from '../../base/schema.ts';
import type { TransactionInputs, Transaction } from '../../store/store-port.ts';
import {
  isSystemEventName, SYSTEM_EVENT_HEADER, type SystemEventName,
} from '../actions/event-name.ts';
import { hideUrlSecrets } from '../members/url-credentials.ts';
import type { WebhookDirectories } from '../members/directory.ts';
import type { Delivery } from './delivery.ts';
import type { EventPublisher } from './event-publisher.ts';

type FailedRequest = {
  readonly id: string;
  readonly hook: string;
  readonly event: string | null;
  readonly receivedAt: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly deliveries: readonly Pick<Delivery, 'route' | 'status' | 'attemptCount' | 'attempts'>[];
};

type DisabledWebhook = {
  readonly identifier: string;
  readonly targetUrl: string;
  /** `gone`: the target answered 410. `failing`: all attempts failed for `disableAfterHours`. */
  readonly reason: 'gone' | 'failing';
  readonly delivery: Pick<Delivery, 'identifier' | 'event'>;
};

const SYSTEM = { isSystem: true };

/** `inputs.hops` is the length of the chain that led to the event. */
export class SystemEvents {
  readonly #events: Pick<EventPublisher, 'stageEvent' | 'mayKeep'>;
  readonly #log: Logger;
  readonly #webhooks: WebhookDirectories;

  constructor(
    events: Pick<EventPublisher, 'stageEvent' | 'mayKeep'>, log: Logger,
    webhooks: WebhookDirectories,
  ) {
    this.#events = events;
    this.#log = log;
    this.#webhooks = webhooks;
  }

  deliveryFailed(transaction: Transaction, inputs: TransactionInputs, delivery: Delivery): void {
    if (isSystemEventName(delivery.event)) return;
    const { name = null } = this.#webhooks.outgoing.find(delivery.hook ?? '') ?? {};
    const data = { delivery: describeDelivery(delivery, name) };
    this.#stage(transaction, inputs, 'delivery.failed', data);
  }

  /** The disabled webhook itself does not get the event. */
  webhookDisabled(
    transaction: Transaction, inputs: TransactionInputs,
    { identifier, targetUrl, reason, delivery }: DisabledWebhook,
  ): void {
    if (delivery.event === 'webhook.disabled') return;
    const { name = null } = this.#webhooks.outgoing.find(identifier) ?? {};
    const webhook = { identifier, name, targetUrl: hideUrlSecrets(targetUrl) };
    const data = { webhook, reason, delivery: delivery.identifier };
    this.#stage(transaction, inputs, 'webhook.disabled', data, identifier);
  }

  requestFailed(
    transaction: Transaction, inputs: Omit<TransactionInputs, 'hops'>, request: FailedRequest,
  ): void {
    const valuesOf = (headerName: string): string[] => request.headers.flatMap(([name, value]) =>
      name.toLowerCase() === headerName ? [value] : []);
    if (valuesOf(SYSTEM_EVENT_HEADER).some(isSystemEventName)) return;
    const hops = parseHops(valuesOf(CHAIN_HEADER));
    const { name = null } = this.#webhooks.incoming.find(request.hook) ?? {};
    const data = { request: describeRequest(request, name) };
    this.#stage(transaction, { ...inputs, hops }, 'request.failed', data);
  }

  /** Two events, each with its seed: the store took no writes since `sinceMs`, and does again. */
  storeRecovered(
    transaction: Transaction, [first, second]: readonly [string, string], nowMs: number,
    { sinceMs, reason }: { readonly sinceMs: number; readonly reason: string },
  ): void {
    const since = formatTimestamp(sinceMs);
    const inputs = (seed: string): TransactionInputs => ({ nowMs, seed, hops: 0 });
    this.#stage(transaction, inputs(first), 'store.unwritable', { since, reason });
    this.#stage(transaction, inputs(second), 'store.recovered',
      { since, until: formatTimestamp(nowMs), reason });
  }

  backupFailed(
    transaction: Transaction, inputs: TransactionInputs,
    { at, to, reason }: { readonly at: string; readonly to: string; readonly reason: string },
  ): void {
    this.#stage(transaction, inputs, 'store.backup_failed', { at, to, reason });
  }

  mayKeepStoreEvents(): boolean {
    return this.#events.mayKeep('store.unwritable', SYSTEM)
      || this.#events.mayKeep('store.recovered', SYSTEM);
  }

  #stage(
    transaction: Transaction, inputs: TransactionInputs, name: SystemEventName, data: object,
    except: string | null = null,
  ): void {
    if (!this.#events.mayKeep(name, SYSTEM)) return;
    const payload = { type: name, timestamp: formatTimestamp(inputs.nowMs), data };
    try {
      const options = { source: 'own', except, isSystem: true } as const;
      this.#events.stageEvent(transaction, inputs, name, encodeJson(payload), options);
    } catch (thrown) {
      if (!(thrown instanceof AppError)) throw thrown;
      const { chainHops: hops, chainTarget: target } = thrown.details;
      this.#log.warning('an event of our own could not be told', {
        event: name, error: thrown, ...hops === undefined ? {} : { target, hops },
      });
    }
  }
}

/** A webhook does not get a system event about itself. */
export function isAboutWebhook(
  event: string, payload: () => JsonValue, webhookId: string,
): boolean {
  if (event !== 'webhook.disabled') return false;
  const { data } = parseMembers(payload());
  return parseMembers(parseMembers(data)['webhook'])['identifier'] === webhookId;
}

function parseMembers(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function describeDelivery(delivery: Delivery, hookName: string | null): object {
  const { identifier, hook, event, createdAt, attempts, attemptCount } = delivery;
  const { at = null, statusCode = null, error = null } = attempts.at(-1) ?? {};
  return {
    identifier, hook, hookName, event, createdAt, attempts: attemptCount,
    lastAttempt: { at, statusCode, error },
  };
}

function describeRequest(
  { id, hook, event, receivedAt, deliveries }: FailedRequest, hookName: string | null,
): object {
  const failedDeliveries = deliveries.filter(({ status }) => status === 'failed');
  return {
    id, hook, hookName, event, receivedAt,
    routes: failedDeliveries.map(({ route, attemptCount, attempts }) =>
      ({ name: route, attempts: attemptCount, message: attempts.at(-1)?.message ?? null })),
  };
}

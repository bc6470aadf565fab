/** Stages the events of our own that tell what an attempt has led to. */
import type { Store, Transaction } from '../../store/store-port.ts';
import type { Delivery, StoredDelivery } from '../deliveries/delivery.ts';
import { findHops } from '../deliveries/event-record.ts';
import type { SystemEvents } from '../deliveries/system-events.ts';
import type { OutgoingWebhookIndex } from '../outgoing/outgoing-webhook-index.ts';

export type SystemEventDeps = {
  readonly store: Store;
  readonly hooks: Pick<OutgoingWebhookIndex, 'find'>;
  readonly systemEvents: Pick<SystemEvents, 'deliveryFailed' | 'webhookDisabled'>;
  readonly makeId: () => string;
};

interface AttemptEvents {
  deliveryFailed(transaction: Transaction, after: Delivery): void;
  webhookDisabled(transaction: Transaction, reason: 'gone' | 'failing'): void;
}

/** What is to be written of an attempt. */
export type DeliveryWrite = {
  readonly change: (before: Delivery) => Delivery;
  /** Stages what belongs to it in its transaction: the health of the webhook, own events. */
  readonly stageMore: (transaction: Transaction, after: Delivery) => void;
  /** null: it was delivered. */
  readonly systemEvents: AttemptEvents | null;
};

/** The events of an attempt. Ids are drawn here: the transaction that stages them may run again. */
export function createAttemptEvents(
  { store, hooks, systemEvents, makeId }: SystemEventDeps, stored: StoredDelivery, nowMs: number,
): AttemptEvents {
  const [failedSeed, disabledSeed] = [makeId(), makeId()];
  const { hook, identifier, event } = stored.item;
  return {
    deliveryFailed(transaction, after) {
      const inputs = { nowMs, seed: failedSeed, hops: findHops(store, stored) };
      systemEvents.deliveryFailed(transaction, inputs, after);
    },
    webhookDisabled(transaction, reason) {
      const webhook = hook === null ? undefined : hooks.find(hook);
      if (webhook === undefined) return;
      const inputs = { nowMs, seed: disabledSeed, hops: findHops(store, stored) };
      systemEvents.webhookDisabled(transaction, inputs, {
        identifier: webhook.identifier, targetUrl: webhook.targetUrl, reason,
        delivery: { identifier, event },
      });
    },
  };
}

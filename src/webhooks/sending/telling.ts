/** Stages the events of our own that tell what an attempt has led to. */
import type { Store, Transaction } from '../../store/store-port.ts';
import type { Delivery, StoredDelivery } from '../deliveries/delivery.ts';
import { findHops } from '../deliveries/event-record.ts';
import type { SystemEvents } from '../deliveries/system-events.ts';
import type { OutgoingIndex } from '../outgoing/webhook-index.ts';

export type TellingParts = {
  readonly store: Store;
  readonly hooks: Pick<OutgoingIndex, 'find'>;
  readonly systemEvents: Pick<SystemEvents, 'deliveryFailed' | 'webhookDisabled'>;
  readonly makeId: () => string;
};

interface Telling {
  deliveryFailed(transaction: Transaction, after: Delivery): void;
  webhookDisabled(transaction: Transaction, reason: 'gone' | 'failing'): void;
}

/** What is to be written of an attempt. */
export type Result = {
  readonly change: (before: Delivery) => Delivery;
  /** Stages what belongs to it in its transaction: the health of the webhook, own events. */
  readonly stageMore: (transaction: Transaction, after: Delivery) => void;
  /** null: it was delivered. */
  readonly told: Telling | null;
};

/** Of an attempt of `known`; drawn before its transaction, which may run again. */
export function telling(
  { store, hooks, systemEvents, makeId }: TellingParts, known: StoredDelivery, nowMs: number,
): Telling {
  const [failedSeed, disabledSeed] = [makeId(), makeId()];
  const { hook, identifier, event } = known.item;
  return {
    deliveryFailed(transaction, after) {
      const drawn = { nowMs, seed: failedSeed, hops: findHops(store, known) };
      systemEvents.deliveryFailed(transaction, drawn, after);
    },
    webhookDisabled(transaction, reason) {
      const webhook = hook === null ? undefined : hooks.find(hook);
      if (webhook === undefined) return;
      const drawn = { nowMs, seed: disabledSeed, hops: findHops(store, known) };
      systemEvents.webhookDisabled(transaction, drawn, {
        identifier: webhook.identifier, targetUrl: webhook.targetUrl, reason,
        delivery: { identifier, event },
      });
    },
  };
}

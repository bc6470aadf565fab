/**
 * Ends the pending deliveries of a webhook, one chunk in each transaction. If its target answered
 * that it is gone for good (410), the webhook is disabled and its deliveries fail; meanwhile
 * nothing is sent to it. If the webhook is removed, its deliveries are cancelled.
 */
import type { Clock } from '../../base/clock.ts';
import type { Store, Transaction } from '../../store/store-port.ts';
import { disableWebhook } from '../outgoing/automatic-disabling.ts';
import type { OutgoingWebhookIndex } from '../outgoing/outgoing-webhook-index.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import {
  cancelIfPending, failIfPending, type Delivery, type DeliveryStatus, type StoredDelivery,
} from '../deliveries/delivery.ts';
import {
  changeDeliveries, deliveryQueue, type DeliveryUnit,
} from '../deliveries/delivery-changes.ts';
import {
  endPending, stageEndOfPending, type EndPendingDeps,
} from '../durable-queue/end-pending.ts';
import { CHUNK_ITEMS_MAX, takeChunk, createSizeLookup } from '../durable-queue/queue-spec.ts';
import type { QueueLease } from '../durable-queue/ownership.ts';

export type RetirementDeps = {
  readonly store: Store;
  readonly webhooks: Pick<OutgoingWebhookIndex, 'find'>;
  /** Has the committed pending deliveries of a webhook in the queue of its identifier. */
  readonly scheduler: Pick<Scheduler, 'listTaskIds' | 'suspend' | 'resume' | 'isSuspended'>;
  readonly clock: Clock;
};

/** Stages the system events about what an attempt has led to. */
export interface AttemptEvents {
  deliveryFailed(transaction: Transaction, after: Delivery): void;
  webhookDisabled(transaction: Transaction, reason: 'gone' | 'failing'): void;
}

/** How the result of an attempt is written. */
export type DeliveryWrite = {
  readonly change: (before: Delivery) => Delivery;
  /** Stages the health of the webhook and system events, in the same transaction. */
  readonly stageMore: (transaction: Transaction, after: Delivery) => void;
  /** null if the attempt delivered. */
  readonly systemEvents: AttemptEvents | null;
};

type OwnWrite = DeliveryWrite & {
  readonly storedDelivery: StoredDelivery; readonly lease: QueueLease;
};

type RetirementResult = {
  /** The attempted delivery, as written; undefined if its lease has ended. */
  readonly own: Delivery | undefined;
  /** Whether the webhook was enabled until now. */
  readonly isDisabled: boolean;
};

/** Disables a webhook and fails its deliveries, and writes the result of the attempt in `own`. */
export async function retireWebhook(
  deps: RetirementDeps, webhookId: string, own: OwnWrite,
): Promise<RetirementResult> {
  deps.scheduler.suspend(webhookId);
  try {
    return await failAll(deps, webhookId, own);
  } finally {
    deps.scheduler.resume(webhookId);
  }
}

/** Stages the cancelling of a first chunk of deliveries; `cancelPending` does the rest. */
export function stageCancelPending(
  { store, scheduler }: Pick<RetirementDeps, 'store' | 'scheduler'>, transaction: Transaction,
  webhookId: string, nowMs: number,
): void {
  stageEndOfPending(createEndPendingDeps(store, scheduler), transaction, webhookId,
    (before) => cancelIfPending(before, nowMs));
}

/** Cancels the pending deliveries of a webhook, as long as the webhook is gone. */
export function cancelPending(
  { store, webhooks, clock, scheduler }: RetirementDeps, webhookId: string,
): Promise<void> {
  const isGone = (): boolean => webhooks.find(webhookId) === undefined;
  return endPending(createEndPendingDeps(store, scheduler), webhookId, isGone,
    (nowMs) => (before) => cancelIfPending(before, nowMs), clock);
}

function createEndPendingDeps(
  store: Store, scheduler: RetirementDeps['scheduler'],
): EndPendingDeps<Delivery, DeliveryStatus> {
  return { kind: deliveryQueue, store, scheduler, recordIdOf: (taskId) => taskId };
}

const LEASE_LOST: RetirementResult = { own: undefined, isDisabled: false };

/**
 * Fails the other deliveries chunk by chunk. The last transaction writes the attempted delivery and
 * disables the webhook, so that after a crash before it the target is only asked once more.
 */
async function failAll(
  { store, scheduler, clock }: RetirementDeps, webhookId: string,
  { storedDelivery, lease, change, stageMore, systemEvents }: OwnWrite,
): Promise<RetirementResult> {
  const { identifier } = storedDelivery.item;
  const nowMs = clock.now();
  const listOthers = (): string[] =>
    scheduler.listTaskIds(webhookId, CHUNK_ITEMS_MAX + 1).filter((other) => other !== identifier);
  const fail = (unit: DeliveryUnit, ids: readonly string[]): void => {
    for (const id of ids) unit.change(id, (before) => failIfPending(before, nowMs));
  };
  const sizeOf = createSizeLookup(store.collection(deliveryQueue.collection.name));
  let others = listOthers();
  for (;;) {
    const ids = takeChunk(others, sizeOf);
    const isLastChunk = ids.length === others.length && others.length < CHUNK_ITEMS_MAX;
    if (isLastChunk) break;
    const isHeld = await store.transact((transaction) => {
      if (!lease.isHeld(transaction)) return false;
      changeDeliveries(transaction, (unit) => fail(unit, ids));
      return true;
    });
    if (!isHeld) return LEASE_LOST;
    others = listOthers();
  }
  return store.transact((transaction) => {
    if (!lease.isHeld(transaction)) return LEASE_LOST;
    const own = changeDeliveries(transaction, (unit) => {
      const after = unit.change(identifier, change);
      fail(unit, others);
      return after;
    });
    const isDisabled = disableWebhook(transaction, webhookId, 'gone', nowMs);
    if (own !== undefined) stageMore(transaction, own);
    if (isDisabled) systemEvents?.webhookDisabled(transaction, 'gone');
    return { own, isDisabled };
  });
}

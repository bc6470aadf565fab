/**
 * The end of a webhook and of all that waits for it, a chunk a transaction. Where the target said
 * that it is gone for good (410) the webhook is disabled and its deliveries fail; meanwhile nothing
 * is sent to it. Where the webhook is removed its deliveries are cancelled.
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
import type { DeliveryWrite } from './telling.ts';

export type RetirementDeps = {
  readonly store: Store;
  readonly hooks: Pick<OutgoingWebhookIndex, 'find'>;
  /** Has a webhook's pending deliveries, as committed, in the queue of its identifier. */
  readonly scheduler: Pick<Scheduler, 'listIds' | 'suspend' | 'resume' | 'isSuspended'>;
  readonly clock: Clock;
};

type OwnWrite = DeliveryWrite & { readonly stored: StoredDelivery; readonly lease: QueueLease };

type RetirementResult = {
  /** The delivery whose attempt it was, as written; undefined where its hold has ended. */
  readonly own: Delivery | undefined;
  /** Whether the hook was enabled until now. */
  readonly isDisabled: boolean;
};

/** Disables a hook and fails its deliveries, but for `own`, whose attempt it was. */
export async function retireHook(
  deps: RetirementDeps, hook: string, own: OwnWrite,
): Promise<RetirementResult> {
  deps.scheduler.suspend(hook);
  try {
    return await failAll(deps, hook, own);
  } finally {
    deps.scheduler.resume(hook);
  }
}

/** Stages the first chunk of what is cancelled with a hook; `cancelPending` does the rest. */
export function stageCancelPending(
  { store, scheduler }: Pick<RetirementDeps, 'store' | 'scheduler'>, transaction: Transaction,
  hook: string, nowMs: number,
): void {
  stageEndOfPending(createEndPendingDeps(store, scheduler), transaction, hook,
    (before) => cancelIfPending(before, nowMs));
}

/** Cancels what is pending for a hook, as long as there is no such hook. */
export function cancelPending(
  { store, hooks, clock, scheduler }: RetirementDeps, hook: string,
): Promise<void> {
  const isGone = (): boolean => hooks.find(hook) === undefined;
  return endPending(createEndPendingDeps(store, scheduler), hook, isGone,
    (nowMs) => (before) => cancelIfPending(before, nowMs), clock);
}

function createEndPendingDeps(
  store: Store, scheduler: RetirementDeps['scheduler'],
): EndPendingDeps<Delivery, DeliveryStatus> {
  return { kind: deliveryQueue, store, scheduler, recordIdOf: (taskId) => taskId };
}

const LEASE_LOST: RetirementResult = { own: undefined, isDisabled: false };

// The last transaction holds the delivery itself and disables the hook, so a crash before it only
// means that the target is asked once more.
async function failAll(
  { store, scheduler, clock }: RetirementDeps, hook: string,
  { stored, lease, change, stageMore, systemEvents }: OwnWrite,
): Promise<RetirementResult> {
  const { identifier } = stored.item;
  const nowMs = clock.now();
  const others = (): string[] =>
    scheduler.listIds(hook, CHUNK_ITEMS_MAX + 1).filter((other) => other !== identifier);
  const fail = (unit: DeliveryUnit, ids: readonly string[]): void => {
    for (const id of ids) unit.change(id, (before) => failIfPending(before, nowMs));
  };
  const sizeOf = createSizeLookup(store.collection(deliveryQueue.collection.name));
  let last = others();
  for (;;) {
    const ids = takeChunk(last, sizeOf);
    if (ids.length === last.length && last.length < CHUNK_ITEMS_MAX) break;
    const isHeld = await store.transact((transaction) => {
      if (!lease.isHeld(transaction)) return false;
      changeDeliveries(transaction, (unit) => fail(unit, ids));
      return true;
    });
    if (!isHeld) return LEASE_LOST;
    last = others();
  }
  return store.transact((transaction) => {
    if (!lease.isHeld(transaction)) return LEASE_LOST;
    const changed = changeDeliveries(transaction, (unit) => {
      const written = unit.change(identifier, change);
      fail(unit, last);
      return written;
    });
    const isDisabled = disableWebhook(transaction, hook, 'gone', nowMs);
    if (changed !== undefined) stageMore(transaction, changed);
    if (isDisabled) systemEvents?.webhookDisabled(transaction, 'gone');
    return { own: changed, isDisabled };
  });
}

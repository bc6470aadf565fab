/**
 * Retires a webhook whose target answered that it is gone for good (410): the webhook is disabled
 * and its pending deliveries fail, one chunk in each transaction, unless its owner has given it
 * another target since. Meanwhile nothing is sent to it.
 */
import type { Transaction } from '../../../store/store-port.ts';
import { disableGoneWebhook } from '../../outgoing/automatic-disabling.ts';
import { outgoingCollection } from '../../outgoing/outgoing-webhook.ts';
import { decodeOutgoingWebhook } from '../../outgoing/outgoing-webhook-index.ts';
import { endIfPending, type Delivery } from '../delivery.ts';
import { deliverySpec } from '../delivery-changes.ts';
import { changeItem, type AttemptWrite } from '../../work/change-items.ts';
import { CHUNK_ITEMS_MAX, takeChunk, createSizeLookup } from '../../work/item-spec.ts';
import type { AttemptWorker } from '../../work/queue-worker.ts';
import type { DeliveryContext } from './delivery-context.ts';

type RetiringContext = Pick<DeliveryContext, 'store' | 'clock' | 'scheduler' | 'retiringIds'>;

export type DeliveryWrite = AttemptWrite<Delivery> & {
  /** The URL that was asked; null without a request. */
  readonly targetUrl: string | null;
  /** Stages the system event that the webhook was disabled. */
  readonly stageDisabled: (transaction: Transaction, reason: 'gone' | 'failing') => void;
};

type RetirementResult = {
  /** The delivery as written; undefined: it is gone, or its lease has ended. */
  readonly attemptedDelivery: Delivery | undefined;
  /** Whether this ended that the webhook was enabled or probed. */
  readonly wasDisabled: boolean;
};

/** Disables the webhook and fails its other deliveries, too, unless its target has changed. */
export async function retireWebhook(
  context: RetiringContext, worker: Pick<AttemptWorker, 'updateQueue'>, webhookId: string,
  write: DeliveryWrite,
): Promise<RetirementResult> {
  context.retiringIds.add(webhookId);
  worker.updateQueue(webhookId);
  try {
    return await failAllAndDisable(context, webhookId, write);
  } finally {
    context.retiringIds.delete(webhookId);
    worker.updateQueue(webhookId);
  }
}

const LEASE_LOST: RetirementResult = { attemptedDelivery: undefined, wasDisabled: false };

/**
 * Fails the other deliveries chunk by chunk. The last transaction writes the attempted delivery and
 * disables the webhook, so that after a crash before it the target is only asked once more. Each
 * transaction checks lease and target anew: both may have changed since the one before.
 */
async function failAllAndDisable(
  context: RetiringContext, webhookId: string,
  { storedItem, lease, targetUrl, change, stageMore, stageDisabled }: DeliveryWrite,
): Promise<RetirementResult> {
  const { store, clock } = context;
  const { identifier } = storedItem.item;
  const nowMs = clock.now();
  const fail = (transaction: Transaction, ids: readonly string[]): void => {
    const change = (before: Delivery): Delivery | null => endIfPending(before, 'failed', nowMs);
    for (const id of ids) changeItem(deliverySpec, transaction, id, change);
  };
  let chunk = takeOthers(context, webhookId, identifier);
  while (!chunk.isLast) {
    const { ids } = chunk;
    const hasFailed = await store.transact((transaction) => {
      if (!lease.isHeld(transaction) || !hasTarget(transaction, webhookId, targetUrl)) return false;
      fail(transaction, ids);
      return true;
    });
    if (!hasFailed) break;
    chunk = takeOthers(context, webhookId, identifier);
  }
  return store.transact((transaction) => {
    if (!lease.isHeld(transaction)) return LEASE_LOST;
    const isTargetGone = hasTarget(transaction, webhookId, targetUrl);
    const changedDelivery = changeItem(deliverySpec, transaction, identifier, change);
    if (isTargetGone) fail(transaction, chunk.ids);
    const wasDisabled = isTargetGone && disableGoneWebhook(transaction, webhookId, nowMs);
    if (changedDelivery !== undefined) stageMore?.(transaction, changedDelivery);
    if (wasDisabled) stageDisabled(transaction, 'gone');
    return { attemptedDelivery: changedDelivery?.after, wasDisabled };
  });
}

/** Takes a chunk of pending deliveries without the attempted one. `isLast`: these are all. */
function takeOthers(
  { store, scheduler }: RetiringContext, webhookId: string, attemptedId: string,
): { readonly ids: readonly string[]; readonly isLast: boolean } {
  const others = scheduler.listTaskIds(webhookId, CHUNK_ITEMS_MAX + 1)
    .filter((id) => id !== attemptedId);
  const ids = takeChunk(others, createSizeLookup(store.collection(deliverySpec.collection.name)));
  return { ids, isLast: ids.length === others.length && others.length < CHUNK_ITEMS_MAX };
}

/** The owner of the webhook may have changed or removed it. */
function hasTarget(transaction: Transaction, webhookId: string, targetUrl: string | null): boolean {
  const bytes = transaction.find(outgoingCollection.name, webhookId);
  return bytes !== undefined && decodeOutgoingWebhook(bytes).targetUrl === targetUrl;
}

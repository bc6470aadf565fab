/** Ends all items that are pending for a removed webhook, one chunk in each transaction. */
import type { Store, Transaction } from '../../store/store-port.ts';
import type { Scheduler } from './scheduler.ts';
import type { RelayContext } from '../relay-context.ts';
import { CHUNK_ITEMS_MAX, takeChunk, createSizeLookup } from './item-spec.ts';

/** How the items of a queue end with its webhook. An item may have several tasks. */
export type Ending = {
  /** The collection of the items' records. */
  readonly collection: string;
  readonly itemIdOf: (taskId: string) => string;
  /** Whether the webhook of the queue is gone. */
  readonly isOrphaned: (key: string) => boolean;
  /** Stages the end of an item, unless it is not pending any more. */
  readonly stageEnd: (transaction: Transaction, itemId: string, nowMs: number) => void;
  /** What is logged when the items of a removed webhook cannot be ended at once. */
  readonly message: string;
};

/** Ends what is pending for a removed webhook. */
export interface RemovalListener {
  /** Stages the end of it beside the removal, or of its first chunk. */
  stageEndOfPending(transaction: Transaction, webhookId: string, nowMs: number): void;
  /** Ends the rest, once the removal is on disk. */
  endPending(webhookId: string): Promise<void>;
  /** Counts the items that a removal would end. */
  countPending(webhookId: string): number;
}

/** The scheduler has the pending items that are committed, in the queue of the webhook's key. */
export function createRemovalListener(
  context: RelayContext, scheduler: Scheduler, ending: Ending,
): RemovalListener {
  return {
    stageEndOfPending(transaction, webhookId, nowMs) {
      for (const id of listPendingChunk(context.store, scheduler, ending, webhookId)) {
        ending.stageEnd(transaction, id, nowMs);
      }
    },
    endPending: (webhookId) => endPending(context, scheduler, ending, webhookId),
    countPending(webhookId) {
      const taskIds = scheduler.listTaskIds(webhookId, Infinity);
      return new Set(taskIds.map(ending.itemIdOf)).size;
    },
  };
}

/** Ends the pending items of a queue, chunk by chunk, as long as its webhook is gone. */
export async function endPending(
  { store, clock }: RelayContext, scheduler: Scheduler, ending: Ending, key: string,
): Promise<void> {
  // Not at once: the caller heard of a transaction of which the rest is not applied yet.
  await Promise.resolve();
  for (;;) {
    const ids = listPendingChunk(store, scheduler, ending, key);
    if (ids.length === 0 || !ending.isOrphaned(key)) return;
    const nowMs = clock.now();
    await store.transact((transaction) => {
      for (const id of ids) ending.stageEnd(transaction, id, nowMs);
    });
  }
}

/** Lists items that are pending in a queue, as many as one transaction should change. */
function listPendingChunk(
  store: Store, scheduler: Scheduler, { collection, itemIdOf }: Ending, key: string,
): readonly string[] {
  const ids = new Set(scheduler.listTaskIds(key, CHUNK_ITEMS_MAX).map(itemIdOf));
  return takeChunk([...ids], createSizeLookup(store.collection(collection)));
}

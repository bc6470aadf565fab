/** Ends all items that are pending for a removed webhook. */
import type { Store, Transaction } from '../../store/store-port.ts';
import type { Scheduler } from './scheduler.ts';
import type { RelayContext } from '../relay-context.ts';
import { CHUNK_ITEMS_MAX, takeChunk, createSizeLookup } from './item-spec.ts';

/** How the items of a queue end with its webhook. An item may have several tasks. */
export type Ending = {
  readonly collection: string;
  readonly itemIdOf: (taskId: string) => string;
  readonly isOrphaned: (key: string) => boolean;
  readonly stageEnd: (transaction: Transaction, itemId: string, nowMs: number) => void;
  /** The log message when the items of a removed webhook cannot be ended at once. */
  readonly message: string;
};

export interface RemovalListener {
  /** Stages the end of the first chunk beside the removal. */
  stageEndOfPending(transaction: Transaction, webhookId: string, nowMs: number): void;
  endPending(webhookId: string): Promise<void>;
  countPending(webhookId: string): number;
}

/** The queue of the webhook's key in the scheduler has the committed pending items. */
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

/** Ends a queue's pending items, a chunk per transaction, as long as its webhook is gone. */
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

function listPendingChunk(
  store: Store, scheduler: Scheduler, { collection, itemIdOf }: Ending, key: string,
): readonly string[] {
  const ids = new Set(scheduler.listTaskIds(key, CHUNK_ITEMS_MAX).map(itemIdOf));
  return takeChunk([...ids], createSizeLookup(store.collection(collection)));
}

/** Ends all items that are pending for a removed webhook, one chunk in each transaction. */
import type { Store, Transaction } from '../../store/store-port.ts';
import type { Scheduler } from './scheduler.ts';
import type { RelayContext } from '../relay-context.ts';
import { CHUNK_ITEMS_MAX, takeChunk, createSizeLookup } from './queue-spec.ts';

/** How the items of a queue end with its webhook. An item may have several tasks. */
export type Ending = {
  /** The collection of the items' records. */
  readonly collection: string;
  readonly itemIdOf: (taskId: string) => string;
  /** Stages the end of an item, unless it is not pending any more. */
  readonly stageEnd: (transaction: Transaction, itemId: string, nowMs: number) => void;
  /** What is logged when the items of a removed webhook cannot be ended at once. */
  readonly message: string;
};

/** Is told when a webhook is removed. */
export interface RemovalListener {
  /** Stages the end of what is pending for the webhook, or the first chunk of it. */
  onRemoved(transaction: Transaction, identifier: string, nowMs: number): void;
  /** Called once the removal is on disk. */
  afterRemoved(identifier: string): Promise<void>;
  /** Counts what is pending for the webhook: a removal would end it. */
  countPending(identifier: string): number;
}

/** Lists items that are pending in a queue, as many as one transaction should change. */
function listPendingChunk(
  store: Store, scheduler: Scheduler, { collection, itemIdOf }: Ending, key: string,
): readonly string[] {
  const ids = new Set(scheduler.listTaskIds(key, CHUNK_ITEMS_MAX).map(itemIdOf));
  return takeChunk([...ids], createSizeLookup(store.collection(collection)));
}

/**
 * Stages the end of the first chunk of pending items; `endPending` does the rest. The scheduler has
 * the committed ones in the queue of that key.
 */
export function stageEndOfPending(
  store: Store, scheduler: Scheduler, ending: Ending, transaction: Transaction, key: string,
  nowMs: number,
): void {
  for (const id of listPendingChunk(store, scheduler, ending, key)) {
    ending.stageEnd(transaction, id, nowMs);
  }
}

/** Ends the pending items of a queue, chunk by chunk, as long as its webhook is gone. */
export async function endPending(
  { store, clock }: RelayContext, scheduler: Scheduler, ending: Ending, key: string,
  isGone: () => boolean,
): Promise<void> {
  // Not at once: the caller heard of a transaction of which the rest is not applied yet.
  await Promise.resolve();
  for (;;) {
    const ids = listPendingChunk(store, scheduler, ending, key);
    if (ids.length === 0 || !isGone()) return;
    const nowMs = clock.now();
    await store.transact((transaction) => {
      for (const id of ids) ending.stageEnd(transaction, id, nowMs);
    });
  }
}

/** Ends all items that are pending for a removed webhook, one chunk in each transaction. */
import type { Store, Transaction } from '../../store/store-port.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import {
  CHUNK_ITEMS_MAX, takeChunk, createSizeLookup, type ItemChange, type QueueSpec,
} from './queue-spec.ts';
import { changeItem } from './change-items.ts';

export type EndPendingDeps<Item> = {
  readonly queue: QueueSpec<Item>;
  readonly store: Store;
  /** Has the committed items that are pending for a webhook, in the queue of its identifier. */
  readonly scheduler: Pick<Scheduler, 'listTaskIds'>;
  /** The id of the record that a task of the scheduler belongs to. */
  readonly recordIdOf: (taskId: string) => string;
};

/** Is told when a webhook is removed. */
export type RemovalListener = {
  /** Stages the end of what is pending for the webhook, or the first chunk of it. */
  readonly onRemoved: (transaction: Transaction, identifier: string, nowMs: number) => void;
  /** Called once the removal is on disk. */
  readonly afterRemoved: (identifier: string) => Promise<void>;
  /** Counts what is pending for the webhook: a removal would end it. */
  readonly countPending: (identifier: string) => number;
};

/** Lists records that are pending in a queue, as many as one transaction should change. */
function listPendingChunk<Item>(
  { queue, store, scheduler, recordIdOf }: EndPendingDeps<Item>, key: string,
): readonly string[] {
  const ids = new Set(scheduler.listTaskIds(key, CHUNK_ITEMS_MAX).map(recordIdOf));
  return takeChunk([...ids], createSizeLookup(store.collection(queue.collection.name)));
}

/** Stages the end of the first chunk of pending items; `endPending` does the rest. */
export function stageEndOfPending<Item>(
  deps: EndPendingDeps<Item>, transaction: Transaction, key: string,
  end: ItemChange<Item>,
): void {
  for (const id of listPendingChunk(deps, key)) changeItem(deps.queue, transaction, id, end);
}

/** Ends the pending items of a queue, chunk by chunk, as long as its webhook is gone. */
export async function endPending<Item>(
  deps: EndPendingDeps<Item>, key: string, isGone: () => boolean,
  end: (nowMs: number) => ItemChange<Item>, clock: { now(): number },
): Promise<void> {
  // Not at once: the caller heard of a transaction of which the rest is not applied yet.
  await Promise.resolve();
  for (;;) {
    const ids = listPendingChunk(deps, key);
    if (ids.length === 0 || !isGone()) return;
    const change = end(clock.now());
    await deps.store.transact((transaction) => {
      for (const id of ids) changeItem(deps.queue, transaction, id, change);
    });
  }
}

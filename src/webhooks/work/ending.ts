/** The end of all work that waits for a webhook which is gone, a chunk a transaction. */
import type { Store, Transaction } from '../../store/store-port.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { CHUNK, firstChunk, sizesIn, type WorkChange, type WorkKind } from './kind.ts';
import { changeWork, commitWork } from './unit-of-work.ts';

export type EndingParts<Item, Status extends string, Gone extends string = never> = {
  readonly kind: WorkKind<Item, Status, Gone>;
  readonly store: Store;
  /** Has what is pending for a webhook, as committed, in the queue of its identifier. */
  readonly scheduler: Pick<Scheduler, 'listIds'>;
  /** The record that a task of the scheduler belongs to. */
  readonly recordOf: (taskId: string) => string;
};

/** What goes with a webhook that is removed. */
export type Removal = {
  /** Stages it, or its beginning. */
  readonly onRemoved: (transaction: Transaction, identifier: string, nowMs: number) => void;
  /** Called once the removal is on disk. */
  readonly afterRemoved: (identifier: string) => Promise<void>;
};

/** The records that wait in a queue, as many as one transaction should change. */
function waitingIn<Item, Status extends string, Gone extends string>(
  { kind, store, scheduler, recordOf }: EndingParts<Item, Status, Gone>, key: string,
): readonly string[] {
  const ids = new Set(scheduler.listIds(key, CHUNK).map(recordOf));
  return firstChunk([...ids], sizesIn(store.collection(kind.collection.name)));
}

/** Stages the first chunk of what ends with a webhook; `endWaiting` does the rest. */
export function stageEnding<Item, Status extends string, Gone extends string>(
  parts: EndingParts<Item, Status, Gone>, transaction: Transaction, key: string,
  end: WorkChange<Item>,
): void {
  const ids = waitingIn(parts, key);
  changeWork(parts.kind, transaction, (unit) => {
    for (const id of ids) unit.change(id, end);
  });
}

/** Ends what waits in a queue, as long as its webhook is gone. */
export async function endWaiting<Item, Status extends string, Gone extends string>(
  parts: EndingParts<Item, Status, Gone>, key: string, isGone: () => boolean,
  end: (nowMs: number) => WorkChange<Item>, clock: { now(): number },
): Promise<void> {
  // Not at once: the rest of the transaction that we heard of is not applied yet.
  await Promise.resolve();
  for (;;) {
    const ids = waitingIn(parts, key);
    if (ids.length === 0 || !isGone()) return;
    const change = end(clock.now());
    await commitWork(parts.kind, parts.store, (unit) => {
      for (const id of ids) unit.change(id, change);
    });
  }
}

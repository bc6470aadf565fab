/** Writes the results of attempts. Those of one turn of the event loop share a transaction. */
import type { Store, Transaction } from '../../store/store-port.ts';
import type { StoredItem, ItemChange, QueueSpec } from './queue-spec.ts';
import type { QueueLease } from './ownership.ts';
import { TurnBatch } from './turn-batch.ts';
import { changeItems } from './unit-of-work.ts';

/** Stages more in the transaction of a result, after the result. */
type StageMore<Item> = (transaction: Transaction, after: Item) => void;

type AttemptWrite<Item> = {
  readonly lease: QueueLease;
  readonly change: ItemChange<Item>;
  readonly before: StoredItem<Item>;
  readonly stageMore: StageMore<Item> | null;
};

export class ResultBatch<Item, Status extends string, Removal extends string = never> {
  readonly #queue: QueueSpec<Item, Status, Removal>;
  readonly #batch: TurnBatch<AttemptWrite<Item>, Item | undefined>;

  constructor(queue: QueueSpec<Item, Status, Removal>, store: Store) {
    this.#queue = queue;
    this.#batch = new TurnBatch(store, ({ before }) => before.bytes.length,
      (transaction, writes) => this.#stage(transaction, writes));
  }

  /**
   * Resolves with the item as written, or undefined when the item is gone or `lease` has ended.
   * `stageMore` may stage more in the same transaction. Like every transaction it may run again.
   */
  write(
    before: StoredItem<Item>, lease: QueueLease, change: ItemChange<Item>,
    stageMore: StageMore<Item> | null = null,
  ): Promise<Item | undefined> {
    return this.#batch.write({ lease, change, before, stageMore });
  }

  #stage(transaction: Transaction, writes: readonly AttemptWrite<Item>[]): (Item | undefined)[] {
    const items = changeItems(this.#queue, transaction, (unit) =>
      writes.map(({ lease, change, before }) => lease.isHeld(transaction)
        ? unit.change(this.#queue.idOf(before.item), change, before) : undefined));
    for (const [index, { stageMore }] of writes.entries()) {
      const item = items[index];
      if (item !== undefined) stageMore?.(transaction, item);
    }
    return items;
  }
}

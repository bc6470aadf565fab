/** The results of attempts, those that end in one turn of the loop in one transaction. */
import type { Store, Transaction } from '../../store/store-port.ts';
import type { Known, WorkChange, WorkKind } from './kind.ts';
import type { Hold } from './ownership.ts';
import { TurnBatch } from './turn-batch.ts';
import { changeWork } from './unit-of-work.ts';

/** Stages what belongs to a result, in its transaction, with the result staged. */
type StageMore<Item> = (transaction: Transaction, changed: Item) => void;

type Result<Item> = {
  readonly hold: Hold;
  readonly change: WorkChange<Item>;
  readonly known: Known<Item>;
  readonly stageMore: StageMore<Item> | null;
};

export class ResultBatch<Item, Status extends string, Gone extends string = never> {
  readonly #kind: WorkKind<Item, Status, Gone>;
  readonly #batch: TurnBatch<Result<Item>, Item | undefined>;

  constructor(kind: WorkKind<Item, Status, Gone>, store: Store) {
    this.#kind = kind;
    this.#batch = new TurnBatch(store, ({ known }) => known.bytes.length,
      (transaction, results) => this.#stage(transaction, results));
  }

  /**
   * Resolves with the piece of work as written; undefined when it is gone, or `hold` has ended.
   * What `stageMore` stages is committed with it; as every transaction it may run again.
   */
  write(
    known: Known<Item>, hold: Hold, change: WorkChange<Item>,
    stageMore: StageMore<Item> | null = null,
  ): Promise<Item | undefined> {
    return this.#batch.write({ hold, change, known, stageMore });
  }

  #stage(transaction: Transaction, results: readonly Result<Item>[]): (Item | undefined)[] {
    const changed = changeWork(this.#kind, transaction, (unit) =>
      results.map(({ hold, change, known }) => hold.isKept(transaction)
        ? unit.change(this.#kind.idOf(known.item), change, known) : undefined));
    for (const [index, { stageMore }] of results.entries()) {
      const item = changed[index];
      if (item !== undefined) stageMore?.(transaction, item);
    }
    return changed;
  }
}

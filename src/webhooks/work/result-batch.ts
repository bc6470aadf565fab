/**
 * The results of attempts that end in one turn of the loop, written in one transaction: the totals
 * change once for all of them. Where that transaction fails, all of them have failed.
 */
import type { Store, Transaction } from '../../store/port.ts';
import { firstChunk, type Known, type WorkChange, type WorkKind } from './kind.ts';
import { changeWork } from './unit-of-work.ts';

/** Stages what belongs to a result, in its transaction, with the result staged. */
type StageMore<Item> = (transaction: Transaction, changed: Item) => void;

type Result<Item> = {
  readonly change: WorkChange<Item>;
  readonly known: Known<Item>;
  readonly stageMore: StageMore<Item> | null;
  readonly resolve: (changed: Item | undefined) => void;
  readonly reject: (thrown: unknown) => void;
};

export class ResultBatch<Item, Status extends string, Gone extends string = never> {
  readonly #kind: WorkKind<Item, Status, Gone>;
  readonly #store: Store;
  #waiting: Result<Item>[] = [];

  constructor(kind: WorkKind<Item, Status, Gone>, store: Store) {
    this.#kind = kind;
    this.#store = store;
  }

  /**
   * Resolves with the piece of work as written; undefined when it is gone. What `stageMore` stages
   * is committed with it; as every transaction it may run again.
   */
  write(
    known: Known<Item>, change: WorkChange<Item>, stageMore: StageMore<Item> | null = null,
  ): Promise<Item | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ change, known, stageMore, resolve, reject }) > 1) return;
      setImmediate(() => this.#flush());
    });
  }

  #flush(): void {
    let waiting = this.#waiting;
    this.#waiting = [];
    while (waiting.length > 0) {
      const results = firstChunk(waiting, ({ known }) => known.bytes.length);
      waiting = waiting.slice(results.length);
      this.#store.transact((transaction) => this.#stage(transaction, results)).then(
        (changed) => results.forEach(({ resolve }, index) => resolve(changed[index])),
        (thrown: unknown) => results.forEach(({ reject }) => reject(thrown)),
      );
    }
  }

  #stage(transaction: Transaction, results: readonly Result<Item>[]): (Item | undefined)[] {
    const changed = changeWork(this.#kind, transaction, (unit) =>
      results.map(({ change, known }) => unit.change(this.#kind.idOf(known.item), change, known)));
    for (const [index, { stageMore }] of results.entries()) {
      const item = changed[index];
      if (item !== undefined) stageMore?.(transaction, item);
    }
    return changed;
  }
}

/**
 * The results of attempts that end in one turn of the loop, written in one transaction: the totals
 * change once for all of them. Where that transaction fails, all of them have failed.
 */
import type { Store } from '../../store/port.ts';
import type { Delivery } from './delivery.ts';
import { Tally } from './ledger.ts';

type Change = (delivery: Delivery) => Delivery | null;
type Result = {
  readonly identifier: string;
  readonly change: Change;
  readonly resolve: (changed: Delivery | undefined) => void;
  readonly reject: (thrown: unknown) => void;
};

/** One transaction of so many is a few milliseconds of work. */
const RESULTS_MAX = 250;

export class ResultBatch {
  readonly #store: Store;
  #waiting: Result[] = [];

  constructor(store: Store) {
    this.#store = store;
  }

  /** Resolves with the delivery as written; undefined when it is gone. */
  write(identifier: string, change: Change): Promise<Delivery | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ identifier, change, resolve, reject }) > 1) return;
      setImmediate(() => this.#flush());
    });
  }

  #flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let start = 0; start < waiting.length; start += RESULTS_MAX) {
      const results = waiting.slice(start, start + RESULTS_MAX);
      this.#store.transact((transaction) => {
        const tally = new Tally(transaction);
        const changed = results.map(({ identifier, change }) => tally.change(identifier, change));
        tally.close();
        return changed;
      }).then(
        (changed) => results.forEach(({ resolve }, index) => resolve(changed[index])),
        (thrown: unknown) => results.forEach(({ reject }) => reject(thrown)),
      );
    }
  }
}

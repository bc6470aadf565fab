/**
 * The results of attempts that end in one turn of the loop, written in one transaction: the totals
 * change once for all of them. Where that transaction fails, all of them have failed.
 */
import type { Store } from '../../store/port.ts';
import type { Delivery, KnownDelivery } from '../deliveries/delivery.ts';
import { chunkOf, inTally } from '../deliveries/unit-of-work.ts';

type Change = (delivery: Delivery) => Delivery | null;
type Result = {
  readonly identifier: string;
  readonly change: Change;
  readonly known: KnownDelivery | null;
  readonly resolve: (changed: Delivery | undefined) => void;
  readonly reject: (thrown: unknown) => void;
};

export class ResultBatch {
  readonly #store: Store;
  #waiting: Result[] = [];

  constructor(store: Store) {
    this.#store = store;
  }

  /** Resolves with the delivery as written; undefined when it is gone. */
  write(
    identifier: string, change: Change, known: KnownDelivery | null,
  ): Promise<Delivery | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ identifier, change, known, resolve, reject }) > 1) return;
      setImmediate(() => this.#flush());
    });
  }

  #flush(): void {
    let waiting = this.#waiting;
    this.#waiting = [];
    while (waiting.length > 0) {
      const results = chunkOf(waiting, ({ known }) => known?.bytes.length ?? 0);
      waiting = waiting.slice(results.length);
      inTally(this.#store, (tally) =>
        results.map(({ identifier, change, known }) =>
          tally.change(identifier, change, known))).then(
        (changed) => results.forEach(({ resolve }, index) => resolve(changed[index])),
        (thrown: unknown) => results.forEach(({ reject }) => reject(thrown)),
      );
    }
  }
}

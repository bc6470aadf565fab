/**
 * The results of attempts that end in one turn of the loop, written in one transaction: the totals
 * change once for all of them. Where that transaction fails, all of them have failed.
 */
import type { Store } from '../../store/port.ts';
import type { Delivery, KnownDelivery } from '../deliveries/delivery.ts';
import { commitChanges, firstChunk, type DeliveryChange } from '../deliveries/unit-of-work.ts';

type Result = {
  readonly identifier: string;
  readonly change: DeliveryChange;
  readonly known: KnownDelivery;
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
    identifier: string, change: DeliveryChange, known: KnownDelivery,
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
      const results = firstChunk(waiting, ({ known }) => known.bytes.length);
      waiting = waiting.slice(results.length);
      commitChanges(this.#store, (unit) =>
        results.map(({ identifier, change, known }) =>
          unit.change(identifier, change, known))).then(
        (changed) => results.forEach(({ resolve }, index) => resolve(changed[index])),
        (thrown: unknown) => results.forEach(({ reject }) => reject(thrown)),
      );
    }
  }
}

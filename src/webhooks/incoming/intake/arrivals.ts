/** Requests that are to be kept, those that come in one turn of the loop in one transaction. */
import type { Store, Transaction } from '../../../store/store-port.ts';
import { changeRequests, type RequestUnit } from '../../inbox/request-changes.ts';
import { TurnBatch } from '../../durable-queue/turn-batch.ts';

/** Throws for a bug alone, as that fails all that is staged with it. May run again. */
type StageArrival<T> = (transaction: Transaction, unit: RequestUnit) => T;

export class Arrivals<T> {
  readonly #batch: TurnBatch<{ readonly bytes: number; readonly stage: StageArrival<T> }, T>;

  constructor(store: Store) {
    this.#batch = new TurnBatch(store, ({ bytes }) => bytes, (transaction, pieces) =>
      changeRequests(transaction, (unit) => pieces.map(({ stage }) => stage(transaction, unit))));
  }

  /** `bytes` are about those of the request. Resolves once it is on disk. */
  write(bytes: number, stage: StageArrival<T>): Promise<T> {
    return this.#batch.write({ bytes, stage });
  }
}

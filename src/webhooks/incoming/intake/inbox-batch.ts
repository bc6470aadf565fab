/** Stores requests in the inbox; those of one turn of the event loop share a transaction. */
import type { Store, Transaction } from '../../../store/store-port.ts';
import { changeRequests, type RequestUnit } from '../../inbox/request-changes.ts';
import { TurnBatch } from '../../durable-queue/turn-batch.ts';

/**
 * Stages one request. It may run again. It throws for a bug alone, as an error fails the others in
 * the transaction as well.
 */
type StageRequest<T> = (transaction: Transaction, unit: RequestUnit) => T;

export class InboxBatch<T> {
  readonly #batch: TurnBatch<{ readonly bytes: number; readonly stage: StageRequest<T> }, T>;

  constructor(store: Store) {
    this.#batch = new TurnBatch(store, ({ bytes }) => bytes, (transaction, pieces) =>
      changeRequests(transaction, (unit) => pieces.map(({ stage }) => stage(transaction, unit))));
  }

  /** `bytes` is an estimate for the request. Resolves once it is on disk. */
  write(bytes: number, stage: StageRequest<T>): Promise<T> {
    return this.#batch.write({ bytes, stage });
  }
}

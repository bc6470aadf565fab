/**
 * Applies committed transactions to the records in memory, whoever has made them, and notifies
 * listeners of each, in commit order. Without listeners the changes are not collected, as nothing
 * else needs the former versions.
 */
import { AppError } from '../../base/errors.ts';
import type { AppliedOperation, StoredCollection } from '../records/collection.ts';
import type { Change, CommitListener, LoggedTransaction } from '../store-port.ts';

export class ChangeFeed {
  /**
   * Receives each error that is thrown while an operation is applied: a bug. After the error of a
   * listener the record is in place.
   */
  readonly onError: (error: unknown) => void;
  #listeners: readonly CommitListener[] = [];

  constructor(onError: (error: unknown) => void) {
    this.onError = onError;
  }

  /** Returns a function that ends it. */
  follow(listener: CommitListener): () => void {
    this.#listeners = [...this.#listeners, listener];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== listener);
    };
  }

  /** Operations on other collections than these are ignored: see `checkCollections`. */
  apply(
    collections: ReadonlyMap<string, StoredCollection>, sequence: number,
    operations: readonly AppliedOperation[],
  ): void {
    const changes: Change[] | null = this.#listeners.length > 0 ? [] : null;
    for (const operation of operations) {
      const { collection: name, id, bytes } = operation;
      const collection = collections.get(name);
      if (collection === undefined) continue;
      changes?.push({
        collection: name, id, before: collection.findBytes(id) ?? null, after: bytes,
      });
      try {
        collection.apply(operation);
      } catch (error) {
        this.onError(error);
      }
    }
    if (changes !== null) this.#notify(sequence, changes);
  }

  #notify(sequence: number, changes: readonly Change[]): void {
    for (const listener of this.#listeners) {
      try {
        listener(sequence, changes);
      } catch (error) {
        this.onError(error);
      }
    }
  }
}

/** The feed of records that are being loaded, which nothing follows yet. */
export const UNFOLLOWED = new ChangeFeed((error) => {
  throw error;
});

/** Throws `damaged` for a transaction that holds records of a collection that is not there. */
export function checkCollections(
  collections: ReadonlyMap<string, StoredCollection>, transactions: readonly LoggedTransaction[],
): void {
  for (const { operations } of transactions) {
    const unknown = operations.find(({ collection }) => !collections.has(collection));
    if (unknown === undefined) continue;
    throw new AppError('damaged', `the log holds records of "${unknown.collection}", which this `
      + 'version does not know: start the newer hookshelf that wrote them');
  }
}

/**
 * Notifies listeners of each transaction as it is applied, in commit order. Without listeners the
 * changes need not be collected, as nothing else needs the former versions.
 */
import type { CommitListener, Change } from '../store-port.ts';

export class ChangeFeed {
  readonly #onError: (error: unknown) => void;
  #listeners: readonly CommitListener[] = [];

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  get isFollowed(): boolean {
    return this.#listeners.length > 0;
  }

  /** Returns a function that ends it. */
  follow(listener: CommitListener): () => void {
    this.#listeners = [...this.#listeners, listener];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== listener);
    };
  }

  notify(sequence: number, changes: readonly Change[]): void {
    for (const listener of this.#listeners) {
      try {
        listener(sequence, changes);
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}

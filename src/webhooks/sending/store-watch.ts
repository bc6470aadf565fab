/**
 * Tells by events of our own when the store took no writes: once it takes them again, in one
 * transaction, as nothing can be written before. Kept in memory until then.
 */
import { formatTimestamp, type Clock, type Timer } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Store } from '../../store/store-port.ts';
import type { SystemEvents } from '../deliveries/system-events.ts';

type StoreWatchParts = {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly makeId: () => string;
  readonly systemEvents: Pick<SystemEvents, 'storeRecovered' | 'hasStoreListeners'>;
};

type Failure = { readonly sinceMs: number; readonly reason: string };

/** The store may fail and go on again within the second in which nothing is said of it. */
const AGAIN_MS = 5000;

export class StoreWatch {
  readonly #parts: StoreWatchParts;
  #unfollow: () => void = () => {};
  #failure: Failure | null = null;
  #isStopped = false;
  #again: Timer | null = null;
  #telling: Promise<void> = Promise.resolve();

  constructor(parts: StoreWatchParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#unfollow = this.#parts.store.onFailure((reason) => this.#note(reason));
  }

  async close(): Promise<void> {
    this.#unfollow();
    this.#isStopped = true;
    this.#again?.cancel();
    await this.#telling;
  }

  #note(reason: string | null): void {
    this.#isStopped = reason !== null;
    if (reason !== null) {
      this.#failure ??= { sinceMs: this.#parts.clock.now(), reason };
    } else {
      // Not at once: we are called in the middle of the store's own work.
      this.#tellNext();
    }
  }

  #tellNext(): void {
    this.#telling = this.#telling.then(() => this.#tell());
  }

  async #tell(): Promise<void> {
    const failure = this.#failure;
    const { store, clock, log, makeId, systemEvents } = this.#parts;
    this.#failure = null;
    if (failure === null || !systemEvents.hasStoreListeners()) return;
    const nowMs = clock.now();
    const seeds = [makeId(), makeId()] as const;
    try {
      await store.transact((transaction) =>
        systemEvents.storeRecovered(transaction, seeds, nowMs, failure));
    } catch (thrown) {
      // It has failed again: what is told when it goes on begins where this one did.
      this.#failure = failure;
      log.warning('the events about the store wait until it takes writes again',
        { since: formatTimestamp(failure.sinceMs), error: thrown });
      this.#tellAgain();
    }
  }

  #tellAgain(): void {
    this.#again?.cancel();
    if (this.#isStopped) return;
    this.#again = this.#parts.clock.startTimer(AGAIN_MS, () => {
      if (!this.#isStopped) this.#tellNext();
    });
  }
}

/**
 * Tells by events of our own when the store took no writes: once it takes them again, in one
 * transaction, as nothing can be written before. Kept in memory until then.
 */
import { formatTimestamp, type Clock, type Timer } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Store } from '../../store/store-port.ts';
import type { SystemEvents } from '../deliveries/system-events.ts';

type StoreFailureDeps = {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly makeId: () => string;
  readonly systemEvents: Pick<SystemEvents, 'storeRecovered' | 'hasStoreListeners'>;
};

type StoreFailure = { readonly sinceMs: number; readonly reason: string };

/** The store may fail and go on again within the second in which nothing is said of it. */
const RETRY_MS = 5000;

export class StoreFailureEvents {
  readonly #deps: StoreFailureDeps;
  #unfollow: () => void = () => {};
  #failure: StoreFailure | null = null;
  #isStopped = false;
  #retryTimer: Timer | null = null;
  #publishing: Promise<void> = Promise.resolve();

  constructor(deps: StoreFailureDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#unfollow = this.#deps.store.onFailure((reason) => this.#onStateChange(reason));
  }

  async close(): Promise<void> {
    this.#unfollow();
    this.#isStopped = true;
    this.#retryTimer?.cancel();
    await this.#publishing;
  }

  #onStateChange(reason: string | null): void {
    this.#isStopped = reason !== null;
    if (reason !== null) {
      this.#failure ??= { sinceMs: this.#deps.clock.now(), reason };
    } else {
      // Not at once: we are called in the middle of the store's own work.
      this.#publishNext();
    }
  }

  #publishNext(): void {
    this.#publishing = this.#publishing.then(() => this.#publish());
  }

  async #publish(): Promise<void> {
    const failure = this.#failure;
    const { store, clock, log, makeId, systemEvents } = this.#deps;
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
      this.#publishLater();
    }
  }

  #publishLater(): void {
    this.#retryTimer?.cancel();
    if (this.#isStopped) return;
    this.#retryTimer = this.#deps.clock.startTimer(RETRY_MS, () => {
      if (!this.#isStopped) this.#publishNext();
    });
  }
}

/**
 * Publishes system events about a failure of the store. Nothing can be written while it lasts, so
 * the failure stays in memory until the store takes writes again; then one transaction writes both
 * events, of the failure and of its end.
 */
import { formatTimestamp, type Timer } from '../../../base/clock.ts';
import type { SystemEvents } from '../system-events.ts';
import type { RelayContext } from '../../relay-context.ts';

type StoreFailure = { readonly sinceMs: number; readonly reason: string };

const RETRY_MS = 5000;

export class StoreFailureEvents {
  readonly #context: RelayContext;
  readonly #systemEvents: SystemEvents;
  #unfollow: () => void = () => {};
  #failure: StoreFailure | null = null;
  #isStopped = false;
  #retryTimer: Timer | null = null;
  #publishing: Promise<void> = Promise.resolve();

  constructor(context: RelayContext, systemEvents: SystemEvents) {
    this.#context = context;
    this.#systemEvents = systemEvents;
  }

  start(): void {
    this.#unfollow = this.#context.store.onFailure((reason) => this.#onStateChange(reason));
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
      this.#failure ??= { sinceMs: this.#context.clock.now(), reason };
    } else {
      // Not at once: the store calls this in the middle of its own work.
      this.#publishNext();
    }
  }

  #publishNext(): void {
    this.#publishing = this.#publishing.then(() => this.#publish());
  }

  async #publish(): Promise<void> {
    const failure = this.#failure;
    const { store, clock, log, makeId } = this.#context;
    this.#failure = null;
    if (failure === null || !this.#systemEvents.mayKeepStoreEvents()) return;
    const nowMs = clock.now();
    const seeds = [makeId(), makeId()] as const;
    try {
      await store.transact((transaction) =>
        this.#systemEvents.storeRecovered(transaction, seeds, nowMs, failure));
    } catch (thrown) {
      // The store has failed again: the events will say that it failed since the first time.
      this.#failure = failure;
      log.warning('the events about the store wait until it takes writes again',
        { since: formatTimestamp(failure.sinceMs), error: thrown });
      this.#publishLater();
    }
  }

  #publishLater(): void {
    this.#retryTimer?.cancel();
    if (this.#isStopped) return;
    this.#retryTimer = this.#context.clock.startTimer(RETRY_MS, () => {
      if (!this.#isStopped) this.#publishNext();
    });
  }
}

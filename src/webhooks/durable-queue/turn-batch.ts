/**
 * Writes the entries that come in one turn of the event loop in one transaction; in several, of at
 * most a chunk each, if they are many, and in later turns if they are large. If one of these fails,
 * all its entries fail. Entries that several callers bring at once, such as the events of requests
 * whose bodies are handed over together, do not wait for the end of the turn.
 */
import type { Store, Transaction } from '../../store/store-port.ts';
import { takeChunk } from './queue-spec.ts';

type PendingWrite<Entry, Outcome> = {
  readonly entry: Entry;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (thrown: unknown) => void;
};

/** Bytes that are staged in one turn. To stage 20 events of a megabyte in one took 0.3 s. */
const TURN_BYTES_MAX = 1 << 20;

export class TurnBatch<Entry, Outcome> {
  readonly #store: Store;
  readonly #bytesOf: (entry: Entry) => number;
  readonly #stage: (transaction: Transaction, entries: readonly Entry[]) => readonly Outcome[];
  #waiting: PendingWrite<Entry, Outcome>[] = [];
  #isScheduled = false;

  /**
   * `stage` returns an outcome for each entry. Like every transaction it may run again, and what it
   * throws fails all entries.
   */
  constructor(
    store: Store, bytesOf: (entry: Entry) => number,
    stage: (transaction: Transaction, entries: readonly Entry[]) => readonly Outcome[],
  ) {
    this.#store = store;
    this.#bytesOf = bytesOf;
    this.#stage = stage;
  }

  /** Resolves with the outcome of the entry once it is on disk. */
  write(entry: Entry): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ entry, resolve, reject }) > 1) return;
      this.#schedule();
      process.nextTick(this.#flushIfSeveral);
    });
  }

  /**
   * Called when all microtasks of the present callback have run, if one of them called `write`; if
   * the callback itself did, before them, and then what they bring waits for the end of the turn. A
   * transaction of the next turn would miss the present batch of the journal. With 64 connections
   * this saves a sixth of the batches.
   */
  readonly #flushIfSeveral = (): void => {
    if (this.#waiting.length > 1) this.#flush();
  };

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    let bytes = 0;
    while (this.#waiting.length > 0) {
      if (bytes >= TURN_BYTES_MAX) return this.#schedule();
      const chunk = takeChunk(this.#waiting, ({ entry }) => this.#bytesOf(entry));
      this.#waiting = this.#waiting.slice(chunk.length);
      const entries = chunk.map(({ entry }) => entry);
      bytes += entries.reduce((sum, entry) => sum + this.#bytesOf(entry), 0);
      this.#store.transact((transaction) => this.#stage(transaction, entries)).then(
        (outcomes) => outcomes.forEach((outcome, index) => chunk[index]?.resolve(outcome)),
        (thrown: unknown) => chunk.forEach(({ reject }) => reject(thrown)),
      );
    }
  }
}

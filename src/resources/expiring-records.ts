/**
 * Removes the records of a collection whose time is over, and the next to go where they are too
 * many, in transactions of its own. Nothing is kept in memory for each record.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock, Timer } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { RateLimitedLog } from '../base/rate-limited-log.ts';
import type { Collection, Store } from '../store/store-port.ts';

export type ExpiryLimits = { readonly countMax: number; readonly bytesMax: number };

type ExpiryParts = {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** The collection's name. */
  readonly collection: string;
  /** In the plural, for messages. */
  readonly noun: string;
  /** Milliseconds since the epoch, without parsing the record. */
  readonly expiresAtMs: (bytes: Buffer) => number;
  readonly limits: ExpiryLimits;
  /** Whether it is ours to remove them: of several nodes one does. Not given: it is. */
  readonly mayRemove?: () => boolean;
};

type Expiring = { readonly id: string; readonly atMs: number; readonly bytes: number };

const SWEEP_MS = 60_000;
/** Records removed in one transaction. */
const CHUNK = 250;
/** Records looked at before the event loop serves others: a millisecond of work. */
const STEP = 2000;
/** How much more than what is over a limit is removed, so that it is not done for each record. */
const SLACK = 0.05;

export class ExpiringRecords {
  readonly #parts: ExpiryParts;
  readonly #records: Collection;
  readonly #warnings: RateLimitedLog;
  readonly #unfollow: () => void;
  #timer: Timer | null = null;
  #sweep: Promise<void> | null = null;
  #isStarted = false;

  constructor(parts: ExpiryParts) {
    this.#parts = parts;
    this.#records = parts.store.collection(parts.collection);
    this.#warnings = new RateLimitedLog(parts.clock, () => {});
    this.#unfollow = this.#records.onChange(() => {
      if (this.#isStarted && this.#mayRemove() && this.#isOver()) this.#startSweep();
    });
  }

  /** From here on expired ones are removed. Commands leave that to the server. */
  start(): void {
    this.#isStarted = true;
    this.#startSweep();
  }

  async close(): Promise<void> {
    this.#isStarted = false;
    this.#timer?.cancel();
    this.#warnings.close();
    this.#unfollow();
    await this.#sweep;
  }

  #mayRemove(): boolean {
    const { mayRemove } = this.#parts;
    return mayRemove === undefined || mayRemove();
  }

  #isOver(): boolean {
    const { countMax, bytesMax } = this.#parts.limits;
    return this.#records.size > countMax || this.#records.bytesTotal > bytesMax;
  }

  #startSweep(): void {
    if (this.#sweep !== null || !this.#isStarted) return;
    this.#timer?.cancel();
    // Not at once: the rest of the transaction that we heard of is not applied yet.
    this.#sweep = Promise.resolve().then(() => this.#sweepAll()).catch((thrown: unknown) => {
      const { log, noun } = this.#parts;
      log.error(`old ${noun} could not be removed`, { error: thrown });
    }).finally(() => {
      this.#sweep = null;
      if (!this.#isStarted) return;
      this.#timer = this.#parts.clock.startTimer(SWEEP_MS, () => this.#startSweep());
    });
  }

  async #sweepAll(): Promise<void> {
    if (!this.#mayRemove()) return;
    const nowMs = this.#parts.clock.now();
    await this.#remove(await this.#find(({ atMs }) => atMs <= nowMs));
    while (this.#isStarted && this.#mayRemove() && this.#isOver()) {
      const early = this.#surplus(await this.#find(() => true));
      this.#warnings.warning(this.#parts, `${this.#parts.noun} are removed before their time is `
        + 'over, as there are too many', { removed: early.length, ...this.#parts.limits }, 1);
      await this.#remove(early);
    }
  }

  async #find(isWanted: (record: Expiring) => boolean): Promise<Expiring[]> {
    const found: Expiring[] = [];
    const walk = this.#records.walk();
    let looked = 0;
    for (let slot = walk.next(); slot !== -1; slot = walk.next()) {
      const bytes = this.#records.bytesAt(slot);
      const id = this.#records.idAt(slot);
      if (bytes === undefined || id === undefined) continue;
      const record = { id, atMs: this.#parts.expiresAtMs(bytes), bytes: bytes.length };
      if (isWanted(record)) found.push(record);
      looked += 1;
      if (looked % STEP === 0) await nextTurn();
    }
    return found;
  }

  /** Those that would go next, until there is room again. */
  #surplus(records: Expiring[]): Expiring[] {
    const { countMax, bytesMax } = this.#parts.limits;
    let count = this.#records.size - (countMax - Math.floor(countMax * SLACK));
    let bytes = this.#records.bytesTotal - (bytesMax - Math.floor(bytesMax * SLACK));
    if (this.#records.size <= countMax) count = 0;
    if (this.#records.bytesTotal <= bytesMax) bytes = 0;
    records.sort((left, right) => left.atMs - right.atMs || (left.id < right.id ? -1 : 1));
    const end = records.findIndex((record) => {
      if (count <= 0 && bytes <= 0) return true;
      count -= 1;
      bytes -= record.bytes;
      return false;
    });
    return end === -1 ? records : records.slice(0, end);
  }

  async #remove(records: readonly Expiring[]): Promise<void> {
    const { store, collection, expiresAtMs } = this.#parts;
    for (let start = 0; start < records.length && this.#isStarted; start += CHUNK) {
      await store.transact((transaction) => {
        for (const { id, atMs } of records.slice(start, start + CHUNK)) {
          const bytes = transaction.find(collection, id);
          // It may have been renewed since.
          if (bytes !== undefined && expiresAtMs(bytes) === atMs) {
            transaction.delete(collection, id);
          }
        }
      });
    }
  }
}

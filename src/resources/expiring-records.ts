/**
 * Removes the expired records of a collection in transactions of its own; if there are too many
 * records, those that expire next go, too. A sweep finds them by a walk over all records. Between
 * sweeps nothing is kept in memory for a record.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { RateLimitedLog } from '../base/rate-limited-log.ts';
import { Sweeper } from '../base/sweeper.ts';
import { walkRecords } from '../store/find-record.ts';
import type { Collection, Store } from '../store/store-port.ts';

export type ExpiryLimits = { readonly countMax: number; readonly bytesMax: number };

export type ExpiringRecordsDeps = {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** The collection's name. */
  readonly collection: string;
  /** The records in the plural, for messages. */
  readonly noun: string;
  /** Reads the expiry, in milliseconds since the epoch, without parsing the record. */
  readonly readExpiryMs: (bytes: Buffer) => number;
  readonly limits: ExpiryLimits;
  /** Whether this node may remove records: one of several nodes does. Absent: it may. */
  readonly mayRemove?: () => boolean;
};

type ExpiringRecord =
  { readonly id: string; readonly expiryMs: number; readonly byteCount: number };

const CHUNK_RECORDS = 250;
/** Records visited in one turn of the event loop: a millisecond of work. */
const TURN_RECORDS = 2000;
/** A line each second is enough, however many sweeps remove too many records. */
const WARNINGS_A_SECOND = 1;
/** The share of a limit that is freed at once, so that not every new record removes one. */
const SLACK_RATIO = 0.05;

export class ExpiringRecords {
  readonly #deps: ExpiringRecordsDeps;
  readonly #records: Collection;
  readonly #warnings: RateLimitedLog;
  readonly #sweeper: Sweeper;
  readonly #unfollow: () => void;

  constructor(deps: ExpiringRecordsDeps) {
    this.#deps = deps;
    this.#records = deps.store.collection(deps.collection);
    this.#warnings = new RateLimitedLog(deps.clock);
    this.#sweeper = new Sweeper(deps, () => this.#sweepAll());
    this.#unfollow = this.#records.onChange(() => {
      const { isStarted } = this.#sweeper;
      if (isStarted && this.#mayRemove() && this.#exceedsLimits()) this.#sweeper.sweep();
    });
  }

  /** Starts the removal. Commands leave that to the server. */
  start(): void {
    this.#sweeper.start();
  }

  async close(): Promise<void> {
    this.#warnings.close();
    this.#unfollow();
    await this.#sweeper.close();
  }

  #mayRemove(): boolean {
    const { mayRemove } = this.#deps;
    return mayRemove === undefined || mayRemove();
  }

  #exceedsLimits(): boolean {
    const { countMax, bytesMax } = this.#deps.limits;
    return this.#records.size > countMax || this.#records.bytesTotal > bytesMax;
  }

  async #sweepAll(): Promise<void> {
    if (!this.#mayRemove()) return;
    const nowMs = this.#deps.clock.now();
    await this.#remove(await this.#find(({ expiryMs }) => expiryMs <= nowMs));
    // Each round removes one record at least, so this ends; a transaction that fails ends it, too.
    while (this.#sweeper.isStarted && this.#mayRemove() && this.#exceedsLimits()) {
      const surplus = this.#selectSurplus(await this.#find(() => true));
      this.#warnings.warning(this.#deps, `${this.#deps.noun} are removed before their time is `
        + 'over, as there are too many', { removed: surplus.length, ...this.#deps.limits },
      WARNINGS_A_SECOND);
      await this.#remove(surplus);
    }
  }

  async #find(isSelected: (record: ExpiringRecord) => boolean): Promise<ExpiringRecord[]> {
    const matches: ExpiringRecord[] = [];
    let visitedCount = 0;
    for (const { id, bytes } of walkRecords(this.#records)) {
      const record = { id, expiryMs: this.#deps.readExpiryMs(bytes), byteCount: bytes.length };
      if (isSelected(record)) matches.push(record);
      visitedCount += 1;
      if (visitedCount % TURN_RECORDS === 0) await nextTurn();
    }
    return matches;
  }

  /** The records that expire next, as many as must go to be within the limits. */
  #selectSurplus(records: ExpiringRecord[]): ExpiringRecord[] {
    const { countMax, bytesMax } = this.#deps.limits;
    let countToFree = countSurplus(this.#records.size, countMax);
    let bytesToFree = countSurplus(this.#records.bytesTotal, bytesMax);
    records.sort((left, right) => left.expiryMs - right.expiryMs || (left.id < right.id ? -1 : 1));
    const end = records.findIndex((record) => {
      if (countToFree <= 0 && bytesToFree <= 0) return true;
      countToFree -= 1;
      bytesToFree -= record.byteCount;
      return false;
    });
    return end === -1 ? records : records.slice(0, end);
  }

  async #remove(records: readonly ExpiringRecord[]): Promise<void> {
    const { store, collection, readExpiryMs } = this.#deps;
    for (let start = 0; start < records.length && this.#sweeper.isStarted; start += CHUNK_RECORDS) {
      await store.transact((transaction) => {
        for (const { id, expiryMs } of records.slice(start, start + CHUNK_RECORDS)) {
          const bytes = transaction.find(collection, id);
          // The record may have been renewed since.
          if (bytes !== undefined && readExpiryMs(bytes) === expiryMs) {
            transaction.delete(collection, id);
          }
        }
      });
    }
  }
}

/** Counts how much of an amount beyond its limit must go, with some slack; 0 within the limit. */
function countSurplus(amount: number, limit: number): number {
  return amount <= limit ? 0 : amount - limit + Math.floor(limit * SLACK_RATIO);
}

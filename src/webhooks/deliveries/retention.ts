/**
 * Removes finished deliveries that are too old or too many, in transactions of its own, together
 * with the totals. Which ones they are is derived from the applied entries.
 */
import type { Clock, Timer } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Store } from '../../store/port.ts';
import { follow, type RecordChange } from '../../resources/projection.ts';
import { PriorityQueue } from '../scheduler/priority-queue.ts';
import { statusOf, updatedMsOf } from './codec.ts';
import { deliveryCollection } from './delivery.ts';
import { CHUNK, commitChanges, firstChunk } from './unit-of-work.ts';

type RetentionParts = {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** How long, and how many, delivered and cancelled ones are kept. */
  readonly finishedMs: number;
  readonly finishedMax: number;
  readonly failedMs: number;
};

/** A delivery as it was when it finished; void if it was written since. */
type Item = {
  readonly id: string;
  readonly atMs: number;
  readonly bytes: number;
  readonly isFailed: boolean;
};

const SWEEP_MS = 60_000;

export class Retention {
  readonly #parts: RetentionParts;
  readonly #unfollow: () => void;
  readonly #finished = new PriorityQueue<Item>(isEarlier);
  readonly #failed = new PriorityQueue<Item>(isEarlier);
  #finishedCount = 0;
  #timer: Timer | null = null;
  #sweep: Promise<void> | null = null;
  #isStarted = false;

  constructor(parts: RetentionParts) {
    this.#parts = parts;
    const deliveries = parts.store.collection(deliveryCollection.name);
    this.#unfollow = follow(deliveries, (applied) => this.#apply(applied));
  }

  start(): void {
    this.#isStarted = true;
    this.#startSweep();
  }

  async close(): Promise<void> {
    this.#isStarted = false;
    this.#timer?.cancel();
    this.#unfollow();
    await this.#sweep;
  }

  #apply({ id, before, after }: RecordChange): void {
    if (before !== null && countsAsFinished(before)) this.#finishedCount -= 1;
    if (after === null) return;
    const status = statusOf(after);
    if (status === 'pending') return;
    const isFailed = status === 'failed';
    this.#keep({ id, atMs: updatedMsOf(after), bytes: after.length, isFailed });
    if (isFailed) return;
    this.#finishedCount += 1;
    if (this.#isStarted && this.#finishedCount > this.#parts.finishedMax) this.#startSweep();
  }

  #keep(item: Item): void {
    if (item.isFailed) this.#failed.push(item);
    else this.#finished.push(item);
  }

  #startSweep(): void {
    if (this.#sweep !== null || !this.#isStarted) return;
    this.#timer?.cancel();
    // Not at once: the rest of the transaction that we heard of is not applied yet.
    this.#sweep = Promise.resolve().then(() => this.#sweepAll()).catch((thrown: unknown) => {
      this.#parts.log.error('old deliveries could not be removed', { error: thrown });
    }).finally(() => {
      this.#sweep = null;
      if (this.#isStarted) {
        this.#timer = this.#parts.clock.startTimer(SWEEP_MS, () => this.#startSweep());
      }
    });
  }

  async #sweepAll(): Promise<void> {
    for (;;) {
      let items = this.#takeOld();
      if (items.length === 0) return;
      try {
        while (items.length > 0) {
          const chunk = firstChunk(items, ({ bytes }) => bytes);
          await commitChanges(this.#parts.store, (unit) => {
            for (const { id, atMs } of chunk) unit.ageOut(id, atMs);
          });
          items = items.slice(chunk.length);
        }
      } catch (thrown) {
        for (const item of items) this.#keep(item);
        throw thrown;
      }
      if (!this.#isStarted) return;
    }
  }

  #takeOld(): Item[] {
    const { clock, finishedMs, finishedMax, failedMs } = this.#parts;
    const nowMs = clock.now();
    const items: Item[] = [];
    const take = (queue: PriorityQueue<Item>, isOld: (item: Item) => boolean): void => {
      for (let first = queue.peek(); first !== undefined; first = queue.peek()) {
        if (items.length >= CHUNK || !isOld(first)) return;
        queue.pop();
        items.push(first);
      }
    };
    let surplus = this.#finishedCount - finishedMax;
    take(this.#finished, ({ atMs }) => {
      surplus -= 1;
      return surplus >= 0 || atMs < nowMs - finishedMs;
    });
    take(this.#failed, ({ atMs }) => atMs < nowMs - failedMs);
    return items;
  }
}

// Many finish in the same millisecond; in order of identifier they are found faster.
function isEarlier(left: Item, right: Item): boolean {
  return left.atMs < right.atMs || (left.atMs === right.atMs && left.id < right.id);
}

function countsAsFinished(bytes: Buffer): boolean {
  const status = statusOf(bytes);
  return status === 'delivered' || status === 'cancelled';
}

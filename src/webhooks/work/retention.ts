/**
 * Removes finished work that is too old or too much, in transactions of its own, together with the
 * totals. Which records they are is derived from the applied entries.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock, Timer } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Change, Collection, Store } from '../../store/store-port.ts';
import { followRecords } from '../../resources/projection.ts';
import { PriorityQueue } from '../../base/structures/priority-queue.ts';
import type { Ownership } from './ownership.ts';
import { CHUNK, firstChunk, type WorkKind } from './kind.ts';
import { commitWork } from './unit-of-work.ts';

/** Failed work is looked into, so it is kept for a time of its own. */
type Finish = 'finished' | 'failed';

export type RetentionRules = {
  /** null: it is not to be removed. */
  readonly finishOf: (bytes: Buffer) => Finish | null;
  /** What removing a record frees. */
  readonly bytesOf: (id: string, bytes: Buffer) => number;
  readonly keptMs: Readonly<Record<Finish, number>>;
  /** How many that finished, and have not failed, are kept. */
  readonly finishedMax: number;
  /** Their bytes that are kept, with what lies `beside` them in records of its own. */
  readonly finishedBytesMax: number;
  readonly beside: {
    readonly collection: string; readonly bytesOf: (id: string, bytes: Buffer) => number;
  } | null;
  /**
   * Records and bytes of all work together; beyond, what finished first goes first, failed or not.
   */
  readonly countMax: number;
  readonly bytesMax: number;
  /** Names of the collections whose bytes count. */
  readonly collections: readonly string[];
};

type RetentionParts<Item, Status extends string, Gone extends string> = RetentionRules & {
  readonly kind: WorkKind<Item, Status, Gone>;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly ownership: Pick<Ownership, 'maintains'>;
};

/** A piece of work as it was when it finished; void if it was written since. */
type Old = {
  readonly id: string;
  readonly atMs: number;
  readonly finish: Finish;
};

const SWEEP_MS = 60_000;
/** Forgotten before the event loop serves others: a millisecond of work. */
const FORGOTTEN_STEP = 1000;

export class Retention<Item, Status extends string, Gone extends string = never> {
  readonly #parts: RetentionParts<Item, Status, Gone>;
  readonly #records: Collection;
  /** Whose bytes count. */
  readonly #counted: readonly Collection[];
  readonly #unfollow: (() => void)[] = [];
  readonly #queues = {
    finished: new PriorityQueue<Old>(isEarlier), failed: new PriorityQueue<Old>(isEarlier),
  };
  #finishedCount = 0;
  #finishedBytes = 0;
  #timer: Timer | null = null;
  #sweep: Promise<void> | null = null;
  #isStarted = false;

  constructor(parts: RetentionParts<Item, Status, Gone>) {
    this.#parts = parts;
    const { store, beside, kind, collections } = parts;
    this.#records = store.collection(kind.collection.name);
    this.#counted = collections.map((name) => store.collection(name));
    if (beside !== null) {
      this.#unfollow.push(followRecords(store.collection(beside.collection), (applied) =>
        this.#applyBeside(applied, beside.bytesOf)));
    }
    this.#unfollow.push(followRecords(this.#records, (applied) => this.#apply(applied)));
  }

  start(): void {
    this.#isStarted = true;
    this.#startSweep();
  }

  async close(): Promise<void> {
    this.#isStarted = false;
    this.#timer?.cancel();
    for (const unfollow of this.#unfollow) unfollow();
    await this.#sweep;
  }

  #apply({ id, before, after }: Change): void {
    const { finishOf, kind } = this.#parts;
    if (before !== null && finishOf(before) === 'finished') this.#countFinished(-1, before.length);
    const finish = after === null ? null : finishOf(after);
    if (after !== null && finish !== null) {
      this.#keep({ id, atMs: kind.updatedMsOf(after), finish });
      if (finish === 'finished') this.#countFinished(1, after.length);
    }
    this.#sweepIfOver();
  }

  #sweepIfOver(): void {
    if (!this.#isStarted || !this.#parts.ownership.maintains()) return;
    if (this.#isOver()) this.#startSweep();
  }

  #countFinished(by: 1 | -1, bytes: number): void {
    this.#finishedCount += by;
    this.#finishedBytes += by * bytes;
  }

  #applyBeside(
    { id, before, after }: Change, bytesOf: (id: string, bytes: Buffer) => number,
  ): void {
    if (before !== null) this.#finishedBytes -= bytesOf(id, before);
    if (after !== null) this.#finishedBytes += bytesOf(id, after);
    this.#sweepIfOver();
  }

  #keep(old: Old): void {
    this.#queues[old.finish].push(old);
  }

  #isOver(): boolean {
    const { finishedMax, finishedBytesMax } = this.#parts;
    if (this.#finishedCount > finishedMax || this.#finishedBytes > finishedBytesMax) return true;
    const { count, bytes } = this.#surplus();
    return (count > 0 || bytes > 0) && this.#oldest() !== undefined;
  }

  /** By how much all work together is over its limits. */
  #surplus(): { count: number; bytes: number } {
    const { countMax, bytesMax } = this.#parts;
    let bytes = -bytesMax;
    for (const { bytesTotal } of this.#counted) bytes += bytesTotal;
    return { count: this.#records.size - countMax, bytes };
  }

  #startSweep(): void {
    if (this.#sweep !== null || !this.#isStarted) return;
    this.#timer?.cancel();
    // Not at once: the rest of the transaction that we heard of is not applied yet.
    this.#sweep = Promise.resolve().then(() => this.#sweepAll()).catch((thrown: unknown) => {
      const { log, kind } = this.#parts;
      log.error(`old ${kind.noun} could not be removed`, { error: thrown });
    }).finally(() => {
      this.#sweep = null;
      if (this.#isStarted) {
        this.#timer = this.#parts.clock.startTimer(SWEEP_MS, () => this.#startSweep());
      }
    });
  }

  async #sweepAll(): Promise<void> {
    if (!this.#parts.ownership.maintains()) return this.#forgetRemoved();
    for (;;) {
      let old = this.#takeOld();
      if (old.length === 0) return;
      try {
        while (old.length > 0) {
          const chunk = firstChunk(old, (one) => this.#bytesOf(one));
          await this.#remove(chunk);
          old = old.slice(chunk.length);
        }
      } catch (thrown) {
        for (const item of old) this.#keep(item);
        throw thrown;
      }
      if (!this.#isStarted) return;
    }
  }

  /** Another node removes them. */
  async #forgetRemoved(): Promise<void> {
    const isRemoved = ({ id, atMs }: Old): boolean => {
      const bytes = this.#records.findBytes(id);
      return bytes === undefined || this.#parts.kind.updatedMsOf(bytes) !== atMs;
    };
    let forgotten = 0;
    for (const queue of Object.values(this.#queues)) {
      for (let old = queue.peek(); old !== undefined && isRemoved(old); old = queue.peek()) {
        queue.pop();
        forgotten += 1;
        if (forgotten % FORGOTTEN_STEP === 0) await nextTurn();
        if (!this.#isStarted) return;
      }
    }
  }

  async #remove(chunk: readonly Old[]): Promise<void> {
    const { kind, store, finishOf } = this.#parts;
    await commitWork(kind, store, (unit) => {
      for (const { id, atMs } of chunk) {
        unit.remove(id, 'agedOut', (bytes) =>
          kind.updatedMsOf(bytes) === atMs && finishOf(bytes) !== null);
      }
    });
  }

  /** What removing it frees. Looked up then, and not for each that finishes. */
  #bytesOf({ id }: Old): number {
    const bytes = this.#records.findBytes(id);
    return bytes === undefined ? 0 : this.#parts.bytesOf(id, bytes);
  }

  #takeOld(): Old[] {
    const { clock, keptMs, finishedMax, finishedBytesMax } = this.#parts;
    const nowMs = clock.now();
    const taken: Old[] = [];
    const take = (finish: Finish, isOld: (old: Old) => boolean): void => {
      const queue = this.#queues[finish];
      for (let first = queue.peek(); first !== undefined; first = queue.peek()) {
        if (taken.length >= CHUNK || !isOld(first)) return;
        queue.pop();
        taken.push(first);
      }
    };
    let surplus = this.#finishedCount - finishedMax;
    let surplusBytes = this.#finishedBytes - finishedBytesMax;
    take('finished', (old) => {
      if (surplus <= 0 && surplusBytes <= 0 && old.atMs >= nowMs - keptMs.finished) return false;
      surplus -= 1;
      surplusBytes -= this.#bytesOf(old);
      return true;
    });
    take('failed', ({ atMs }) => atMs < nowMs - keptMs.failed);
    this.#takeSurplus(taken);
    return taken;
  }

  #takeSurplus(taken: Old[]): void {
    let { count, bytes } = this.#surplus();
    const isFreed = (old: Old): void => {
      count -= 1;
      bytes -= this.#bytesOf(old);
    };
    for (const old of taken) isFreed(old);
    while (taken.length < CHUNK && (count > 0 || bytes > 0)) {
      const oldest = this.#oldest();
      if (oldest === undefined) return;
      this.#queues[oldest.finish].pop();
      taken.push(oldest);
      isFreed(oldest);
    }
  }

  #oldest(): Old | undefined {
    const [finished, failed] = [this.#queues.finished.peek(), this.#queues.failed.peek()];
    if (finished === undefined || failed === undefined) return finished ?? failed;
    return isEarlier(failed, finished) ? failed : finished;
  }
}

// Many finish in the same millisecond; in order of id they are found faster.
function isEarlier(left: Old, right: Old): boolean {
  return left.atMs < right.atMs || (left.atMs === right.atMs && left.id < right.id);
}

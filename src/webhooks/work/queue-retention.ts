/**
 * Removes ended items that are too old or too many, and failed ones whose room others need; it
 * finds them by following the store.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Sweeper } from '../../base/sweeper.ts';
import { findCommitted, findStaged } from '../../store/find-record.ts';
import type { Collection, FindRecord } from '../../store/store-port.ts';
import { PriorityQueue } from '../../base/structures/priority-queue.ts';
import type { RelayContext } from '../relay-context.ts';
import { removeItems } from './change-items.ts';
import { CHUNK_ITEMS_MAX, takeChunk, type RemovalSpec } from './item-spec.ts';

export type ItemEnd = {
  /** Failed items have their own retention time, because people look into them. */
  readonly kind: 'finished' | 'failed';
  readonly atMs: number;
  readonly bytes: number;
};

/** null: the item must not be removed, or is not there. */
type EndChange = {
  readonly id: string; readonly before: ItemEnd | null; readonly after: ItemEnd | null;
};

export type RetentionRules = {
  /** Calls `listener` for every item, then for every change. */
  readonly follow: (listener: (change: EndChange) => void) => void;
  readonly readEnd: (bytes: Buffer, find: FindRecord) => ItemEnd | null;
  /**
   * The bytes that the removal of an item frees, with an equal share of bytes that others use too.
   * It may free fewer, so limits are checked again after each removal.
   */
  readonly bytesOf: (id: string) => number;
  readonly retentionMs: Readonly<Record<ItemEnd['kind'], number>>;
  /** Above these limits the one that ended first goes. */
  readonly limits: {
    /** `finished`: they hold for finished items, which alone go; `all`: for items of any status. */
    readonly of: 'finished' | 'all';
    readonly countMax: number;
    readonly bytesMax: number;
    /** The bytes of all items; or those that finished items take beside their records. */
    readonly bytes: () => number;
  };
};

/** An item as it was when it ended. It is outdated if the record was written since. */
type EndedItem = {
  readonly id: string;
  readonly endedAtMs: number;
  readonly kind: ItemEnd['kind'];
};

/** Items dropped before the event loop serves others. This takes about a millisecond. */
const DROPPED_PER_TURN = 1000;

export class QueueRetention {
  readonly #context: RelayContext;
  readonly #spec: RemovalSpec;
  readonly #rules: RetentionRules;
  readonly #records: Collection;
  readonly #sweeper: Sweeper;
  readonly #endedItems = {
    finished: new PriorityQueue<EndedItem>(isEarlier),
    failed: new PriorityQueue<EndedItem>(isEarlier),
  };
  #finishedCount = 0;
  #finishedBytes = 0;
  /** The bytes of failed items that are to be removed, and how many were removed for that. */
  #missingBytes = 0;
  #displacedCount = 0;

  constructor(context: RelayContext, spec: RemovalSpec, rules: RetentionRules) {
    this.#context = context;
    this.#spec = spec;
    this.#rules = rules;
    this.#records = context.store.collection(spec.collection.name);
    this.#sweeper = new Sweeper({ ...context, noun: spec.noun }, () => this.#sweepAll());
    rules.follow((change) => this.#applyChange(change));
  }

  start(): void {
    this.#sweeper.start();
  }

  /** Removes failed items, those first that failed first, until `missingBytes` are free. */
  displaceFailed(missingBytes: number): void {
    this.#missingBytes = Math.max(this.#missingBytes, missingBytes);
    this.#sweeper.sweep();
  }

  close(): Promise<void> {
    return this.#sweeper.close();
  }

  #applyChange({ id, before, after }: EndChange): void {
    if (before?.kind === 'finished') {
      this.#finishedCount -= 1;
      this.#finishedBytes -= before.bytes;
    }
    if (after !== null) {
      this.#endedItems[after.kind].push({ id, endedAtMs: after.atMs, kind: after.kind });
    }
    if (after?.kind === 'finished') {
      this.#finishedCount += 1;
      this.#finishedBytes += after.bytes;
    }
    const { count, bytes } = this.#computeExcess();
    if (count <= 0 && bytes <= 0) return;
    if (this.#context.ownership.isMaintainer() && this.#peekExcess() !== undefined) {
      this.#sweeper.sweep();
    }
  }

  #computeExcess(): { count: number; bytes: number } {
    const { of, countMax, bytesMax, bytes } = this.#rules.limits;
    return of === 'finished'
      ? { count: this.#finishedCount - countMax, bytes: this.#finishedBytes + bytes() - bytesMax }
      : { count: this.#records.size - countMax, bytes: bytes() - bytesMax };
  }

  async #sweepAll(): Promise<void> {
    // Any node may need room: the maintainer may not be asked for any.
    const isIdle = this.#missingBytes === 0 && !this.#context.ownership.isMaintainer();
    if (isIdle) return this.#dropOutdated();
    for (;;) {
      let removable = this.#takeRemovable();
      if (removable.length === 0) return this.#endDisplacement();
      try {
        while (removable.length > 0) {
          const chunk = takeChunk(removable, ({ id }) => this.#rules.bytesOf(id));
          await this.#remove(chunk);
          removable = removable.slice(chunk.length);
        }
      } catch (thrown) {
        for (const item of removable) this.#endedItems[item.kind].push(item);
        throw thrown;
      }
      if (!this.#sweeper.isStarted) return;
    }
  }

  #endDisplacement(): void {
    this.#missingBytes = 0;
    if (this.#displacedCount === 0) return;
    this.#context.log.warning(`the oldest failed ${this.#spec.noun} were removed, as others needed `
      + 'their room', { count: this.#displacedCount });
    this.#displacedCount = 0;
  }

  /** Drops items that the maintainer, another node, has removed, and items changed since. */
  async #dropOutdated(): Promise<void> {
    const find = findCommitted(this.#context.store);
    const isOutdated = (item: EndedItem): boolean => !this.#isStillEnded(item, find);
    let droppedCount = 0;
    for (const items of Object.values(this.#endedItems)) {
      for (let item = items.peek(); item !== undefined && isOutdated(item); item = items.peek()) {
        items.pop();
        droppedCount += 1;
        if (droppedCount % DROPPED_PER_TURN === 0) await nextTurn();
        if (!this.#sweeper.isStarted) return;
      }
    }
  }

  async #remove(chunk: readonly EndedItem[]): Promise<void> {
    await this.#context.store.transact((transaction) => {
      const find = findStaged(transaction);
      const endedItems = chunk.filter((item) => this.#isStillEnded(item, find));
      removeItems(this.#spec, transaction, endedItems.map(({ id }) => id), 'agedOut');
    });
  }

  #isStillEnded({ id, endedAtMs }: EndedItem, find: FindRecord): boolean {
    const bytes = find(this.#spec.collection.name, id);
    return bytes !== undefined && this.#rules.readEnd(bytes, find)?.atMs === endedAtMs;
  }

  /** Takes items that are too old, and then those that end an excess. */
  #takeRemovable(): EndedItem[] {
    const { retentionMs, limits, bytesOf } = this.#rules;
    const nowMs = this.#context.clock.now();
    const excess = this.#computeExcess();
    const removable: EndedItem[] = [];
    const take = (item: EndedItem): void => {
      this.#endedItems[item.kind].pop();
      removable.push(item);
      if (limits.of === 'finished' && item.kind === 'failed') return;
      excess.count -= 1;
      excess.bytes -= bytesOf(item.id);
    };
    // The front of a queue has the item that ended first.
    const takeWhile = (kind: ItemEnd['kind'], isDue: (item: EndedItem) => boolean): void => {
      const items = this.#endedItems[kind];
      for (let first = items.peek(); first !== undefined; first = items.peek()) {
        if (removable.length === CHUNK_ITEMS_MAX || !isDue(first)) return;
        take(first);
      }
    };
    const isOld = ({ kind, endedAtMs }: EndedItem): boolean =>
      endedAtMs < nowMs - retentionMs[kind];
    takeWhile('finished', isOld);
    takeWhile('failed', isOld);
    takeWhile('failed', (item) => this.#displaces(item));
    while (removable.length < CHUNK_ITEMS_MAX && (excess.count > 0 || excess.bytes > 0)) {
      const oldest = this.#peekExcess();
      if (oldest === undefined) break;
      take(oldest);
    }
    return removable;
  }

  /** Counts what the removal of the item frees, if its room is needed. */
  #displaces(item: EndedItem): boolean {
    if (this.#missingBytes <= 0) return false;
    if (!this.#isStillEnded(item, findCommitted(this.#context.store))) return true;
    this.#missingBytes -= this.#rules.bytesOf(item.id);
    this.#displacedCount += 1;
    return true;
  }

  /** The item that goes next while there are too many. */
  #peekExcess(): EndedItem | undefined {
    const oldestFinished = this.#endedItems.finished.peek();
    if (this.#rules.limits.of === 'finished') return oldestFinished;
    const oldestFailed = this.#endedItems.failed.peek();
    if (oldestFinished === undefined || oldestFailed === undefined) {
      return oldestFinished ?? oldestFailed;
    }
    return isEarlier(oldestFailed, oldestFinished) ? oldestFailed : oldestFinished;
  }
}

// Many items end in the same millisecond: in the order of ids their records are found faster.
function isEarlier(left: EndedItem, right: EndedItem): boolean {
  const { endedAtMs } = left;
  return endedAtMs < right.endedAtMs
    || (endedAtMs === right.endedAtMs && left.id < right.id);
}

/**
 * Puts the pending tasks of a queue into other lanes, when the order of its webhook has changed. To
 * find the lane of a task its payload is parsed, so this is done in turns of the event loop, and
 * the queue must start nothing meanwhile: see `isUnderWay`. Tasks that are added meanwhile have the
 * lane of the new order already.
 */
import type { Steps } from '../../base/turns.ts';
import type { Scheduler } from './scheduler.ts';
import type { LaneName } from './task.ts';
import type { RelayContext } from '../relay-context.ts';

export class LaneUpdates {
  readonly #context: RelayContext;
  readonly #scheduler: Scheduler;
  readonly #findLane: (taskId: string) => LaneName | null;
  readonly #onEnd: (queueKey: string) => void;
  readonly #orderByQueue = new Map<string, string>();
  /** The update under way of each queue, an object that only tells it from an earlier update. */
  readonly #updates = new Map<string, object>();

  /** `findLane` reads the present order. After `onEnd` the queue may start tasks again. */
  constructor(
    context: RelayContext, scheduler: Scheduler, findLane: (taskId: string) => LaneName | null,
    onEnd: (queueKey: string) => void,
  ) {
    this.#context = context;
    this.#scheduler = scheduler;
    this.#findLane = findLane;
    this.#onEnd = onEnd;
  }

  /** Must be called for each webhook and its changes. `order`: null without lanes. */
  follow(queueKey: string, order: string | null): void {
    if ((this.#orderByQueue.get(queueKey) ?? null) === order) return;
    if (order === null) this.#orderByQueue.delete(queueKey);
    else this.#orderByQueue.set(queueKey, order);
    const ids = this.#scheduler.listTaskIds(queueKey, Infinity);
    if (ids.length > 0) this.#begin(queueKey, ids);
  }

  isUnderWay(queueKey: string): boolean {
    return this.#updates.size > 0 && this.#updates.has(queueKey);
  }

  close(): void {
    this.#updates.clear();
  }

  #begin(queueKey: string, ids: readonly string[]): void {
    const update = {};
    const isWanted = (): boolean => this.#updates.get(queueKey) === update;
    this.#updates.set(queueKey, update);
    this.#context.turns.runLater(this.#updateAll(ids), isWanted).then(() => {
      if (!isWanted()) return;
      this.#updates.delete(queueKey);
      this.#onEnd(queueKey);
    }, (thrown: unknown) => this.#context.log.error(
      'a queue stands still: the order of its tasks could not be found',
      { hook: queueKey, error: thrown }));
  }

  *#updateAll(ids: readonly string[]): Steps<void> {
    for (const id of ids) {
      this.#scheduler.setLane(id, this.#findLane(id));
      yield;
    }
  }
}

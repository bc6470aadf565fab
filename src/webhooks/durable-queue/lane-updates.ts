/**
 * Puts the pending tasks of a queue into other lanes, when the order of its webhook has changed. To
 * find the lane of a task its payload is parsed, so this is done in turns of the event loop, and
 * the queue must start nothing meanwhile: see `isUnderWay`. Tasks that are added meanwhile have the
 * lane of the new order already.
 */
import type { Logger } from '../../base/log.ts';
import type { Steps, Turns } from '../../base/turns.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { LaneName } from '../scheduler/task.ts';

type LaneUpdatesDeps = {
  readonly scheduler: Pick<Scheduler, 'listTaskIds' | 'setLane'>;
  readonly turns: Turns;
  readonly log: Logger;
  /** Finds the lane of a task by its webhook's present order; null: none. */
  readonly findLane: (taskId: string) => LaneName | null;
  /** Called when the queue of that key may start tasks again. */
  readonly onEnd: (queueKey: string) => void;
};

export class LaneUpdates {
  readonly #deps: LaneUpdatesDeps;
  /** The orders of each queue with lanes, as text: the lanes follow from them. */
  readonly #orderByQueue = new Map<string, string>();
  /** The update of each queue that is under way; the value tells it from an earlier one. */
  readonly #updates = new Map<string, object>();

  constructor(deps: LaneUpdatesDeps) {
    this.#deps = deps;
  }

  /** Must be told of each webhook, and of its changes. `order` is null for one without lanes. */
  follow(queueKey: string, order: string | null): void {
    if ((this.#orderByQueue.get(queueKey) ?? null) === order) return;
    if (order === null) this.#orderByQueue.delete(queueKey);
    else this.#orderByQueue.set(queueKey, order);
    const ids = this.#deps.scheduler.listTaskIds(queueKey, Infinity);
    if (ids.length > 0) this.#begin(queueKey, ids);
  }

  isUnderWay(queueKey: string): boolean {
    return this.#updates.size > 0 && this.#updates.has(queueKey);
  }

  /** Ends all updates. */
  close(): void {
    this.#updates.clear();
  }

  #begin(queueKey: string, ids: readonly string[]): void {
    const update = {};
    const isWanted = (): boolean => this.#updates.get(queueKey) === update;
    this.#updates.set(queueKey, update);
    this.#deps.turns.runLater(this.#updateAll(ids), isWanted).then(() => {
      if (!isWanted()) return;
      this.#updates.delete(queueKey);
      this.#deps.onEnd(queueKey);
    }, (thrown: unknown) => this.#deps.log.error(
      'a queue stands still: the order of its tasks could not be found',
      { hook: queueKey, error: thrown }));
  }

  *#updateAll(ids: readonly string[]): Steps<void> {
    const { scheduler, findLane } = this.#deps;
    for (const id of ids) {
      scheduler.setLane(id, findLane(id));
      yield;
    }
  }
}

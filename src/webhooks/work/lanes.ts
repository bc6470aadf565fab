/**
 * The lanes of queues. The tasks of a lane start one at a time, in the order of their places, and
 * the next one only when the first is gone: while that waits for a retry it holds back its lane,
 * and no other. A lane exists for as long as it has a task, or an attempt under way. This file does
 * no I/O and reads no clock.
 *
 * A lane offers at most its first task, which then stands among the ready tasks of the queue. A
 * task that is offered may cease to be the first, and be offered again, so that it stands there
 * twice: `confirmOffer` is asked before it starts, and leaves out what has ceased.
 */
import { PriorityQueue } from '../../base/structures/priority-queue.ts';
import type { OrderKey } from '../members/filters/order.ts';
import { isBefore, type Lane, type LaneName, type Task } from './task.ts';

/** A lane of a key whose first task holds back `waiting` others, more than the threshold. */
export type LongLane = {
  readonly queueKey: string; readonly key: OrderKey; readonly waiting: number;
};

const LONG_LANE_THRESHOLD = 100;

export class Lanes {
  readonly #longLanes = new Set<Lane>();

  enter(task: Task, { name, key }: LaneName): void {
    const { queue } = task;
    queue.lanes ??= new Map();
    let lane = queue.lanes.get(name);
    if (lane === undefined) {
      lane = {
        name, key, queue, tasks: new PriorityQueue(isBefore), size: 0, begunCount: 0,
        underWayCount: 0, offeredTask: null,
      };
      queue.lanes.set(name, lane);
    }
    task.lane = lane;
    lane.size += 1;
    if (task.hasBegun) this.begin(task);
  }

  /** Must be called when a task is first due: from now on it holds back the tasks behind it. */
  begin(task: Task): void {
    const { lane } = task;
    if (lane === null) return;
    lane.tasks.push(task);
    lane.begunCount += 1;
    this.#updateLongLanes(lane);
    this.offerFirst(lane);
  }

  leave(task: Task): void {
    const { lane } = task;
    if (lane === null) return;
    task.lane = null;
    if (lane.offeredTask === task) lane.offeredTask = null;
    lane.size -= 1;
    if (task.hasBegun) lane.begunCount -= 1;
    this.#updateLongLanes(lane);
    this.offerFirst(lane);
    dropIfIdle(lane);
  }

  beginAttempt(lane: Lane): void {
    lane.underWayCount += 1;
    lane.offeredTask = null;
  }

  endAttempt(lane: Lane): void {
    lane.underWayCount -= 1;
    this.offerFirst(lane);
    dropIfIdle(lane);
  }

  offerFirst(lane: Lane): void {
    const first = findFirst(lane);
    if (first?.state !== 'ready' || lane.underWayCount > 0 || lane.offeredTask === first) return;
    lane.offeredTask = first;
    lane.queue.ready.push(first);
  }

  /**
   * Returns whether an offered task is ready and its lane lets it start. If not, the offer is void:
   * the lane offers the task anew when it is the first.
   */
  confirmOffer(task: Task): boolean {
    const { lane, state } = task;
    if (lane === null) return state === 'ready';
    if (state === 'ready' && lane.underWayCount === 0 && findFirst(lane) === task) return true;
    if (lane.offeredTask === task) lane.offeredTask = null;
    return false;
  }

  listLongLanes(max: number): readonly LongLane[] {
    const longLanes: LongLane[] = [];
    for (const { queue, key, begunCount } of this.#longLanes) {
      if (key !== null) longLanes.push({ queueKey: queue.key, key, waiting: begunCount - 1 });
    }
    return longLanes.sort((left, right) => right.waiting - left.waiting).slice(0, max);
  }

  #updateLongLanes(lane: Lane): void {
    if (lane.key === null) return;
    if (lane.begunCount - 1 > LONG_LANE_THRESHOLD) this.#longLanes.add(lane);
    else this.#longLanes.delete(lane);
  }
}

function findFirst(lane: Lane): Task | undefined {
  lane.tasks.popWhile((task) => task.state === 'gone' || task.lane !== lane);
  return lane.tasks.peek();
}

function dropIfIdle({ name, queue, size, underWayCount }: Lane): void {
  if (size === 0 && underWayCount === 0) queue.lanes?.delete(name);
}

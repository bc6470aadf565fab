/**
 * Says which of the ready tasks of a queue is next: the first by place. It may not start while a
 * hold keeps it back, or the pace of the queue (pace.ts), or a task before it that is not gone, in
 * a queue that keeps strict order. Lanes (lanes.ts) say which tasks may be ready at all.
 */
import { PriorityQueue } from '../../base/structures/priority-queue.ts';
import { Lanes } from './lanes.ts';
import type { Paces } from './pace.ts';
import { isBefore, type LaneName, type Task, type TaskQueue } from './task.ts';

export class QueueOrder {
  readonly lanes = new Lanes();
  readonly #paces: Paces;
  /** By key of a queue, the place from which on tasks must not start. */
  readonly #holdPlaces = new Map<string, string>();

  constructor(paces: Paces) {
    this.#paces = paces;
  }

  /** A queue with a limit of 1 keeps strict order. `tasks` are all of the queue. */
  setRunningMax(queue: TaskQueue, runningMax: number, tasks: Iterable<Task>): void {
    queue.runningMax = runningMax;
    queue.strictOrder = null;
    if (runningMax !== 1) return;
    queue.strictOrder = new PriorityQueue(isBefore);
    for (const task of tasks) if (task.hasBegun) queue.strictOrder.push(task);
  }

  /** null: nothing is held any more. */
  hold(key: string, place: string | null): void {
    if (place === null) this.#holdPlaces.delete(key);
    else this.#holdPlaces.set(key, place);
  }

  findHoldPlace(key: string): string | undefined {
    return this.#holdPlaces.get(key);
  }

  /** From now on the task holds back those behind it. */
  begin(task: Task): void {
    task.hasBegun = true;
    task.queue.strictOrder?.push(task);
    this.lanes.begin(task);
  }

  /** Must be called once the task is due. */
  makeReady(task: Task): void {
    task.state = 'ready';
    if (!task.hasBegun) this.begin(task);
    if (task.lane === null) task.queue.ready.push(task);
    else this.lanes.offerFirst(task.lane);
  }

  setLane(task: Task, name: LaneName | null): void {
    this.lanes.leave(task);
    if (name !== null) this.lanes.enter(task, name);
    if (task.state === 'ready' && task.lane === null) task.queue.ready.push(task);
  }

  /**
   * Finds the next task, and makes it the first of the ready tasks: those before it, whose offers
   * are void, are dropped. To show the status, too, drops them and puts aside tasks that must wait
   * for the pace.
   */
  findNext(queue: TaskQueue): Task | undefined {
    const first = this.#findReadyTask(queue);
    if (first === undefined) return undefined;
    const holdPlace = this.#holdPlaces.get(queue.key);
    if (holdPlace !== undefined && first.place >= holdPlace) return undefined;
    const { strictOrder } = queue;
    if (strictOrder === null) return first;
    // In strict order a task starts only if it is the first of all, also of the waiting tasks.
    strictOrder.popWhile(({ state }) => state === 'gone');
    return strictOrder.peek() === first ? first : undefined;
  }

  /** The task that `findNext` has found begins an attempt. */
  beginAttempt(task: Task): void {
    task.queue.ready.pop();
    task.state = 'unsettled';
    if (task.lane !== null) this.lanes.beginAttempt(task.lane);
  }

  /**
   * Finds the first ready task that need not wait for the pace. Tasks that must are put aside until
   * the pace allows a start: those behind them may need a start that it does not count.
   */
  #findReadyTask(
    { ready, waitingForPace, underWayCount, runningMax }: TaskQueue,
  ): Task | undefined {
    while (waitingForPace.length + underWayCount < runningMax) {
      ready.popWhile((task) => !this.lanes.confirmOffer(task));
      const first = ready.peek();
      if (first === undefined || !this.#paces.mustWait(first)) return first;
      ready.pop();
      waitingForPace.push(first);
    }
    return undefined;
  }
}

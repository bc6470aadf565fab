/**
 * Says which task is attempted next, and when. A task starts when no row of this table holds:
 *
 * | a task waits because                     | set by                          | until            |
 * |------------------------------------------|---------------------------------|------------------|
 * | it is not due: its `nextAttemptAt`       | delivery.ts, retry-time.ts      | due-times.ts     |
 * | its attempt was postponed, or broke off  | queue-worker.ts                 | due-times.ts     |
 * | the result of its attempt is not written | `startNext`                     | `settle`         |
 * | its target takes no connection, so that  | permits.ts, `release`           | an attempt gets  |
 * |   it has one permit alone                |                                 |   a connection   |
 * | its target is paused: after the 32nd     | permits.ts, `release`           | 250 ms are over  |
 * |   attempt in a row without a response,   |                                 |                  |
 * |   and after each one that follows        |                                 |                  |
 * | a limit is reached: of its queue, its    | settings, the webhook           | an attempt ends  |
 * |   target, all attempts or shared permits |                                 |   or is parked   |
 * | its queue keeps strict order, or its     | `maxInFlight` 1, `order`        | those before it  |
 * |   lane does                              |                                 |   are gone       |
 * | its pace: the `rate` of the webhook      | delivery-paces.ts, pace.ts      | its timer        |
 * | a hold: a backfill runs that is older    | delivery-attempter.ts, `hold`   | the job's end    |
 * | `mayStart` is false: its webhook is off, | the attempter; queue-worker.ts  | `update`, or     |
 * |   being retired or gone, its lanes are   |                                 |   `startOnce`    |
 * |   being updated, or it has no lease      |                                 |   for a probe    |
 * | the worker starts nothing, as the store  | queue-worker.ts                 | a second is over |
 * |   takes no writes,                       |                                 |                  |
 * |   or `ACTIVE_MAX` is reached,            | queue-worker.ts                 | an attempt ends  |
 * |   or `Attempter.mayBegin` is false,      | the attempter                   | `requestRun`     |
 * |   or `Ownership.mayBegin` is false       | ownership.ts                    | its `onChange`   |
 *
 * Tasks that wait are not postponed together when their target refuses: each makes an attempt of
 * its own, is refused, and uses up its own schedule.
 *
 * An attempt goes through three calls: `startNext` starts it, `release` ends it and makes room for
 * others, and `settle` gives the task its next due time once the result is written. Until then the
 * task is unsettled and is not started again. The scheduler never reads the record behind a task,
 * so it serves any stored task. It does no I/O, and the clock is a parameter.
 */
import type { Clock, Timer } from '../../base/clock.ts';
import { PriorityQueue } from '../../base/structures/priority-queue.ts';
import { DueTimes } from './due-times.ts';
import type { LongLane } from './lanes.ts';
import { Paces, type StartLimit } from './pace.ts';
import { Permits, mayStartAnother, type PermitLimits } from './permits.ts';
import { QueueOrder } from './queue-order.ts';
import {
  isBefore, type LaneName, type QueueSettings, type Responsiveness, type RunningTask, type Task,
  type TaskOrder, type TaskQueue, type TaskTarget,
} from './task.ts';

type RunLimits = PermitLimits & { readonly runningPerQueueMax: number };

type BlockedQueue = {
  readonly queueKey: string;
  readonly target: string;
  readonly sinceMs: number;
  /** Keys of the other queues that have attempts at the target, up to `BEHIND_MAX`. */
  readonly behind: readonly string[];
};

/** An attempt that holds its permit for so long is slow. */
const SLOW_MS = 1000;
/** Above this number, idle queues are forgotten, and whether they were prompt. */
const QUEUES_MAX = 10_000;
/** A shorter wait for a permit is not shown. */
const SHOWN_WAIT_MS_MIN = 5000;
const BEHIND_MAX = 5;

export class Scheduler {
  readonly #clock: Clock;
  /** Tasks by identifier, in the order they were added, which is about that of their creation. */
  readonly #tasks = new Map<string, Task>();
  readonly #queues = new Map<string, TaskQueue>();
  readonly #runningPerQueueMax: number;
  readonly #permits: Permits;
  readonly #order: QueueOrder;
  readonly #dueTimes: DueTimes<Task>;
  /** Ids of unsettled tasks, which may have been removed, or removed and added again. */
  readonly #unsettledIds = new Set<string>();
  readonly #pauseTimers = new Set<Timer>();
  readonly #paces: Paces;
  #isClosed = false;

  /** `isPaced` returns whether the pace counts the next start of a task. */
  constructor(clock: Clock, limits: RunLimits, isPaced: (task: Task) => boolean = () => true) {
    this.#clock = clock;
    this.#runningPerQueueMax = limits.runningPerQueueMax;
    this.#permits = new Permits(limits);
    this.#paces = new Paces(clock, isPaced, (key) => this.#endPaceWait(key));
    this.#order = new QueueOrder(this.#paces);
    this.#dueTimes = new DueTimes(clock, (task) => this.#makeReady(task));
  }

  /** Makes tasks due. `onRunnable` is called whenever `startNext` may find another task. */
  start(onRunnable: () => void): void {
    this.#permits.onRunnable = onRunnable;
    this.#dueTimes.start();
    onRunnable();
  }

  /** Must be called when an attempt may begin again: see `Attempter.mayBegin`. */
  requestRun(): void {
    this.#permits.onRunnable();
  }

  /** Attempts under way may still be released and settled, which starts no timer. */
  close(): void {
    this.#isClosed = true;
    this.#permits.onRunnable = () => {};
    this.#dueTimes.close();
    for (const timer of this.#pauseTimers) timer.cancel();
    this.#pauseTimers.clear();
    this.#paces.close();
  }

  get size(): number {
    return this.#tasks.size;
  }

  get runningCount(): number {
    return this.#permits.runningCount;
  }

  /** The place of the first queued task, which may be a time to come; null without tasks. */
  get oldestPlace(): string | null {
    let oldestPlace: string | null = null;
    for (const { id, place } of this.#tasks.values()) {
      if (oldestPlace === null || place < oldestPlace) oldestPlace = place;
      // This task was queued when it was created. The tasks behind it in the map were created, and
      // so queued, later.
      if (place === id) break;
    }
    return oldestPlace;
  }

  countRunningByTarget(): readonly { readonly target: string; readonly runningCount: number }[] {
    return [...this.#permits.listTargets()].filter(({ permitCount }) => permitCount > 0)
      .map(({ key, permitCount }) => ({ target: key, runningCount: permitCount }));
  }

  find(id: string): Task | undefined {
    return this.#tasks.get(id);
  }

  listTaskIds(key: string, max: number): readonly string[] {
    const queue = this.#queues.get(key);
    const ids: string[] = [];
    if (queue === undefined) return ids;
    for (const task of this.#scanTasksOf(queue)) {
      if (ids.length === max) break;
      ids.push(task.id);
    }
    return ids;
  }

  countTasks(key: string): number {
    return this.#queues.get(key)?.size ?? 0;
  }

  listQueueKeys(): readonly string[] {
    return [...this.#queues.values()].filter((queue) => !isIdle(queue)).map(({ key }) => key);
  }

  listKeysThatMayNotStart(): ReadonlySet<string> {
    const queues = [...this.#queues.values()].filter(({ size, mayStart }) => size > 0 && !mayStart);
    return new Set(queues.map(({ key }) => key));
  }

  /**
   * Adds a task that the scheduler does not have. `settings` hold for its queue only if that is new
   * or without tasks (see `update`). If a removed task of the same identifier is not settled yet,
   * the new task counts as unsettled too, as two attempts of it must not overlap: `settle` of the
   * removed task gives it its due time.
   */
  add(
    id: string, settings: QueueSettings, dueAtMs: number,
    { place = id, isDelayed = false, lane = null }: TaskOrder = {},
  ): void {
    const queue = this.#getOrCreateQueue(settings);
    const task: Task = {
      id, queue, place, lane: null, hasBegun: false, dueAtMs: 0, state: 'waiting',
    };
    queue.size += 1;
    if (lane !== null) this.#order.lanes.enter(task, lane);
    if (!isDelayed) this.#order.begin(task);
    this.#tasks.set(id, task);
    if (this.#unsettledIds.has(id)) task.state = 'unsettled';
    else this.#setDueTime(task, dueAtMs);
  }

  /** Changes when a task is due. For an unsettled task `settle` does that. */
  reschedule(task: Task, dueAtMs: number): void {
    if (task.state !== 'unsettled') this.#setDueTime(task, dueAtMs);
  }

  remove(id: string): void {
    const task = this.#tasks.get(id);
    if (task === undefined) return;
    if (task.state === 'waiting') this.#dueTimes.countStaleWait();
    this.#tasks.delete(id);
    const { queue } = task;
    task.state = 'gone';
    queue.size -= 1;
    this.#order.lanes.leave(task);
    this.#permits.wake(queue);
    this.#dropIfIdle(queue);
  }

  update(settings: QueueSettings): void {
    const queue = this.#queues.get(settings.key);
    if (queue !== undefined) this.#updateQueue(queue, settings);
  }

  /** Starts the first task, due or not, of a queue that may start nothing and attempts nothing. */
  startOnce(key: string): void {
    const queue = this.#queues.get(key);
    if (queue === undefined || queue.mayStart || queue.underWayCount > 0) return;
    let first: Task | null = null;
    for (const task of this.#scanTasksOf(queue)) {
      if (task.hasBegun && (first === null || isBefore(task, first))) first = task;
    }
    if (first === null || first.state === 'unsettled') return;
    if (first.state === 'waiting') this.#makeReady(first);
    queue.startsOnce = true;
    this.#permits.wake(queue);
  }

  /** Moves a task to another lane of its queue; null: to no lane. Ignores unknown ids. */
  setLane(id: string, name: LaneName | null): void {
    const task = this.#tasks.get(id);
    if (task === undefined || task.lane?.name === name?.name) return;
    this.#order.setLane(task, name);
    this.#permits.wake(task.queue);
  }

  listLongLanes(max: number): readonly LongLane[] {
    return this.#order.lanes.listLongLanes(max);
  }

  /** Lists, in no order, the queues that have waited long for a permit of their target. */
  listBlockedQueues(): readonly BlockedQueue[] {
    return this.listQueueKeys().flatMap((key) => this.findBlockedQueue(key) ?? []);
  }

  /**
   * Finds a queue as `listBlockedQueues` lists it; null: it has no such wait, or waits behind no
   * other queue. Looks for the next task as a start does: from the order of the queue it drops
   * tasks that are gone, and puts those aside that wait for the pace.
   */
  findBlockedQueue(key: string): BlockedQueue | null {
    const queue = this.#queues.get(key);
    if (queue === undefined || queue.targetWaitSinceMs === null) return null;
    const { target, targetWaitSinceMs: sinceMs } = queue;
    if (this.#clock.now() - sinceMs < SHOWN_WAIT_MS_MIN) return null;
    if (this.#findNextTask(queue) === undefined) return null;
    const behind: string[] = [];
    for (const other of target.queues) {
      if (other !== queue && other.underWayCount > 0) behind.push(other.key);
      if (behind.length === BEHIND_MAX) break;
    }
    return behind.length === 0 ? null : { queueKey: key, target: target.key, sinceMs, behind };
  }

  /** Holds tasks at `place` and behind it; null: none. The queue need not exist. */
  hold(key: string, place: string | null): void {
    this.#order.hold(key, place);
    this.#endPaceWait(key);
  }

  /**
   * Lets paced tasks of a queue start no faster than `startLimit`, and none within `firstWaitMs`;
   * null: without a limit. The queue need not exist.
   */
  setPace(key: string, startLimit: StartLimit | null, firstWaitMs = 0): void {
    this.#paces.set(key, startLimit, firstWaitMs);
  }

  /** When the pace lets a task start at the earliest; null: the task does not wait for it. */
  findPaceTime(id: string): number | null {
    const task = this.#tasks.get(id);
    if (task === undefined || task.state === 'unsettled') return null;
    const waitMs = this.#paces.findWaitMs(task);
    const startMs = this.#clock.now() + (waitMs ?? 0);
    return waitMs === null || task.dueAtMs > startMs ? null : startMs;
  }

  /** Whether the queue has tasks, and all of them are held. */
  isAllHeld(key: string): boolean {
    const place = this.#order.findHoldPlace(key);
    const queue = this.#queues.get(key);
    if (place === undefined || queue === undefined || queue.size === 0) return false;
    for (const task of this.#scanTasksOf(queue)) if (task.place < place) return false;
    return true;
  }

  /** Starts the next task, if any; `release` it after the attempt, and `settle` it once written. */
  startNext(): RunningTask | null {
    for (;;) {
      const queue = this.#permits.takeQueue();
      if (queue === undefined) return null;
      const task = this.#findNextTask(queue);
      const monotonicMs = this.#clock.monotonicMs();
      const runningTask = this.#permits.start(queue, task, this.#clock.now(), monotonicMs);
      if (runningTask === null) continue;
      this.#order.beginAttempt(runningTask.task);
      this.#unsettledIds.add(runningTask.task.id);
      this.#paces.countStart(runningTask.task);
      return runningTask;
    }
  }

  release(runningTask: RunningTask, responsiveness: Responsiveness | null): void {
    const { state, permitSinceMs, lane, target, task: { queue } } = runningTask;
    const isSlow = state === 'running' && this.#clock.monotonicMs() - permitSinceMs >= SLOW_MS;
    const pauseMs = this.#permits.release(runningTask, responsiveness, isSlow);
    if (lane !== null) this.#order.lanes.endAttempt(lane);
    this.#dropIfIdle(queue);
    if (pauseMs > 0 && !this.#isClosed) this.#pauseTarget(target, pauseMs);
  }

  /** Parks an attempt, or lets a parked one go on: see permits.ts. */
  setParked(runningTask: RunningTask, isParked: boolean): void {
    if (runningTask.state === 'parked') runningTask.permitSinceMs = this.#clock.monotonicMs();
    this.#permits.setParked(runningTask, isParked);
  }

  /** Must be called once the result is written. The task is due at `dueAtMs`; null: removed. */
  settle(id: string, dueAtMs: number | null): void {
    this.#unsettledIds.delete(id);
    const task = this.#tasks.get(id);
    if (task?.state !== 'unsettled') return;
    if (dueAtMs === null) this.remove(id);
    else this.#setDueTime(task, dueAtMs);
  }

  /** `settings` hold only for a queue that is new or without tasks. */
  #getOrCreateQueue(settings: QueueSettings): TaskQueue {
    const { key, mayStart, runningMax = this.#runningPerQueueMax } = settings;
    const existing = this.#queues.get(key);
    if (existing !== undefined) {
      if (isIdle(existing)) this.#updateQueue(existing, settings);
      return existing;
    }
    const queue: TaskQueue = {
      key, ready: new PriorityQueue(isBefore), waitingForPace: [], strictOrder: null, lanes: null,
      target: this.#permits.getOrCreateTarget(settings.target), responsiveness: 'unknown',
      lastStartNumber: 0, targetWaitSinceMs: null, mayStart, startsOnce: false, runningMax,
      underWayCount: 0, parkedCount: 0, size: 0,
    };
    this.#order.setRunningMax(queue, runningMax, []);
    this.#permits.enter(queue);
    this.#queues.set(key, queue);
    return queue;
  }

  #updateQueue(
    queue: TaskQueue, { target, mayStart, runningMax = this.#runningPerQueueMax }: QueueSettings,
  ): void {
    if (queue.target.key !== target) this.#permits.move(queue, target);
    if (queue.runningMax !== runningMax) {
      this.#order.setRunningMax(queue, runningMax, this.#scanTasksOf(queue));
    }
    queue.mayStart = mayStart;
    queue.startsOnce = false;
    this.#permits.wake(queue);
  }

  #dropIfIdle(queue: TaskQueue): void {
    if (!isIdle(queue) || this.#queues.get(queue.key) !== queue) return;
    queue.ready.clear();
    queue.strictOrder?.clear();
    const isKept = queue.mayStart && this.#queues.size <= QUEUES_MAX;
    if (isKept) return;
    this.#queues.delete(queue.key);
    this.#permits.leave(queue);
  }

  /**
   * Must be called when the pace or the hold of a queue, which need not exist, may let a task
   * start. The tasks that were put aside for the pace are tried again.
   */
  #endPaceWait(key: string): void {
    const queue = this.#queues.get(key);
    if (queue === undefined) return;
    for (const task of queue.waitingForPace.splice(0)) queue.ready.push(task);
    this.#permits.wake(queue);
  }

  /** The task that the queue may start now, whatever permits there are. */
  #findNextTask(queue: TaskQueue): Task | undefined {
    return mayStartAnother(queue) ? this.#order.findNext(queue) : undefined;
  }

  *#scanTasksOf(queue: TaskQueue): Generator<Task> {
    for (const task of this.#tasks.values()) if (task.queue === queue) yield task;
  }

  #setDueTime(task: Task, dueAtMs: number): void {
    if (dueAtMs > this.#clock.now()) this.#dueTimes.wait(task, dueAtMs);
    else if (task.state !== 'ready') this.#makeReady(task);
  }

  #makeReady(task: Task): void {
    const isEarly = task.state === 'waiting' && task.dueAtMs > this.#clock.now();
    if (isEarly) this.#dueTimes.countStaleWait();
    this.#order.makeReady(task);
    this.#permits.wake(task.queue);
  }

  // The target is paused already: this timer ends the pause.
  #pauseTarget(target: TaskTarget, pauseMs: number): void {
    const timer = this.#clock.startTimer(pauseMs, () => {
      this.#pauseTimers.delete(timer);
      this.#permits.resumeTarget(target);
    });
    this.#pauseTimers.add(timer);
  }
}

function isIdle({ size, underWayCount }: TaskQueue): boolean {
  return size === 0 && underWayCount === 0;
}

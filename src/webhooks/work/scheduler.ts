/**
 * Says which task is attempted next, and when. A task starts when none of these keeps it:
 *
 * | a task waits because                     | set by                          | until            |
 * |------------------------------------------|---------------------------------|------------------|
 * | it is not due: its `nextAttemptAt`       | delivery.ts, retry-time.ts      | due-times.ts     |
 * | its attempt was postponed, or broke off  | queue-worker.ts                 | due-times.ts     |
 * | the result of its attempt is not written | `startNext`                     | `settle`         |
 * | its target takes no connection, and has  | task-queues.ts, `release`       | an attempt that  |
 * |   one permit then                        |                                 |   gets one       |
 * | its target is paused: after the 32nd     | task-queues.ts, `release`       | 250 ms are over  |
 * |   attempt in a row without a response,   |                                 |                  |
 * |   and after each one that follows        |                                 |                  |
 * | the limits of its queue, its target, all | settings, the webhook           | an attempt ends  |
 * |   attempts, or the shared permits        |                                 |   or is parked   |
 * | its queue keeps strict order, or its     | `maxInFlight` 1, `order`        | those before it  |
 * |   lane does                              |                                 |   are gone       |
 * | its pace: the `rate` of the webhook      | delivery-paces.ts, `setPace`    | its timer        |
 * | a hold: a backfill runs that is older    | delivery-attempter.ts, `hold`   | the job's end    |
 * | `mayStart` is false: its webhook is off, | the attempter; queue-worker.ts  | `update`, or     |
 * |   being retired or gone, its lanes are   |                                 |   `startOnce`    |
 * |   being updated, or it has no lease      |                                 |   for a probe    |
 * | the worker starts nothing: the store     | queue-worker.ts                 | a second is over |
 * |   takes no writes, `ACTIVE_MAX` is met,  |                                 | attempts end     |
 * |   or `mayBegin` of attempter or lease    |                                 | `wake`           |
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
import { DueTimes } from './due-times.ts';
import type { LongLane } from './lanes.ts';
import { Pace, type StartLimit } from './pace.ts';
import {
  TaskQueues, type BlockedQueue, type QueueSettings, type RunLimits, type TaskOrder,
} from './task-queues.ts';
import {
  isBefore, type LaneName, type Responsiveness, type RunningTask, type Task, type TaskQueue,
  type TaskTarget,
} from './task.ts';

/** The pace of a queue, and the timer until its next start; null: a task may start. */
type PacedQueue = { readonly pace: Pace; timer: Timer | null };

/** An attempt that holds its permit for longer is slow. */
const SLOW_MS = 1000;

export class Scheduler {
  readonly #clock: Clock;
  readonly #isPaced: (task: Task) => boolean;
  /** Tasks by identifier, in the order they were added, which is about that of their creation. */
  readonly #tasks = new Map<string, Task>();
  readonly #queues: TaskQueues;
  readonly #dueTimes: DueTimes<Task>;
  /** Ids of unsettled tasks, which may have been removed, or removed and added again. */
  readonly #unsettledIds = new Set<string>();
  readonly #pauseTimers = new Set<Timer>();
  readonly #pacedQueues = new Map<string, PacedQueue>();
  #onRunnable: () => void = () => {};
  #isClosed = false;

  /** `isPaced` returns whether the pace counts the next start of a task. */
  constructor(clock: Clock, limits: RunLimits, isPaced: (task: Task) => boolean = () => true) {
    this.#clock = clock;
    this.#isPaced = isPaced;
    this.#queues = new TaskQueues(limits, (task) => this.#mustWaitForPace(task));
    this.#dueTimes = new DueTimes(clock, (task) => this.#makeReady(task));
  }

  /** Makes tasks due. `onRunnable` is called whenever `startNext` may find another task. */
  start(onRunnable: () => void): void {
    this.#onRunnable = onRunnable;
    this.#dueTimes.start();
    onRunnable();
  }

  /** Must be called when an attempt may begin again: see `Attempter.mayBegin`. */
  wake(): void {
    this.#onRunnable();
  }

  /** Attempts under way may still be released and settled, which starts no timer. */
  close(): void {
    this.#isClosed = true;
    this.#onRunnable = () => {};
    this.#dueTimes.close();
    for (const timer of this.#pauseTimers) timer.cancel();
    this.#pauseTimers.clear();
    for (const { timer } of this.#pacedQueues.values()) timer?.cancel();
  }

  get size(): number {
    return this.#tasks.size;
  }

  get runningCount(): number {
    return this.#queues.runningCount;
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
    return [...this.#queues.listTargets()].filter(({ permitCount }) => permitCount > 0)
      .map(({ key, permitCount }) => ({ target: key, runningCount: permitCount }));
  }

  find(id: string): Task | undefined {
    return this.#tasks.get(id);
  }

  listTaskIds(key: string, max: number): readonly string[] {
    const queue = this.#queues.find(key);
    const ids: string[] = [];
    if (queue === undefined) return ids;
    for (const task of this.#scanTasksOf(queue)) {
      if (ids.length === max) break;
      ids.push(task.id);
    }
    return ids;
  }

  countTasks(key: string): number {
    return this.#queues.find(key)?.size ?? 0;
  }

  listQueueKeys(): readonly string[] {
    return this.#queues.listKeys();
  }

  listKeysThatMayNotStart(): ReadonlySet<string> {
    const tasks = [...this.#tasks.values()].filter(({ queue }) => !queue.mayStart);
    return new Set(tasks.map(({ queue }) => queue.key));
  }

  /**
   * Adds a task that the scheduler does not have. `settings` hold for its queue only if that is new
   * or without tasks (see `update`). If a removed task of the same identifier is not settled yet,
   * the new task counts as unsettled too, as two attempts of it must not overlap: `settle` of the
   * removed task gives it its due time.
   */
  add(id: string, settings: QueueSettings, dueAtMs: number, order?: TaskOrder): void {
    const queue = this.#queues.getOrCreate(settings);
    const task = this.#queues.add(id, queue, order);
    this.#tasks.set(id, task);
    if (this.#unsettledIds.has(id)) task.state = 'unsettled';
    else this.#wait(task, dueAtMs);
  }

  /** Changes when a task is due. For an unsettled task `settle` does that. */
  reschedule(task: Task, dueAtMs: number): void {
    if (task.state !== 'unsettled') this.#wait(task, dueAtMs);
  }

  remove(id: string): void {
    const task = this.#tasks.get(id);
    if (task === undefined) return;
    if (task.state === 'waiting') this.#dueTimes.countStaleWait();
    this.#tasks.delete(id);
    this.#queues.remove(task);
    this.#onRunnable();
  }

  update(settings: QueueSettings): void {
    const queue = this.#queues.find(settings.key);
    if (queue === undefined) return;
    this.#queues.update(queue, settings, () => this.#scanTasksOf(queue));
    this.#onRunnable();
  }

  /** Starts the first task, due or not, of a queue that may start nothing and attempts nothing. */
  startOnce(key: string): void {
    const queue = this.#queues.find(key);
    if (queue === undefined || queue.mayStart || queue.underWayCount > 0) return;
    let first: Task | null = null;
    for (const task of this.#scanTasksOf(queue)) {
      if (task.hasBegun && (first === null || isBefore(task, first))) first = task;
    }
    if (first === null || first.state === 'unsettled') return;
    if (first.state === 'waiting') this.#makeReady(first);
    this.#queues.startOnce(queue);
    this.#onRunnable();
  }

  /** Moves a task to another lane of its queue; null: to no lane. Ignores unknown ids. */
  setLane(id: string, name: LaneName | null): void {
    const task = this.#tasks.get(id);
    if (task === undefined) return;
    this.#queues.setLane(task, name);
    this.#onRunnable();
  }

  listLongLanes(max: number): readonly LongLane[] {
    return this.#queues.lanes.listLongLanes(max);
  }

  listBlockedQueues(): readonly BlockedQueue[] {
    return this.#queues.listBlockedQueues(this.#clock.now());
  }

  findBlockedQueue(key: string): BlockedQueue | null {
    return this.#queues.findBlockedQueue(key, this.#clock.now());
  }

  /** Holds tasks at `place` and behind it; null: none. The queue need not exist. */
  hold(key: string, place: string | null): void {
    this.#queues.hold(key, place);
    this.#onRunnable();
  }

  /**
   * Lets paced tasks of a queue start no faster than `startLimit`, and none within `firstWaitMs`;
   * null: without a limit. The queue need not exist.
   */
  setPace(key: string, startLimit: StartLimit | null, firstWaitMs = 0): void {
    const existing = this.#pacedQueues.get(key);
    if (startLimit === null) {
      if (existing === undefined) return;
      existing.timer?.cancel();
      this.#pacedQueues.delete(key);
      this.#queues.wake(key);
      return this.#onRunnable();
    }
    const firstMs = this.#clock.monotonicMs() + firstWaitMs;
    const pacedQueue: PacedQueue = existing ?? { pace: new Pace(startLimit, firstMs), timer: null };
    this.#pacedQueues.set(key, pacedQueue);
    pacedQueue.pace.change(startLimit);
    pacedQueue.pace.postpone(firstMs);
    this.#restartPaceTimer(key, pacedQueue);
  }

  isAllHeld(key: string): boolean {
    const place = this.#queues.findHoldPlace(key);
    const queue = this.#queues.find(key);
    if (place === undefined || queue === undefined || queue.size === 0) return false;
    for (const task of this.#scanTasksOf(queue)) if (task.place < place) return false;
    return true;
  }

  /** Starts the next task, if any; `release` it after the attempt, and `settle` it once written. */
  startNext(): RunningTask | null {
    const runningTask = this.#queues.startNext(this.#clock.now());
    if (runningTask === null) return null;
    const { task } = runningTask;
    this.#unsettledIds.add(task.id);
    runningTask.permitSinceMs = this.#clock.monotonicMs();
    const pacedQueue = this.#findPacedQueue(task);
    if (pacedQueue !== undefined && this.#isPaced(task)) {
      pacedQueue.pace.countStart(runningTask.permitSinceMs);
      this.#restartPaceTimer(task.queue.key, pacedQueue);
    }
    return runningTask;
  }

  release(runningTask: RunningTask, responsiveness: Responsiveness | null): void {
    const { state, permitSinceMs } = runningTask;
    const isSlow = state === 'running' && this.#clock.monotonicMs() - permitSinceMs >= SLOW_MS;
    const pauseMs = this.#queues.release(runningTask, responsiveness, isSlow);
    if (pauseMs > 0 && !this.#isClosed) this.#pauseTarget(runningTask.target, pauseMs);
    this.#onRunnable();
  }

  /** Parks an attempt, or ends that: see task-queues.ts. */
  setParked(runningTask: RunningTask, isParked: boolean): void {
    if (runningTask.state === 'parked') runningTask.permitSinceMs = this.#clock.monotonicMs();
    this.#queues.setParked(runningTask, isParked);
    this.#onRunnable();
  }

  /** Call it when the result is written: due again at `dueAtMs`, or removed for null. */
  settle(id: string, dueAtMs: number | null): void {
    this.#unsettledIds.delete(id);
    const task = this.#tasks.get(id);
    if (task?.state !== 'unsettled') return;
    if (dueAtMs === null) this.remove(id);
    else this.#wait(task, dueAtMs);
  }

  *#scanTasksOf(queue: TaskQueue): Generator<Task> {
    for (const task of this.#tasks.values()) if (task.queue === queue) yield task;
  }

  #wait(task: Task, dueAtMs: number): void {
    if (dueAtMs > this.#clock.now()) this.#dueTimes.wait(task, dueAtMs);
    else if (task.state !== 'ready') this.#makeReady(task);
  }

  #makeReady(task: Task): void {
    const isEarly = task.state === 'waiting' && task.dueAtMs > this.#clock.now();
    if (isEarly) this.#dueTimes.countStaleWait();
    this.#queues.makeReady(task);
    this.#onRunnable();
  }

  #findPacedQueue({ queue: { key } }: Task): PacedQueue | undefined {
    return this.#pacedQueues.size === 0 ? undefined : this.#pacedQueues.get(key);
  }

  #mustWaitForPace(task: Task): boolean {
    return this.#findPacedQueue(task)?.timer != null && this.#isPaced(task);
  }

  #restartPaceTimer(key: string, pacedQueue: PacedQueue): void {
    pacedQueue.timer?.cancel();
    pacedQueue.timer = null;
    const waitMs = pacedQueue.pace.getWaitMs(this.#clock.monotonicMs());
    if (waitMs === 0) {
      this.#queues.wake(key);
      return this.#onRunnable();
    }
    if (this.#isClosed) return;
    // A timer may come a part of a millisecond early: then this waits for the rest.
    pacedQueue.timer = this.#clock.startTimer(
      Math.ceil(waitMs), () => this.#restartPaceTimer(key, pacedQueue));
  }

  // The target is paused already: this timer ends the pause.
  #pauseTarget(target: TaskTarget, pauseMs: number): void {
    const timer = this.#clock.startTimer(pauseMs, () => {
      this.#pauseTimers.delete(timer);
      this.#queues.resumeTarget(target);
      this.#onRunnable();
    });
    this.#pauseTimers.add(timer);
  }
}

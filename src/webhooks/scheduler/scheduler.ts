/**
 * Says which task runs next. A task waits until it is due, and then for its turn within the limits
 * of its queue, of its target and of the whole. The scheduler knows nothing of a task but its
 * identifier, so it serves any stored task. It does no I/O, and the clock is a parameter.
 */
import type { Clock, Timer } from '../../base/clock.ts';
import { DueTimes } from './due-times.ts';
import { RunQueue, type RunLimits } from './run-queue.ts';
import type { RunningTask, TaskTarget, TargetHealth, Task, TaskQueue } from './task.ts';

/** A task's queue, the target its tasks go to, and whether and how many of them may run. */
export type QueueSettings = {
  readonly key: string;
  readonly target: string;
  readonly mayStart: boolean;
  /** Tasks of the queue at once; 1 means strict order. Absent: the limit that all queues have. */
  readonly runningMax?: number | undefined;
};

export class Scheduler {
  readonly #clock: Clock;
  /** Tasks by identifier, in the order they were added, which is about the order of creation. */
  readonly #tasks = new Map<string, Task>();
  readonly #runQueue: RunQueue;
  readonly #dueTimes: DueTimes;
  /** Identifiers of tasks that were started and whose result is not written yet. */
  readonly #unsettledIds = new Set<string>();
  readonly #pauseTimers = new Set<Timer>();
  #onRunnable: () => void = () => {};

  constructor(clock: Clock, limits: RunLimits) {
    this.#clock = clock;
    this.#runQueue = new RunQueue(limits);
    this.#dueTimes = new DueTimes(clock, (task) => this.#makeReady(task));
  }

  /** Lets tasks become due. `onRunnable` is called whenever `startNext` may find another task. */
  start(onRunnable: () => void): void {
    this.#onRunnable = onRunnable;
    this.#dueTimes.start();
    onRunnable();
  }

  close(): void {
    this.#onRunnable = () => {};
    this.#dueTimes.close();
    for (const timer of this.#pauseTimers) timer.cancel();
    this.#pauseTimers.clear();
  }

  /** The number of tasks: waiting, ready and running ones. */
  get size(): number {
    return this.#tasks.size;
  }

  /** The number of attempts under way. */
  get running(): number {
    return this.#runQueue.running;
  }

  get oldestId(): string | null {
    const [id] = this.#tasks.keys();
    return id ?? null;
  }

  countRunningByTarget(): readonly { readonly target: string; readonly running: number }[] {
    return [...this.#runQueue.listTargets()].filter(({ running }) => running > 0)
      .map(({ key, running }) => ({ target: key, running }));
  }

  find(id: string): Task | undefined {
    return this.#tasks.get(id);
  }

  /** Lists up to `max` identifiers of a queue's tasks, oldest first. */
  listIds(key: string, max: number): readonly string[] {
    const queue = this.#runQueue.find(key);
    const ids: string[] = [];
    if (queue === undefined) return ids;
    for (const task of this.#tasksIn(queue)) {
      if (ids.length === max) break;
      ids.push(task.id);
    }
    return ids;
  }

  keys(): readonly string[] {
    return this.#runQueue.listKeys();
  }

  /** Lists the keys of the queues whose tasks may not start. */
  listStoppedKeys(): ReadonlySet<string> {
    const stopped = [...this.#tasks.values()].filter(({ queue }) => !queue.mayStart);
    return new Set(stopped.map(({ queue }) => queue.key));
  }

  /**
   * Adds a task that the scheduler does not have. When an attempt of a removed task of the same
   * identifier is still under way, the new task waits until that one is settled.
   */
  add(id: string, settings: QueueSettings, dueAtMs: number): void {
    const { key, target, mayStart, runningMax } = settings;
    const queue = this.#runQueue.getOrCreate(key, target, mayStart, runningMax);
    const task = this.#runQueue.add(id, queue);
    this.#tasks.set(id, task);
    if (this.#unsettledIds.has(id)) task.state = 'running';
    else this.#wait(task, dueAtMs);
  }

  /** Changes when a task is due, unless it runs: then `settle` says when. */
  reschedule(task: Task, dueAtMs: number): void {
    if (task.state !== 'running') this.#wait(task, dueAtMs);
  }

  remove(id: string): void {
    const task = this.#tasks.get(id);
    if (task === undefined) return;
    if (task.state === 'waiting') this.#dueTimes.dropWait();
    this.#tasks.delete(id);
    this.#runQueue.remove(task);
    this.#onRunnable();
  }

  /** Changes the settings of the queue of that key, if there is one. */
  update({ key, target, mayStart, runningMax }: QueueSettings): void {
    const queue = this.#runQueue.find(key);
    if (queue === undefined) return;
    this.#runQueue.update(queue, target, mayStart);
    this.#runQueue.setRunningMax(queue, runningMax, (limited) => this.#tasksIn(limited));
    this.#onRunnable();
  }

  /** Lets the queue of that key start nothing until `resume`. */
  suspend(key: string): void {
    this.#runQueue.suspend(key);
  }

  resume(key: string): void {
    this.#runQueue.resume(key);
    this.#onRunnable();
  }

  isSuspended(key: string): boolean {
    return this.#runQueue.isSuspended(key);
  }

  /**
   * Starts the next task, or returns null when none may start. The caller must `release` the task
   * when the attempt is over, and `settle` it when the result is written.
   */
  startNext(): RunningTask | null {
    const running = this.#runQueue.startNext();
    if (running !== null) this.#unsettledIds.add(running.task.id);
    return running;
  }

  /** Ends an attempt. `health` is null when the attempt says nothing about its target. */
  release(running: RunningTask, health: TargetHealth | null): void {
    const pauseMs = this.#runQueue.release(running, health);
    if (pauseMs > 0) this.#pauseTarget(running.target, pauseMs);
    this.#onRunnable();
  }

  /** After the result is written: makes the task due again at `dueAtMs`, or removes it on null. */
  settle(id: string, dueAtMs: number | null): void {
    this.#unsettledIds.delete(id);
    const task = this.#tasks.get(id);
    if (task?.state !== 'running') return;
    if (dueAtMs === null) this.remove(id);
    else this.#wait(task, dueAtMs);
  }

  *#tasksIn(queue: TaskQueue): Generator<Task> {
    for (const task of this.#tasks.values()) if (task.queue === queue) yield task;
  }

  #wait(task: Task, dueAtMs: number): void {
    if (dueAtMs > this.#clock.now()) this.#dueTimes.wait(task, dueAtMs);
    else if (task.state !== 'ready') this.#makeReady(task);
  }

  #makeReady(task: Task): void {
    if (task.state === 'waiting' && task.dueAtMs > this.#clock.now()) this.#dueTimes.dropWait();
    this.#runQueue.makeReady(task);
    this.#onRunnable();
  }

  #pauseTarget(target: TaskTarget, pauseMs: number): void {
    const timer = this.#clock.startTimer(pauseMs, () => {
      this.#pauseTimers.delete(timer);
      this.#runQueue.resumeTarget(target);
      this.#onRunnable();
    });
    this.#pauseTimers.add(timer);
  }
}

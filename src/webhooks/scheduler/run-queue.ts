/**
 * Chooses which of the ready tasks starts next. A queue holds the tasks of one source, such as a
 * webhook. Queues take turns, within three limits: for all tasks, for a queue and for a target.
 * This file does no I/O and reads no clock.
 *
 * The health of a target, which its last attempt showed, says how many attempts may run there at
 * once. All targets that are not known to be healthy share one half of the attempts, so that
 * unreachable and slow targets never delay the healthy ones.
 */
import { PriorityQueue } from '../../base/structures/priority-queue.ts';
import type { RunningTask, TaskTarget, TargetHealth, Task, TaskQueue } from './task.ts';

export type RunLimits = {
  readonly runningMax: number;
  /** For a queue that has no limit of its own. */
  readonly runningPerQueueMax: number;
};

/** A healthy target may take up all attempts there are. */
const RUNNING_MAX_BY_HEALTH = {
  healthy: Infinity, slow: 8, unknown: 4, unreachable: 1,
} as const;
/** Above this number of targets, idle ones are forgotten. */
const TARGETS_MAX = 1000;
/**
 * An unreachable target refuses connections at once, and each refusal costs as much as an accepted
 * event. After this many failures in a row there is a pause between attempts.
 */
const FAILURES_BEFORE_PAUSE = 32;
const PAUSE_MS = 250;

export class RunQueue {
  readonly #limits: RunLimits;
  readonly #unhealthyMax: number;
  readonly #queues = new Map<string, TaskQueue>();
  readonly #targets = new Map<string, TaskTarget>();
  /** Keys of queues that must not start anything, whether or not the queues exist now. */
  readonly #suspended = new Set<string>();
  /** Queues that may be able to start a task. The first one has its turn next. */
  readonly #runnable = new Set<TaskQueue>();
  /** Queues that wait for one of the attempts which all targets that are not healthy share. */
  readonly #blockedUnhealthy = new Set<TaskQueue>();
  #running = 0;
  #unhealthyRunning = 0;

  constructor(limits: RunLimits) {
    this.#limits = limits;
    this.#unhealthyMax = Math.max(1, Math.floor(limits.runningMax / 2));
  }

  get running(): number {
    return this.#running;
  }

  listTargets(): Iterable<TaskTarget> {
    return this.#targets.values();
  }

  listKeys(): readonly string[] {
    return [...this.#queues.keys()];
  }

  find(key: string): TaskQueue | undefined {
    return this.#queues.get(key);
  }

  getOrCreate(
    key: string, targetKey: string, mayStart: boolean,
    runningMax = this.#limits.runningPerQueueMax,
  ): TaskQueue {
    const existing = this.#queues.get(key);
    if (existing !== undefined) return existing;
    const queue: TaskQueue = {
      key, ready: new PriorityQueue(isOlder), all: runningMax === 1 ? queueById([]) : null,
      target: this.#joinTarget(targetKey), mayStart, runningMax, running: 0, size: 0,
    };
    this.#queues.set(key, queue);
    return queue;
  }

  /** Sets where the tasks of a queue go from now on, and whether they may start. */
  update(queue: TaskQueue, targetKey: string, mayStart: boolean): void {
    if (queue.target.key !== targetKey) {
      queue.target.blocked.delete(queue);
      this.#leaveTarget(queue.target);
      queue.target = this.#joinTarget(targetKey);
    }
    queue.mayStart = mayStart;
    this.#runnable.add(queue);
  }

  /** Sets how many tasks of a queue run at once. `tasksOf` lists all tasks of the queue. */
  setRunningMax(
    queue: TaskQueue, runningMax = this.#limits.runningPerQueueMax,
    tasksOf: (queue: TaskQueue) => Iterable<Task>,
  ): void {
    if (queue.runningMax === runningMax) return;
    queue.runningMax = runningMax;
    queue.all = runningMax === 1 ? queueById(tasksOf(queue)) : null;
    this.#runnable.add(queue);
  }

  /** Lets the queue start nothing until `resume`, even if it is dropped and created again. */
  suspend(key: string): void {
    this.#suspended.add(key);
  }

  resume(key: string): void {
    this.#suspended.delete(key);
    const queue = this.#queues.get(key);
    if (queue !== undefined) this.#runnable.add(queue);
  }

  isSuspended(key: string): boolean {
    return this.#suspended.has(key);
  }

  add(id: string, queue: TaskQueue): Task {
    const task: Task = { id, queue, dueAtMs: 0, state: 'waiting' };
    queue.all?.push(task);
    queue.size += 1;
    return task;
  }

  makeReady(task: Task): void {
    task.state = 'ready';
    task.queue.ready.push(task);
    this.#runnable.add(task.queue);
  }

  remove(task: Task): void {
    if (task.state === 'gone') return;
    task.state = 'gone';
    task.queue.size -= 1;
    this.#runnable.add(task.queue);
    this.#dropIfIdle(task.queue);
  }

  /** Starts the next task. Returns null when none may start. */
  startNext(): RunningTask | null {
    while (this.#running < this.#limits.runningMax) {
      const [queue] = this.#runnable;
      if (queue === undefined) return null;
      this.#runnable.delete(queue);
      const { target } = queue;
      if (!this.#canStart(queue)) {
        this.#unblock(target);
      } else if (freeSlots(target) <= 0) {
        target.blocked.add(queue);
      } else if (target.health !== 'healthy' && this.#unhealthyRunning >= this.#unhealthyMax) {
        this.#blockedUnhealthy.add(queue);
      } else {
        const task = queue.ready.pop();
        if (task !== undefined) return this.#start(task, target);
      }
    }
    return null;
  }

  /**
   * Ends an attempt. `health` is null when the attempt says nothing about its target. Returns the
   * milliseconds after which the caller must call `resumeTarget`, or 0 when there is no pause.
   */
  release({ task, target }: RunningTask, health: TargetHealth | null): number {
    const { queue } = task;
    queue.running -= 1;
    target.running -= 1;
    this.#running -= 1;
    if (target.health !== 'healthy') this.#unhealthyRunning -= 1;
    const pauseMs = health === null ? 0 : this.#updateHealth(target, health);
    this.#runnable.add(queue);
    this.#unblock(target);
    this.#unblockUnhealthy();
    this.#dropIfIdle(queue);
    this.#dropTargetIfIdle(target);
    return pauseMs;
  }

  resumeTarget(target: TaskTarget): void {
    target.isPaused = false;
    this.#unblock(target);
  }

  #start(task: Task, target: TaskTarget): RunningTask {
    const { queue } = task;
    task.state = 'running';
    queue.running += 1;
    target.running += 1;
    this.#running += 1;
    if (target.health !== 'healthy') this.#unhealthyRunning += 1;
    this.#runnable.add(queue);
    return { task, target };
  }

  #canStart(queue: TaskQueue): boolean {
    const { mayStart, running, runningMax, ready, all, key } = queue;
    if (!mayStart || running >= runningMax || this.#suspended.has(key)) return false;
    dropWhile(ready, ({ state }) => state !== 'ready');
    const first = ready.peek();
    if (first === undefined) return false;
    if (all === null) return true;
    dropWhile(all, ({ state }) => state === 'gone');
    return all.peek() === first;
  }

  #updateHealth(target: TaskTarget, health: TargetHealth): number {
    const wasHealthy = target.health === 'healthy';
    target.health = health;
    if (wasHealthy !== (health === 'healthy')) {
      this.#unhealthyRunning += wasHealthy ? target.running : -target.running;
    }
    target.failures = health === 'unreachable' ? target.failures + 1 : 0;
    if (target.failures <= FAILURES_BEFORE_PAUSE || target.isPaused) return 0;
    target.isPaused = true;
    return PAUSE_MS;
  }

  #unblock(target: TaskTarget): void {
    let free = freeSlots(target);
    for (const queue of target.blocked) {
      if (free <= 0) return;
      free -= 1;
      target.blocked.delete(queue);
      this.#runnable.add(queue);
    }
  }

  #unblockUnhealthy(): void {
    let free = this.#unhealthyMax - this.#unhealthyRunning;
    for (const queue of this.#blockedUnhealthy) {
      if (free <= 0) return;
      free -= 1;
      this.#blockedUnhealthy.delete(queue);
      this.#runnable.add(queue);
    }
  }

  #joinTarget(key: string): TaskTarget {
    const target = this.#targets.get(key) ?? {
      key, blocked: new Set(), health: 'unknown', running: 0, failures: 0, isPaused: false,
      queues: 0,
    };
    this.#targets.set(key, target);
    target.queues += 1;
    return target;
  }

  #leaveTarget(target: TaskTarget): void {
    target.queues -= 1;
    this.#dropTargetIfIdle(target);
  }

  #dropIfIdle(queue: TaskQueue): void {
    if (queue.size > 0 || queue.running > 0 || this.#queues.get(queue.key) !== queue) return;
    this.#queues.delete(queue.key);
    this.#runnable.delete(queue);
    this.#blockedUnhealthy.delete(queue);
    queue.target.blocked.delete(queue);
    this.#leaveTarget(queue.target);
  }

  #dropTargetIfIdle(target: TaskTarget): void {
    const isIdle = target.queues === 0 && target.running === 0;
    if (isIdle && this.#targets.size > TARGETS_MAX) this.#targets.delete(target.key);
  }
}

/** How many more attempts at the target may start. */
function freeSlots({ health, isPaused, running }: TaskTarget): number {
  return isPaused ? 0 : RUNNING_MAX_BY_HEALTH[health] - running;
}

function queueById(tasks: Iterable<Task>): PriorityQueue<Task> {
  const queue = new PriorityQueue(isOlder);
  for (const task of tasks) queue.push(task);
  return queue;
}

/** Identifiers are UUIDv7: they rise with the time of creation. */
function isOlder(left: Task, right: Task): boolean {
  return left.id < right.id;
}

function dropWhile(queue: PriorityQueue<Task>, isDropped: (task: Task) => boolean): void {
  for (let first = queue.peek(); first !== undefined && isDropped(first); first = queue.peek()) {
    queue.pop();
  }
}

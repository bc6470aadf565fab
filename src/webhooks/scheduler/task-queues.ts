/**
 * The queues of the scheduler: chooses which of the ready tasks starts next. A queue holds the
 * tasks of one source, such as a webhook. Queues take turns, within three limits on the attempts
 * under way: of all queues, of one queue and of one target. This file does no I/O and reads no
 * clock.
 *
 * The health of a target, which its last attempt showed, says how many attempts may run there at
 * once. All targets that are not known to be healthy share one half of the attempts, or the only
 * one, so that they leave the others to the healthy targets. A target that ceases to be healthy
 * keeps what is under way there, which may be all attempts there are, until it ends.
 *
 * A queue that cannot start its next task now waits for what it lacks: a change of its own, an
 * attempt at its target, or one of that half. Each place that becomes free is the turn of a queue
 * that waits for it. A queue that does not use its turn passes it on to the next one.
 *
 * An attempt may wait for something of its own. Meanwhile it counts in its queue and its lane
 * alone, so that others start in its place. When it goes on it counts again at once, above the
 * limits too: who has it wait limits how many go on.
 *
 * Among its ready tasks a queue starts the one whose place is first. Lanes (lanes.ts) say which of
 * them may be there at all.
 */
import { PriorityQueue } from '../../base/structures/priority-queue.ts';
import { Lanes, type LongLane } from './lanes.ts';
import {
  isBefore, type LaneName, type RunningTask, type TaskTarget, type TargetHealth, type Task,
  type TaskQueue,
} from './task.ts';

/** The position of a task in its queue. */
export type TaskOrder = {
  /** Made by `createPlace`; default: the place of its id. */
  readonly place?: string;
  /** Whether it holds others back only once it was due; default: from the start. */
  readonly isDelayed?: boolean;
  /** Default: the task is in no lane. */
  readonly lane?: LaneName | null;
};

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

export class TaskQueues {
  readonly #limits: RunLimits;
  readonly #unhealthyMax: number;
  readonly #queues = new Map<string, TaskQueue>();
  readonly #targets = new Map<string, TaskTarget>();
  /** Keys of suspended queues, whether or not the queues exist now. */
  readonly #suspendedKeys = new Set<string>();
  /** Keys of queues whose pace lets nothing start now, whether or not the queues exist now. */
  readonly #pacedKeys = new Set<string>();
  /** By key of a queue, the place from which on its tasks must not start. */
  readonly #holdPlaces = new Map<string, string>();
  /**
   * Queues that may be able to start a task. The first one has its turn next. Whatever may let a
   * queue start a task must add it.
   */
  readonly #runnableQueues = new Set<TaskQueue>();
  /** Queues that wait for one of the attempts which all targets that are not healthy share. */
  readonly #blockedUnhealthy = new Set<TaskQueue>();
  readonly #lanes = new Lanes();
  /** The number of attempts under way, and of those at targets that are not healthy. */
  #runningCount = 0;
  #unhealthyRunningCount = 0;
  #waitingCount = 0;

  constructor(limits: RunLimits) {
    this.#limits = limits;
    this.#unhealthyMax = Math.max(1, Math.floor(limits.runningMax / 2));
  }

  get runningCount(): number {
    return this.#runningCount;
  }

  /** The number of attempts under way that wait, which are not in `runningCount`. */
  get waitingCount(): number {
    return this.#waitingCount;
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

  /** Returns the queue of that key. The other arguments are for a queue that is not there yet. */
  getOrCreate(
    key: string, targetKey: string, mayStart: boolean,
    runningMax = this.#limits.runningPerQueueMax,
  ): TaskQueue {
    const existing = this.#queues.get(key);
    if (existing !== undefined) return existing;
    const queue: TaskQueue = {
      key, ready: new PriorityQueue(isBefore), all: runningMax === 1 ? queueByPlace([]) : null,
      lanes: null, target: this.#joinTarget(targetKey), mayStart, startsOnce: false, runningMax,
      runningCount: 0, size: 0,
    };
    this.#queues.set(key, queue);
    return queue;
  }

  /** Sets where the tasks of a queue go from now on, and whether they may start. */
  update(queue: TaskQueue, targetKey: string, mayStart: boolean): void {
    if (queue.target.key !== targetKey) {
      this.#leaveTarget(queue);
      queue.target = this.#joinTarget(targetKey);
    }
    queue.mayStart = mayStart;
    queue.startsOnce = false;
    this.#runnableQueues.add(queue);
  }

  /**
   * Sets how many attempts of a queue may be under way. `listTasks`, which lists all tasks of the
   * queue, is only called if the queue becomes strict.
   */
  setRunningMax(
    queue: TaskQueue, runningMax = this.#limits.runningPerQueueMax,
    listTasks: (queue: TaskQueue) => Iterable<Task>,
  ): void {
    if (queue.runningMax === runningMax) return;
    queue.runningMax = runningMax;
    queue.all = runningMax === 1 ? queueByPlace(listTasks(queue)) : null;
    this.#runnableQueues.add(queue);
  }

  /** Lets a queue that may start nothing start its first ready task, and then nothing again. */
  startOnce(queue: TaskQueue): void {
    queue.startsOnce = true;
    this.#runnableQueues.add(queue);
  }

  /** Lets the queue start nothing until `resume`, even if it is dropped and created again. */
  suspend(key: string): void {
    this.#suspendedKeys.add(key);
  }

  resume(key: string): void {
    this.#suspendedKeys.delete(key);
    const queue = this.#queues.get(key);
    if (queue !== undefined) this.#runnableQueues.add(queue);
  }

  isSuspended(key: string): boolean {
    return this.#suspendedKeys.has(key);
  }

  /** Lets the queue start nothing until the wait that its pace asks for is over. */
  beginPaceWait(key: string): void {
    this.#pacedKeys.add(key);
  }

  endPaceWait(key: string): void {
    this.#pacedKeys.delete(key);
    const queue = this.#queues.get(key);
    if (queue !== undefined) this.#runnableQueues.add(queue);
  }

  /** Lets a queue start only tasks placed before `place`; null: all of them again. */
  hold(key: string, place: string | null): void {
    if (place === null) this.#holdPlaces.delete(key);
    else this.#holdPlaces.set(key, place);
    const queue = this.#queues.get(key);
    if (queue !== undefined) this.#runnableQueues.add(queue);
  }

  findHoldPlace(key: string): string | undefined {
    return this.#holdPlaces.get(key);
  }

  /** Adds a task. The caller must set its due time, or call `makeReady`. */
  add(
    id: string, queue: TaskQueue, { place = id, isDelayed = false, lane = null }: TaskOrder = {},
  ): Task {
    const task: Task = {
      id, queue, place, lane: null, hasBegun: false, dueAtMs: 0, state: 'waiting',
    };
    queue.size += 1;
    if (lane !== null) this.#lanes.enter(task, lane);
    if (!isDelayed) this.#begin(task);
    return task;
  }

  makeReady(task: Task): void {
    task.state = 'ready';
    if (!task.hasBegun) this.#begin(task);
    if (task.lane === null) task.queue.ready.push(task);
    else this.#lanes.offerFirst(task.lane);
    this.#runnableQueues.add(task.queue);
  }

  remove(task: Task): void {
    if (task.state === 'gone') return;
    task.state = 'gone';
    task.queue.size -= 1;
    this.#lanes.leave(task);
    this.#runnableQueues.add(task.queue);
    this.#dropIfIdle(task.queue);
  }

  /** Puts a task into another lane; null: into none. Its place stays. */
  setLane(task: Task, name: LaneName | null): void {
    if (task.state === 'gone' || task.lane?.name === name?.name) return;
    this.#lanes.leave(task);
    if (name !== null) this.#lanes.enter(task, name);
    if (task.state === 'ready' && task.lane === null) task.queue.ready.push(task);
    this.#runnableQueues.add(task.queue);
  }

  /** See `Lanes.listLongLanes`. */
  listLongLanes(max: number): readonly LongLane[] {
    return this.#lanes.listLongLanes(max);
  }

  /** Starts the next task. Returns null when none may start. */
  startNext(): RunningTask | null {
    while (this.#runningCount < this.#limits.runningMax) {
      const [queue] = this.#runnableQueues;
      if (queue === undefined) return null;
      this.#runnableQueues.delete(queue);
      const { target } = queue;
      const task = this.#findNextTask(queue);
      if (task !== undefined) {
        const blocked = this.#findBlocked(target);
        if (blocked === null) return this.#start(task, target);
        blocked.add(queue);
      }
      // The queue starts nothing, so another one gets its turn.
      this.#passOnTurn(target);
    }
    return null;
  }

  /**
   * Ends an attempt. `health` is null when the attempt says nothing about its target. Returns the
   * milliseconds after which the caller must call `resumeTarget`, or 0 when there is no pause.
   */
  release(runningTask: RunningTask, health: TargetHealth | null): number {
    const { task: { queue }, target, lane } = runningTask;
    this.setWaiting(runningTask, false);
    runningTask.state = 'ended';
    queue.runningCount -= 1;
    this.#countRunning(target, -1);
    const pauseMs = health === null ? 0 : this.#updateHealth(target, health);
    if (lane !== null) this.#lanes.endAttempt(lane);
    this.#runnableQueues.add(queue);
    this.#passOnTurn(target);
    this.#dropIfIdle(queue);
    this.#dropTargetIfIdle(target);
    return pauseMs;
  }

  /** Says whether an attempt waits. Does nothing once it was released. */
  setWaiting(runningTask: RunningTask, isWaiting: boolean): void {
    const { state, target } = runningTask;
    if (state === 'ended' || (state === 'waiting') === isWaiting) return;
    runningTask.state = isWaiting ? 'waiting' : 'running';
    this.#waitingCount += isWaiting ? 1 : -1;
    this.#countRunning(target, isWaiting ? -1 : 1);
    if (isWaiting) this.#passOnTurn(target);
  }

  resumeTarget(target: TaskTarget): void {
    target.isPaused = false;
    this.#unblock(target);
  }

  #begin(task: Task): void {
    task.hasBegun = true;
    task.queue.all?.push(task);
    this.#lanes.begin(task);
  }

  /** Starts the task that `#findNextTask` has found. */
  #start(task: Task, target: TaskTarget): RunningTask {
    const { queue, lane } = task;
    queue.ready.pop();
    queue.startsOnce = false;
    task.state = 'unsettled';
    queue.runningCount += 1;
    this.#countRunning(target, 1);
    if (lane !== null) this.#lanes.beginAttempt(lane);
    this.#runnableQueues.add(queue);
    return { task, target, lane, state: 'running' };
  }

  #countRunning(target: TaskTarget, by: 1 | -1): void {
    target.runningCount += by;
    this.#runningCount += by;
    if (target.health !== 'healthy') this.#unhealthyRunningCount += by;
  }

  /**
   * Finds the task that the queue itself lets start now, whatever the limits of its target say. It
   * becomes the first of the ready ones: those before it, whose offers are void, are dropped.
   */
  #findNextTask(queue: TaskQueue): Task | undefined {
    const { runningCount, runningMax, ready, all, key } = queue;
    if (!queue.mayStart && !queue.startsOnce) return undefined;
    if (runningCount >= runningMax || this.#suspendedKeys.has(key)) return undefined;
    if (this.#pacedKeys.size > 0 && this.#pacedKeys.has(key)) return undefined;
    ready.popWhile((task) => !this.#lanes.confirmOffer(task));
    const first = ready.peek();
    if (first === undefined) return undefined;
    const holdPlace = this.#holdPlaces.size === 0 ? undefined : this.#holdPlaces.get(key);
    if (holdPlace !== undefined && first.place >= holdPlace) return undefined;
    if (all === null) return first;
    // In strict order a task starts only if it is the first of all, also of those that wait.
    all.popWhile(({ state }) => state === 'gone');
    return all.peek() === first ? first : undefined;
  }

  /**
   * Finds the queues that wait because no attempt at the target may start: for the target itself,
   * or for the attempts that targets share. null: one may start.
   */
  #findBlocked(target: TaskTarget): Set<TaskQueue> | null {
    if (countFreeSlots(target) <= 0) return target.blocked;
    const isLimited = target.health !== 'healthy'
      && this.#unhealthyRunningCount >= this.#unhealthyMax;
    return isLimited ? this.#blockedUnhealthy : null;
  }

  /** Returns the milliseconds of the pause that begins, or 0. */
  #updateHealth(target: TaskTarget, health: TargetHealth): number {
    const wasHealthy = target.health === 'healthy';
    target.health = health;
    if (wasHealthy !== (health === 'healthy')) {
      const { runningCount } = target;
      this.#unhealthyRunningCount += wasHealthy ? runningCount : -runningCount;
    }
    if (!wasHealthy && health === 'healthy') this.#unblockHealthy(target);
    target.failures = health === 'unreachable' ? target.failures + 1 : 0;
    if (target.failures < FAILURES_BEFORE_PAUSE || target.isPaused) return 0;
    target.isPaused = true;
    return PAUSE_MS;
  }

  /** Gives the free places at a target, and those of the shared half, to queues that wait. */
  #passOnTurn(target: TaskTarget): void {
    this.#unblock(target);
    this.#unblockUnhealthy();
  }

  #unblock(target: TaskTarget): void {
    let free = countFreeSlots(target);
    for (const queue of target.blocked) {
      if (free <= 0) return;
      free -= 1;
      target.blocked.delete(queue);
      this.#runnableQueues.add(queue);
    }
  }

  #unblockUnhealthy(): void {
    let free = this.#unhealthyMax - this.#unhealthyRunningCount;
    for (const queue of this.#blockedUnhealthy) {
      if (free <= 0) return;
      free -= 1;
      this.#blockedUnhealthy.delete(queue);
      this.#runnableQueues.add(queue);
    }
  }

  /** Lets the queues of a target that has become healthy wait for the shared half no more. */
  #unblockHealthy(target: TaskTarget): void {
    for (const queue of this.#blockedUnhealthy) {
      if (queue.target !== target) continue;
      this.#blockedUnhealthy.delete(queue);
      this.#runnableQueues.add(queue);
    }
  }

  #joinTarget(key: string): TaskTarget {
    const target = this.#targets.get(key) ?? {
      key, blocked: new Set(), health: 'unknown', runningCount: 0, failures: 0, isPaused: false,
      queueCount: 0,
    };
    this.#targets.set(key, target);
    target.queueCount += 1;
    return target;
  }

  /** Takes a queue away from its target. A turn that it may have there is passed on. */
  #leaveTarget(queue: TaskQueue): void {
    const { target } = queue;
    target.blocked.delete(queue);
    this.#blockedUnhealthy.delete(queue);
    target.queueCount -= 1;
    this.#passOnTurn(target);
    this.#dropTargetIfIdle(target);
  }

  #dropIfIdle(queue: TaskQueue): void {
    if (queue.size > 0 || queue.runningCount > 0 || this.#queues.get(queue.key) !== queue) return;
    this.#queues.delete(queue.key);
    this.#runnableQueues.delete(queue);
    this.#leaveTarget(queue);
  }

  #dropTargetIfIdle(target: TaskTarget): void {
    const isIdle = target.queueCount === 0 && target.runningCount === 0;
    if (isIdle && this.#targets.size > TARGETS_MAX) this.#targets.delete(target.key);
  }
}

/** How many more attempts at the target may start. */
function countFreeSlots({ health, isPaused, runningCount }: TaskTarget): number {
  return isPaused ? 0 : RUNNING_MAX_BY_HEALTH[health] - runningCount;
}

function queueByPlace(tasks: Iterable<Task>): PriorityQueue<Task> {
  const queue = new PriorityQueue(isBefore);
  for (const task of tasks) if (task.hasBegun) queue.push(task);
  return queue;
}

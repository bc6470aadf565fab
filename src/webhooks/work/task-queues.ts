/**
 * The queues of the scheduler: chooses which of the ready tasks starts next; scheduler.ts has all
 * that keeps one from starting. A queue holds the tasks of one source, such as a webhook. This file
 * does no I/O; its one time is a parameter.
 *
 * Queues alternate: next is the queue whose last start is longest ago, among those that may start a
 * task now. Three limits are on the attempts under way: of all queues, of one queue and of one
 * target. What a target gives, one for each attempt that it may have, is called a permit here.
 *
 * The sign of the last attempt of a queue says how many attempts the queue may have at once, so
 * that a webhook that never answers holds one permit of its host, and its neighbours have the
 * others. A queue is prompt if that attempt was answered soon. Where a target has no permit left,
 * `TargetLine` says which queue is next. A target that takes no connection gets one attempt at a
 * time.
 *
 * Queues that are not prompt need a shared permit as well. There are as many as one half of the
 * attempts, or one, so that the others are left to the prompt queues. For trials there are more:
 * the first attempt of a queue, of which nothing is known, and that of a prompt queue at a target
 * that takes no connection. What is under way when that changes keeps its permit until it ends.
 *
 * A queue that cannot start its next task now waits for what it lacks: a change of its own, a
 * permit of its target, or a shared one. A permit that becomes free is given to a queue that waits
 * for it. A queue that does not use its permit passes it on to the next one.
 *
 * An attempt may be parked while it waits for something of its own. Meanwhile it counts in its
 * queue and its lane alone, so that others start instead. When it goes on it counts again at once,
 * above the limits too: who parks attempts limits how many go on.
 *
 * Among its ready tasks a queue starts the one whose place is first. Lanes (lanes.ts) say which of
 * them may be there at all.
 */
import { PriorityQueue } from '../../base/structures/priority-queue.ts';
import { Lanes } from './lanes.ts';
import { QueueLine, TargetLine } from './queue-line.ts';
import {
  isBefore, type LaneName, type QueueResponsiveness, type Responsiveness, type RunningTask,
  type Task, type TaskQueue, type TaskTarget,
} from './task.ts';

/** The queue of a task: the target its tasks go to, and whether and how many of them may start. */
export type QueueSettings = {
  readonly key: string;
  /** The host of a URL, or the incoming webhook whose actions run here. */
  readonly target: string;
  readonly mayStart: boolean;
  /** Most attempts at once; 1 means strict order. Absent: `runningPerQueueMax`. */
  readonly runningMax?: number | undefined;
};

export type TaskOrder = {
  /** Made by `createPlace`; default: the id. */
  readonly place?: string;
  /** Whether it holds others back only once it was due; default: at once. */
  readonly isDelayed?: boolean;
  readonly lane?: LaneName | null;
};

export type RunLimits = {
  readonly runningMax: number;
  readonly runningPerQueueMax: number;
  /** For a target that takes connections. Absent: no limit beside the two above. */
  readonly runningPerTargetMax?: number;
};

export type BlockedQueue = {
  readonly queueKey: string;
  readonly target: string;
  readonly sinceMs: number;
  /** Keys of the queues that have the permits, up to `BEHIND_MAX`. */
  readonly behind: readonly string[];
};

/** Most attempts at once of a queue; a prompt queue has only its own limit. */
const RUNNING_MAX_BY_RESPONSIVENESS: Readonly<Record<QueueResponsiveness, number>> = {
  prompt: Infinity, slow: 8, unknown: 4, silent: 1,
};
/**
 * A trial may start until this part of all attempts has shared permits, other attempts until one
 * half has: so it is soon known which new webhooks are prompt.
 */
const TRIAL_SHARE = 7 / 8;
/** Above this number, idle queues are forgotten, and whether they were prompt. */
const QUEUES_MAX = 10_000;
/** A shorter wait for a permit is not shown. */
const TOLD_WAIT_MS = 5000;
const BEHIND_MAX = 5;
/**
 * An unreachable target refuses connections at once, and each refusal costs as much as an accepted
 * event. After this many attempts in a row without a response there is a pause between attempts.
 */
const UNANSWERED_BEFORE_PAUSE = 32;
const PAUSE_MS = 250;

export class TaskQueues {
  readonly #limits: RunLimits;
  readonly #sharedMax: number;
  readonly #trialMax: number;
  readonly #runningPerTargetMax: number;
  readonly #queues = new Map<string, TaskQueue>();
  readonly #targets = new Map<string, TaskTarget>();
  readonly #mustWaitForPace: (task: Task) => boolean;
  /** By key of a queue, the place from which on tasks must not start. */
  readonly #holdPlaces = new Map<string, string>();
  /**
   * Queues that may be able to start a task. Whatever may let a queue start a task must add the
   * queue here. In its turn the queue starts the task, or joins the line for the permit that it
   * lacks, from which a free permit brings it back (`#admitWaiting`). A line may hold queues that
   * wait no more.
   */
  readonly #runnableQueues = new QueueLine<TaskQueue>();
  /** Queues that lacked a shared permit, for a trial and for other attempts. */
  readonly #trialPermitLine = new QueueLine<TaskQueue>();
  readonly #sharedPermitLine = new QueueLine<TaskQueue>();
  readonly lanes = new Lanes();
  /** The number of attempts under way that are not parked, and how many have shared permits. */
  #runningCount = 0;
  #sharedPermitCount = 0;
  #startCount = 0;

  constructor(limits: RunLimits, mustWaitForPace: (task: Task) => boolean = () => false) {
    this.#limits = limits;
    this.#mustWaitForPace = mustWaitForPace;
    this.#runningPerTargetMax = limits.runningPerTargetMax ?? Infinity;
    this.#sharedMax = Math.max(1, Math.floor(limits.runningMax / 2));
    this.#trialMax = Math.max(1, Math.floor(limits.runningMax * TRIAL_SHARE));
  }

  get runningCount(): number {
    return this.#runningCount;
  }

  listTargets(): Iterable<TaskTarget> {
    return this.#targets.values();
  }

  listKeys(): readonly string[] {
    return [...this.#queues.values()].filter((queue) => !isIdle(queue)).map(({ key }) => key);
  }

  find(key: string): TaskQueue | undefined {
    return this.#queues.get(key);
  }

  /** `settings` hold only for a queue that is new or without tasks. */
  getOrCreate(settings: QueueSettings): TaskQueue {
    const { key, mayStart, runningMax = this.#limits.runningPerQueueMax } = settings;
    const existing = this.#queues.get(key);
    if (existing !== undefined) {
      if (isIdle(existing)) this.update(existing, settings, () => []);
      return existing;
    }
    const target = this.#getOrCreateTarget(settings.target);
    // A queue without a start comes before all others.
    const lastStartNumber = Number.MIN_SAFE_INTEGER + this.#countStart();
    const queue: TaskQueue = {
      key, ready: new PriorityQueue(isBefore), waitingForPace: [],
      strictOrder: createStrictOrder(runningMax, () => []), lanes: null,
      target, responsiveness: 'unknown', lastStartNumber, targetWaitSinceMs: null,
      mayStart, startsOnce: false, runningMax, underWayCount: 0, parkedCount: 0, size: 0,
    };
    target.queues.add(queue);
    this.#queues.set(key, queue);
    return queue;
  }

  /** `listTasks` lists all tasks of the queue, and is called only if it becomes strict. */
  update(
    queue: TaskQueue,
    { target: targetKey, mayStart, runningMax = this.#limits.runningPerQueueMax }: QueueSettings,
    listTasks: () => Iterable<Task>,
  ): void {
    if (queue.target.key !== targetKey) {
      this.#leaveTarget(queue);
      queue.target = this.#getOrCreateTarget(targetKey);
      queue.responsiveness = 'unknown';
      queue.target.queues.add(queue);
    }
    if (queue.runningMax !== runningMax) {
      queue.runningMax = runningMax;
      queue.strictOrder = createStrictOrder(runningMax, listTasks);
    }
    queue.mayStart = mayStart;
    queue.startsOnce = false;
    this.#runnableQueues.add(queue);
  }

  startOnce(queue: TaskQueue): void {
    queue.startsOnce = true;
    this.#runnableQueues.add(queue);
  }

  hold(key: string, place: string | null): void {
    if (place === null) this.#holdPlaces.delete(key);
    else this.#holdPlaces.set(key, place);
    this.wake(key);
  }

  /** Must be called when the queue, which need not exist, may be able to start a task. */
  wake(key: string): void {
    const queue = this.#queues.get(key);
    if (queue === undefined) return;
    for (const task of queue.waitingForPace.splice(0)) queue.ready.push(task);
    this.#runnableQueues.add(queue);
  }

  findHoldPlace(key: string): string | undefined {
    return this.#holdPlaces.get(key);
  }

  /** The caller must set the due time of the task, or call `makeReady`. */
  add(
    id: string, queue: TaskQueue, { place = id, isDelayed = false, lane = null }: TaskOrder = {},
  ): Task {
    const task: Task = {
      id, queue, place, lane: null, hasBegun: false, dueAtMs: 0, state: 'waiting',
    };
    queue.size += 1;
    if (lane !== null) this.lanes.enter(task, lane);
    if (!isDelayed) this.#begin(task);
    return task;
  }

  makeReady(task: Task): void {
    task.state = 'ready';
    if (!task.hasBegun) this.#begin(task);
    if (task.lane === null) task.queue.ready.push(task);
    else this.lanes.offerFirst(task.lane);
    this.#runnableQueues.add(task.queue);
  }

  remove(task: Task): void {
    if (task.state === 'gone') return;
    task.state = 'gone';
    task.queue.size -= 1;
    this.lanes.leave(task);
    this.#runnableQueues.add(task.queue);
    this.#dropIfIdle(task.queue);
  }

  setLane(task: Task, name: LaneName | null): void {
    if (task.state === 'gone' || task.lane?.name === name?.name) return;
    this.lanes.leave(task);
    if (name !== null) this.lanes.enter(task, name);
    if (task.state === 'ready' && task.lane === null) task.queue.ready.push(task);
    this.#runnableQueues.add(task.queue);
  }

  /** Lists, in no order, the queues that have waited long for a permit of their target. */
  listBlockedQueues(nowMs: number): readonly BlockedQueue[] {
    return this.listKeys().flatMap((key) => this.findBlockedQueue(key, nowMs) ?? []);
  }

  /** Finds a queue as `listBlockedQueues` lists it; one behind no other is not blocked. */
  findBlockedQueue(key: string, nowMs: number): BlockedQueue | null {
    const queue = this.#queues.get(key);
    if (queue === undefined || queue.targetWaitSinceMs === null) return null;
    const { target, targetWaitSinceMs: sinceMs } = queue;
    if (nowMs - sinceMs < TOLD_WAIT_MS || this.#advanceToNextTask(queue) === undefined) return null;
    const behind: string[] = [];
    for (const other of target.queues) {
      if (other !== queue && other.underWayCount > 0) behind.push(other.key);
      if (behind.length === BEHIND_MAX) break;
    }
    return behind.length === 0 ? null : { queueKey: key, target: target.key, sinceMs, behind };
  }

  /** Starts the next task; null: no task may start. `nowMs` dates waits that begin. */
  startNext(nowMs: number): RunningTask | null {
    while (this.#runningCount < this.#limits.runningMax) {
      const queue = this.#runnableQueues.take();
      if (queue === undefined) return null;
      const { target } = queue;
      target.permitLine.withdrawPermit(queue);
      const task = this.#advanceToNextTask(queue);
      const line = task === undefined ? null : this.#findLineToWaitIn(queue);
      if (task !== undefined && line === null) return this.#start(task);
      line?.add(queue);
      const waitsForTarget = line === target.permitLine;
      queue.targetWaitSinceMs = waitsForTarget ? queue.targetWaitSinceMs ?? nowMs : null;
      // The queue starts nothing, so another queue gets its permit.
      this.#admitWaiting(target);
    }
    return null;
  }

  /**
   * Ends an attempt. `responsiveness` is null when the attempt showed nothing; `isSlow`: it held
   * its permit for long. Returns the milliseconds after which the caller must call `resumeTarget`;
   * 0: there is no pause.
   */
  release(runningTask: RunningTask, responsiveness: Responsiveness | null, isSlow = false): number {
    const { task: { queue }, target, lane } = runningTask;
    // A parked attempt counts again first, as the end of each attempt is subtracted.
    this.setParked(runningTask, false);
    runningTask.state = 'ended';
    queue.underWayCount -= 1;
    this.#countRunning(runningTask, -1);
    if (queue.target === target) updateQueue(queue, responsiveness, isSlow);
    const pauseMs = responsiveness === null ? 0 : this.#updateTarget(target, responsiveness);
    target.permitLine.noteAttempt(queue, this.#startCount);
    if (lane !== null) this.lanes.endAttempt(lane);
    this.#runnableQueues.add(queue);
    this.#admitWaiting(target);
    this.#dropIfIdle(queue);
    this.#dropTargetIfIdle(target);
    return pauseMs;
  }

  /** Ignores an attempt that was released. */
  setParked(runningTask: RunningTask, isParked: boolean): void {
    const { state, target, task: { queue } } = runningTask;
    if (state === 'ended' || (state === 'parked') === isParked) return;
    runningTask.state = isParked ? 'parked' : 'running';
    queue.parkedCount += isParked ? 1 : -1;
    this.#countRunning(runningTask, isParked ? -1 : 1);
    if (!isParked) return;
    this.#runnableQueues.add(queue);
    this.#admitWaiting(target);
  }

  resumeTarget(target: TaskTarget): void {
    target.isPaused = false;
    this.#admitWaiting(target);
  }

  #begin(task: Task): void {
    task.hasBegun = true;
    task.queue.strictOrder?.push(task);
    this.lanes.begin(task);
  }

  #start(task: Task): RunningTask {
    const { queue, queue: { target }, lane } = task;
    queue.ready.pop();
    queue.startsOnce = false;
    queue.targetWaitSinceMs = null;
    queue.lastStartNumber = this.#countStart();
    task.state = 'unsettled';
    queue.underWayCount += 1;
    const runningTask: RunningTask = {
      task, target, lane, state: 'running', isShared: needsSharedPermit(queue), permitSinceMs: 0,
    };
    this.#countRunning(runningTask, 1);
    target.permitLine.noteAttempt(queue, queue.lastStartNumber);
    if (lane !== null) this.lanes.beginAttempt(lane);
    this.#runnableQueues.add(queue);
    return runningTask;
  }

  #countStart(): number {
    this.#startCount += 1;
    return this.#startCount;
  }

  #countRunning({ target, isShared }: RunningTask, by: 1 | -1): void {
    target.permitCount += by;
    this.#runningCount += by;
    if (isShared) this.#sharedPermitCount += by;
  }

  /**
   * Finds the task that the queue may start now, whatever the limits of its target say, and makes
   * it the first of the ready tasks: those before it, whose offers are void, are dropped. To show
   * the status, too, drops them and puts aside tasks that must wait for the pace.
   */
  #advanceToNextTask(queue: TaskQueue): Task | undefined {
    const { underWayCount, runningMax, strictOrder, key } = queue;
    if (!queue.mayStart && !queue.startsOnce) return undefined;
    if (underWayCount >= runningMax) return undefined;
    const unparkedMax = RUNNING_MAX_BY_RESPONSIVENESS[queue.responsiveness];
    if (underWayCount - queue.parkedCount >= unparkedMax) return undefined;
    const first = this.#findReadyTask(queue);
    if (first === undefined) return undefined;
    const holdPlace = this.#holdPlaces.size === 0 ? undefined : this.#holdPlaces.get(key);
    if (holdPlace !== undefined && first.place >= holdPlace) return undefined;
    if (strictOrder === null) return first;
    // In strict order a task starts only if it is the first of all, also of the waiting tasks.
    strictOrder.popWhile(({ state }) => state === 'gone');
    return strictOrder.peek() === first ? first : undefined;
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
      if (first === undefined || !this.#mustWaitForPace(first)) return first;
      ready.pop();
      waitingForPace.push(first);
    }
    return undefined;
  }

  /** The line for a permit of the target, or a shared one; null: an attempt may start. */
  #findLineToWaitIn(queue: TaskQueue): Pick<QueueLine<TaskQueue>, 'add'> | null {
    if (this.#countFreePermits(queue.target) <= 0) return queue.target.permitLine;
    if (!needsSharedPermit(queue)) return null;
    const [sharedMax, line] = isTrial(queue) ? [this.#trialMax, this.#trialPermitLine]
      : [this.#sharedMax, this.#sharedPermitLine];
    return this.#sharedPermitCount < sharedMax ? null : line;
  }

  /** Returns the milliseconds of a pause that begins; 0 without one. */
  #updateTarget(target: TaskTarget, responsiveness: Responsiveness): number {
    // A silent attempt may have had a connection, or not.
    if (responsiveness !== 'silent') this.#setUnreachable(target, responsiveness === 'unreachable');
    target.unansweredCount = responsiveness === 'answered' ? 0 : target.unansweredCount + 1;
    if (target.unansweredCount < UNANSWERED_BEFORE_PAUSE || target.isPaused) return 0;
    target.isPaused = true;
    return PAUSE_MS;
  }

  #setUnreachable(target: TaskTarget, isUnreachable: boolean): void {
    if (target.isUnreachable === isUnreachable) return;
    target.isUnreachable = isUnreachable;
    if (isUnreachable) return;
    for (const queue of target.queues) {
      if (this.#trialPermitLine.remove(queue)) this.#runnableQueues.add(queue);
    }
  }

  #admitWaiting(target: TaskTarget): void {
    this.#admitFrom(target.permitLine, this.#countFreePermits(target));
    this.#admitFrom(this.#trialPermitLine, this.#trialMax - this.#sharedPermitCount);
    this.#admitFrom(this.#sharedPermitLine, this.#sharedMax - this.#sharedPermitCount);
  }

  #admitFrom(line: Pick<QueueLine<TaskQueue>, 'take'>, free: number): void {
    for (let count = 0; count < free; count += 1) {
      const queue = line.take();
      if (queue === undefined) return;
      this.#runnableQueues.add(queue);
    }
  }

  #countFreePermits({ isUnreachable, isPaused, permitCount, permitLine }: TaskTarget): number {
    if (isPaused) return 0;
    const permitsMax = isUnreachable ? 1 : this.#runningPerTargetMax;
    return permitsMax - permitCount - permitLine.permitHolderCount;
  }

  #getOrCreateTarget(key: string): TaskTarget {
    const target = this.#targets.get(key) ?? {
      key, queues: new Set(), permitLine: new TargetLine<TaskQueue>(), isUnreachable: false,
      permitCount: 0, unansweredCount: 0, isPaused: false,
    };
    this.#targets.set(key, target);
    return target;
  }

  /** Takes a queue away from its target, and passes on a permit that it may have there. */
  #leaveTarget(queue: TaskQueue): void {
    const { target } = queue;
    for (const line of [target.permitLine, this.#trialPermitLine, this.#sharedPermitLine]) {
      line.remove(queue);
    }
    target.queues.delete(queue);
    queue.targetWaitSinceMs = null;
    this.#admitWaiting(target);
    this.#dropTargetIfIdle(target);
  }

  #dropIfIdle(queue: TaskQueue): void {
    if (!isIdle(queue) || this.#queues.get(queue.key) !== queue) return;
    for (const tasks of [queue.ready, queue.strictOrder]) tasks?.prune(() => false);
    const isKept = queue.mayStart && this.#queues.size <= QUEUES_MAX;
    if (isKept) return;
    this.#queues.delete(queue.key);
    this.#runnableQueues.remove(queue);
    this.#leaveTarget(queue);
  }

  #dropTargetIfIdle(target: TaskTarget): void {
    if (target.queues.size > 0 || target.permitCount > 0) return;
    if (this.#targets.get(target.key) === target) this.#targets.delete(target.key);
  }
}

function isIdle({ size, underWayCount }: TaskQueue): boolean {
  return size === 0 && underWayCount === 0;
}

function updateQueue(
  queue: TaskQueue, responsiveness: Responsiveness | null, isSlow: boolean,
): void {
  if (responsiveness === 'answered') queue.responsiveness = isSlow ? 'slow' : 'prompt';
  else if (responsiveness === 'silent') queue.responsiveness = 'silent';
  else if (isSlow && queue.responsiveness !== 'silent') queue.responsiveness = 'slow';
}

/** Whether the next attempt, which needs a shared permit, is a trial: its queue may be well. */
function isTrial({ responsiveness, underWayCount }: TaskQueue): boolean {
  return responsiveness === 'unknown' ? underWayCount === 0 : responsiveness === 'prompt';
}

function needsSharedPermit({ responsiveness, target }: TaskQueue): boolean {
  return responsiveness !== 'prompt' || target.isUnreachable;
}

function createStrictOrder(
  runningMax: number, listTasks: () => Iterable<Task>,
): PriorityQueue<Task> | null {
  if (runningMax !== 1) return null;
  const strictOrder = new PriorityQueue(isBefore);
  for (const task of listTasks()) if (task.hasBegun) strictOrder.push(task);
  return strictOrder;
}

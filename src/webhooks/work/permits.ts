/**
 * Says which queue starts a task next. A queue holds the tasks of one source, such as a webhook;
 * queue-order.ts says which of them is next, and scheduler.ts tells all that keeps one back. This
 * file does no I/O; its one time is a parameter.
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
 */
import { QueueLine, TargetLine } from './queue-line.ts';
import type {
  QueueResponsiveness, Responsiveness, RunningTask, Task, TaskQueue, TaskTarget,
} from './task.ts';

export type RunLimits = {
  readonly runningMax: number;
  readonly runningPerQueueMax: number;
  /** For a target that takes connections. Absent: no limit beside the two above. */
  readonly runningPerTargetMax?: number;
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
/**
 * An unreachable target refuses connections at once, and each refusal costs as much as an accepted
 * event. After this many attempts in a row without a response there is a pause between attempts.
 */
const UNANSWERED_BEFORE_PAUSE = 32;
const PAUSE_MS = 250;

/** Whether the limits of the queue itself let it start a task, if it has one. */
export function mayStartAnother(
  { mayStart, startsOnce, underWayCount, parkedCount, runningMax, responsiveness }: TaskQueue,
): boolean {
  return (mayStart || startsOnce) && underWayCount < runningMax
    && underWayCount - parkedCount < RUNNING_MAX_BY_RESPONSIVENESS[responsiveness];
}

export class Permits {
  /** Called whenever a queue may be able to start a task. */
  onRunnable: () => void = () => {};
  readonly #runningMax: number;
  readonly #sharedMax: number;
  readonly #trialMax: number;
  readonly #runningPerTargetMax: number;
  readonly #targets = new Map<string, TaskTarget>();
  /**
   * Queues that may be able to start a task. Whatever may let a queue start a task must add the
   * queue here (`wake`). In its turn the queue starts the task, or joins the line for the permit
   * that it lacks, from which a free permit brings it back (`#admitWaiting`). A line may hold
   * queues that wait no more.
   */
  readonly #runnableQueues = new QueueLine<TaskQueue>();
  /** Queues that lacked a shared permit, for a trial and for other attempts. */
  readonly #trialPermitLine = new QueueLine<TaskQueue>();
  readonly #sharedPermitLine = new QueueLine<TaskQueue>();
  /** The number of attempts under way that are not parked, and how many have shared permits. */
  #runningCount = 0;
  #sharedPermitCount = 0;
  #startCount = 0;

  constructor({ runningMax, runningPerTargetMax = Infinity }: RunLimits) {
    this.#runningMax = runningMax;
    this.#runningPerTargetMax = runningPerTargetMax;
    this.#sharedMax = Math.max(1, Math.floor(runningMax / 2));
    this.#trialMax = Math.max(1, Math.floor(runningMax * TRIAL_SHARE));
  }

  get runningCount(): number {
    return this.#runningCount;
  }

  listTargets(): Iterable<TaskTarget> {
    return this.#targets.values();
  }

  getOrCreateTarget(key: string): TaskTarget {
    const target = this.#targets.get(key) ?? {
      key, queues: new Set(), permitLine: new TargetLine<TaskQueue>(), isUnreachable: false,
      permitCount: 0, unansweredCount: 0, isPaused: false,
    };
    this.#targets.set(key, target);
    return target;
  }

  /** Adds a new queue. As it had no start yet, it comes before all that had one. */
  enter(queue: TaskQueue): void {
    this.#startCount += 1;
    queue.lastStartNumber = Number.MIN_SAFE_INTEGER + this.#startCount;
    queue.target.queues.add(queue);
  }

  move(queue: TaskQueue, targetKey: string): void {
    this.#leaveTarget(queue);
    queue.target = this.getOrCreateTarget(targetKey);
    queue.responsiveness = 'unknown';
    queue.target.queues.add(queue);
  }

  leave(queue: TaskQueue): void {
    this.#runnableQueues.remove(queue);
    this.#leaveTarget(queue);
  }

  /** Must be called when the queue may be able to start a task. */
  wake(queue: TaskQueue): void {
    this.#runnableQueues.add(queue);
    this.onRunnable();
  }

  /** Takes the queue whose turn it is: `start` it, whether or not it has a task. */
  takeQueue(): TaskQueue | undefined {
    if (this.#runningCount >= this.#runningMax) return undefined;
    const queue = this.#runnableQueues.take();
    queue?.target.permitLine.withdrawPermit(queue);
    return queue;
  }

  /**
   * Starts the task that is next in the queue; null: there is none, or it waits for a permit.
   * `nowMs` dates the wait, and `monotonicMs` the permit.
   */
  start(
    queue: TaskQueue, task: Task | undefined, nowMs: number, monotonicMs: number,
  ): RunningTask | null {
    const { target } = queue;
    const line = task === undefined ? null : this.#findLineToWaitIn(queue);
    if (task !== undefined && line === null) return this.#grant(task, monotonicMs);
    line?.add(queue);
    const waitsForTarget = line === target.permitLine;
    queue.targetWaitSinceMs = waitsForTarget ? queue.targetWaitSinceMs ?? nowMs : null;
    // The queue starts nothing, so another queue gets its permit.
    this.#admitWaiting(target);
    return null;
  }

  /**
   * Ends an attempt. `responsiveness` is null when the attempt showed nothing; `isSlow`: it held
   * its permit for long. Returns the milliseconds after which the caller must call `resumeTarget`;
   * 0: there is no pause.
   */
  release(
    runningTask: RunningTask, responsiveness: Responsiveness | null, isSlow: boolean,
  ): number {
    const { task: { queue }, target } = runningTask;
    // A parked attempt counts again first, as the end of each attempt is subtracted.
    if (runningTask.state === 'parked') this.setParked(runningTask, false);
    runningTask.state = 'ended';
    queue.underWayCount -= 1;
    this.#countRunning(runningTask, -1);
    if (queue.target === target) updateQueue(queue, responsiveness, isSlow);
    const pauseMs = responsiveness === null ? 0 : this.#updateTarget(target, responsiveness);
    target.permitLine.noteAttempt(queue, this.#startCount);
    this.#admitWaiting(target);
    this.#dropTargetIfIdle(target);
    this.wake(queue);
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
    this.#admitWaiting(target);
    this.wake(queue);
  }

  resumeTarget(target: TaskTarget): void {
    target.isPaused = false;
    this.#admitWaiting(target);
    this.onRunnable();
  }

  #grant(task: Task, permitSinceMs: number): RunningTask {
    const { queue, queue: { target }, lane } = task;
    this.#startCount += 1;
    queue.startsOnce = false;
    queue.targetWaitSinceMs = null;
    queue.lastStartNumber = this.#startCount;
    queue.underWayCount += 1;
    const runningTask: RunningTask = {
      task, target, lane, state: 'running', isShared: needsSharedPermit(queue), permitSinceMs,
    };
    this.#countRunning(runningTask, 1);
    target.permitLine.noteAttempt(queue, this.#startCount);
    this.#runnableQueues.add(queue);
    return runningTask;
  }

  #countRunning({ target, isShared }: RunningTask, by: 1 | -1): void {
    target.permitCount += by;
    this.#runningCount += by;
    if (isShared) this.#sharedPermitCount += by;
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
    const isUnreachable = responsiveness === 'unreachable';
    // A silent attempt may have had a connection, or not.
    if (responsiveness !== 'silent' && target.isUnreachable !== isUnreachable) {
      target.isUnreachable = isUnreachable;
      if (!isUnreachable) this.#endTrials(target);
    }
    target.unansweredCount = responsiveness === 'answered' ? 0 : target.unansweredCount + 1;
    if (target.unansweredCount < UNANSWERED_BEFORE_PAUSE || target.isPaused) return 0;
    target.isPaused = true;
    return PAUSE_MS;
  }

  #endTrials({ queues }: TaskTarget): void {
    for (const queue of queues) {
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

  #dropTargetIfIdle(target: TaskTarget): void {
    if (target.queues.size > 0 || target.permitCount > 0) return;
    if (this.#targets.get(target.key) === target) this.#targets.delete(target.key);
  }
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

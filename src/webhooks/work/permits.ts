/**
 * Says which queue starts a task next. A queue holds the tasks of one source, such as a webhook;
 * queue-order.ts says which of them is next, and scheduler.ts tells all that keeps one back. This
 * file does no I/O; times are parameters.
 *
 * Queues alternate: next is the queue whose last start is longest ago, among those that may start a
 * task now. Three limits are on the attempts under way: of all queues (`runningMax`), of one queue
 * and of one target.
 *
 * A permit is the right to one attempt at a target, and each attempt holds one. A shared permit is
 * a second right: an attempt that may last long needs one as well. All targets share fewer of them
 * than `runningMax`, so that the other attempts are left to prompt queues. The responsiveness of
 * the queue, which its last attempt showed (task.ts), and whether the target takes connections say
 * what the next attempt needs:
 *
 * | the queue is    | its target       | permits of the   | it starts while fewer shared permits |
 * | (at once)       |                  | target           | are held than this of `runningMax`   |
 * |-----------------|------------------|------------------|--------------------------------------|
 * | prompt (its own | takes connections| its limit        | any number: it needs no shared one   |
 * |   limit)        | is unreachable   | 1                | 7/8: a trial                         |
 * | unknown (4)     | either           | its limit, or 1  | 7/8 for its first attempt, a trial;  |
 * |                 |                  |                  |   then 1/2                           |
 * | slow (8)        | either           | its limit, or 1  | 1/2                                  |
 * | silent (1)      | either           | its limit, or 1  | 1/2                                  |
 *
 * "At once" is how many attempts the queue may have that are not parked: a webhook that never
 * answers holds one permit of its host, and its neighbours have the others. A paused target has no
 * permits. An attempt keeps its permits until it ends or is parked, whatever changes meanwhile.
 *
 * A queue that cannot start its next task now waits for what it lacks: a change of its own, a
 * permit of its target, or a shared one. There is a line for each kind of permit. When permits
 * become free, as many queues leave the line and get their turn again:
 *
 * - A permit of a target is held for the queue by name (`TargetLine`), as the line says in which
 *   order the queues of a target come: none gets ahead. A queue that does not use the permit in its
 *   turn passes it on.
 * - A shared permit is held for nobody: the turn is a hint. If another queue was sooner, the queue
 *   joins the line again.
 *
 * An attempt may be parked while it waits for something of its own. Meanwhile it counts in its
 * queue and its lane alone, so that others start instead. When it goes on it counts again at once,
 * above the limits too: who parks attempts limits how many go on.
 */
import { QueueLine, TargetLine } from './queue-line.ts';
import type {
  QueueResponsiveness, Responsiveness, RunningTask, Task, TaskQueue, TaskTarget,
} from './task.ts';

export type PermitLimits = {
  readonly runningMax: number;
  /** For a target that takes connections. Absent: no limit beside those of queues and of all. */
  readonly runningPerTargetMax?: number;
};

type WaitingLine = Pick<QueueLine<TaskQueue>, 'add' | 'take'>;
/** Attempts start while fewer shared permits than `max` are held; `line` has queues that waited. */
type SharedPermits = { readonly max: number; readonly line: QueueLine<TaskQueue> };

/** Most attempts of a queue at once that are not parked. The queue's own limit holds as well. */
const RUNNING_MAX_BY_RESPONSIVENESS: Readonly<Record<QueueResponsiveness, number>> = {
  prompt: Infinity, slow: 8, unknown: 4, silent: 1,
};
/**
 * The attempts that need shared permits start while fewer than this part of `runningMax` are held.
 * A trial may be of a prompt queue, so trials start longer: it is soon known which new webhooks are
 * prompt.
 */
const SHARE = 1 / 2;
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
  /**
   * Called whenever a queue may be able to start a task. The call comes amid other changes, so the
   * receiver must take queues later, and not within it.
   */
  onRunnable: () => void = () => {};
  readonly #runningMax: number;
  readonly #runningPerTargetMax: number;
  readonly #trialPermits: SharedPermits;
  readonly #otherPermits: SharedPermits;
  readonly #targets = new Map<string, TaskTarget>();
  /**
   * Queues that may be able to start a task. In its turn a queue starts the task, or joins the line
   * for the permit that it lacks, from which a free permit brings it back (`#admitWaiting`). Lines
   * may hold queues that wait no more.
   *
   * Each change that may let a queue start a task must add the queue here, and `onRunnable` must be
   * called after it. The callers of this class do both by `wake`. Its methods add queues one by
   * one, and call `onRunnable` once, at their end; `start` need not, as its caller goes on until no
   * queue is left, nor `move`, as its caller wakes the queue.
   */
  readonly #runnableQueues = new QueueLine<TaskQueue>();
  /** The number of attempts under way that are not parked, and how many have shared permits. */
  #runningCount = 0;
  #sharedPermitCount = 0;
  #startCount = 0;

  constructor({ runningMax, runningPerTargetMax = Infinity }: PermitLimits) {
    this.#runningMax = runningMax;
    this.#runningPerTargetMax = runningPerTargetMax;
    this.#trialPermits = createSharedPermits(runningMax * TRIAL_SHARE);
    this.#otherPermits = createSharedPermits(runningMax * SHARE);
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

  /** The caller must `wake` the queue when it has changed all of it. */
  move(queue: TaskQueue, targetKey: string): void {
    this.#leaveTarget(queue);
    queue.target = this.getOrCreateTarget(targetKey);
    queue.responsiveness = 'unknown';
    queue.target.queues.add(queue);
  }

  leave(queue: TaskQueue): void {
    this.#runnableQueues.remove(queue);
    this.#leaveTarget(queue);
    // Another queue may have its permit now.
    this.onRunnable();
  }

  /** Must be called after a change by which the queue may be able to start a task. */
  wake(queue: TaskQueue): void {
    this.#runnableQueues.add(queue);
    this.onRunnable();
  }

  /**
   * Takes the queue whose turn it is, with the permit that may be held for it. The caller must
   * `start` the queue, whether or not it has a task.
   */
  takeQueue(): TaskQueue | undefined {
    if (this.#runningCount >= this.#runningMax) return undefined;
    const queue = this.#runnableQueues.take();
    queue?.target.permitLine.withdrawPermit(queue);
    return queue;
  }

  /**
   * Starts `task`, which is next in the queue; undefined: the queue has none that may start. Null
   * when nothing starts: there is no task, or the queue waits for a permit since `nowMs`.
   * `monotonicMs` is the time at which the attempt gets its permit.
   */
  start(
    queue: TaskQueue, task: Task | undefined, nowMs: number, monotonicMs: number,
  ): RunningTask | null {
    const line = task === undefined ? null : this.#findLineToWaitIn(queue);
    if (task !== undefined && line === null) return this.#grant(task, monotonicMs);
    line?.add(queue);
    const waitsForTarget = line === queue.target.permitLine;
    queue.targetWaitSinceMs = waitsForTarget ? queue.targetWaitSinceMs ?? nowMs : null;
    // The queue does not use the permit that was held for it: another queue gets the permit.
    this.#admitWaiting(queue.target);
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
    // After `updateQueue`: the line counts the attempt by the responsiveness that it has shown.
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

  /** Finds the line for the permit that the next attempt lacks; null: it may start. */
  #findLineToWaitIn(queue: TaskQueue): WaitingLine | null {
    if (this.#countFreePermits(queue.target) <= 0) return queue.target.permitLine;
    if (!needsSharedPermit(queue)) return null;
    const { max, line } = isTrial(queue) ? this.#trialPermits : this.#otherPermits;
    return this.#sharedPermitCount < max ? null : line;
  }

  /** Returns the milliseconds of a pause that begins; 0: none does. */
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

  /** The prompt queues of a target that takes connections again need no shared permit. */
  #endTrials({ queues }: TaskTarget): void {
    for (const queue of queues) {
      if (this.#trialPermits.line.remove(queue)) this.#runnableQueues.add(queue);
    }
  }

  /** Gives as many queues their turn as permits of the target and shared permits are free. */
  #admitWaiting(target: TaskTarget): void {
    this.#admitFrom(target.permitLine, this.#countFreePermits(target));
    for (const { max, line } of [this.#trialPermits, this.#otherPermits]) {
      this.#admitFrom(line, max - this.#sharedPermitCount);
    }
  }

  #admitFrom(line: WaitingLine, freeCount: number): void {
    for (let count = 0; count < freeCount; count += 1) {
      const queue = line.take();
      if (queue === undefined) return;
      this.#runnableQueues.add(queue);
    }
  }

  /** Counts the permits that no attempt has and that are held for no queue. */
  #countFreePermits({ isUnreachable, isPaused, permitCount, permitLine }: TaskTarget): number {
    if (isPaused) return 0;
    const permitsMax = isUnreachable ? 1 : this.#runningPerTargetMax;
    return permitsMax - permitCount - permitLine.permitHolderCount;
  }

  /** Takes a queue away from its target, and passes on the permit that may be held for it. */
  #leaveTarget(queue: TaskQueue): void {
    const { target } = queue;
    target.permitLine.remove(queue);
    this.#trialPermits.line.remove(queue);
    this.#otherPermits.line.remove(queue);
    target.queues.delete(queue);
    queue.targetWaitSinceMs = null;
    this.#admitWaiting(target);
    this.#dropTargetIfIdle(target);
  }

  #dropTargetIfIdle(target: TaskTarget): void {
    if (target.queues.size > 0 || target.permitCount > 0) return;
    // A parked attempt has no permit, so its target may have been dropped, and made anew for the
    // same key. The end of that attempt must leave the new target alone.
    if (this.#targets.get(target.key) === target) this.#targets.delete(target.key);
  }
}

function createSharedPermits(max: number): SharedPermits {
  return { max: Math.max(1, Math.floor(max)), line: new QueueLine<TaskQueue>() };
}

function updateQueue(
  queue: TaskQueue, responsiveness: Responsiveness | null, isSlow: boolean,
): void {
  if (responsiveness === 'answered') queue.responsiveness = isSlow ? 'slow' : 'prompt';
  else if (responsiveness === 'silent') queue.responsiveness = 'silent';
  else if (isSlow && queue.responsiveness !== 'silent') queue.responsiveness = 'slow';
}

/** Whether the next attempt, which needs a shared permit, is a trial: its queue may be prompt. */
function isTrial({ responsiveness, underWayCount }: TaskQueue): boolean {
  return responsiveness === 'unknown' ? underWayCount === 0 : responsiveness === 'prompt';
}

function needsSharedPermit({ responsiveness, target }: TaskQueue): boolean {
  return responsiveness !== 'prompt' || target.isUnreachable;
}

/**
 * The data of the scheduler: tasks stand in queues, and a queue sends its tasks to a target.
 *
 * Besides the limits, three things keep a ready task from starting:
 * - its queue must not start anything (`mayStart`), because the webhook is disabled or gone, or
 *   another process attempts the queue;
 * - its queue is suspended for as long as the webhook is being retired (`Scheduler.suspend`);
 * - its target is paused for a moment, after many failures in a row (`isPaused`).
 */
import type { PriorityQueue } from '../../base/structures/priority-queue.ts';

/**
 * - `waiting`: the task is not due yet.
 * - `ready`: it is due, and waits for its turn.
 * - `unsettled`: its attempt is under way, or the result of the attempt is not written yet.
 * - `gone`: it was finished or removed. Its queue drops it when it meets it.
 */
type TaskState = 'waiting' | 'ready' | 'unsettled' | 'gone';

export type Task = {
  readonly id: string;
  readonly queue: TaskQueue;
  dueAtMs: number;
  state: TaskState;
};

export type TaskQueue = {
  readonly key: string;
  readonly ready: PriorityQueue<Task>;
  /** All tasks in order of creation, if the queue keeps strict order; else null. */
  all: PriorityQueue<Task> | null;
  target: TaskTarget;
  /** Most attempts at once; 1 means strict order of creation. */
  runningMax: number;
  mayStart: boolean;
  /** The number of attempts under way. */
  runningCount: number;
  /** The number of tasks that are not gone. */
  size: number;
};

export type TaskTarget = {
  readonly key: string;
  /** Queues that wait until the target may have one more attempt. */
  readonly blocked: Set<TaskQueue>;
  health: TargetHealth | 'unknown';
  /** The number of attempts under way. */
  runningCount: number;
  /** Attempts in a row that got no response. */
  failures: number;
  /** True while no attempt starts, after many failures in a row. */
  isPaused: boolean;
  /** The number of queues that send their tasks there. */
  queueCount: number;
};

/** The health of a target, as an attempt showed it. */
export type TargetHealth = 'healthy' | 'slow' | 'unreachable';

/** An attempt under way. Its target is the one it began with; the queue may have another by now. */
export type RunningTask = { readonly task: Task; readonly target: TaskTarget };

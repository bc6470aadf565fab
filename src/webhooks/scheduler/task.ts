/** The data of the scheduler: tasks stand in queues, and a queue sends its tasks to a target. */
import type { PriorityQueue } from '../../base/structures/priority-queue.ts';

/** A task that is `gone` was finished or removed; its queue drops it when it meets it. */
type TaskState = 'waiting' | 'ready' | 'running' | 'gone';

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
  /** Tasks that run at once; 1 means strict order of creation. */
  runningMax: number;
  mayStart: boolean;
  running: number;
  /** The number of tasks that are not gone. */
  size: number;
};

export type TaskTarget = {
  readonly key: string;
  /** Queues that wait until the target may have one more attempt. */
  readonly blocked: Set<TaskQueue>;
  health: TargetHealth | 'unknown';
  running: number;
  /** Attempts in a row that got no response. */
  failures: number;
  /** True while no attempt starts, after many failures in a row. */
  isPaused: boolean;
  queues: number;
};

/** What an attempt showed of its target. */
export type TargetHealth = 'healthy' | 'slow' | 'unreachable';

/** An attempt under way. Its target is the one it began with; the queue may have another by now. */
export type RunningTask = { readonly task: Task; readonly target: TaskTarget };

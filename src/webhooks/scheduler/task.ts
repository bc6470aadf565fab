/** What is scheduled: tasks, in queues, for hosts. */
import type { PriorityQueue } from '../../base/structures/priority-queue.ts';

/** `gone`: finished or removed; a queue drops it when it comes across it. */
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
  /** Every task in order of creation, where that order is strict; else null. */
  all: PriorityQueue<Task> | null;
  host: Host;
  /** So many of its tasks run at once; with 1 they run in strict order of creation. */
  runningMax: number;
  /** While false, its tasks wait. */
  isOpen: boolean;
  running: number;
  /** Tasks that are not gone. */
  size: number;
};

export type Host = {
  readonly name: string;
  /** Queues that wait until the host may have one more attempt. */
  readonly blocked: Set<TaskQueue>;
  condition: Verdict | 'unknown';
  running: number;
  /** Attempts in a row without an answer. */
  failures: number;
  /** True while the host is left alone after failures. */
  isPaused: boolean;
  queues: number;
};

/** What an attempt showed of its host. */
export type Verdict = 'well' | 'slow' | 'dead';

/** A running task's place, to be given back. The host is the one it started with. */
export type Slot = { readonly task: Task; readonly host: Host };

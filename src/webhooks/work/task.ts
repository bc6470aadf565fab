/** Tasks stand in queues, which send them to targets; scheduler.ts tells what keeps one back. */
import type { PriorityQueue } from '../../base/structures/priority-queue.ts';
import { formatUuidTime } from '../../base/uuid.ts';
import type { OrderKey } from '../members/filters/order.ts';
import type { TargetLine } from './queue-line.ts';

/**
 * - `waiting`: the task is not due yet.
 * - `ready`: it is due, and may start once nothing keeps it from that.
 * - `unsettled`: its attempt is under way, or the result of the attempt is not written yet.
 * - `gone`: it was finished or removed. Its queue drops it when it meets it.
 */
type TaskState = 'waiting' | 'ready' | 'unsettled' | 'gone';

export type LaneName = {
  /** Unique in the queue. */
  readonly name: string;
  /** The key that its tasks share; null: they are in one lane for another reason. */
  readonly key: OrderKey | null;
};

/** Tasks of a queue that start one at a time: the next starts only when the first is gone. */
export type Lane = LaneName & {
  readonly queue: TaskQueue;
  /** The tasks that have begun, by place. Some of them are gone, or in another lane by now. */
  readonly tasks: PriorityQueue<Task>;
  /** The number of tasks that are not gone, and of those that have begun. */
  size: number;
  begunCount: number;
  underWayCount: number;
  /** The task that stands among the ready ones of the queue for this lane. */
  offeredTask: Task | null;
};

export type Task = {
  readonly id: string;
  readonly queue: TaskQueue;
  /** Tasks start in this order: the id of the task, a UUIDv7, or what `createPlace` made. */
  readonly place: string;
  lane: Lane | null;
  /** False for a delayed task that was never due: it holds back nobody. */
  hasBegun: boolean;
  /** 0: it has never waited. */
  dueAtMs: number;
  state: TaskState;
};

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

export type TaskQueue = {
  readonly key: string;
  /** The ready tasks, by place. Each lane has only its first task here. */
  readonly ready: PriorityQueue<Task>;
  /** Tasks taken out of `ready`, because they wait for the pace: at most as many as may run. */
  readonly waitingForPace: Task[];
  /** All tasks that have begun, by place, if the queue keeps strict order; else null. */
  strictOrder: PriorityQueue<Task> | null;
  /** The lanes that have tasks, by name; null: there never was one. */
  lanes: Map<string, Lane> | null;
  target: TaskTarget;
  responsiveness: QueueResponsiveness;
  /** The number of its last start among all starts: the queue with the lowest is next. */
  lastStartNumber: number;
  /** When a task began to wait for a permit of the target; null: no task waits. */
  targetWaitSinceMs: number | null;
  runningMax: number;
  mayStart: boolean;
  /** Lets the first task start although `mayStart` is false; false again after that start. */
  startsOnce: boolean;
  underWayCount: number;
  parkedCount: number;
  size: number;
};

export type TaskTarget = {
  readonly key: string;
  readonly queues: Set<TaskQueue>;
  /** Queues that lacked a permit of the target. */
  readonly permitLine: TargetLine<TaskQueue>;
  /** Whether the last attempt got no connection. A `silent` attempt leaves it unchanged. */
  isUnreachable: boolean;
  permitCount: number;
  unansweredCount: number;
  isPaused: boolean;
};

/**
 * How an attempt was answered. `answered`: it got a response, even a 500; whether attempts succeed
 * is the webhook's health (health.ts). `silent`: it had a connection, or waited for one until its
 * time was over, and got no response. `unreachable`: it got no connection, which says nothing of
 * the webhook.
 */
export type Responsiveness = 'answered' | 'silent' | 'unreachable';

/**
 * How the last attempt that showed something of a webhook was answered. `slow`: it held its permit
 * so long that other queues were kept from being served. `prompt`: it was answered sooner.
 * `unknown`: there was none since the queue was made, or got another target.
 */
export type QueueResponsiveness = 'prompt' | 'slow' | 'silent' | 'unknown';

/** An attempt under way. The task may have another target or lane by now. */
export type RunningTask = {
  readonly task: Task; readonly target: TaskTarget; readonly lane: Lane | null;
  /** `parked`: it waits for something of its own, and counts only in its queue and lane. */
  state: 'running' | 'parked' | 'ended';
  readonly isShared: boolean;
  /** When it got its permit: at its start, or when it ceased to be parked. Monotonic. */
  permitSinceMs: number;
};

export function isBefore(left: Task, right: Task): boolean {
  return left.place < right.place;
}

/**
 * Makes the place of a task that was queued at another time than its id, a UUIDv7, says. Such
 * places sort among plain ids by the millisecond, and among each other also by id.
 */
export function createPlace(queuedAtMs: number, id: string): string {
  return `${formatUuidTime(queuedAtMs)}-${id}`;
}

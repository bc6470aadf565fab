/**
 * The data of the scheduler: tasks stand in queues, and a queue sends its tasks to a target.
 * scheduler.ts tells what keeps a task from starting.
 */
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

/** Says which lane of its queue a task is in. */
export type LaneName = {
  /** Unique in the queue. */
  readonly name: string;
  /** The key that its tasks share; null: they are in one lane for another reason. */
  readonly key: OrderKey | null;
};

/** The tasks of a queue that start one at a time, the next one only when the first is gone. */
export type Lane = LaneName & {
  readonly queue: TaskQueue;
  /** The tasks that have begun, by place. Some of them are gone, or in another lane by now. */
  readonly tasks: PriorityQueue<Task>;
  /** The number of tasks that are not gone, and of those that have begun. */
  size: number;
  begunCount: number;
  /** The number of attempts under way, parked ones too. */
  underWayCount: number;
  /** The task that stands among the ready ones of the queue for this lane. */
  offeredTask: Task | null;
};

export type Task = {
  readonly id: string;
  readonly queue: TaskQueue;
  /**
   * Tasks of a queue start in the order of these texts: the id of a task, which rises with the time
   * of creation as a UUIDv7 does, or what `createPlace` made.
   */
  readonly place: string;
  /** null: the task is in no lane. */
  lane: Lane | null;
  /** False for a delayed task that was never due: it holds back nobody. */
  hasBegun: boolean;
  /** 0: it has never waited. */
  dueAtMs: number;
  state: TaskState;
};

export type TaskQueue = {
  readonly key: string;
  /** The ready tasks, by place; of each lane the first one alone. */
  readonly ready: PriorityQueue<Task>;
  /** Tasks that were taken out of `ready`, as they wait for the pace: no more than may run. */
  readonly waitingForPace: Task[];
  /** All tasks that have begun, by place, if the queue keeps strict order; else null. */
  strictOrder: PriorityQueue<Task> | null;
  /** The lanes that have tasks, by name; null: there never was one. */
  lanes: Map<string, Lane> | null;
  target: TaskTarget;
  responsiveness: QueueResponsiveness;
  /** The number of its last start among those of all queues: the queue with the lowest is next. */
  lastStartNumber: number;
  /** Since when a task waits for a permit of the target; null: none does. */
  targetWaitSinceMs: number | null;
  /** Most attempts at once; 1 means strict order. */
  runningMax: number;
  mayStart: boolean;
  /** Whether its first task may start although `mayStart` is false; until one has. */
  startsOnce: boolean;
  /** The number of attempts under way, and of those among them that are parked. */
  underWayCount: number;
  parkedCount: number;
  /** The number of tasks that are not gone. */
  size: number;
};

export type TaskTarget = {
  readonly key: string;
  /** The queues that send their tasks there. */
  readonly queues: Set<TaskQueue>;
  /** Queues that lacked a permit of the target. */
  readonly permitLine: TargetLine<TaskQueue>;
  /** Whether the last attempt got no connection; one that was `silent` leaves it as it is. */
  isUnreachable: boolean;
  /** The number of attempts under way that are not parked. */
  permitCount: number;
  /** Attempts in a row that got no response. */
  unansweredCount: number;
  /** True while no attempt starts, after many such attempts. */
  isPaused: boolean;
};

/**
 * What an attempt showed. `answered`: it got a response, and a 500 is one, too: whether attempts
 * succeed is the webhook's health (health.ts). `silent`: it had a connection, or waited for one
 * until its time was over, and got no response. `unreachable`: no connection was to be had, which
 * says nothing of the webhook.
 */
export type Responsiveness = 'answered' | 'silent' | 'unreachable';

/**
 * What the last attempt that reached a webhook showed. `slow`: whatever else it showed, it held its
 * permit for so long that others were kept from being served. `prompt`: it was answered sooner.
 */
export type QueueResponsiveness = 'prompt' | 'slow' | 'silent' | 'unknown';

/** An attempt under way. Target and lane are those it began with; it may have others by now. */
export type RunningTask = {
  readonly task: Task; readonly target: TaskTarget; readonly lane: Lane | null;
  /** `parked`: it waits for something of its own; only its queue and lane count it then. */
  state: 'running' | 'parked' | 'ended';
  /** Whether it has a shared permit: see task-queues.ts. */
  readonly isShared: boolean;
  /** Monotonic: since when it holds its permit: when it began, or ceased to be parked. */
  permitSinceMs: number;
};

/** Whether the first task of the two starts before the other. */
export function isBefore(left: Task, right: Task): boolean {
  return left.place < right.place;
}

/**
 * Makes the place of a task that was queued at another time than its id, a UUIDv7, says. It sorts
 * among places that are plain ids by the millisecond, and among those made here also by id.
 */
export function createPlace(queuedAtMs: number, id: string): string {
  return `${formatUuidTime(queuedAtMs)}-${id}`;
}

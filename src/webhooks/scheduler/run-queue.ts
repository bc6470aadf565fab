/**
 * Which of the tasks that are ready may start next. A queue holds the tasks of one source (a
 * webhook, say); queues take turns, within limits for all tasks, for a queue and for a host. It
 * does no I/O and reads no clock.
 *
 * How many attempts a host may have under way follows from what its last one showed. Hosts that are
 * not well, or not known yet, together get half of all attempts, so that targets that are dead or
 * slow never hold up those that are well.
 */
import { PriorityQueue } from '../../base/structures/priority-queue.ts';
import type { Host, Slot, Task, TaskQueue, Verdict } from './task.ts';

export type RunLimits = {
  readonly runningMax: number;
  /** Of a queue that has no limit of its own. */
  readonly runningPerQueueMax: number;
};

/** Attempts at once by the condition of a host; one that is well may have all there are. */
const RUNNING_MAX = { well: Infinity, slow: 8, unknown: 4, dead: 1 } as const;
/** Hosts that are idle and still remembered. */
const HOSTS_MAX = 1000;
/**
 * A host that cannot be reached refuses as fast as it is asked, and each refusal costs as much as
 * an accepted event: after so many in a row there is a pause between attempts.
 */
const FAILURES_FREE = 32;
const PAUSE_MS = 250;

export class RunQueue {
  readonly #limits: RunLimits;
  readonly #unwellMax: number;
  readonly #queues = new Map<string, TaskQueue>();
  readonly #hosts = new Map<string, Host>();
  /** Keys of queues that must not start anything. */
  readonly #held = new Set<string>();
  /** Queues that may be able to start a task, in order of turn. */
  readonly #runnable = new Set<TaskQueue>();
  /** Queues that wait until fewer attempts at hosts that are not well are under way. */
  readonly #blocked = new Set<TaskQueue>();
  #running = 0;
  #runningUnwell = 0;

  constructor(limits: RunLimits) {
    this.#limits = limits;
    this.#unwellMax = Math.max(1, Math.floor(limits.runningMax / 2));
  }

  get running(): number {
    return this.#running;
  }

  hosts(): Iterable<Host> {
    return this.#hosts.values();
  }

  keys(): readonly string[] {
    return [...this.#queues.keys()];
  }

  find(key: string): TaskQueue | undefined {
    return this.#queues.get(key);
  }

  /** The queue of that key, made when there is none. */
  open(
    key: string, hostName: string, isOpen: boolean,
    runningMax = this.#limits.runningPerQueueMax,
  ): TaskQueue {
    const known = this.#queues.get(key);
    if (known !== undefined) return known;
    const queue: TaskQueue = {
      key, ready: new PriorityQueue(isOlder), all: runningMax === 1 ? inOrder([]) : null,
      host: this.#enter(hostName), isOpen, runningMax, running: 0, size: 0,
    };
    this.#queues.set(key, queue);
    return queue;
  }

  /** Sets where a queue's tasks go from now on, and whether they may start. */
  update(queue: TaskQueue, hostName: string, isOpen: boolean): void {
    if (queue.host.name !== hostName) {
      queue.host.blocked.delete(queue);
      this.#leave(queue.host);
      queue.host = this.#enter(hostName);
    }
    queue.isOpen = isOpen;
    this.#runnable.add(queue);
  }

  /** Sets how many of a queue's tasks run at once; `tasksOf` gives all that it has. */
  limit(
    queue: TaskQueue, runningMax = this.#limits.runningPerQueueMax,
    tasksOf: (queue: TaskQueue) => Iterable<Task>,
  ): void {
    if (queue.runningMax === runningMax) return;
    queue.runningMax = runningMax;
    queue.all = runningMax === 1 ? inOrder(tasksOf(queue)) : null;
    this.#runnable.add(queue);
  }

  /** Nothing of that queue starts until `unhold`, even if it is opened anew. */
  hold(key: string): void {
    this.#held.add(key);
  }

  unhold(key: string): void {
    this.#held.delete(key);
    const queue = this.#queues.get(key);
    if (queue !== undefined) this.#runnable.add(queue);
  }

  isHeld(key: string): boolean {
    return this.#held.has(key);
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

  /** Starts the next task; null when none may start. */
  next(): Slot | null {
    while (this.#running < this.#limits.runningMax) {
      const [queue] = this.#runnable;
      if (queue === undefined) return null;
      this.#runnable.delete(queue);
      const { host } = queue;
      if (!this.#canStart(queue)) {
        this.#unblock(host);
      } else if (roomOf(host) <= 0) {
        host.blocked.add(queue);
      } else if (host.condition !== 'well' && this.#runningUnwell >= this.#unwellMax) {
        this.#blocked.add(queue);
      } else {
        const task = queue.ready.pop();
        if (task !== undefined) return this.#start(task, host);
      }
    }
    return null;
  }

  /**
   * The attempt is over; `verdict` is null when it says nothing of the host. The milliseconds after
   * which the caller is to `resume` the host; 0: it is not paused.
   */
  release({ task, host }: Slot, verdict: Verdict | null): number {
    const { queue } = task;
    queue.running -= 1;
    host.running -= 1;
    this.#running -= 1;
    if (host.condition !== 'well') this.#runningUnwell -= 1;
    const pauseMs = verdict === null ? 0 : this.#judge(host, verdict);
    this.#runnable.add(queue);
    this.#unblock(host);
    this.#unblockUnwell();
    this.#dropIfIdle(queue);
    this.#dropHostIfIdle(host);
    return pauseMs;
  }

  resume(host: Host): void {
    host.isPaused = false;
    this.#unblock(host);
  }

  #start(task: Task, host: Host): Slot {
    const { queue } = task;
    task.state = 'running';
    queue.running += 1;
    host.running += 1;
    this.#running += 1;
    if (host.condition !== 'well') this.#runningUnwell += 1;
    this.#runnable.add(queue);
    return { task, host };
  }

  #canStart(queue: TaskQueue): boolean {
    const { isOpen, running, runningMax, ready, all, key } = queue;
    if (!isOpen || running >= runningMax || this.#held.has(key)) return false;
    dropWhile(ready, ({ state }) => state !== 'ready');
    const first = ready.peek();
    if (first === undefined) return false;
    if (all === null) return true;
    dropWhile(all, ({ state }) => state === 'gone');
    return all.peek() === first;
  }

  #judge(host: Host, verdict: Verdict): number {
    const wasWell = host.condition === 'well';
    host.condition = verdict;
    if (wasWell !== (verdict === 'well')) {
      this.#runningUnwell += wasWell ? host.running : -host.running;
    }
    host.failures = verdict === 'dead' ? host.failures + 1 : 0;
    if (host.failures <= FAILURES_FREE || host.isPaused) return 0;
    host.isPaused = true;
    return PAUSE_MS;
  }

  #unblock(host: Host): void {
    let room = roomOf(host);
    for (const queue of host.blocked) {
      if (room <= 0) return;
      room -= 1;
      host.blocked.delete(queue);
      this.#runnable.add(queue);
    }
  }

  #unblockUnwell(): void {
    let room = this.#unwellMax - this.#runningUnwell;
    for (const queue of this.#blocked) {
      if (room <= 0) return;
      room -= 1;
      this.#blocked.delete(queue);
      this.#runnable.add(queue);
    }
  }

  #enter(name: string): Host {
    const host = this.#hosts.get(name) ?? {
      name, blocked: new Set(), condition: 'unknown', running: 0, failures: 0, isPaused: false,
      queues: 0,
    };
    this.#hosts.set(name, host);
    host.queues += 1;
    return host;
  }

  #leave(host: Host): void {
    host.queues -= 1;
    this.#dropHostIfIdle(host);
  }

  #dropIfIdle(queue: TaskQueue): void {
    if (queue.size > 0 || queue.running > 0 || this.#queues.get(queue.key) !== queue) return;
    this.#queues.delete(queue.key);
    this.#runnable.delete(queue);
    this.#blocked.delete(queue);
    queue.host.blocked.delete(queue);
    this.#leave(queue.host);
  }

  #dropHostIfIdle(host: Host): void {
    const isIdle = host.queues === 0 && host.running === 0;
    if (isIdle && this.#hosts.size > HOSTS_MAX) this.#hosts.delete(host.name);
  }
}

/** How many more attempts at the host may start. */
function roomOf({ condition, isPaused, running }: Host): number {
  return isPaused ? 0 : RUNNING_MAX[condition] - running;
}

function inOrder(tasks: Iterable<Task>): PriorityQueue<Task> {
  const queue = new PriorityQueue(isOlder);
  for (const task of tasks) queue.push(task);
  return queue;
}

/** Identifiers rise with creation. */
function isOlder(left: Task, right: Task): boolean {
  return left.id < right.id;
}

function dropWhile(queue: PriorityQueue<Task>, isDropped: (task: Task) => boolean): void {
  for (let first = queue.peek(); first !== undefined && isDropped(first); first = queue.peek()) {
    queue.pop();
  }
}

/**
 * Says which task is to run next: tasks wait until they are due, then for their turn within the
 * limits of their queue, their host and the whole. A task is known by its identifier alone, so
 * whatever is kept on disk and done later can be scheduled. No I/O; the clock is a parameter.
 */
import type { Clock, Timer } from '../../base/clock.ts';
import { DueTimes } from './due-times.ts';
import { RunQueue, type RunLimits } from './run-queue.ts';
import type { Host, Slot, Task, TaskQueue, Verdict } from './task.ts';

/** Where a task belongs: its queue, the host it goes to, and whether the queue may start tasks. */
export type Place = {
  readonly key: string;
  readonly host: string;
  readonly isOpen: boolean;
  /** Tasks of the queue at once, 1 for strict order; the limit of every queue when not given. */
  readonly runningMax?: number | undefined;
};

export class Scheduler {
  readonly #clock: Clock;
  /** In order of addition, which is about that of creation. */
  readonly #tasks = new Map<string, Task>();
  readonly #queues: RunQueue;
  readonly #dueTimes: DueTimes;
  /** Identifiers of tasks that were started and are not settled. */
  readonly #underWay = new Set<string>();
  readonly #pauses = new Set<Timer>();
  #onRunnable: () => void = () => {};

  constructor(clock: Clock, limits: RunLimits) {
    this.#clock = clock;
    this.#queues = new RunQueue(limits);
    this.#dueTimes = new DueTimes(clock, (task) => this.#makeReady(task));
  }

  /** From here on tasks become due. `onRunnable` is called whenever `next` may have one more. */
  start(onRunnable: () => void): void {
    this.#onRunnable = onRunnable;
    this.#dueTimes.start();
    onRunnable();
  }

  close(): void {
    this.#onRunnable = () => {};
    this.#dueTimes.close();
    for (const timer of this.#pauses) timer.cancel();
    this.#pauses.clear();
  }

  /** Tasks that wait, are ready or run. */
  get size(): number {
    return this.#tasks.size;
  }

  /** Tasks that hold a slot. */
  get running(): number {
    return this.#queues.running;
  }

  get oldest(): string | null {
    const [id] = this.#tasks.keys();
    return id ?? null;
  }

  runningByHost(): readonly { readonly host: string; readonly running: number }[] {
    return [...this.#queues.hosts()].filter(({ running }) => running > 0)
      .map(({ name, running }) => ({ host: name, running }));
  }

  find(id: string): Task | undefined {
    return this.#tasks.get(id);
  }

  /** Up to `max` identifiers of a queue's tasks, oldest first. */
  idsIn(key: string, max: number): readonly string[] {
    const queue = this.#queues.find(key);
    const ids: string[] = [];
    if (queue === undefined) return ids;
    for (const task of this.#tasksOf(queue)) {
      if (ids.length === max) break;
      ids.push(task.id);
    }
    return ids;
  }

  /** Keys of all queues. */
  keys(): readonly string[] {
    return this.#queues.keys();
  }

  /** Keys of queues that may start nothing. */
  closedKeys(): ReadonlySet<string> {
    const closed = [...this.#tasks.values()].filter(({ queue }) => !queue.isOpen);
    return new Set(closed.map(({ queue }) => queue.key));
  }

  /** A task that is not known yet. One of the same identifier that is under way goes first. */
  add(id: string, place: Place, dueAtMs: number): void {
    const { key, host, isOpen, runningMax } = place;
    const task = this.#queues.add(id, this.#queues.open(key, host, isOpen, runningMax));
    this.#tasks.set(id, task);
    if (this.#underWay.has(id)) task.state = 'running';
    else this.#wait(task, dueAtMs);
  }

  /** Sets another time for a task; one that runs gets its time when it is settled. */
  reschedule(task: Task, dueAtMs: number): void {
    if (task.state !== 'running') this.#wait(task, dueAtMs);
  }

  remove(id: string): void {
    const task = this.#tasks.get(id);
    if (task === undefined) return;
    if (task.state === 'waiting') this.#dueTimes.forget();
    this.#tasks.delete(id);
    this.#queues.remove(task);
    this.#onRunnable();
  }

  /** Moves the queue of that key, if there is one, to another host, opens, closes or limits it. */
  update({ key, host, isOpen, runningMax }: Place): void {
    const queue = this.#queues.find(key);
    if (queue === undefined) return;
    this.#queues.update(queue, host, isOpen);
    this.#queues.limit(queue, runningMax, (limited) => this.#tasksOf(limited));
    this.#onRunnable();
  }

  /** Nothing of that queue starts until `unhold`. */
  hold(key: string): void {
    this.#queues.hold(key);
  }

  unhold(key: string): void {
    this.#queues.unhold(key);
    this.#onRunnable();
  }

  isHeld(key: string): boolean {
    return this.#queues.isHeld(key);
  }

  /** Starts the next task; null when none may start. To be released, then settled. */
  next(): Slot | null {
    const slot = this.#queues.next();
    if (slot !== null) this.#underWay.add(slot.task.id);
    return slot;
  }

  /** Gives the slot back; `verdict` is what the attempt showed of its host, null for nothing. */
  release(slot: Slot, verdict: Verdict | null): void {
    const pauseMs = this.#queues.release(slot, verdict);
    if (pauseMs > 0) this.#pause(slot.host, pauseMs);
    this.#onRunnable();
  }

  /** What came of the attempt is written: the task is due again at `dueAtMs`, or done with null. */
  settle(id: string, dueAtMs: number | null): void {
    this.#underWay.delete(id);
    const task = this.#tasks.get(id);
    if (task?.state !== 'running') return;
    if (dueAtMs === null) this.remove(id);
    else this.#wait(task, dueAtMs);
  }

  *#tasksOf(queue: TaskQueue): Generator<Task> {
    for (const task of this.#tasks.values()) if (task.queue === queue) yield task;
  }

  #wait(task: Task, dueAtMs: number): void {
    if (dueAtMs > this.#clock.now()) this.#dueTimes.wait(task, dueAtMs);
    else if (task.state !== 'ready') this.#makeReady(task);
  }

  #makeReady(task: Task): void {
    if (task.state === 'waiting' && task.dueAtMs > this.#clock.now()) this.#dueTimes.forget();
    this.#queues.makeReady(task);
    this.#onRunnable();
  }

  #pause(host: Host, pauseMs: number): void {
    const timer = this.#clock.startTimer(pauseMs, () => {
      this.#pauses.delete(timer);
      this.#queues.resume(host);
      this.#onRunnable();
    });
    this.#pauses.add(timer);
  }
}

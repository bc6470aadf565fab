/** Tasks that wait for a time: a priority queue, and one timer for its head. */
import type { Clock, Timer } from '../../base/clock.ts';
import { PriorityQueue } from '../../base/structures/priority-queue.ts';
import type { Task } from './task.ts';

type Item = { readonly task: Task; readonly atMs: number };

/** A timer stands still while the machine sleeps, and clocks are set: it never runs longer. */
const TIMER_MS_MAX = 60_000;
/** Tasks made ready in one turn of the event loop. */
const READY_MAX = 1000;
/** Items of tasks that no longer wait; beyond so many, and half of all, they are removed. */
const STALE_MAX = 1000;
/** A clock that was set back by less makes waits longer by that; it is not worth a correction. */
const STEP_MS_MIN = 1000;

export class DueTimes {
  readonly #clock: Clock;
  readonly #onDue: (task: Task) => void;
  readonly #items = new PriorityQueue<Item>((left, right) => left.atMs < right.atMs);
  /** How far the time of day is ahead of the monotonic clock. */
  #aheadMs: number;
  #timer: Timer | null = null;
  #timerAtMs = Infinity;
  #staleCount = 0;
  #isStarted = false;

  constructor(clock: Clock, onDue: (task: Task) => void) {
    this.#clock = clock;
    this.#onDue = onDue;
    this.#aheadMs = clock.now() - clock.monotonicMs();
  }

  start(): void {
    this.#isStarted = true;
    this.#arm();
  }

  close(): void {
    this.#isStarted = false;
    this.#timer?.cancel();
    this.#timer = null;
    this.#timerAtMs = Infinity;
  }

  /** Lets the task wait until `dueAtMs`; an earlier wait of the same task is dropped. */
  wait(task: Task, dueAtMs: number): void {
    this.#correctForStep();
    if (task.state === 'waiting' && task.dueAtMs !== dueAtMs) this.#staleCount += 1;
    task.state = 'waiting';
    task.dueAtMs = dueAtMs;
    this.#items.push({ task, atMs: dueAtMs });
    if (this.#isStarted && dueAtMs < this.#timerAtMs) this.#arm();
  }

  /** To be called when a task that waited no longer does. */
  forget(): void {
    this.#staleCount += 1;
    if (this.#staleCount < STALE_MAX || this.#staleCount * 2 < this.#items.size) return;
    this.#items.prune(isCurrent);
    this.#staleCount = 0;
  }

  #arm(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#timerAtMs = Infinity;
    const head = this.#items.peek();
    if (head === undefined || !this.#isStarted) return;
    const delayMs = Math.min(Math.max(0, head.atMs - this.#clock.now()), TIMER_MS_MAX);
    this.#timerAtMs = head.atMs;
    this.#timer = this.#clock.startTimer(delayMs, () => this.#fire());
  }

  #fire(): void {
    this.#correctForStep();
    const nowMs = this.#clock.now();
    for (let count = 0; count < READY_MAX; count += 1) {
      const head = this.#items.peek();
      if (head === undefined || head.atMs > nowMs) break;
      this.#items.pop();
      if (isCurrent(head)) this.#onDue(head.task);
      else this.#staleCount = Math.max(0, this.#staleCount - 1);
    }
    this.#arm();
  }

  /** When the clock was set back, due times move back with it: a wait keeps its length. */
  #correctForStep(): void {
    const aheadMs = this.#clock.now() - this.#clock.monotonicMs();
    const stepMs = this.#aheadMs - aheadMs;
    this.#aheadMs = aheadMs;
    if (stepMs < STEP_MS_MIN) return;
    const items: Item[] = [];
    for (let item = this.#items.pop(); item !== undefined; item = this.#items.pop()) {
      if (isCurrent(item)) items.push(item);
    }
    this.#staleCount = 0;
    for (const { task, atMs } of items) {
      task.dueAtMs = atMs - stepMs;
      this.#items.push({ task, atMs: task.dueAtMs });
    }
  }
}

function isCurrent({ task, atMs }: Item): boolean {
  return task.state === 'waiting' && task.dueAtMs === atMs;
}

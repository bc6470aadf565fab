/** Entries that wait for a time: a heap, and one timer for its head. */
import type { Clock, Timer } from '../../base/clock.ts';
import { Heap } from './priority-queue.ts';
import type { Entry } from './run-queue.ts';

type Item = { readonly entry: Entry; readonly atMs: number };

/** Timers stand still while a machine sleeps, and clocks are set: look at the clock this often. */
const LOOK_MS_MAX = 60_000;
/** Entries made ready in one turn of the event loop. */
const READY_MAX = 1000;
const STALE_MAX = 1000;
/** A clock that was set back by less is late by that; it is not worth going through all waits. */
const STEP_MS_MIN = 1000;

export class DueTimes {
  readonly #clock: Clock;
  readonly #onDue: (entry: Entry) => void;
  readonly #heap = new Heap<Item>((left, right) => left.atMs < right.atMs);
  /** What the time of day is ahead of the monotonic clock. */
  #aheadMs: number;
  #timer: Timer | null = null;
  #timerAtMs = Infinity;
  #staleCount = 0;
  #isStarted = false;

  constructor(clock: Clock, onDue: (entry: Entry) => void) {
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

  /** The entry waits until `dueAtMs`; another wait of the same entry is forgotten. */
  wait(entry: Entry, dueAtMs: number): void {
    this.#heedStep();
    if (entry.state === 'waiting' && entry.dueAtMs !== dueAtMs) this.#staleCount += 1;
    entry.state = 'waiting';
    entry.dueAtMs = dueAtMs;
    this.#heap.push({ entry, atMs: dueAtMs });
    if (this.#isStarted && dueAtMs < this.#timerAtMs) this.#arm();
  }

  /** To be called when an entry that waited no longer does. */
  forget(): void {
    this.#staleCount += 1;
    if (this.#staleCount < STALE_MAX || this.#staleCount * 2 < this.#heap.size) return;
    this.#heap.prune(isCurrent);
    this.#staleCount = 0;
  }

  #arm(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#timerAtMs = Infinity;
    const head = this.#heap.peek();
    if (head === undefined || !this.#isStarted) return;
    const delayMs = Math.min(Math.max(0, head.atMs - this.#clock.now()), LOOK_MS_MAX);
    this.#timerAtMs = head.atMs;
    this.#timer = this.#clock.startTimer(delayMs, () => this.#fire());
  }

  #fire(): void {
    this.#heedStep();
    const nowMs = this.#clock.now();
    for (let count = 0; count < READY_MAX; count += 1) {
      const head = this.#heap.peek();
      if (head === undefined || head.atMs > nowMs) break;
      this.#heap.pop();
      if (isCurrent(head)) this.#onDue(head.entry);
      else this.#staleCount = Math.max(0, this.#staleCount - 1);
    }
    this.#arm();
  }

  /** When the clock was set back, what waits is due that much sooner: waits keep their length. */
  #heedStep(): void {
    const aheadMs = this.#clock.now() - this.#clock.monotonicMs();
    const stepMs = this.#aheadMs - aheadMs;
    this.#aheadMs = aheadMs;
    if (stepMs < STEP_MS_MIN) return;
    const items: Item[] = [];
    for (let item = this.#heap.pop(); item !== undefined; item = this.#heap.pop()) {
      if (isCurrent(item)) items.push(item);
    }
    this.#staleCount = 0;
    for (const { entry, atMs } of items) {
      entry.dueAtMs = atMs - stepMs;
      this.#heap.push({ entry, atMs: entry.dueAtMs });
    }
  }
}

function isCurrent({ entry, atMs }: Item): boolean {
  return entry.state === 'waiting' && entry.dueAtMs === atMs;
}

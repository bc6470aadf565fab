/**
 * Attempts what is pending; an `Attempter` says what an attempt is. Each pending record of the
 * attempter is a task. The tasks of the scheduler follow the stored records and nothing else, so a
 * restart builds the same tasks again. The comment at the head of scheduler.ts tells the steps of
 * an attempt.
 *
 * A queue starts tasks while its attempter lets it, this process has its lease, and its lanes are
 * not being updated (lane-updates.ts). When its webhook is gone, what is pending there ends
 * (end-pending.ts).
 *
 * These must never happen: two attempts of one task at the same time; an accepted item for which no
 * task waits; a result that is written in two steps.
 */
import { isPromise } from 'node:util/types';
import { setMaxListeners } from 'node:events';
import type { Timer } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { MaybePromise } from '../../base/when-done.ts';
import { followRecords } from '../../resources/projection.ts';
import type { Change, Collection } from '../../store/store-port.ts';
import type { Scheduler } from './scheduler.ts';
import type { LaneName, QueueSettings, Responsiveness, RunningTask, TaskOrder } from './task.ts';
import type { RelayContext } from '../relay-context.ts';
import { endPending, type Ending } from './end-pending.ts';
import { LaneUpdates } from './lane-updates.ts';
import type { QueueLease } from './ownership.ts';
import type { StoredItem } from './item-spec.ts';
import { retryUntilWritten } from './write-retry.ts';

/** The task waits as it is: there was no attempt. */
export type Postponement = { readonly postponedMs: number };

export type AttemptResult<Result> = { readonly result: Result } | Postponement;

export type TaskRecords<Item> = {
  readonly collection: Collection;
  readonly isTask: (id: string) => boolean;
  readonly isPending: (bytes: Buffer) => boolean;
  readonly decode: (bytes: Buffer) => Item;
  readonly computeDueMs: (item: Item, nowMs: number) => number;
};

/** The members of queues of webhooks. The key of such a queue is the identifier of its webhook. */
export type WebhookQueues<Item> = {
  readonly collection: string;
  /** How pending items end with their webhook. */
  readonly ending: Ending;
  /** The order of a queue as text, from which its lanes follow; null: there is none. */
  readonly describeOrder: (key: string) => string | null;
  readonly findLane: (item: StoredItem<Item>) => LaneName | null;
};

/** The means of an attempt that has to wait before it does anything. */
export type Parking = {
  /**
   * `giveUp` is called when the attempt must not go on: its task is not pending any more, its queue
   * may start nothing, or the worker closes and waits for no parked attempt.
   */
  readonly park: (giveUp: () => void) => void;
  readonly resume: () => void;
};

/** Makes attempts and writes their results. An `id` is of a task and its record. */
export interface Attempter<Item, Result> {
  readonly records: TaskRecords<Item>;
  /** null: the queues are not of webhooks. */
  readonly webhookQueues: WebhookQueues<Item> | null;
  /** Called once for a new task: returns its queue, place and lane. */
  placeTask(storedItem: StoredItem<Item>): { readonly key: string; readonly order: TaskOrder };
  /** The present settings of a queue, without its lease and lanes, which the worker knows. */
  describeQueue(key: string): QueueSettings;
  /** Called with each change of a record, before its task follows it. */
  onChange?(change: Change): void;
  /** The name of an attempt in messages, a singular with its article. */
  readonly noun: string;
  /**
   * Whether an attempt may begin, asked whenever a task is due, also while the store takes no
   * writes. When the answer becomes true, `Scheduler.wake` must be called.
   */
  mayBegin(): boolean;
  /**
   * Makes an attempt; null: nothing was done, or `cutOff` came first. Throws or rejects when our
   * own state kept it from having a result: then no attempt counts, and the task is due again after
   * seconds, or after a minute for a bug of ours, without end. The result is written only if
   * `lease` is held then.
   */
  runAttempt(
    id: string, lease: QueueLease, cutOff: AbortSignal, parking: Parking,
  ): MaybePromise<AttemptResult<Result> | null>;
  /** Called before the result is written; returns the responsiveness it shows, or null. */
  countAndAssess(result: Result): Responsiveness | null;
  /** Skips a record that is gone or whose lease is over; repeats a refused write until closed. */
  writeResult(result: Result, worker: AttemptWorker): Promise<unknown>;
  logLabels(id: string): object;
}

export type AttemptWorker = Pick<QueueWorker<unknown, unknown>, 'closing' | 'updateQueue'>;

const STORE_CHECK_MS = 1000;
/** Most attempts under way and ends of orphaned queues, without parked attempts. */
const ACTIVE_MAX = 1024;
/** Delays after an `AppError`, as of the store, and after a bug of ours. */
const STORE_ERROR_DELAY_MS = 6000;
const BUG_DELAY_MS = 60_000;
const NO_LEASE_DELAY_MS = 1000;
/** Attempts may end at once and make room for more: after this long others get their turn. */
const TURN_MS_MAX = 5;

export class QueueWorker<Item, Result> {
  readonly #context: RelayContext;
  readonly #scheduler: Scheduler;
  readonly #attempter: Attempter<Item, Result>;
  readonly #laneUpdates: LaneUpdates;
  readonly #unfollow: readonly (() => void)[];
  #underWayCount = 0;
  readonly #onEnd = (): void => {
    this.#underWayCount -= 1;
    this.#requestRun();
    if (this.#underWayCount === 0) this.#onIdle?.();
  };
  readonly #onFailure = (thrown: unknown): void => {
    this.#context.log.error(`${this.#attempter.noun} failed unexpectedly`, { error: thrown });
    this.#onEnd();
  };
  #onIdle: (() => void) | null = null;
  readonly #closing = new AbortController();
  readonly closing: AbortSignal = this.#closing.signal;
  readonly #cutOff = new AbortController();
  /** For a lease that may end, the signal that aborts when it has ended or `#cutOff` aborts. */
  readonly #cutOffByLease = new WeakMap<QueueLease, AbortSignal>();
  readonly #parked = new Map<string, { readonly key: string; readonly giveUp: () => void }>();
  #isStarted = false;
  #whenClosed: Promise<void> | null = null;
  #isRunRequested = false;
  #storeTimer: Timer | null = null;

  /** Makes the tasks of pending records, and follows records and webhooks from now on. */
  constructor(context: RelayContext, scheduler: Scheduler, attempter: Attempter<Item, Result>) {
    const { store, ownership } = context;
    const { records, webhookQueues } = attempter;
    this.#context = context;
    this.#scheduler = scheduler;
    this.#attempter = attempter;
    this.#laneUpdates = new LaneUpdates(context, scheduler, (id) => this.#findLane(id),
      (key) => scheduler.update(this.#describeQueue(key)));
    // Node warns above ten listeners, and each attempt under way listens here.
    setMaxListeners(0, this.#cutOff.signal);
    this.#unfollow = [
      // Before the records, whose lanes follow from their webhooks.
      ...webhookQueues === null ? [] : [followRecords(
        store.collection(webhookQueues.collection), ({ id }) => this.updateQueue(id))],
      followRecords(records.collection, (change) => this.#applyChange(change)),
      ownership.onChange(() => {
        for (const key of scheduler.listQueueKeys()) this.updateQueue(key);
        this.#requestRun();
      }),
    ];
  }

  /** Must be called when the result of `describeQueue` has changed without its webhook. */
  updateQueue(key: string): void {
    if (this.closing.aborted) return;
    const { webhookQueues } = this.#attempter;
    if (webhookQueues !== null) {
      this.#laneUpdates.follow(key, webhookQueues.describeOrder(key));
    }
    const queue = this.#describeQueue(key);
    this.#scheduler.update(queue);
    if (!queue.mayStart) this.#giveUpParked((parked) => parked.key === key);
    if (this.#isStarted) this.#endIfOrphaned(key);
  }

  start(): void {
    this.#isStarted = true;
    this.#scheduler.start(() => this.#requestRun());
    for (const key of this.#scheduler.listKeysThatMayNotStart()) this.#endIfOrphaned(key);
  }

  /**
   * Gives attempts `graceMs` to end. An attempt cut off after that counts as not made. Idempotent:
   * a later call has the time of the first.
   */
  close(graceMs: number): Promise<void> {
    this.#whenClosed ??= this.#close(graceMs);
    return this.#whenClosed;
  }

  async #close(graceMs: number): Promise<void> {
    this.#closing.abort();
    this.#giveUpParked(() => true);
    this.#laneUpdates.close();
    this.#scheduler.close();
    this.#storeTimer?.cancel();
    const timer = this.#context.clock.startTimer(graceMs, () => this.#cutOff.abort());
    if (this.#underWayCount > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    timer.cancel();
    // Not before: `endPending` goes on until no task is left, and these listeners remove tasks.
    for (const unfollow of this.#unfollow) unfollow();
  }

  /**
   * Asks to start all tasks that may start, once in a turn of the event loop, after its responses
   * are read: requests that leave one by one wake the target each time, which halved the measured
   * rate.
   */
  #requestRun(): void {
    if (this.#isRunRequested || !this.#isStarted || this.closing.aborted) return;
    this.#isRunRequested = true;
    setImmediate(() => {
      this.#isRunRequested = false;
      this.#startTasks();
    });
  }

  #applyChange(change: Change): void {
    const { id, before, after } = change;
    const { clock } = this.#context;
    const { records } = this.#attempter;
    if (!records.isTask(id)) return;
    this.#attempter.onChange?.(change);
    if (after === null || !records.isPending(after)) {
      this.#parked.get(id)?.giveUp();
      return this.#scheduler.remove(id);
    }
    // A new record has no task to look up: among many tasks that costs a cache miss or two.
    const task = before === null ? undefined : this.#scheduler.find(id);
    // An unsettled task gets its next time when its result is written: see `#settleByRecord`.
    if (task?.state === 'unsettled') return;
    const item = records.decode(after);
    const dueAtMs = records.computeDueMs(item, clock.now());
    if (task !== undefined) return this.#scheduler.reschedule(task, dueAtMs);
    const { key, order } = this.#attempter.placeTask({ bytes: after, item });
    const queue = this.#describeQueue(key);
    this.#scheduler.add(id, queue, dueAtMs, order);
    if (this.#isStarted && !queue.mayStart) this.#endIfOrphaned(key);
  }

  #describeQueue(key: string): QueueSettings {
    const queue = this.#attempter.describeQueue(key);
    if (!queue.mayStart) return queue;
    const mayStart = this.#context.ownership.findLease(key) !== null
      && !this.#laneUpdates.isUnderWay(key);
    return mayStart ? queue : { ...queue, mayStart };
  }

  #findLane(id: string): LaneName | null {
    const { collection, decode } = this.#attempter.records;
    const bytes = collection.findBytes(id);
    return bytes === undefined ? null
      : this.#attempter.webhookQueues?.findLane({ bytes, item: decode(bytes) }) ?? null;
  }

  /**
   * Ends the pending items of a queue whose webhook is gone. An item may be staged for a webhook
   * while the removal of the webhook is staged, too.
   */
  #endIfOrphaned(key: string): void {
    const { ending } = this.#attempter.webhookQueues ?? {};
    if (ending === undefined || !ending.isOrphaned(key)) return;
    if (this.#context.ownership.findLease(key) === null) return;
    if (this.#scheduler.countTasks(key) === 0) return;
    this.#track(retryUntilWritten(this.#context, this.closing, ending.message, { hook: key },
      () => endPending(this.#context, this.#scheduler, ending, key)));
  }

  #startTasks(): void {
    if (this.closing.aborted) return;
    const { store, ownership, clock } = this.#context;
    const endMs = clock.monotonicMs() + TURN_MS_MAX;
    while (!this.closing.aborted
      && this.#underWayCount - this.#parked.size < ACTIVE_MAX) {
      // The attempt before may have taken what the next one needs.
      if (!this.#attempter.mayBegin()) return;
      // An attempt whose result cannot be written would be made again after a restart.
      if (store.failure !== null) return this.#checkStoreLater();
      if (!ownership.mayBegin()) return;
      const runningTask = this.#scheduler.startNext();
      if (runningTask === null) return;
      const lease = ownership.findLease(runningTask.task.queue.key);
      if (lease?.beginAttempt() === true) {
        this.#track(this.#runTask(runningTask, lease));
      } else {
        this.#scheduler.release(runningTask, null);
        this.#scheduler.settle(runningTask.task.id, clock.now() + NO_LEASE_DELAY_MS);
      }
      if (clock.monotonicMs() >= endMs) return this.#requestRun();
    }
  }

  #track(work: Promise<void>): void {
    this.#underWayCount += 1;
    void work.then(this.#onEnd, this.#onFailure);
  }

  #checkStoreLater(): void {
    this.#storeTimer ??= this.#context.clock.startTimer(STORE_CHECK_MS, () => {
      this.#storeTimer = null;
      this.#requestRun();
    });
  }

  #cutOffSignal(lease: QueueLease): AbortSignal {
    const { signal } = this.#cutOff;
    if (lease.endSignal === null) return signal;
    const existingSignal = this.#cutOffByLease.get(lease);
    if (existingSignal !== undefined) return existingSignal;
    const combinedSignal = AbortSignal.any([signal, lease.endSignal]);
    setMaxListeners(0, combinedSignal);
    this.#cutOffByLease.set(lease, combinedSignal);
    return combinedSignal;
  }

  /** Each way out releases the running task once, and settles its task once. */
  async #runTask(runningTask: RunningTask, lease: QueueLease): Promise<void> {
    const { clock } = this.#context;
    const { id } = runningTask.task;
    try {
      let attemptResult: AttemptResult<Result> | null;
      try {
        const attempt = this.#attempter.runAttempt(id, lease, this.#cutOffSignal(lease), {
          park: (giveUp) => this.#park(runningTask, giveUp),
          resume: () => this.#resume(runningTask),
        });
        attemptResult = isPromise(attempt) ? await attempt : attempt;
      } catch (thrown) {
        this.#scheduler.release(runningTask, null);
        return this.#postpone(id, 'ended without a result', thrown);
      }
      if (attemptResult === null || 'postponedMs' in attemptResult) {
        this.#scheduler.release(runningTask, null);
        return attemptResult === null ? this.#settleByRecord(id)
          : this.#scheduler.settle(id, clock.now() + attemptResult.postponedMs);
      }
      const { result } = attemptResult;
      this.#scheduler.release(runningTask, this.#countAndAssess(id, result));
      try {
        await this.#attempter.writeResult(result, this);
      } catch (thrown) {
        return this.#postpone(id, 'could not be recorded', thrown);
      }
      this.#settleByRecord(id);
    } finally {
      this.#parked.delete(id);
      lease.endAttempt();
    }
  }

  #park(runningTask: RunningTask, giveUp: () => void): void {
    // A run that was cut off may wait after its attempt is over, when the next is parked.
    if (runningTask.state === 'ended') return giveUp();
    const { id, queue: { key } } = runningTask.task;
    this.#parked.set(id, { key, giveUp });
    this.#scheduler.setParked(runningTask, true);
    if (this.closing.aborted) giveUp();
  }

  #resume(runningTask: RunningTask): void {
    if (runningTask.state === 'ended') return;
    this.#parked.delete(runningTask.task.id);
    this.#scheduler.setParked(runningTask, false);
  }

  #giveUpParked(isMeant: (parked: { readonly key: string }) => boolean): void {
    for (const parked of this.#parked.values()) if (isMeant(parked)) parked.giveUp();
  }

  /** A bug is only logged: the result must be written, or the attempt is made again. */
  #countAndAssess(id: string, result: Result): Responsiveness | null {
    try {
      return this.#attempter.countAndAssess(result);
    } catch (thrown) {
      this.#logProblem(id, 'could not be counted', thrown);
      return null;
    }
  }

  /** `#applyChange` skips unsettled tasks, so the due time is read from the record here. */
  #settleByRecord(id: string): void {
    const { collection, isPending, decode, computeDueMs } = this.#attempter.records;
    let dueAtMs: number | null = null;
    try {
      // Most tasks are done by now: then no record need be looked up.
      const bytes = this.#scheduler.find(id) === undefined ? undefined : collection.findBytes(id);
      if (bytes !== undefined && isPending(bytes)) {
        dueAtMs = computeDueMs(decode(bytes), this.#context.clock.now());
      }
    } catch (thrown) {
      return this.#postpone(id, 'has an unreadable record', thrown);
    }
    this.#scheduler.settle(id, dueAtMs);
  }

  #postpone(id: string, problem: string, thrown: unknown): void {
    const { clock } = this.#context;
    this.#logProblem(id, problem, thrown);
    const delayMs = thrown instanceof AppError ? STORE_ERROR_DELAY_MS : BUG_DELAY_MS;
    this.#scheduler.settle(id, clock.now() + delayMs);
  }

  #logProblem(id: string, problem: string, thrown: unknown): void {
    const labels = this.#attempter.logLabels(id);
    this.#context.log.error(`${this.#attempter.noun} ${problem}`, { ...labels, error: thrown });
  }
}

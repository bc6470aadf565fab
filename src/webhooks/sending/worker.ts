/**
 * Sends what is pending. The scheduler's tasks follow the stored deliveries and nothing else: what
 * is pending there waits, is ready or runs here, and a restart builds the same again.
 *
 * What must never happen: two attempts of one delivery at the same time; an accepted delivery that
 * nothing waits for; a result that is written in two steps.
 */
import { setMaxListeners } from 'node:events';
import type { Timer } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { timeOfUuidV7 } from '../../base/uuid.ts';
import { follow, type RecordChange } from '../../resources/projection.ts';
import type { Collection } from '../../store/port.ts';
import { decodeDelivery, statusOf, updatedMsOf } from '../deliveries/codec.ts';
import {
  deliveryCollection, dueTimeMs, type Delivery, type KnownDelivery,
} from '../deliveries/delivery.ts';
import type { FanOuts } from '../deliveries/fan-out.ts';
import { recordOutcome, type Attempted, type RecorderParts } from './recorder.ts';
import { ResultBatch } from './result-batch.ts';
import { cancelPending } from './retirement.ts';
import { untilWritten } from './until-written.ts';
import type { OutgoingIndex } from '../outgoing/webhook-index.ts';
import type { Place, Scheduler } from '../scheduler/scheduler.ts';
import type { Slot } from '../scheduler/task.ts';
import { makeAttempt, verdictOf, type AttemptParts } from './attempt.ts';
import { BackgroundTasks } from './background-tasks.ts';
import { forwardHost, HELD_BACK, type RequestParts } from './request-builder.ts';
import type { Sender } from './sender.ts';
import { DeliveryFigures, type DeliveryStatistics } from './statistics.ts';

type WorkerParts = RequestParts & {
  readonly hooks: OutgoingIndex;
  readonly scheduler: Scheduler;
  readonly sender: Pick<Sender, 'attempt'>;
  readonly fanOuts: Pick<FanOuts, 'unwritten' | 'onIdle'>;
  readonly log: Logger;
  /** Seconds between attempts. */
  readonly schedule: readonly number[];
  /** In [0, 1). */
  readonly random: () => number;
};

/** While the store takes no writes nothing is sent; this often we look whether it does again. */
const STORE_LOOK_MS = 1000;
/** Attempts under way and results not yet written, beyond which no attempt begins. */
const UNRECORDED_MAX = 1024;
/** When a body could not be stored, or an attempt broke on a bug of ours, the next one waits. */
const UNSTORED_DELAY_MS = 6000;
const BUG_DELAY_MS = 60_000;
/** A delivery without room for its body waits this long; that some do is logged once a minute. */
const HELD_BACK_DELAY_MS = 10_000;
const HELD_BACK_LOG_MS = 60_000;
/** Queues of forwards are named by their host, those of webhooks by their identifier. */
const FORWARD_PREFIX = 'forward ';

export class DeliveryWorker {
  readonly #parts: WorkerParts & AttemptParts & RecorderParts;
  readonly #records: Collection;
  readonly #background: BackgroundTasks;
  /** Aborted when we are closed, and when the attempts under way have had their time. */
  readonly #closing = new AbortController();
  readonly #cutOff = new AbortController();
  readonly #unfollow: () => void;
  readonly #figures = new DeliveryFigures();
  #isStarted = false;
  #isRunAsked = false;
  #storeTimer: Timer | null = null;
  #heldBackLoggedMs = -Infinity;

  constructor(parts: WorkerParts) {
    this.#parts = {
      ...parts, results: new ResultBatch(parts.store), closing: this.#closing.signal,
      cutOff: this.#cutOff.signal,
    };
    this.#records = parts.store.collection(deliveryCollection.name);
    this.#background = new BackgroundTasks(parts.log, () => this.#askRun());
    // Every attempt under way listens.
    setMaxListeners(0, this.#cutOff.signal);
    this.#unfollow = follow(this.#records, (applied) => this.#apply(applied));
    parts.hooks.onChange((hook) => this.#onHookChange(hook));
    parts.fanOuts.onIdle(() => this.#askRun());
  }

  /** From here on attempts are made. */
  start(): void {
    this.#isStarted = true;
    this.#parts.scheduler.start(() => this.#askRun());
    for (const key of this.#parts.scheduler.closedKeys()) this.#cancelIfOrphaned(key);
  }

  /** Lets what is under way end, for `graceMs`; what is cut off then counts as not made. */
  async close(graceMs: number): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    this.#parts.scheduler.close();
    this.#storeTimer?.cancel();
    this.#unfollow();
    const timer = this.#parts.clock.startTimer(graceMs, () => this.#cutOff.abort());
    await this.#background.idle();
    timer.cancel();
  }

  statistics(): DeliveryStatistics {
    const { scheduler, clock } = this.#parts;
    const { oldest } = scheduler;
    return {
      pending: scheduler.size,
      inFlight: scheduler.running,
      oldestPendingMs: oldest === null ? 0 : Math.max(0, clock.now() - timeOfUuidV7(oldest)),
      figures: this.#figures,
      inFlightByHost: scheduler.runningByHost()
        .map(({ host, running }) => ({ host, inFlight: running })),
    };
  }

  #apply({ id, after }: RecordChange): void {
    const { scheduler, clock } = this.#parts;
    if (after === null || statusOf(after) !== 'pending') return scheduler.remove(id);
    const task = scheduler.find(id);
    // What runs is given its next time when its attempt is over.
    if (task?.state === 'running') return;
    const delivery = decodeDelivery(after);
    const dueAtMs = dueTimeMs(delivery, clock.now());
    if (task !== undefined) return scheduler.reschedule(task, dueAtMs);
    const place = this.#placeOf({ bytes: after, delivery });
    scheduler.add(id, place, dueAtMs);
    if (this.#isStarted && !place.isOpen) this.#cancelIfOrphaned(place.key);
  }

  #placeOf(known: KnownDelivery): Place {
    const { hook } = known.delivery;
    if (hook !== null) return this.#placeOfHook(hook);
    const host = forwardHost(this.#parts.store, known);
    return { key: `${FORWARD_PREFIX}${host}`, host, isOpen: true };
  }

  #placeOfHook(identifier: string): Place {
    const { host = '', enabled = false, maxInFlight } = this.#parts.hooks.find(identifier) ?? {};
    return { key: identifier, host, isOpen: enabled, runningMax: maxInFlight };
  }

  #onHookChange(identifier: string): void {
    if (this.#closing.signal.aborted) return;
    this.#parts.scheduler.update(this.#placeOfHook(identifier));
    if (this.#isStarted) this.#cancelIfOrphaned(identifier);
  }

  // A delivery may be staged for a hook while the hook's removal is staged, too.
  #cancelIfOrphaned(hook: string): void {
    const { hooks, scheduler } = this.#parts;
    if (hooks.find(hook) !== undefined || scheduler.idsIn(hook, 1).length === 0) return;
    this.#background.run(untilWritten(this.#parts,
      'deliveries of a removed webhook wait to be cancelled', { hook },
      () => cancelPending(this.#parts, hook)));
  }

  // Once a turn of the loop, after its answers are read: requests that leave one by one wake the
  // target for each, and that took longer than all else an attempt costs (measured: half the rate).
  #askRun(): void {
    if (this.#isRunAsked || !this.#isStarted || this.#closing.signal.aborted) return;
    this.#isRunAsked = true;
    setImmediate(() => {
      this.#isRunAsked = false;
      this.#run();
    });
  }

  #run(): void {
    const { store, fanOuts, scheduler } = this.#parts;
    // What could not be written down would be sent again after a restart.
    if (store.failure !== null) return this.#lookLater();
    // A later event's delivery must not overtake one that is not there yet.
    if (fanOuts.unwritten > 0) return;
    while (!this.#closing.signal.aborted && this.#background.count < UNRECORDED_MAX) {
      const slot = scheduler.next();
      if (slot === null) return;
      this.#background.run(this.#attempt(slot));
    }
  }

  #lookLater(): void {
    this.#storeTimer ??= this.#parts.clock.startTimer(STORE_LOOK_MS, () => {
      this.#storeTimer = null;
      this.#askRun();
    });
  }

  async #attempt(slot: Slot): Promise<void> {
    const { id } = slot.task;
    let attempted: Attempted | null;
    try {
      const made = await makeAttempt(this.#parts, id);
      if (made === HELD_BACK) return this.#holdBack(slot);
      attempted = made;
    } catch (thrown) {
      this.#release(slot, null);
      return this.#postpone(id, 'a delivery could not be prepared', thrown);
    }
    this.#release(slot, attempted);
    let recorded: Delivery | undefined;
    try {
      if (attempted !== null) recorded = await recordOutcome(this.#parts, attempted);
    } catch (thrown) {
      return this.#postpone(id, 'a delivery could not be recorded', thrown);
    }
    this.#parts.scheduler.settle(id, this.#nextTimeMs(id, recorded));
  }

  #release(slot: Slot, attempted: Attempted | null): void {
    const { scheduler, clock } = this.#parts;
    if (attempted === null) return scheduler.release(slot, null);
    const { outcome, known } = attempted;
    this.#figures.record(known.delivery, outcome, clock.now());
    scheduler.release(slot, verdictOf(outcome));
  }

  #holdBack(slot: Slot): void {
    const { scheduler, clock, log } = this.#parts;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#heldBackLoggedMs >= HELD_BACK_LOG_MS) {
      this.#heldBackLoggedMs = nowMs;
      log.warning('deliveries wait until there is room for their bodies (outgoing.maxPendingBytes)',
        { delivery: slot.task.id });
    }
    scheduler.release(slot, null);
    scheduler.settle(slot.task.id, clock.now() + HELD_BACK_DELAY_MS);
  }

  #postpone(id: string, message: string, thrown: unknown): void {
    const { scheduler, clock, log } = this.#parts;
    log.error(message, { delivery: id, error: thrown });
    const delayMs = thrown instanceof AppError ? UNSTORED_DELAY_MS : BUG_DELAY_MS;
    scheduler.settle(id, clock.now() + delayMs);
  }

  /** When the stored delivery is due; null when it is not pending. `recorded` may be older. */
  #nextTimeMs(id: string, recorded: Delivery | undefined): number | null {
    const bytes = this.#records.bytesOf(id);
    if (bytes === undefined || statusOf(bytes) !== 'pending') return null;
    const isCurrent = recorded !== undefined
      && Date.parse(recorded.updatedAt) === updatedMsOf(bytes);
    return dueTimeMs(isCurrent ? recorded : decodeDelivery(bytes), this.#parts.clock.now());
  }
}

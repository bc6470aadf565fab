/**
 * The queue of deliveries. It is derived from the stored deliveries and nothing else: what is
 * pending there is waiting, ready or under way here, and a restart builds the same again.
 *
 * What must never happen: an attempt of a delivery while another of the same is under way; an
 * accepted delivery that nothing waits for; a result that is written in two steps.
 */
import { setMaxListeners } from 'node:events';
import { AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { timeOfUuidV7 } from '../../base/uuid.ts';
import { follow, type RecordChange } from '../../resources/projection.ts';
import {
  deliveryCollection, dueTimeMs, readDelivery, statusOf, type Delivery,
  type KnownDelivery, type Outcome,
} from '../deliveries/delivery.ts';
import { runAttempt, verdictOf, type AttemptParts } from './attempt.ts';
import { Background } from './background-tasks.ts';
import { DeliveryFigures } from './statistics.ts';
import { DueTimes } from '../scheduler/due-times.ts';
import {
  hookOfLane, laneKey, Lanes, type Entry, type Host, type Lane, type Ticket,
} from '../scheduler/run-queue.ts';
import type { FanOuts } from '../deliveries/fan-out.ts';
import { HostPacer } from '../scheduler/host-backoff.ts';
import { ResultBatch } from './result-batch.ts';
import { Retirement } from './retirement.ts';
import type { QueueStatistics } from '../scheduler/statistics.ts';
import type { Sender } from './sender.ts';
import { forwardHost, type ShippingParts } from './request-builder.ts';

export type QueueParts = ShippingParts & {
  readonly sender: Pick<Sender, 'attempt'>;
  readonly fanOuts: Pick<FanOuts, 'unwritten' | 'onIdle'>;
  readonly log: Logger;
  /** Seconds between attempts. */
  readonly schedule: readonly number[];
  readonly inFlightMax: number;
  readonly inFlightPerHookMax: number;
  readonly random: () => number;
};

/** While the store takes no writes nothing is sent, and we look again this often. */
const STORE_LOOK_MS = 1000;
/** Results that wait to be written, beyond which no attempt begins. */
const UNRECORDED_MAX = 1024;
/** An attempt that broke on a bug of ours is not tried again at once. */
const BUG_DELAY_MS = 60_000;

export class DeliveryQueue {
  readonly #parts: QueueParts;
  readonly #runner: AttemptParts;
  readonly #entries = new Map<string, Entry>();
  readonly #lanes: Lanes;
  readonly #due: DueTimes;
  readonly #pacer: HostPacer<Host>;
  readonly #retirement: Retirement;
  readonly #background: Background;
  readonly #underWay = new Set<string>();
  readonly #abort = new AbortController();
  readonly #unfollow: () => void;
  readonly #figures = new DeliveryFigures();
  #isStarted = false;
  #isClosed = false;
  #isPumpAsked = false;
  #isLooking = false;

  constructor(parts: QueueParts) {
    this.#parts = parts;
    this.#retirement = new Retirement({
      ...parts, pendingOf: (hook, max) => this.pendingOf(hook, max),
      onChange: (hook) => this.#onHookChange(hook), isClosed: () => this.#isClosed,
    });
    this.#runner = {
      ...parts, results: new ResultBatch(parts.store), isClosed: () => this.#isClosed,
      signal: this.#abort.signal, retirement: this.#retirement,
    };
    this.#lanes = new Lanes({
      inFlightMax: parts.inFlightMax, inFlightPerLaneMax: parts.inFlightPerHookMax,
    });
    this.#background = new Background(parts.log, () => this.#askPump());
    this.#pacer = new HostPacer(parts.clock);
    this.#due = new DueTimes(parts.clock, (entry) => this.#makeReady(entry));
    // Every attempt under way listens.
    setMaxListeners(0, this.#abort.signal);
    const deliveries = parts.store.collection(deliveryCollection.name);
    this.#unfollow = follow(deliveries, (applied) => this.#apply(applied));
    parts.hooks.onChange((hook) => this.#onHookChange(hook));
    parts.fanOuts.onIdle(() => this.#askPump());
  }

  /** From here on attempts are made. */
  start(): void {
    this.#isStarted = true;
    this.#due.start();
    this.#askPump();
    for (const hook of this.#orphanedHooks()) this.#cancelIfOrphaned(hook);
  }

  /** Lets what is under way end, for `graceMs`; what is cut off then counts as not made. */
  async close(graceMs: number): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#due.close();
    this.#pacer.close();
    this.#unfollow();
    const timer = this.#parts.clock.startTimer(graceMs, () => this.#abort.abort());
    await this.#background.idle();
    timer.cancel();
  }

  /** Up to `max` of a hook's pending deliveries, as committed. */
  pendingOf(hook: string, max: number): readonly string[] {
    const lane = this.#lanes.find(laneKey(hook));
    const ids: string[] = [];
    if (lane === undefined) return ids;
    for (const entry of this.#entries.values()) {
      if (ids.length === max) break;
      if (entry.lane === lane) ids.push(entry.id);
    }
    return ids;
  }

  /** Cancels what is pending for a hook that is removed. */
  cancelOf(hook: string): Promise<void> {
    return this.#retirement.cancel(hook);
  }

  statistics(): QueueStatistics {
    const [oldest] = this.#entries.keys();
    return {
      pending: this.#entries.size,
      inFlight: this.#lanes.inFlight,
      oldestPendingMs: oldest === undefined
        ? 0 : Math.max(0, this.#parts.clock.now() - timeOfUuidV7(oldest)),
      figures: this.#figures,
      inFlightByHost: [...this.#lanes.hosts()].filter(({ inFlight }) => inFlight > 0)
        .map(({ name, inFlight }) => ({ host: name, inFlight })),
    };
  }

  #apply({ id, after }: RecordChange): void {
    const entry = this.#entries.get(id);
    if (after === null || statusOf(after) !== 'pending') {
      if (entry !== undefined) this.#remove(entry);
      return;
    }
    const delivery = readDelivery(after);
    if (entry === undefined) {
      const lane = this.#laneOf({ bytes: after, delivery });
      const added = this.#lanes.add(id, lane, 0);
      this.#entries.set(id, added);
      // Finished by others and asked for again, all while its attempt is under way: see #settle.
      if (this.#underWay.has(id)) added.state = 'running';
      else this.#schedule(added, delivery);
      if (this.#isStarted && !lane.isOpen) this.#cancelIfOrphaned(delivery.hook);
    } else if (entry.state !== 'running') {
      this.#schedule(entry, delivery);
    }
  }

  #schedule(entry: Entry, delivery: Delivery): void {
    const dueAtMs = dueTimeMs(delivery, this.#parts.clock.now());
    if (dueAtMs > this.#parts.clock.now()) this.#due.wait(entry, dueAtMs);
    else if (entry.state !== 'ready') this.#makeReady(entry);
  }

  #makeReady(entry: Entry): void {
    if (entry.state === 'waiting' && entry.dueAtMs > this.#parts.clock.now()) this.#due.forget();
    this.#lanes.makeReady(entry);
    this.#askPump();
  }

  #remove(entry: Entry): void {
    if (entry.state === 'waiting') this.#due.forget();
    this.#entries.delete(entry.id);
    this.#lanes.remove(entry);
    this.#askPump();
  }

  #laneOf(known: KnownDelivery): Lane {
    const { delivery } = known;
    if (delivery.hook === null) {
      const host = forwardHost(this.#parts.store, known);
      return this.#lanes.open(`forward ${host}`, host, true);
    }
    const { host, isOpen } = this.#placeOf(delivery.hook);
    return this.#lanes.open(laneKey(delivery.hook), host, isOpen);
  }

  #placeOf(identifier: string): { readonly host: string; readonly isOpen: boolean } {
    const { host = '', enabled = false } = this.#parts.hooks.find(identifier) ?? {};
    return { host, isOpen: enabled && !this.#retirement.has(identifier) };
  }

  #onHookChange(identifier: string): void {
    const lane = this.#lanes.find(laneKey(identifier));
    if (lane === undefined || this.#isClosed) return;
    const { host, isOpen } = this.#placeOf(identifier);
    this.#lanes.update(lane, host, isOpen);
    if (this.#isStarted) this.#cancelIfOrphaned(identifier);
    this.#askPump();
  }

  // A delivery may be staged for a hook while the hook's removal is, too.
  #cancelIfOrphaned(hook: string | null): void {
    if (hook !== null && this.#parts.hooks.find(hook) === undefined) {
      this.#background.run(this.#retirement.cancelInTime(hook));
    }
  }

  #orphanedHooks(): ReadonlySet<string> {
    const hooks = [...this.#entries.values()].filter(({ lane }) => !lane.isOpen)
      .map(({ lane }) => hookOfLane(lane.key));
    return new Set(hooks.filter((hook) => this.#parts.hooks.find(hook) === undefined));
  }

  // Once a turn of the loop, after its answers are read: requests that leave one by one wake the
  // target for each, and that took longer than all else an attempt costs (measured: half the rate).
  #askPump(): void {
    if (this.#isPumpAsked || !this.#isStarted || this.#isClosed) return;
    this.#isPumpAsked = true;
    setImmediate(() => {
      this.#isPumpAsked = false;
      this.#pump();
    });
  }

  #pump(): void {
    // What could not be written down would be sent again after a restart.
    if (this.#parts.store.failure !== null) return this.#lookLater();
    // What comes later must not overtake what is not there yet.
    if (this.#parts.fanOuts.unwritten > 0) return;
    while (!this.#isClosed && this.#background.count < UNRECORDED_MAX) {
      const ticket = this.#lanes.next();
      if (ticket === null) return;
      const { id } = ticket.entry;
      this.#underWay.add(id);
      this.#background.run(this.#attempt(ticket));
    }
  }

  #lookLater(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#pacer.after(STORE_LOOK_MS, () => {
      this.#isLooking = false;
      this.#askPump();
    });
  }

  async #attempt(ticket: Ticket): Promise<void> {
    const { entry } = ticket;
    let isSent = false;
    try {
      await runAttempt(this.#runner, entry.id, (outcome) => {
        isSent = true;
        this.#release(ticket, outcome);
      });
    } catch (thrown) {
      // The body could not be stored, or there is a bug.
      const delayMs = thrown instanceof AppError ? BUG_DELAY_MS / 10 : BUG_DELAY_MS;
      this.#parts.log.error(`a delivery could not be ${isSent ? 'recorded' : 'prepared'}`, {
        delivery: entry.id, error: thrown,
      });
      if (!isSent) this.#lanes.release(ticket, null);
      if (entry.state === 'running') this.#due.wait(entry, this.#parts.clock.now() + delayMs);
    } finally {
      this.#settle(entry.id);
    }
  }

  #release(ticket: Ticket, outcome: Outcome | null): void {
    const { entry, host } = ticket;
    if (outcome !== null) this.#figures.record(entry, outcome, this.#parts.clock.now());
    const verdict = outcome === null ? null : verdictOf(outcome);
    const pauseMs = verdict === null || this.#isClosed
      ? 0 : this.#pacer.judge(host, verdict !== 'dead');
    if (pauseMs > 0 && !host.isPaused) {
      this.#lanes.pause(host);
      this.#pacer.after(pauseMs, () => {
        this.#lanes.resume(host);
        this.#askPump();
      });
    }
    this.#lanes.release(ticket, verdict);
    this.#askPump();
  }

  /** The attempt is over and written: the entry goes on as its record says. */
  #settle(id: string): void {
    this.#underWay.delete(id);
    const entry = this.#entries.get(id);
    if (entry?.state !== 'running' || this.#isClosed) return;
    const bytes = this.#parts.store.collection(deliveryCollection.name).find(id)?.bytes;
    if (bytes === undefined || statusOf(bytes) !== 'pending') this.#remove(entry);
    else this.#schedule(entry, readDelivery(bytes));
  }
}

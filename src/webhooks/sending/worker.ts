/**
 * Sends what is pending: makes the scheduler's tasks follow the stored deliveries, and says what an
 * attempt of one is.
 */
import { timeOfUuidV7 } from '../../base/uuid.ts';
import type { Logger } from '../../base/log.ts';
import { followRecords } from '../../resources/projection.ts';
import type { Change, Collection } from '../../store/store-port.ts';
import {
  decodeDelivery, readUntriedHook, readStatus, readUpdatedMs,
} from '../deliveries/delivery-codec.ts';
import {
  deliveryCollection, computeDeliveryDueMs, type Delivery, type StoredDelivery,
} from '../deliveries/delivery.ts';
import type { FanOuts } from '../deliveries/fan-out.ts';
import type { SystemEvents } from '../deliveries/system-events.ts';
import type { HealthMonitor } from '../health/health-monitor.ts';
import { deliveryQueue } from '../deliveries/delivery-changes.ts';
import { formatWebhookLabel } from '../webhook-label.ts';
import type { OutgoingIndex } from '../outgoing/webhook-index.ts';
import type { QueueSettings, Scheduler } from '../scheduler/scheduler.ts';
import type { TargetHealth } from '../scheduler/task.ts';
import type { OnOutcome } from '../outcome-listeners.ts';
import type { QueueLease, Ownership } from '../durable-queue/ownership.ts';
import { ResultBatch } from '../durable-queue/result-batch.ts';
import {
  QueueWorker, type AttemptResult, type AttemptRunner,
} from '../durable-queue/queue-worker.ts';
import { makeAttempt, verdictOf, type AttemptParts } from './attempt.ts';
import { recordOutcome, type Attempted, type RecorderParts } from './recorder.ts';
import { forwardHost, HELD_BACK, type RequestParts } from './request-builder.ts';
import { cancelPending } from './retirement.ts';
import type { Sender } from './sender.ts';
import { DeliveryFigures, type DeliveryStatistics } from './statistics.ts';

type WorkerParts = RequestParts & {
  readonly hooks: OutgoingIndex;
  readonly scheduler: Scheduler;
  readonly ownership: Ownership;
  readonly sender: Pick<Sender, 'attempt'>;
  readonly fanOuts: Pick<FanOuts, 'unwrittenCount' | 'onIdle'>;
  readonly log: Logger;
  /** Seconds between attempts. */
  readonly schedule: readonly number[];
  readonly systemEvents: SystemEvents;
  readonly makeId: () => string;
  /** In [0, 1). */
  readonly random: () => number;
  readonly onOutcome: OnOutcome;
  readonly health: HealthMonitor;
};

/** A delivery without room for its body waits this long; that some do is logged once a minute. */
const HELD_BACK_DELAY_MS = 10_000;
const HELD_BACK_LOG_MS = 60_000;
/** Queues of forwards are named by their host, those of webhooks by their identifier. */
const FORWARD_PREFIX = 'forward ';

export class DeliveryWorker implements AttemptRunner<Attempted, Delivery> {
  readonly noun = 'a delivery';
  readonly #parts: WorkerParts & AttemptParts & RecorderParts;
  readonly #worker: QueueWorker<Attempted, Delivery>;
  readonly #records: Collection;
  readonly #unfollow: readonly (() => void)[];
  readonly #figures = new DeliveryFigures();
  #heldBackLoggedMs = -Infinity;

  constructor(parts: WorkerParts) {
    this.#worker = new QueueWorker(parts, this);
    this.#parts = {
      ...parts, results: new ResultBatch(deliveryQueue, parts.store),
      closing: this.#worker.closing,
    };
    this.#records = parts.store.collection(deliveryCollection.name);
    this.#unfollow = [
      followRecords(this.#records, (applied) => this.#apply(applied)),
      parts.ownership.onChange(() => this.#onOwnershipChange()),
    ];
    parts.hooks.onChange((hook) => this.#onHookChange(hook));
    parts.fanOuts.onIdle(() => this.#worker.requestRun());
  }

  start(): void {
    this.#worker.start();
    for (const key of this.#parts.scheduler.listStoppedKeys()) this.#cancelIfOrphaned(key);
  }

  /** See `Worker.close`. */
  async close(graceMs: number): Promise<void> {
    for (const unfollow of this.#unfollow) unfollow();
    await this.#worker.close(graceMs);
  }

  statistics(): DeliveryStatistics {
    const { scheduler, clock, hooks } = this.#parts;
    const { oldestId } = scheduler;
    const labelOf = (key: string): string => {
      const hook = hooks.find(key);
      return hook === undefined ? key : formatWebhookLabel(hook);
    };
    return {
      pending: scheduler.size,
      inFlight: scheduler.running,
      oldestPendingMs: oldestId === null ? 0 : Math.max(0, clock.now() - timeOfUuidV7(oldestId)),
      figures: this.#figures,
      failures: [...this.#figures.failures].map(([key, count]) => ({ hook: labelOf(key), count })),
      inFlightByHost: scheduler.countRunningByTarget()
        .map(({ target, running }) => ({ host: target, inFlight: running })),
    };
  }

  // A later event's delivery must not overtake one that is not there yet.
  mayBegin(): boolean {
    return this.#parts.fanOuts.unwrittenCount === 0;
  }

  async runAttempt(
    id: string, hold: QueueLease, cutOff: AbortSignal,
  ): Promise<AttemptResult<Attempted> | null> {
    const made = await makeAttempt(this.#parts, id, hold, cutOff);
    if (made === HELD_BACK) return this.#holdBack(id);
    return made === null ? null : { result: made };
  }

  reportAttempt({ outcome, known }: Attempted): TargetHealth | null {
    const { kind, isUnsent = false, attempt: { durationMs } } = outcome;
    this.#parts.onOutcome('deliveries', known.item.hook,
      kind === 'delivered' ? kind : 'failed', isUnsent ? null : durationMs);
    this.#figures.record(known.item, outcome, this.#parts.clock.now());
    return verdictOf(outcome);
  }

  writeResult(attempted: Attempted): Promise<Delivery | undefined> {
    return recordOutcome(this.#parts, attempted);
  }

  dueTimeMs(id: string, recorded: Delivery | undefined): number | null {
    const bytes = this.#records.findBytes(id);
    if (bytes === undefined || readStatus(bytes) !== 'pending') return null;
    const isCurrent = recorded !== undefined
      && Date.parse(recorded.updatedAt) === readUpdatedMs(bytes);
    const delivery = isCurrent ? recorded : decodeDelivery(bytes);
    return computeDeliveryDueMs(delivery, this.#parts.clock.now());
  }

  logLabels(id: string): object {
    return { delivery: id };
  }

  #apply({ id, before, after }: Change): void {
    const { scheduler, clock } = this.#parts;
    if (after === null || readStatus(after) !== 'pending') return scheduler.remove(id);
    // Many may wait: to look for one that is new takes a cache miss or two.
    const task = before === null ? undefined : scheduler.find(id);
    // What runs is given its next time when its attempt is over.
    if (task?.state === 'running') return;
    const freshHook = task === undefined ? readUntriedHook(after) : null;
    if (freshHook !== null) return this.#add(id, this.#hookQueueSettings(freshHook), 0);
    const delivery = decodeDelivery(after);
    const dueAtMs = computeDeliveryDueMs(delivery, clock.now());
    if (task !== undefined) return scheduler.reschedule(task, dueAtMs);
    return this.#add(id, this.#queueSettings({ bytes: after, item: delivery }), dueAtMs);
  }

  #add(id: string, queue: QueueSettings, dueAtMs: number): void {
    this.#parts.scheduler.add(id, queue, dueAtMs);
    if (this.#worker.isStarted && !queue.mayStart) this.#cancelIfOrphaned(queue.key);
  }

  #queueSettings(known: StoredDelivery): QueueSettings {
    const { hook } = known.item;
    if (hook !== null) return this.#hookQueueSettings(hook);
    const host = forwardHost(this.#parts.store, known);
    return this.#forwardQueueSettings(host);
  }

  #forwardQueueSettings(host: string): QueueSettings {
    const key = `${FORWARD_PREFIX}${host}`;
    return { key, target: host, mayStart: this.#isOwn(key) };
  }

  #hookQueueSettings(identifier: string): QueueSettings {
    const { host = '', enabled = false, maxInFlight } = this.#parts.hooks.find(identifier) ?? {};
    const isOpen = enabled && this.#isOwn(identifier);
    return { key: identifier, target: host, mayStart: isOpen, runningMax: maxInFlight };
  }

  #isOwn(key: string): boolean {
    return this.#parts.ownership.findLease(key) !== null;
  }

  #onOwnershipChange(): void {
    for (const key of this.#parts.scheduler.keys()) {
      if (!key.startsWith(FORWARD_PREFIX)) this.#onHookChange(key);
      else this.#onForwardsChange(key.slice(FORWARD_PREFIX.length));
    }
    this.#worker.requestRun();
  }

  #onForwardsChange(host: string): void {
    this.#parts.scheduler.update(this.#forwardQueueSettings(host));
  }

  #onHookChange(identifier: string): void {
    if (this.#worker.closing.aborted) return;
    this.#parts.scheduler.update(this.#hookQueueSettings(identifier));
    if (this.#worker.isStarted) this.#cancelIfOrphaned(identifier);
  }

  // A delivery may be staged for a hook while the hook's removal is staged, too.
  #cancelIfOrphaned(hook: string): void {
    const { hooks, scheduler } = this.#parts;
    if (hooks.find(hook) !== undefined || !this.#isOwn(hook)) return;
    if (scheduler.listIds(hook, 1).length === 0) return;
    this.#worker.writeLater('deliveries of a removed webhook wait to be cancelled', { hook },
      () => cancelPending(this.#parts, hook));
  }

  #holdBack(id: string): { readonly postponedMs: number } {
    const { clock, log } = this.#parts;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#heldBackLoggedMs >= HELD_BACK_LOG_MS) {
      this.#heldBackLoggedMs = nowMs;
      log.warning('deliveries wait until there is room for their bodies (outgoing.maxPendingBytes)',
        { delivery: id });
    }
    return { postponedMs: HELD_BACK_DELAY_MS };
  }
}

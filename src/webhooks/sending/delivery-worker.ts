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
import type { OutgoingWebhookIndex } from '../outgoing/outgoing-webhook-index.ts';
import type { QueueSettings, Scheduler } from '../scheduler/scheduler.ts';
import type { TargetHealth } from '../scheduler/task.ts';
import type { OnOutcome } from '../outcome-listeners.ts';
import type { QueueLease, Ownership } from '../durable-queue/ownership.ts';
import { ResultBatch } from '../durable-queue/result-batch.ts';
import {
  QueueWorker, type AttemptResult, type AttemptRunner,
} from '../durable-queue/queue-worker.ts';
import { attemptDelivery, assessTargetHealth, type AttemptDeps } from './delivery-attempt.ts';
import { recordOutcome, type FinishedAttempt, type RecorderDeps } from './attempt-recorder.ts';
import { findForwardHost, NO_BODY_ROOM, type RequestDeps } from './request-builder.ts';
import { cancelPending } from './webhook-retirement.ts';
import type { WebhookSender } from './webhook-sender.ts';
import { DeliveryCounters, type DeliveryStatistics } from './delivery-statistics.ts';

type DeliveryWorkerDeps = RequestDeps & {
  readonly hooks: OutgoingWebhookIndex;
  readonly scheduler: Scheduler;
  readonly ownership: Ownership;
  readonly sender: Pick<WebhookSender, 'attempt'>;
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
const NO_ROOM_DELAY_MS = 10_000;
const NO_ROOM_LOG_MS = 60_000;
/** Queues of forwards are named by their host, those of webhooks by their identifier. */
const FORWARD_PREFIX = 'forward ';

export class DeliveryWorker implements AttemptRunner<FinishedAttempt, Delivery> {
  readonly noun = 'a delivery';
  readonly #deps: DeliveryWorkerDeps & AttemptDeps & RecorderDeps;
  readonly #worker: QueueWorker<FinishedAttempt, Delivery>;
  readonly #records: Collection;
  readonly #unfollow: readonly (() => void)[];
  readonly #counters = new DeliveryCounters();
  #roomLoggedMs = -Infinity;

  constructor(deps: DeliveryWorkerDeps) {
    this.#worker = new QueueWorker(deps, this);
    this.#deps = {
      ...deps, results: new ResultBatch(deliveryQueue, deps.store),
      closing: this.#worker.closing,
    };
    this.#records = deps.store.collection(deliveryCollection.name);
    this.#unfollow = [
      followRecords(this.#records, (applied) => this.#applyChange(applied)),
      deps.ownership.onChange(() => this.#onOwnershipChange()),
    ];
    deps.hooks.onChange((hook) => this.#onWebhookChange(hook));
    deps.fanOuts.onIdle(() => this.#worker.requestRun());
  }

  start(): void {
    this.#worker.start();
    for (const key of this.#deps.scheduler.listStoppedKeys()) this.#cancelIfOrphaned(key);
  }

  /** See `QueueWorker.close`. */
  async close(graceMs: number): Promise<void> {
    for (const unfollow of this.#unfollow) unfollow();
    await this.#worker.close(graceMs);
  }

  statistics(): DeliveryStatistics {
    const { scheduler, clock, hooks } = this.#deps;
    const { oldestId } = scheduler;
    const labelOf = (key: string): string => {
      const hook = hooks.find(key);
      return hook === undefined ? key : formatWebhookLabel(hook);
    };
    return {
      pending: scheduler.size,
      inFlight: scheduler.running,
      oldestPendingMs: oldestId === null ? 0 : Math.max(0, clock.now() - timeOfUuidV7(oldestId)),
      figures: this.#counters,
      failures: [...this.#counters.failures].map(([key, count]) => ({ hook: labelOf(key), count })),
      inFlightByHost: scheduler.countRunningByTarget()
        .map(({ target, running }) => ({ host: target, inFlight: running })),
    };
  }

  // A later event's delivery must not overtake one that is not there yet.
  mayBegin(): boolean {
    return this.#deps.fanOuts.unwrittenCount === 0;
  }

  async runAttempt(
    id: string, lease: QueueLease, cutOff: AbortSignal,
  ): Promise<AttemptResult<FinishedAttempt> | null> {
    const attempt = await attemptDelivery(this.#deps, id, lease, cutOff);
    if (attempt === NO_BODY_ROOM) return this.#postponeForRoom(id);
    return attempt === null ? null : { result: attempt };
  }

  reportAttempt({ outcome, stored }: FinishedAttempt): TargetHealth | null {
    const { kind, isUnsent = false, attempt: { durationMs } } = outcome;
    this.#deps.onOutcome('deliveries', stored.item.hook,
      kind === 'delivered' ? kind : 'failed', isUnsent ? null : durationMs);
    this.#counters.record(stored.item, outcome, this.#deps.clock.now());
    return assessTargetHealth(outcome);
  }

  writeResult(attempt: FinishedAttempt): Promise<Delivery | undefined> {
    return recordOutcome(this.#deps, attempt);
  }

  dueTimeMs(id: string, written: Delivery | undefined): number | null {
    const bytes = this.#records.findBytes(id);
    if (bytes === undefined || readStatus(bytes) !== 'pending') return null;
    const isCurrent = written !== undefined
      && Date.parse(written.updatedAt) === readUpdatedMs(bytes);
    const delivery = isCurrent ? written : decodeDelivery(bytes);
    return computeDeliveryDueMs(delivery, this.#deps.clock.now());
  }

  logLabels(id: string): object {
    return { delivery: id };
  }

  #applyChange({ id, before, after }: Change): void {
    const { scheduler, clock } = this.#deps;
    if (after === null || readStatus(after) !== 'pending') return scheduler.remove(id);
    // Many may wait: to look for one that is new takes a cache miss or two.
    const task = before === null ? undefined : scheduler.find(id);
    // What runs is given its next time when its attempt is over.
    if (task?.state === 'running') return;
    const untriedWebhookId = task === undefined ? readUntriedHook(after) : null;
    if (untriedWebhookId !== null) {
      return this.#add(id, this.#webhookQueueSettings(untriedWebhookId), 0);
    }
    const delivery = decodeDelivery(after);
    const dueAtMs = computeDeliveryDueMs(delivery, clock.now());
    if (task !== undefined) return scheduler.reschedule(task, dueAtMs);
    return this.#add(id, this.#queueSettings({ bytes: after, item: delivery }), dueAtMs);
  }

  #add(id: string, queue: QueueSettings, dueAtMs: number): void {
    this.#deps.scheduler.add(id, queue, dueAtMs);
    if (this.#worker.isStarted && !queue.mayStart) this.#cancelIfOrphaned(queue.key);
  }

  #queueSettings(stored: StoredDelivery): QueueSettings {
    const { hook } = stored.item;
    if (hook !== null) return this.#webhookQueueSettings(hook);
    const host = findForwardHost(this.#deps.store, stored);
    return this.#forwardQueueSettings(host);
  }

  #forwardQueueSettings(host: string): QueueSettings {
    const key = `${FORWARD_PREFIX}${host}`;
    return { key, target: host, mayStart: this.#ownsQueue(key) };
  }

  #webhookQueueSettings(identifier: string): QueueSettings {
    const { host = '', enabled = false, maxInFlight } = this.#deps.hooks.find(identifier) ?? {};
    const mayStart = enabled && this.#ownsQueue(identifier);
    return { key: identifier, target: host, mayStart, runningMax: maxInFlight };
  }

  #ownsQueue(key: string): boolean {
    return this.#deps.ownership.findLease(key) !== null;
  }

  #onOwnershipChange(): void {
    for (const key of this.#deps.scheduler.keys()) {
      if (!key.startsWith(FORWARD_PREFIX)) this.#onWebhookChange(key);
      else this.#onForwardsChange(key.slice(FORWARD_PREFIX.length));
    }
    this.#worker.requestRun();
  }

  #onForwardsChange(host: string): void {
    this.#deps.scheduler.update(this.#forwardQueueSettings(host));
  }

  #onWebhookChange(identifier: string): void {
    if (this.#worker.closing.aborted) return;
    this.#deps.scheduler.update(this.#webhookQueueSettings(identifier));
    if (this.#worker.isStarted) this.#cancelIfOrphaned(identifier);
  }

  // A delivery may be staged for a hook while the hook's removal is staged, too.
  #cancelIfOrphaned(hook: string): void {
    const { hooks, scheduler } = this.#deps;
    if (hooks.find(hook) !== undefined || !this.#ownsQueue(hook)) return;
    if (scheduler.listIds(hook, 1).length === 0) return;
    this.#worker.writeLater('deliveries of a removed webhook wait to be cancelled', { hook },
      () => cancelPending(this.#deps, hook));
  }

  #postponeForRoom(id: string): { readonly postponedMs: number } {
    const { clock, log } = this.#deps;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#roomLoggedMs >= NO_ROOM_LOG_MS) {
      this.#roomLoggedMs = nowMs;
      log.warning('deliveries wait until there is room for their bodies (outgoing.maxPendingBytes)',
        { delivery: id });
    }
    return { postponedMs: NO_ROOM_DELAY_MS };
  }
}

/**
 * Sends pending deliveries: keeps the scheduler's tasks in step with the stored deliveries, and
 * makes the attempts.
 */
import { parseTimestamp } from '../../base/clock.ts';
import { encodeJson } from '../../base/json/encode.ts';
import { parseJsonText } from '../../base/json/exact-parser.ts';
import { timeOfUuidV7 } from '../../base/uuid.ts';
import type { Logger } from '../../base/log.ts';
import type { Turns } from '../../base/turns.ts';
import { followRecords } from '../../resources/projection.ts';
import { findCommitted } from '../../store/find-record.ts';
import type { Change, Collection, Store } from '../../store/store-port.ts';
import { followDeliveries } from '../deliveries/delivery-changes.ts';
import { decodeDelivery, deliveryHead } from '../deliveries/delivery-codec.ts';
import {
  deliveryCollection, computeDeliveryDueMs, type Delivery, type StoredDelivery,
} from '../deliveries/delivery.ts';
import { backfillCollection, decodeHoldingJobId } from '../deliveries/backfill-hold.ts';
import type { DelayedEvents } from '../deliveries/delayed-events.ts';
import type { FanOuts } from '../deliveries/fan-out.ts';
import { decodeEventHead, findEventRecord, readPayloadBytes } from '../deliveries/event-record.ts';
import type { SystemEvents } from '../deliveries/system-events.ts';
import type { HealthMonitor } from '../health/health-monitor.ts';
import { formatWebhookLabel } from '../webhook-label.ts';
import { Facts } from '../filters/facts.ts';
import { findKeyPath, type KeyReader } from '../filters/order.ts';
import type {
  OutgoingWebhookIndex, ReadyOutgoingWebhook,
} from '../outgoing/outgoing-webhook-index.ts';
import type { LongLane } from '../scheduler/lanes.ts';
import type { TaskOrder } from '../scheduler/task-queues.ts';
import type { QueueSettings, Scheduler } from '../scheduler/scheduler.ts';
import { createPlace, type AttemptHealth, type LaneName } from '../scheduler/task.ts';
import type { OnOutcome } from '../outcome-listeners.ts';
import type { QueueLease, Ownership } from '../durable-queue/ownership.ts';
import { LaneUpdates } from '../durable-queue/lane-updates.ts';
import {
  QueueWorker, type AttemptResult, type AttemptRunner,
} from '../durable-queue/queue-worker.ts';
import { attemptDelivery, assessHealth, type AttemptDeps } from './delivery-attempt.ts';
import { DeliveryPaces } from './delivery-paces.ts';
import { recordOutcome, type FinishedAttempt, type RecorderDeps } from './attempt-recorder.ts';
import { SwitchedOffError } from '../actions/switched-off-error.ts';
import { findForwardHost, NO_BODY_ROOM, type RequestDeps } from './request-builder.ts';
import { cancelPending } from './webhook-retirement.ts';
import type { WebhookSender } from './webhook-sender.ts';
import { WebhookProbes } from './webhook-probes.ts';
import { DeliveryCounters, type DeliveryStatistics } from './delivery-statistics.ts';

type DeliveryWorkerDeps = RequestDeps & {
  readonly webhooks: OutgoingWebhookIndex;
  readonly scheduler: Scheduler;
  readonly ownership: Ownership;
  readonly sender: Pick<WebhookSender, 'attempt'>;
  readonly fanOuts: Pick<FanOuts, 'unwrittenCount' | 'onIdle'>;
  readonly delayedEvents: Pick<DelayedEvents, 'overdueCount' | 'onOverdueEnd'>;
  readonly log: Logger;
  readonly turns: Turns;
  /** Seconds between attempts. */
  readonly schedule: readonly number[];
  readonly systemEvents: SystemEvents;
  readonly makeId: () => string;
  /** In [0, 1). */
  readonly random: () => number;
  readonly onOutcome: OnOutcome;
  readonly health: HealthMonitor;
};

/** A delivery whose body finds no room waits this long. That is logged once a minute. */
const NO_ROOM_DELAY_MS = 10_000;
const NO_ROOM_LOG_MS = 60_000;
/**
 * The key of a queue is the identifier of a webhook, or, for the queued forwards to one host, this
 * prefix and the host.
 */
const FORWARD_PREFIX = 'forward ';

export class DeliveryWorker implements AttemptRunner<FinishedAttempt> {
  readonly noun = 'a delivery';
  readonly #deps: DeliveryWorkerDeps & AttemptDeps & RecorderDeps;
  readonly #loop: QueueWorker<FinishedAttempt>;
  readonly #records: Collection;
  readonly #unfollow: readonly (() => void)[];
  readonly #counters = new DeliveryCounters();
  readonly #laneUpdates: LaneUpdates;
  readonly #paces: DeliveryPaces;
  readonly #probes: WebhookProbes;
  #roomLoggedMs = -Infinity;

  constructor(deps: DeliveryWorkerDeps) {
    this.#loop = new QueueWorker(deps, this);
    this.#paces = new DeliveryPaces(deps);
    this.#deps = {
      ...deps, paces: this.#paces, closing: this.#loop.closing,
    };
    this.#records = deps.store.collection(deliveryCollection.name);
    this.#laneUpdates = new LaneUpdates({
      ...deps, findLane: (id) => this.#findLane(id),
      onEnd: (key) => deps.scheduler.update(this.#webhookQueueSettings(key)),
    });
    for (const webhook of deps.webhooks.all()) this.#followOrder(webhook.identifier, webhook);
    this.#probes = new WebhookProbes(deps);
    this.#unfollow = [
      followDeliveries(deps.store, (change) => this.#applyChange(change)),
      // The id of a job compares with places: see backfill-hold.ts.
      followRecords(deps.store.collection(backfillCollection.name), ({ id, after }) =>
        deps.scheduler.hold(id, after === null ? null : decodeHoldingJobId(after))),
      deps.ownership.onChange(() => this.#onOwnershipChange()),
    ];
    deps.webhooks.onChange((webhookId) => this.#onWebhookChange(webhookId));
    deps.fanOuts.onIdle(() => this.#loop.requestRun());
    deps.delayedEvents.onOverdueEnd(() => this.#loop.requestRun());
  }

  start(): void {
    this.#loop.start();
    this.#probes.start();
    for (const key of this.#deps.scheduler.listKeysThatMayNotStart()) this.#cancelIfOrphaned(key);
  }

  /** See `QueueWorker.close`. */
  async close(graceMs: number): Promise<void> {
    this.#laneUpdates.close();
    this.#probes.close();
    this.#paces.close();
    await this.#loop.close(graceMs);
    // Only now: `cancelPending` goes on until no task is left, and these listeners remove tasks.
    for (const unfollow of this.#unfollow) unfollow();
  }

  statistics(): DeliveryStatistics {
    const { scheduler, clock, webhooks } = this.#deps;
    const { oldestPlace } = scheduler;
    // A series that has no webhook, such as that of the forwards, is its own label.
    const formatLabel = (series: string): string => {
      const webhook = webhooks.find(series);
      return webhook === undefined ? series : formatWebhookLabel(webhook);
    };
    return {
      pending: scheduler.size,
      inFlight: scheduler.runningCount,
      oldestPendingMs: oldestPlace === null ? 0
        : Math.max(0, clock.now() - timeOfUuidV7(oldestPlace)),
      figures: this.#counters,
      failures: [...this.#counters.failures].map(([series, count]) =>
        ({ hook: formatLabel(series), count })),
      inFlightByHost: scheduler.countRunningByTarget()
        .map(({ target, runningCount }) => ({ host: target, inFlight: runningCount })),
    };
  }

  /** See `Lanes.listLongLanes`. */
  listLongLanes(max: number): readonly LongLane[] {
    return this.#deps.scheduler.listLongLanes(max);
  }

  // A later delivery must not overtake one that a fan-out or an overdue event has still to make.
  mayBegin(): boolean {
    const { fanOuts, delayedEvents } = this.#deps;
    return fanOuts.unwrittenCount === 0 && delayedEvents.overdueCount === 0;
  }

  async runAttempt(
    id: string, lease: QueueLease, cutOff: AbortSignal, onWaiting: (isWaiting: boolean) => void,
  ): Promise<AttemptResult<FinishedAttempt> | null> {
    const attempt = await attemptDelivery(this.#deps, id, lease, cutOff, onWaiting);
    if (attempt === NO_BODY_ROOM) return this.#postponeForRoom(id);
    if (attempt instanceof SwitchedOffError) return { postponedMs: attempt.remainingMs };
    return attempt === null ? null : { result: attempt };
  }

  countAttempt({ outcome, storedDelivery }: FinishedAttempt): void {
    const { kind, isUnsent = false, attempt: { durationMs } } = outcome;
    this.#deps.onOutcome('deliveries', storedDelivery.item.hook,
      kind === 'delivered' ? kind : 'failed', isUnsent ? null : durationMs);
    this.#counters.record(storedDelivery.item, outcome, this.#deps.clock.now());
  }

  assessHealth({ outcome }: FinishedAttempt): AttemptHealth | null {
    return assessHealth(outcome);
  }

  writeResult(attempt: FinishedAttempt): Promise<Delivery | undefined> {
    return recordOutcome(this.#deps, attempt);
  }

  findDueMs(id: string): number | null {
    const bytes = this.#records.findBytes(id);
    if (bytes === undefined || deliveryHead.readStatus(bytes) !== 'pending') return null;
    return computeDeliveryDueMs(decodeDelivery(bytes), this.#deps.clock.now());
  }

  logLabels(id: string): object {
    return { delivery: id };
  }

  /** Makes the task of a delivery what its record says. */
  #applyChange({ id, before, after }: Change): void {
    const { scheduler, clock, store } = this.#deps;
    if (after === null || deliveryHead.readStatus(after) !== 'pending') {
      this.#paces.endWait(id);
      return scheduler.remove(id);
    }
    // A new delivery is not looked up: among many tasks that costs a cache miss or two.
    const task = before === null ? undefined : scheduler.find(id);
    // Such a task gets its next time when its result is written: see `findDueMs`.
    if (task?.state === 'unsettled') return;
    const delivery = decodeDelivery(after);
    const dueAtMs = computeDeliveryDueMs(delivery, clock.now());
    if (task !== undefined) return scheduler.reschedule(task, dueAtMs);
    const stored = { bytes: after, item: delivery };
    const order = computeTaskOrder(store, stored, this.#findKeyReader(delivery), clock.now());
    const queue = this.#queueSettings(stored);
    scheduler.add(id, queue, dueAtMs, order);
    if (this.#loop.isStarted && !queue.mayStart) this.#cancelIfOrphaned(queue.key);
  }

  #queueSettings(storedDelivery: StoredDelivery): QueueSettings {
    const { hook: webhookId } = storedDelivery.item;
    // A delivery without a webhook is a queued forward.
    return webhookId === null
      ? this.#forwardQueueSettings(findForwardHost(this.#deps.store, storedDelivery.item))
      : this.#webhookQueueSettings(webhookId);
  }

  #forwardQueueSettings(host: string): QueueSettings {
    const key = `${FORWARD_PREFIX}${host}`;
    return { key, target: host, mayStart: this.#ownsQueue(key) };
  }

  #webhookQueueSettings(webhookId: string): QueueSettings {
    const { host = '', enabled = false, maxInFlight, order } =
      this.#deps.webhooks.find(webhookId) ?? {};
    const mayStart = enabled && this.#ownsQueue(webhookId)
      && !this.#laneUpdates.isUnderWay(webhookId);
    const runningMax = order === 'strict' ? 1 : maxInFlight;
    return { key: webhookId, target: host, mayStart, runningMax };
  }

  #followOrder(webhookId: string, webhook: ReadyOutgoingWebhook | undefined): void {
    this.#laneUpdates.follow(webhookId, findKeyPath(webhook?.order));
  }

  #findKeyReader({ hook: webhookId }: Pick<Delivery, 'hook'>): KeyReader | null {
    return webhookId === null ? null : this.#deps.webhooks.find(webhookId)?.readKey ?? null;
  }

  #findLane(id: string): LaneName | null {
    const bytes = this.#records.findBytes(id);
    if (bytes === undefined) return null;
    const item = decodeDelivery(bytes);
    return findDeliveryLane(this.#deps.store, { bytes, item }, this.#findKeyReader(item));
  }

  #ownsQueue(key: string): boolean {
    return this.#deps.ownership.findLease(key) !== null;
  }

  #onOwnershipChange(): void {
    this.#paces.onOwnershipChange();
    this.#probes.onOwnershipChange();
    for (const key of this.#deps.scheduler.listQueueKeys()) {
      if (!key.startsWith(FORWARD_PREFIX)) this.#onWebhookChange(key);
      else this.#onForwardsChange(key.slice(FORWARD_PREFIX.length));
    }
    this.#loop.requestRun();
  }

  #onForwardsChange(host: string): void {
    this.#deps.scheduler.update(this.#forwardQueueSettings(host));
  }

  #onWebhookChange(webhookId: string): void {
    if (this.#loop.closing.aborted) return;
    this.#followOrder(webhookId, this.#deps.webhooks.find(webhookId));
    this.#paces.follow(webhookId);
    this.#probes.follow(webhookId);
    this.#deps.scheduler.update(this.#webhookQueueSettings(webhookId));
    if (this.#loop.isStarted) this.#cancelIfOrphaned(webhookId);
  }

  /**
   * Cancels the deliveries of a queue whose webhook is gone; forwards have none. A delivery may be
   * staged for a webhook while the removal of the webhook is staged, too.
   */
  #cancelIfOrphaned(key: string): void {
    const { webhooks, scheduler } = this.#deps;
    if (key.startsWith(FORWARD_PREFIX)) return;
    if (webhooks.find(key) !== undefined || !this.#ownsQueue(key)) return;
    if (scheduler.listTaskIds(key, 1).length === 0) return;
    this.#loop.writeLater('deliveries of a removed webhook wait to be cancelled', { hook: key },
      () => cancelPending(this.#deps, key));
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

/**
 * Computes the place and the lane of a pending delivery in the queue of its webhook. Its place is
 * when it went there, and its lane is that of its key, which is read from its event each time: it
 * is stored nowhere. `readKey` is that of the webhook; null if its order has none.
 */
export function computeTaskOrder(
  store: Store, delivery: StoredDelivery, readKey: KeyReader | null, nowMs: number,
): TaskOrder {
  const lane = findDeliveryLane(store, delivery, readKey);
  const { identifier, queuedAt, nextAttemptAt, attempts } = delivery.item;
  // The id has the time of creation.
  if (queuedAt === null) return { lane };
  const queuedAtMs = parseTimestamp(queuedAt);
  const isDelayed = queuedAtMs > nowMs && attempts.length === 0
    && nextAttemptAt !== null && parseTimestamp(nextAttemptAt) >= queuedAtMs;
  return { lane, place: createPlace(queuedAtMs, identifier), isDelayed };
}

/** Finds the lane of a delivery; null: its webhook's order has no key, or it has none itself. */
function findDeliveryLane(
  store: Store, delivery: StoredDelivery, readKey: KeyReader | null,
): LaneName | null {
  if (readKey === null) return null;
  const eventBytes = findEventRecord(findCommitted(store), delivery.item);
  if (eventBytes === undefined) return null;
  const facts = new Facts({
    payload: () => parseJsonText(readPayloadBytes(eventBytes).toString()) as unknown,
    event: () => delivery.item.event,
  });
  const key = readKey(facts, decodeEventHead(eventBytes).key);
  return key === null ? null : { name: encodeJson(key), key };
}

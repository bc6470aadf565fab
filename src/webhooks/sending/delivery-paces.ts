/**
 * Gives the queues of webhooks with a `rate` their pace. The pace itself is only in memory, as the
 * node that owns a webhook's queue is the only one that attempts it.
 *
 * An attempt begins with the making of its body, for which an action may run for long. Several that
 * have begun one after the other may then have their bodies at once, so their requests wait for
 * each other a second time (`waitToSend`): no more of them than attempts are under way. A change of
 * the rate counts for them at once, and without a rate they wait no more.
 *
 * After a start, or when the queue came from another node, the attempts of before are known by the
 * webhook's health, whose record is written with each result of a webhook that has a rate
 * (attempt-recorder.ts). An attempt that a crash cut off is in no record. So the first attempt
 * waits a whole interval in any case, but no longer than a minute: else a webhook with a rate of
 * one an hour would never be attempted where a process starts every half hour.
 */
import type { Clock, Timer } from '../../base/clock.ts';
import type { Delivery } from '../deliveries/delivery.ts';
import type { Ownership, QueueLease } from '../durable-queue/ownership.ts';
import type { HealthMonitor } from '../health/health-monitor.ts';
import type { OutgoingWebhookIndex } from '../outgoing/outgoing-webhook-index.ts';
import type { Rate } from '../outgoing/rate.ts';
import { Pace, type StartLimit } from '../scheduler/pace.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';

type DeliveryPacesDeps = {
  readonly scheduler: Pick<Scheduler, 'setPace'>;
  readonly webhooks: Pick<OutgoingWebhookIndex, 'find' | 'all'>;
  readonly ownership: Pick<Ownership, 'findLease'>;
  readonly health: Pick<HealthMonitor, 'find'>;
  readonly clock: Clock;
};

/**
 * When the requests of a webhook leave, and what ends each wait for that, the oldest first. The
 * timer may have ended.
 */
type SendPace = { readonly pace: Pace; readonly waits: Set<() => void>; timer: Timer | null };

const FIRST_WAIT_MS_MAX = 60_000;

export class DeliveryPaces {
  readonly #deps: DeliveryPacesDeps;
  /** By webhook with a rate, the lease of its queue; null: another node has it. */
  readonly #leases = new Map<string, QueueLease | null>();
  /** By webhook with a rate. */
  readonly #sendPaces = new Map<string, SendPace>();
  /** By delivery, what ends its wait. */
  readonly #endsByDelivery = new Map<string, () => void>();
  #isClosed = false;

  constructor(deps: DeliveryPacesDeps) {
    this.#deps = deps;
    for (const { identifier, rate } of deps.webhooks.all()) {
      if (rate !== undefined) this.#enter(identifier, rate, null);
    }
  }

  /** Must be called when a webhook was added, changed or removed. */
  follow(webhookId: string): void {
    const { webhooks, scheduler, ownership } = this.#deps;
    const rate = webhooks.find(webhookId)?.rate;
    if (rate === undefined) {
      if (this.#leases.delete(webhookId)) scheduler.setPace(webhookId, null);
      return this.#dropSendPace(webhookId);
    }
    // Where the webhook has a rate from now on, the attempts of before are known: they were ours.
    const previousLease = this.#leases.get(webhookId);
    this.#enter(webhookId, rate,
      previousLease === undefined ? ownership.findLease(webhookId) : previousLease);
  }

  /** Must be called when leases came or went, before an attempt begins under a new one. */
  onOwnershipChange(): void {
    for (const [webhookId, previousLease] of this.#leases) {
      const rate = this.#deps.webhooks.find(webhookId)?.rate;
      if (rate !== undefined) this.#enter(webhookId, rate, previousLease);
    }
  }

  /** Ends all waits, and those to come at once. Must be called when no attempt waits any more. */
  close(): void {
    this.#isClosed = true;
    for (const sendPace of this.#sendPaces.values()) endWaits(sendPace);
  }

  /** Must be called when a delivery is not pending any more. */
  endWait(deliveryId: string): void {
    this.#endsByDelivery.get(deliveryId)?.();
  }

  /**
   * Resolves when a request of the delivery may leave, or its wait has another end: `cutOff` was
   * aborted, or see the methods above. Returns null when it may leave at once.
   */
  waitToSend(
    { hook: webhookId, identifier }: Pick<Delivery, 'hook' | 'identifier'>, cutOff: AbortSignal,
  ): Promise<void> | null {
    const sendPace = webhookId === null || this.#sendPaces.size === 0
      ? undefined : this.#sendPaces.get(webhookId);
    if (sendPace === undefined) return null;
    const { pace, waits } = sendPace;
    const nowMs = this.#deps.clock.monotonicMs();
    if (waits.size === 0 && pace.getWaitMs(nowMs) === 0) {
      pace.countStart(nowMs);
      return null;
    }
    if (this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        waits.delete(end);
        this.#endsByDelivery.delete(identifier);
        cutOff.removeEventListener('abort', end);
        resolve();
      };
      waits.add(end);
      this.#endsByDelivery.set(identifier, end);
      cutOff.addEventListener('abort', end);
      if (waits.size === 1) this.#serveWaits(sendPace);
    });
  }

  /** Ends the waits whose requests may leave now, and comes back for the next one. */
  #serveWaits(sendPace: SendPace): void {
    const { clock } = this.#deps;
    const { pace, waits } = sendPace;
    sendPace.timer?.cancel();
    const nowMs = clock.monotonicMs();
    for (const end of waits) {
      const waitMs = pace.getWaitMs(nowMs);
      if (waitMs > 0) {
        sendPace.timer = clock.startTimer(Math.ceil(waitMs), () => this.#serveWaits(sendPace));
        return;
      }
      pace.countStart(nowMs);
      end();
    }
  }

  #dropSendPace(webhookId: string): void {
    const sendPace = this.#sendPaces.get(webhookId);
    if (sendPace === undefined) return;
    this.#sendPaces.delete(webhookId);
    endWaits(sendPace);
  }

  #enter(webhookId: string, rate: Rate, previousLease: QueueLease | null): void {
    const lease = this.#deps.ownership.findLease(webhookId);
    this.#leases.set(webhookId, lease);
    if (lease === null) return;
    const intervalMs = rate.seconds * 1000 / rate.limit;
    const knownWaitMs = this.#computeKnownWaitMs(webhookId, intervalMs);
    const firstWaitMs = lease === previousLease ? knownWaitMs
      : Math.max(knownWaitMs, Math.min(intervalMs, FIRST_WAIT_MS_MAX));
    const startLimit = { limit: rate.limit, windowMs: rate.seconds * 1000 };
    this.#deps.scheduler.setPace(webhookId, startLimit, firstWaitMs);
    this.#setSendPace(webhookId, startLimit);
  }

  #setSendPace(webhookId: string, startLimit: StartLimit): void {
    const existing = this.#sendPaces.get(webhookId);
    if (existing !== undefined) {
      existing.pace.change(startLimit);
      return this.#serveWaits(existing);
    }
    const pace = new Pace(startLimit, this.#deps.clock.monotonicMs());
    this.#sendPaces.set(webhookId, { pace, waits: new Set(), timer: null });
  }

  /** What is left of the interval after the last attempt that is known of. */
  #computeKnownWaitMs(webhookId: string, intervalMs: number): number {
    const { health, clock } = this.#deps;
    const { lastSuccessMs, lastFailure } = health.find(webhookId);
    const lastMs = Math.max(lastSuccessMs ?? -Infinity, lastFailure?.atMs ?? -Infinity);
    // The clock of another node may be ahead, or ours was set back.
    return Math.min(Math.max(0, lastMs + intervalMs - clock.now()), intervalMs);
  }
}

function endWaits({ timer, waits }: SendPace): void {
  timer?.cancel();
  for (const end of waits) end();
}

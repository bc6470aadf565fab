/**
 * Gives the queues of webhooks with a `rate` their pace. The pace itself is only in memory, as the
 * node that owns a webhook's queue is the only one that attempts it.
 *
 * The making of a body, for which an action may run for long, is a start of its own, which the pace
 * does not count (`isBodyToMake` in request-builder.ts): at the one that counts the body is there.
 *
 * After a start, or when the queue came from another node, the attempts of before are known by the
 * webhook's health, whose record is written with each result of a webhook that has a rate
 * (attempt-recorder.ts). An attempt that a crash cut off is in no record. So the first attempt
 * waits a whole interval in any case, but no longer than a minute: else a webhook with a rate of
 * one an hour would never be attempted where a process starts every half hour.
 */
import type { QueueLease } from '../../work/ownership.ts';
import type { Rate } from '../../outgoing/rate.ts';
import type { DeliveryContext } from './delivery-context.ts';

const FIRST_WAIT_MS_MAX = 60_000;

export class DeliveryPaces {
  readonly #context: DeliveryContext;
  /** By webhook with a rate, the lease of its queue; null: another node has it. */
  readonly #leases = new Map<string, QueueLease | null>();

  constructor(context: DeliveryContext) {
    this.#context = context;
    for (const { identifier, rate } of context.webhooks.all()) {
      if (rate !== undefined) this.#enter(identifier, rate, null);
    }
  }

  /** Must be called when a webhook was added, changed or removed. */
  follow(webhookId: string): void {
    const { webhooks, scheduler, ownership } = this.#context;
    const rate = webhooks.find(webhookId)?.rate;
    if (rate === undefined) {
      if (this.#leases.delete(webhookId)) scheduler.setPace(webhookId, null);
      return;
    }
    // A webhook that gets a rate now had its earlier attempts here: they are known.
    const previousLease = this.#leases.get(webhookId);
    this.#enter(webhookId, rate,
      previousLease === undefined ? ownership.findLease(webhookId) : previousLease);
  }

  /** Must be called when leases came or went, before an attempt begins under a new lease. */
  onOwnershipChange(): void {
    for (const [webhookId, previousLease] of this.#leases) {
      const rate = this.#context.webhooks.find(webhookId)?.rate;
      if (rate !== undefined) this.#enter(webhookId, rate, previousLease);
    }
  }

  #enter(webhookId: string, rate: Rate, previousLease: QueueLease | null): void {
    const lease = this.#context.ownership.findLease(webhookId);
    this.#leases.set(webhookId, lease);
    if (lease === null) return;
    const intervalMs = rate.seconds * 1000 / rate.limit;
    const knownWaitMs = this.#computeKnownWaitMs(webhookId, intervalMs);
    const firstWaitMs = lease === previousLease ? knownWaitMs
      : Math.max(knownWaitMs, Math.min(intervalMs, FIRST_WAIT_MS_MAX));
    this.#context.scheduler.setPace(
      webhookId, { limit: rate.limit, windowMs: rate.seconds * 1000 }, firstWaitMs);
  }

  #computeKnownWaitMs(webhookId: string, intervalMs: number): number {
    const { health, clock } = this.#context;
    const { lastSuccessMs, lastFailure } = health.find(webhookId);
    const lastMs = Math.max(lastSuccessMs ?? -Infinity, lastFailure?.atMs ?? -Infinity);
    // The clock of another node may be ahead, or ours set back.
    return Math.min(Math.max(0, lastMs + intervalMs - clock.now()), intervalMs);
  }
}

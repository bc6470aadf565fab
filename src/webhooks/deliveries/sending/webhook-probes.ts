/**
 * Attempts the oldest pending delivery of each webhook that is off, and probed, once an hour: see
 * health/probe.ts. The node that owns the queue of a webhook probes it. The webhook's health has
 * the time of the last attempt, and its record is written with the result of each probe, so that a
 * restart makes none sooner.
 */
import { computeNextProbeMs, findLastTryMs, PROBE_INTERVAL_MS } from '../../health/probe.ts';
import { DueTimes, type TimedTask } from '../../work/due-times.ts';
import type { DeliveryContext } from './delivery-context.ts';

type Probe = TimedTask & { readonly webhookId: string };

const EMPTY_DELAY_MS = 60_000;
/** Between two probes: with a million tasks each takes some 40 ms, and many may be due. */
const SPACING_MS = 100;

export class WebhookProbes {
  readonly #context: DeliveryContext;
  readonly #dueTimes: DueTimes<Probe>;
  readonly #probes = new Map<string, Probe>();
  /** Monotonic. */
  #lastBeginMs = -Infinity;

  constructor(context: DeliveryContext) {
    this.#context = context;
    this.#dueTimes = new DueTimes(context.clock, (probe) => this.#begin(probe));
    for (const { identifier } of context.webhooks.all()) this.follow(identifier);
  }

  start(): void {
    this.#dueTimes.start();
  }

  close(): void {
    this.#dueTimes.close();
  }

  /** Must be called when a webhook was added, changed or removed. */
  follow(webhookId: string): void {
    const { webhooks, ownership } = this.#context;
    const webhook = webhooks.find(webhookId);
    const isProbedHere = webhook?.isProbed === true && ownership.findLease(webhookId) !== null;
    const probe = this.#probes.get(webhookId);
    if (isProbedHere === (probe !== undefined)) return;
    if (probe !== undefined) {
      this.#probes.delete(webhookId);
      if (probe.state === 'waiting') this.#dueTimes.countStaleWait();
      probe.state = 'gone';
      return;
    }
    const newProbe: Probe = { webhookId, place: webhookId, state: 'ready', dueAtMs: 0 };
    this.#probes.set(webhookId, newProbe);
    this.#dueTimes.wait(newProbe, this.#computeDueMs(webhookId));
  }

  onOwnershipChange(): void {
    for (const { identifier } of this.#context.webhooks.all()) this.follow(identifier);
  }

  #begin(probe: Probe): void {
    probe.state = 'ready';
    const { scheduler, webhooks, health, clock } = this.#context;
    const { webhookId } = probe;
    const nowMs = clock.now();
    const { disabledAt } = webhooks.find(webhookId) ?? {};
    // The late result of an attempt that began before the webhook was off may have come since.
    const dueMs = this.#computeDueMs(webhookId);
    if (dueMs > nowMs) return this.#dueTimes.wait(probe, dueMs);
    const spacingMs = this.#lastBeginMs + SPACING_MS - clock.monotonicMs();
    if (spacingMs > 0) return this.#dueTimes.wait(probe, nowMs + Math.ceil(spacingMs));
    this.#lastBeginMs = clock.monotonicMs();
    const hasLastTry = findLastTryMs(disabledAt, health.find(webhookId), nowMs) !== null;
    scheduler.startOnce(webhookId);
    // The result of the attempt sets the time anew when this is over. After the clock was set back
    // it may not, where another node's record still has the earlier time.
    this.#dueTimes.wait(probe, nowMs + (hasLastTry ? EMPTY_DELAY_MS : PROBE_INTERVAL_MS));
  }

  #computeDueMs(webhookId: string): number {
    const { webhooks, health, clock } = this.#context;
    const { disabledAt } = webhooks.find(webhookId) ?? {};
    return computeNextProbeMs(disabledAt, health.find(webhookId), clock.now());
  }
}

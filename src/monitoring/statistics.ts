/**
 * Counts requests, runs and deliveries, in all and by webhook: by minute for an hour, and by
 * quarter of an hour for a day. The counts are in rings in memory, which are lost when the process
 * ends.
 *
 * A slot of a ring holds the counters of one interval: 88 bytes for each webhook and kind of
 * outcome that occurred. Beyond `WEBHOOKS_MAX` webhooks in a ring the others count together as
 * `other`, so that both rings take less than 30 MB. With 500 outgoing webhooks that are tried in
 * each interval they take 14 MB, with 100 of them 3 MB.
 */
import type { Clock } from '../base/clock.ts';
import { formatTimestamp } from '../base/clock.ts';
import { ALL_ROW, Counters, findBucket, type OutcomeName } from './counters.ts';
import type { StatisticsReport } from './monitoring-schema.ts';

type StatisticsWindow = StatisticsReport['window'];
type OutcomeKind = 'requests' | 'runs' | 'deliveries';

const WINDOWS: Readonly<Record<StatisticsWindow, {
  readonly slotMs: number; readonly count: number;
}>> = { '1h': { slotMs: 60_000, count: 60 }, '24h': { slotMs: 900_000, count: 96 } };
const WEBHOOKS_MAX = 500;
const OTHER_ROW = 'other';

type StatisticsSlot = { readonly startMs: number } & Readonly<Record<OutcomeKind, Counters>>;

class StatisticsRing {
  readonly #slotMs: number;
  readonly #slots: (StatisticsSlot | undefined)[];
  #last: StatisticsSlot | null = null;
  /** Webhooks that have a row in any slot of the ring. */
  #webhookIds = new Set<string>();

  constructor(window: StatisticsWindow) {
    const { slotMs, count } = WINDOWS[window];
    this.#slotMs = slotMs;
    this.#slots = new Array<StatisticsSlot | undefined>(count).fill(undefined);
  }

  record(
    nowMs: number, kind: OutcomeKind, webhookId: string | null, outcome: OutcomeName,
    bucket: number | null,
  ): void {
    const counters = this.#getOrCreateSlot(nowMs)[kind];
    counters.add(ALL_ROW, outcome, bucket);
    if (webhookId === null) return;
    const row = counters.rows.get(webhookId) ?? this.#addRow(counters, webhookId);
    counters.add(row, outcome, bucket);
  }

  /** The oldest slot first, the present one last; null where nothing was counted. */
  listSlots(nowMs: number): { readonly startMs: number; readonly slot: StatisticsSlot | null }[] {
    const { length } = this.#slots;
    const lastMs = this.#findSlotStart(nowMs);
    return Array.from({ length }, (_, index) => {
      const startMs = lastMs - (length - 1 - index) * this.#slotMs;
      const slot = this.#slots[this.#findSlotIndex(startMs)];
      return { startMs, slot: slot?.startMs === startMs ? slot : null };
    });
  }

  #getOrCreateSlot(nowMs: number): StatisticsSlot {
    const last = this.#last;
    if (last !== null && nowMs >= last.startMs && nowMs < last.startMs + this.#slotMs) return last;
    const startMs = this.#findSlotStart(nowMs);
    const existing = this.#slots[this.#findSlotIndex(startMs)];
    // The slot exists already when the clock was set back for a moment.
    const slot = existing?.startMs === startMs ? existing
      : { startMs, requests: new Counters(), runs: new Counters(), deliveries: new Counters() };
    this.#slots[this.#findSlotIndex(startMs)] = slot;
    this.#last = slot;
    this.#webhookIds = new Set(listWebhookIds(this.listSlots(nowMs)));
    this.#webhookIds.delete(OTHER_ROW);
    return slot;
  }

  #addRow(counters: Counters, webhookId: string): number {
    const isKnown = this.#webhookIds.has(webhookId);
    if (isKnown || this.#webhookIds.size < WEBHOOKS_MAX) {
      this.#webhookIds.add(webhookId);
      return counters.addRow(webhookId);
    }
    return counters.rows.get(OTHER_ROW) ?? counters.addRow(OTHER_ROW);
  }

  #findSlotStart(timeMs: number): number {
    return Math.floor(timeMs / this.#slotMs) * this.#slotMs;
  }

  #findSlotIndex(startMs: number): number {
    return (startMs / this.#slotMs) % this.#slots.length;
  }
}

type Hook = StatisticsReport['hooks'][number];
/** The report without what webhooks are called. */
type Counts = Omit<StatisticsReport, 'hooks'> & {
  readonly hooks: readonly Omit<Hook, 'hookName' | 'target'>[];
};

export class Statistics {
  readonly #clock: Clock;
  readonly #sinceMs: number;
  readonly #hour = new StatisticsRing('1h');
  readonly #day = new StatisticsRing('24h');

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#sinceMs = clock.now();
  }

  /**
   * `webhookId` is null for outcomes of no webhook, `durationMs` where none was measured. Called
   * for every request: it allocates nothing but a new slot or row. A member that is a listener.
   */
  readonly record = (
    kind: OutcomeKind, webhookId: string | null, outcome: OutcomeName, durationMs: number | null,
  ): void => {
    const nowMs = this.#clock.now();
    const bucket = durationMs === null ? null : findBucket(durationMs);
    this.#hour.record(nowMs, kind, webhookId, outcome, bucket);
    this.#day.record(nowMs, kind, webhookId, outcome, bucket);
  };

  /** Reports what was counted. `sees` has it report as if there were no other webhooks. */
  report(
    window: StatisticsWindow, sees: ((webhookId: string) => boolean) | null = null,
  ): Counts {
    const slots = (window === '1h' ? this.#hour : this.#day).listSlots(this.#clock.now());
    const createSeries = (ids: WebhookIds): Pick<Hook, OutcomeKind> => ({
      requests: createRequestSeries(slots, ids), runs: createRunSeries(slots, ids),
      deliveries: createDeliverySeries(slots, ids),
    });
    const webhookIds = [...new Set(listWebhookIds(slots))].sort();
    const seenIds = sees === null ? webhookIds : webhookIds.filter(sees);
    return {
      window, since: formatTimestamp(this.#sinceMs),
      times: slots.map(({ startMs }) => formatTimestamp(startMs)),
      ...createSeries(sees === null ? null : seenIds),
      hooks: seenIds.map((webhookId) => ({ hook: webhookId, ...createSeries([webhookId]) })),
    };
  }
}

/** null: all webhooks together. */
type WebhookIds = readonly string[] | null;
type Slots = readonly { readonly slot: StatisticsSlot | null }[];

function listWebhookIds(slots: Slots): string[] {
  return slots.flatMap(({ slot }) => slot === null ? []
    : [...slot.requests.rows.keys(), ...slot.runs.rows.keys(), ...slot.deliveries.rows.keys()]);
}

function createRequestSeries(slots: Slots, webhookIds: WebhookIds): Hook['requests'] {
  const count = (outcome: OutcomeName): number[] =>
    listCounts(slots, 'requests', webhookIds, outcome);
  return {
    accepted: count('accepted'), rejected: count('rejected'), failed: count('failed'),
    p95Ms: slots.map(({ slot }) => slot?.requests.p95Ms(webhookIds) ?? null),
  };
}

function createRunSeries(slots: Slots, webhookIds: WebhookIds): Hook['runs'] {
  return {
    succeeded: listCounts(slots, 'runs', webhookIds, 'succeeded'),
    failed: listCounts(slots, 'runs', webhookIds, 'failed'),
    coalesced: listCounts(slots, 'runs', webhookIds, 'coalesced'),
  };
}

function createDeliverySeries(slots: Slots, webhookIds: WebhookIds): Hook['deliveries'] {
  return {
    delivered: listCounts(slots, 'deliveries', webhookIds, 'delivered'),
    failed: listCounts(slots, 'deliveries', webhookIds, 'failed'),
    p95Ms: slots.map(({ slot }) => slot?.deliveries.p95Ms(webhookIds) ?? null),
  };
}

function listCounts(
  slots: Slots, kind: OutcomeKind, webhookIds: WebhookIds, outcome: OutcomeName,
): number[] {
  return slots.map(({ slot }) => slot?.[kind].read(webhookIds, outcome) ?? 0);
}

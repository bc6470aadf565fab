/**
 * What came and went lately, in all and by webhook: counters a minute for an hour and a quarter of
 * an hour for a day, in rings of memory that are lost at the end of the process. To count is to add
 * to numbers that are there already.
 *
 * A slot holds the counters of one stretch of time: 84 bytes for a webhook of which something came,
 * for each kind of thing. Beyond `HOOKS_MAX` webhooks in a ring the rest count together as `other`,
 * so that both rings take less than 8 MB.
 */
import type { Clock } from '../base/clock.ts';
import { formatTimestamp } from '../base/clock.ts';
import { ALL_ROW, Counters, findBucket, type OutcomeName } from './counters.ts';

export type StatisticsWindow = '1h' | '24h';
type OutcomeKind = 'requests' | 'runs' | 'deliveries';

const WINDOWS: Readonly<Record<StatisticsWindow, {
  readonly slotMs: number; readonly count: number;
}>> = { '1h': { slotMs: 60_000, count: 60 }, '24h': { slotMs: 900_000, count: 96 } };
const WEBHOOKS_MAX = 100;
const OTHER_ROW = 'other';

type StatisticsSlot = { readonly startMs: number } & Readonly<Record<OutcomeKind, Counters>>;

class StatisticsRing {
  readonly #slotMs: number;
  readonly #slots: (StatisticsSlot | undefined)[];
  #last: StatisticsSlot | null = null;
  /** Webhooks that have a row in a slot that is still shown. */
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

  /** Oldest first, the one of now last; null where nothing happened. */
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
    // The same slot again when the clock was set back for a moment.
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

type RequestSeries = {
  readonly accepted: readonly number[]; readonly rejected: readonly number[];
  readonly failed: readonly number[];
  /** Milliseconds that 95 of 100 took at most; null where there was none. */
  readonly p95Ms: readonly (number | null)[];
};

type RunSeries = Pick<RequestSeries, 'failed'> & { readonly succeeded: readonly number[] };

type DeliverySeries = Pick<RequestSeries, 'failed' | 'p95Ms'> & {
  readonly delivered: readonly number[];
};

export type StatisticsReport = {
  readonly window: StatisticsWindow;
  /** When counting began: nothing before it is known. */
  readonly since: string;
  /** When each slot begins. */
  readonly times: readonly string[];
  /** Each request once. */
  readonly requests: RequestSeries;
  /** Of the actions of incoming webhooks. */
  readonly runs: RunSeries;
  readonly deliveries: DeliverySeries;
  /** By identifier, those of which something came. */
  readonly hooks: readonly {
    readonly hook: string; readonly requests: RequestSeries; readonly runs: RunSeries;
    readonly deliveries: DeliverySeries;
  }[];
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
   * `hook` is null for what belongs to no webhook, `durationMs` where there was nothing to wait
   * for. Called for every request: nothing is made but what a slot or a webhook needs first.
   */
  record(
    kind: OutcomeKind, webhookId: string | null, outcome: OutcomeName, durationMs: number | null,
  ): void {
    const nowMs = this.#clock.now();
    const bucket = durationMs === null ? null : findBucket(durationMs);
    this.#hour.record(nowMs, kind, webhookId, outcome, bucket);
    this.#day.record(nowMs, kind, webhookId, outcome, bucket);
  }

  report(window: StatisticsWindow): StatisticsReport {
    const slots = (window === '1h' ? this.#hour : this.#day).listSlots(this.#clock.now());
    const createSeries = (webhookId: string | null): Pick<StatisticsReport, OutcomeKind> => ({
      requests: createRequestSeries(slots, webhookId), runs: createRunSeries(slots, webhookId),
      deliveries: createDeliverySeries(slots, webhookId),
    });
    return {
      window, since: formatTimestamp(this.#sinceMs),
      times: slots.map(({ startMs }) => formatTimestamp(startMs)), ...createSeries(null),
      hooks: [...new Set(listWebhookIds(slots))].sort().map((webhookId) =>
        ({ hook: webhookId, ...createSeries(webhookId) })),
    };
  }
}

type Slots = readonly { readonly slot: StatisticsSlot | null }[];

function listWebhookIds(slots: Slots): string[] {
  return slots.flatMap(({ slot }) => slot === null ? []
    : [...slot.requests.rows.keys(), ...slot.runs.rows.keys(), ...slot.deliveries.rows.keys()]);
}

function createRequestSeries(slots: Slots, webhookId: string | null): RequestSeries {
  const count = (outcome: OutcomeName): number[] =>
    listCounts(slots, 'requests', webhookId, outcome);
  return {
    accepted: count('accepted'), rejected: count('rejected'), failed: count('failed'),
    p95Ms: slots.map(({ slot }) => slot?.requests.p95Ms(webhookId) ?? null),
  };
}

function createRunSeries(slots: Slots, webhookId: string | null): RunSeries {
  return {
    succeeded: listCounts(slots, 'runs', webhookId, 'succeeded'),
    failed: listCounts(slots, 'runs', webhookId, 'failed'),
  };
}

function createDeliverySeries(slots: Slots, webhookId: string | null): DeliverySeries {
  return {
    delivered: listCounts(slots, 'deliveries', webhookId, 'delivered'),
    failed: listCounts(slots, 'deliveries', webhookId, 'failed'),
    p95Ms: slots.map(({ slot }) => slot?.deliveries.p95Ms(webhookId) ?? null),
  };
}

function listCounts(
  slots: Slots, kind: OutcomeKind, webhookId: string | null, outcome: OutcomeName,
): number[] {
  return slots.map(({ slot }) => slot?.[kind].read(webhookId, outcome) ?? 0);
}

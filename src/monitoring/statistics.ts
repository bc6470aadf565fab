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
import { timeText } from '../base/clock.ts';
import { ALL_ROW, Counters, bucketOf, type OutcomeName } from './counters.ts';

export type StatisticsWindow = '1h' | '24h';
type Kind = 'requests' | 'runs' | 'deliveries';

const WINDOWS: Readonly<Record<StatisticsWindow, {
  readonly slotMs: number; readonly count: number;
}>> = { '1h': { slotMs: 60_000, count: 60 }, '24h': { slotMs: 900_000, count: 96 } };
const HOOKS_MAX = 100;
const OTHER = 'other';

type Slot = { readonly startMs: number } & Readonly<Record<Kind, Counters>>;

class Ring {
  readonly #slotMs: number;
  readonly #slots: (Slot | undefined)[];
  #last: Slot | null = null;
  /** Webhooks that have a row in a slot that is still shown. */
  #hooks = new Set<string>();

  constructor(window: StatisticsWindow) {
    const { slotMs, count } = WINDOWS[window];
    this.#slotMs = slotMs;
    this.#slots = new Array<Slot | undefined>(count).fill(undefined);
  }

  record(
    nowMs: number, kind: Kind, hook: string | null, outcome: OutcomeName, bucket: number | null,
  ): void {
    const counters = this.#slotAt(nowMs)[kind];
    counters.add(ALL_ROW, outcome, bucket);
    if (hook === null) return;
    const row = counters.rows.get(hook) ?? this.#addRow(counters, hook);
    counters.add(row, outcome, bucket);
  }

  /** Oldest first, the one of now last; null where nothing happened. */
  slots(nowMs: number): { readonly startMs: number; readonly slot: Slot | null }[] {
    const { length } = this.#slots;
    const lastMs = this.#startOf(nowMs);
    return Array.from({ length }, (_, index) => {
      const startMs = lastMs - (length - 1 - index) * this.#slotMs;
      const slot = this.#slots[this.#placeOf(startMs)];
      return { startMs, slot: slot?.startMs === startMs ? slot : null };
    });
  }

  #slotAt(nowMs: number): Slot {
    const last = this.#last;
    if (last !== null && nowMs >= last.startMs && nowMs < last.startMs + this.#slotMs) return last;
    const startMs = this.#startOf(nowMs);
    const known = this.#slots[this.#placeOf(startMs)];
    // The same slot again when the clock was set back for a moment.
    const slot = known?.startMs === startMs ? known
      : { startMs, requests: new Counters(), runs: new Counters(), deliveries: new Counters() };
    this.#slots[this.#placeOf(startMs)] = slot;
    this.#last = slot;
    this.#hooks = new Set(hooksOf(this.slots(nowMs)));
    this.#hooks.delete(OTHER);
    return slot;
  }

  #addRow(counters: Counters, hook: string): number {
    const isKnown = this.#hooks.has(hook);
    if (isKnown || this.#hooks.size < HOOKS_MAX) {
      this.#hooks.add(hook);
      return counters.addRow(hook);
    }
    return counters.rows.get(OTHER) ?? counters.addRow(OTHER);
  }

  #startOf(timeMs: number): number {
    return Math.floor(timeMs / this.#slotMs) * this.#slotMs;
  }

  #placeOf(startMs: number): number {
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
  readonly #hour = new Ring('1h');
  readonly #day = new Ring('24h');

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#sinceMs = clock.now();
  }

  /**
   * `hook` is null for what belongs to no webhook, `durationMs` where there was nothing to wait
   * for. Called for every request: nothing is made but what a slot or a webhook needs first.
   */
  record(kind: Kind, hook: string | null, outcome: OutcomeName, durationMs: number | null): void {
    const nowMs = this.#clock.now();
    const bucket = durationMs === null ? null : bucketOf(durationMs);
    this.#hour.record(nowMs, kind, hook, outcome, bucket);
    this.#day.record(nowMs, kind, hook, outcome, bucket);
  }

  report(window: StatisticsWindow): StatisticsReport {
    const slots = (window === '1h' ? this.#hour : this.#day).slots(this.#clock.now());
    const of = (hook: string | null): Pick<StatisticsReport, Kind> => ({
      requests: requestSeries(slots, hook), runs: runSeries(slots, hook),
      deliveries: deliverySeries(slots, hook),
    });
    return {
      window, since: timeText(this.#sinceMs),
      times: slots.map(({ startMs }) => timeText(startMs)), ...of(null),
      hooks: [...new Set(hooksOf(slots))].sort().map((hook) => ({ hook, ...of(hook) })),
    };
  }
}

type Slots = readonly { readonly slot: Slot | null }[];

function hooksOf(slots: Slots): string[] {
  return slots.flatMap(({ slot }) => slot === null ? []
    : [...slot.requests.rows.keys(), ...slot.runs.rows.keys(), ...slot.deliveries.rows.keys()]);
}

function requestSeries(slots: Slots, hook: string | null): RequestSeries {
  const of = (outcome: OutcomeName): number[] => counts(slots, 'requests', hook, outcome);
  return {
    accepted: of('accepted'), rejected: of('rejected'), failed: of('failed'),
    p95Ms: slots.map(({ slot }) => slot?.requests.p95Ms(hook) ?? null),
  };
}

function runSeries(slots: Slots, hook: string | null): RunSeries {
  return {
    succeeded: counts(slots, 'runs', hook, 'succeeded'),
    failed: counts(slots, 'runs', hook, 'failed'),
  };
}

function deliverySeries(slots: Slots, hook: string | null): DeliverySeries {
  return {
    delivered: counts(slots, 'deliveries', hook, 'delivered'),
    failed: counts(slots, 'deliveries', hook, 'failed'),
    p95Ms: slots.map(({ slot }) => slot?.deliveries.p95Ms(hook) ?? null),
  };
}

function counts(slots: Slots, kind: Kind, hook: string | null, outcome: OutcomeName): number[] {
  return slots.map(({ slot }) => slot?.[kind].read(hook, outcome) ?? 0);
}

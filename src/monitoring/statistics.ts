/**
 * What came and went lately, in all and by webhook: counters a minute for an hour and a quarter of
 * an hour for a day, in a ring of memory that is made as things happen and lost at the end of the
 * process. To count is to add to plain numbers.
 *
 * A slot is the counters of one stretch of time. Beyond `HOOKS_MAX` webhooks in one slot the rest
 * count together as `other`: a slot takes at most some 40 kB, all of them less than 8 MB.
 */
import type { Clock } from '../base/clock.ts';
import { timeText } from '../base/clock.ts';

export type StatisticsWindow = '1h' | '24h';
type Kind = 'requests' | 'deliveries';
/**
 * Of a request: its action succeeded, it was turned away, its action failed. Of an attempt of a
 * delivery: delivered or failed.
 */
type Outcome = 'accepted' | 'rejected' | 'failed' | 'delivered';

type Window = { readonly slotMs: number; readonly count: number };

const WINDOWS: Readonly<Record<StatisticsWindow, Window>> =
  { '1h': { slotMs: 60_000, count: 60 }, '24h': { slotMs: 900_000, count: 96 } };
const HOOKS_MAX = 200;
const OTHER = 'other';
/** Upper bounds of durations in milliseconds; a p95 is told as the bound that it is below. */
const BOUNDS_MS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000];

class Counter {
  readonly counts = { accepted: 0, rejected: 0, failed: 0, delivered: 0 };
  readonly durations = new Uint32Array(BOUNDS_MS.length + 1);

  add(outcome: Outcome, durationMs: number | null): void {
    this.counts[outcome] += 1;
    if (durationMs === null) return;
    let bucket = 0;
    while (bucket < BOUNDS_MS.length && durationMs > (BOUNDS_MS[bucket] ?? 0)) bucket += 1;
    this.durations[bucket] = (this.durations[bucket] ?? 0) + 1;
  }
}

/** Counters by kind and webhook; `''` is all of them. */
type Slot = { readonly startMs: number; readonly counters: Map<string, Counter> };

class Ring {
  readonly #slotMs: number;
  readonly #slots: (Slot | undefined)[];
  #last: Slot | null = null;

  constructor(window: StatisticsWindow) {
    const { slotMs, count } = WINDOWS[window];
    this.#slotMs = slotMs;
    this.#slots = new Array<Slot | undefined>(count).fill(undefined);
  }

  slotAt(nowMs: number): Slot {
    const startMs = Math.floor(nowMs / this.#slotMs) * this.#slotMs;
    if (this.#last?.startMs === startMs) return this.#last;
    const slot: Slot = { startMs, counters: new Map() };
    this.#slots[(startMs / this.#slotMs) % this.#slots.length] = slot;
    this.#last = slot;
    return slot;
  }

  /** Oldest first, the one of now last; null where nothing happened. */
  slots(nowMs: number): { readonly startMs: number; readonly slot: Slot | null }[] {
    const { length } = this.#slots;
    const lastMs = Math.floor(nowMs / this.#slotMs) * this.#slotMs;
    return Array.from({ length }, (_, index) => {
      const startMs = lastMs - (length - 1 - index) * this.#slotMs;
      const slot = this.#slots[(startMs / this.#slotMs) % length];
      return { startMs, slot: slot?.startMs === startMs ? slot : null };
    });
  }
}

type Series = {
  readonly accepted: readonly number[]; readonly rejected: readonly number[];
  readonly delivered: readonly number[]; readonly failed: readonly number[];
  /** Milliseconds that 95 of 100 took at most; null where there was none. */
  readonly p95Ms: readonly (number | null)[];
};

export type StatisticsReport = {
  readonly window: StatisticsWindow;
  /** When counting began: nothing before it is known. */
  readonly since: string;
  /** When each slot begins. */
  readonly times: readonly string[];
  readonly requests: Omit<Series, 'delivered'>;
  readonly deliveries: Pick<Series, 'delivered' | 'failed' | 'p95Ms'>;
  readonly hooks: readonly {
    readonly hook: string;
    readonly requests: Omit<Series, 'delivered'>;
    readonly deliveries: Pick<Series, 'delivered' | 'failed' | 'p95Ms'>;
  }[];
};

export class Statistics {
  readonly #clock: Clock;
  readonly #sinceMs: number;
  readonly #rings = { '1h': new Ring('1h'), '24h': new Ring('24h') };

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#sinceMs = clock.now();
  }

  /** `hook` is null for what belongs to none. */
  record(kind: Kind, hook: string | null, outcome: Outcome, durationMs: number | null): void {
    const nowMs = this.#clock.now();
    for (const ring of [this.#rings['1h'], this.#rings['24h']]) {
      const { counters } = ring.slotAt(nowMs);
      counterOf(counters, kind, '').add(outcome, durationMs);
      if (hook !== null) counterOf(counters, kind, hook).add(outcome, durationMs);
    }
  }

  report(window: StatisticsWindow): StatisticsReport {
    const slots = this.#rings[window].slots(this.#clock.now());
    const names = new Set(slots.flatMap(({ slot }) => slot === null ? []
      : [...slot.counters.keys()].map((key) => key.slice(key.indexOf(' ') + 1))));
    names.delete('');
    const of = (hook: string): Pick<StatisticsReport, 'requests' | 'deliveries'> => ({
      requests: seriesOf(slots, 'requests', hook, ['accepted', 'rejected', 'failed']),
      deliveries: seriesOf(slots, 'deliveries', hook, ['delivered', 'failed']),
    });
    return {
      window, since: timeText(this.#sinceMs),
      times: slots.map(({ startMs }) => timeText(startMs)), ...of(''),
      hooks: [...names].sort().map((hook) => ({ hook, ...of(hook) })),
    };
  }
}

function counterOf(counters: Map<string, Counter>, kind: Kind, hook: string): Counter {
  const known = counters.get(`${kind} ${hook}`);
  if (known !== undefined) return known;
  const isFull = hook !== '' && hook !== OTHER && counters.size >= HOOKS_MAX;
  if (isFull) return counterOf(counters, kind, OTHER);
  const made = new Counter();
  counters.set(`${kind} ${hook}`, made);
  return made;
}

function seriesOf<Name extends Outcome>(
  slots: readonly { readonly slot: Slot | null }[], kind: Kind, hook: string,
  names: readonly Name[],
): Pick<Series, Name | 'p95Ms'> {
  const counters = slots.map(({ slot }) => slot?.counters.get(`${kind} ${hook}`));
  const entries = names.map((name) =>
    [name, counters.map((counter) => counter?.counts[name] ?? 0)]);
  const series = { ...Object.fromEntries(entries), p95Ms: counters.map(p95Of) };
  return series as Pick<Series, Name | 'p95Ms'>;
}

function p95Of(counter: Counter | undefined): number | null {
  if (counter === undefined) return null;
  const total = counter.durations.reduce((sum, value) => sum + value, 0);
  if (total === 0) return null;
  let seen = 0;
  const index = counter.durations.findIndex((value) => {
    seen += value;
    return seen >= total * 0.95;
  });
  return BOUNDS_MS[index] ?? BOUNDS_MS.at(-1) ?? null;
}

/**
 * How many attempts of outgoing webhooks delivered and how many failed, in each five minutes of a
 * week, and how long they took. The counts of the last minute are in memory; the others are in the
 * collection `webhook-statistics`, a record for each webhook and six hours in which it had an
 * attempt:
 *
 *     {"identifier":"<the webhook's>.<begin>","values":[<skipped>,<delivered>,<failed>,<ms>,…]}
 *
 * Four totals have such records, too, under names that are no webhooks': see `TOTALS`. So no reader
 * adds up 500 webhooks, and the totals keep the counts of those that were deleted.
 *
 * `begin` is the begin of the six hours in UTC, a multiple of them, as `2026-11-29T06`. `values`
 * has four counts for each five minutes in which an attempt ended, in their order: how many times
 * five minutes were skipped since those before, or since `begin`; how many attempts delivered; how
 * many failed; the milliseconds that all of them took together. A record is valid when `values` are
 * counts in fours. A directory from before has none: nothing was counted.
 *
 * A webhook that is tried in each five minutes has 29 records of 900 bytes, 24 kB in all, and 500
 * such webhooks have 12 MB. A record is written anew each minute while attempts end, which is why
 * it is of six hours and not of a week.
 *
 * The counts are written with the health of the webhooks (health-record.ts), at most once a minute
 * and at a clean stop: the transaction adds what was counted since to what is stored. So several
 * nodes, each of which counts the attempts that it makes, add to the same record, and whoever
 * applies the journal has the sums without counting. A node shows what is stored and what it has
 * counted itself: attempts of other nodes come up to a minute later.
 *
 * - A crash loses the counts of the last 70 seconds at most.
 * - A write that the store refuses is made again with the next one. Where it cannot tell whether a
 *   write was made, the counts of that write may be there twice.
 * - A clock that was set back adds to an earlier time. What is stored of times that are not of the
 *   last week, or still to come, is not shown; it goes with the first write of the next six hours.
 *
 * The records are removed in the transaction that removes their webhook.
 */
import { formatTimestamp, parseTimestamp, type Clock } from '../../base/clock.ts';
import { isCount } from '../../base/fields.ts';
import type { AnswerOf } from '../../base/schema-types.ts';
import { decodeRecordAs } from '../../resources/record.ts';
import {
  COUNT, COUNTS, HISTORY_WINDOWS, NULLABLE_DURATIONS, TIME, arraySchema, objectSchema,
  type HistorySpan,
} from '../../resources/route-specs.ts';
import type { CollectionSpec, Store, Transaction } from '../../store/store-port.ts';
import type { OnOutcome } from '../outcome-listeners.ts';

export const webhookStatisticsCollection: CollectionSpec = {
  name: 'webhook-statistics', key: 'identifier',
};

export const webhookStatisticsSchema = objectSchema('OutgoingWebhookStatistics', {
  window: { kind: 'string', values: HISTORY_WINDOWS },
  intervalSeconds: COUNT,
  times: [arraySchema(TIME), 'The beginning of each interval; the last one is not over'],
  deliveries: objectSchema('AttemptSeries', {
    delivered: [COUNTS, 'Attempts that delivered'],
    failed: [COUNTS, 'Attempts that failed'],
    durationMs: [NULLABLE_DURATIONS, 'How long they took in the mean; null where none ended'],
  }),
});

export type WebhookStatistics = AnswerOf<typeof webhookStatisticsSchema>;

/**
 * The totals. `requests` has the requests that were accepted or failed, `rejections` those that
 * were rejected, as failed ones; `runs` the runs of actions; `deliveries` all attempts, also of
 * forwards. Anybody can have requests rejected: that writes a record a minute at most.
 */
const TOTALS = ['requests', 'rejections', 'runs', 'deliveries'] as const;
type Total = typeof TOTALS[number];

/** Whether counts are those of a total, of which there is no webhook. */
export function isTotal(id: string): boolean {
  return TOTALS.some((total) => total === id);
}

/** How many of the attempts that ended in one interval delivered, and how many failed. */
type AttemptCounts = {
  readonly delivered: number; readonly failed: number;
  readonly durationMs: number;
};
type OutcomeSeries = {
  readonly succeeded: readonly number[]; readonly failed: readonly number[];
  /** The mean duration in each interval; null where nothing was counted. */
  readonly durationMs: readonly (number | null)[];
};
/** The counts of a webhook by the begin of their interval, in milliseconds since the epoch. */
type CountsByTime = Map<number, AttemptCounts>;
type CountsByWebhook = ReadonlyMap<string, CountsByTime>;

/** The totals of one interval, which outcomes are added to in place. */
type TotalCounts = Readonly<Record<Total, {
  delivered: number; failed: number; durationMs: number;
}>>;

type StatisticsRecord = { readonly identifier: string; readonly values: readonly number[] };

const INTERVAL_MS = 300_000;
const RECORD_MS = 6 * 3_600_000;
const WINDOW_MS: Readonly<Record<HistorySpan, number>> = {
  '1h': 3_600_000, '24h': 86_400_000, '7d': 7 * 86_400_000,
};
/** `2026-11-29T06` */
const BEGIN_LENGTH = 13;
const VALUES_EACH = 4;

export class AttemptStatistics {
  readonly #store: Store;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #counts = new Map<string, CountsByTime>();
  readonly #takenCounts = new Map<string, CountsByTime>();
  /** The totals of the interval that begins at `#totalsAtMs`, unless they are in `#counts`. */
  #totals = createTotalCounts();
  #totalsAtMs = 0;
  #hasTotals = false;
  /** Called when totals begin that must be written some time. */
  onTotals = (): void => {};

  constructor({ store, clock }: { readonly store: Store; readonly clock: Pick<Clock, 'now'> }) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Counts an attempt of a webhook that has ended now. */
  record(webhookId: string, isDelivered: boolean, durationMs: number): void {
    addCounts(this.#getOrCreate(webhookId), floorTo(this.#clock.now(), INTERVAL_MS), {
      delivered: isDelivered ? 1 : 0, failed: isDelivered ? 0 : 1, durationMs,
    });
  }

  /**
   * Makes a listener that counts each outcome for the totals after it has called `onOutcome`. Each
   * request passes it: it calls nothing else, but at the begin of an interval or of a write.
   */
  countOutcomes(onOutcome: OnOutcome): OnOutcome {
    return (kind, webhookId, outcome, durationMs) => {
      onOutcome(kind, webhookId, outcome, durationMs);
      // A run for which a newer one did has not run.
      if (outcome === 'coalesced') return;
      const ageMs = this.#clock.now() - this.#totalsAtMs;
      if (!this.#hasTotals || ageMs < 0 || ageMs >= INTERVAL_MS) this.#beginTotals();
      const counts = this.#totals[outcome === 'rejected' ? 'rejections' : kind];
      if (outcome === 'rejected' || outcome === 'failed') counts.failed += 1;
      else counts.delivered += 1;
      counts.durationMs += durationMs ?? 0;
    };
  }

  /** Collects the webhooks and totals with counts that no record has. */
  collectPendingIds(): Iterable<string> {
    this.#collectTotals();
    return this.#counts.keys();
  }

  get isPending(): boolean {
    return this.#hasTotals || this.#counts.size > 0;
  }

  /**
   * Takes the counts of these webhooks, to be written. `read` shows them still, until `forgetTaken`
   * after the write, or `putBack` when it fails; one of these comes before the next `take`.
   */
  take(webhookIds: readonly string[]): CountsByWebhook {
    for (const webhookId of webhookIds) {
      const counts = this.#counts.get(webhookId);
      if (counts === undefined) continue;
      this.#counts.delete(webhookId);
      this.#takenCounts.set(webhookId, counts);
    }
    return this.#takenCounts;
  }

  forgetTaken(): void {
    this.#takenCounts.clear();
  }

  putBack(): void {
    for (const [webhookId, counts] of this.#takenCounts) {
      const present = this.#getOrCreate(webhookId);
      for (const [atMs, added] of counts) addCounts(present, atMs, added);
    }
    this.#takenCounts.clear();
  }

  delete(webhookId: string): void {
    this.#counts.delete(webhookId);
    this.#takenCounts.delete(webhookId);
  }

  /** Stages that counts, of a webhook that is there or of a total, are added to what is stored. */
  stage(transaction: Transaction, webhookId: string, counts: CountsByTime, nowMs: number): void {
    const begins = new Set([...counts.keys()].map((atMs) => floorTo(atMs, RECORD_MS)));
    for (const beginMs of begins) {
      const id = formatId(webhookId, beginMs);
      const bytes = transaction.find(webhookStatisticsCollection.name, id);
      if (bytes === undefined) stageExpiry(transaction, webhookId, nowMs);
      const stored: CountsByTime = bytes === undefined ? new Map() : decodeCounts(bytes, beginMs);
      for (const [atMs, added] of counts) {
        if (floorTo(atMs, RECORD_MS) === beginMs) addCounts(stored, atMs, added);
      }
      transaction.put(webhookStatisticsCollection.name, id, encodeCounts(id, stored, beginMs));
    }
  }

  /** Stages that the webhook's counts which no write has taken are added to what is stored. */
  stagePending(transaction: Transaction, webhookId: string, nowMs: number): void {
    const counts = this.#counts.get(webhookId);
    if (counts !== undefined) this.stage(transaction, webhookId, counts, nowMs);
  }

  /** Reads the counts of a webhook's attempts by interval, as this node knows them. */
  read(webhookId: string, window: HistorySpan): WebhookStatistics {
    const times = listTimes(window, this.#clock.now());
    const { succeeded, ...rest } = this.#readSeries(webhookId, times);
    return { ...describeTimes(window, times), deliveries: { delivered: succeeded, ...rest } };
  }

  /** Reads the counts of all requests, runs and attempts by interval, as this node knows them. */
  readTotals(window: HistorySpan) {
    this.#collectTotals();
    const times = listTimes(window, this.#clock.now());
    const read = (total: Total): OutcomeSeries => this.#readSeries(total, times);
    const { succeeded: accepted, ...requests } = read('requests');
    const { succeeded: delivered, ...deliveries } = read('deliveries');
    const { succeeded, failed } = read('runs');
    return {
      ...describeTimes(window, times),
      requests: { accepted, rejected: read('rejections').failed, ...requests },
      runs: { succeeded, failed },
      deliveries: { delivered, ...deliveries },
    };
  }

  #readSeries(webhookId: string, times: readonly number[]): OutcomeSeries {
    const counts = this.#readCounts(webhookId, times[0] ?? 0, times.at(-1) ?? 0);
    const series = times.map((atMs) => counts.get(atMs));
    return {
      succeeded: series.map((each) => each?.delivered ?? 0),
      failed: series.map((each) => each?.failed ?? 0),
      durationMs: series.map((each) => each === undefined ? null
        : Math.round(each.durationMs / (each.delivered + each.failed))),
    };
  }

  #readCounts(webhookId: string, firstMs: number, lastMs: number): CountsByTime {
    const records = this.#store.collection(webhookStatisticsCollection.name);
    const counts: CountsByTime = new Map();
    for (let beginMs = floorTo(firstMs, RECORD_MS); beginMs <= lastMs; beginMs += RECORD_MS) {
      const bytes = records.findBytes(formatId(webhookId, beginMs));
      if (bytes === undefined) continue;
      for (const [atMs, stored] of decodeCounts(bytes, beginMs)) counts.set(atMs, stored);
    }
    for (const own of [this.#takenCounts, this.#counts]) {
      for (const [atMs, added] of own.get(webhookId) ?? []) addCounts(counts, atMs, added);
    }
    return counts;
  }

  #beginTotals(): void {
    this.#collectTotals();
    this.#totalsAtMs = floorTo(this.#clock.now(), INTERVAL_MS);
    this.#hasTotals = true;
    this.onTotals();
  }

  /** Moves the totals to where the counts of webhooks are. */
  #collectTotals(): void {
    if (!this.#hasTotals) return;
    for (const total of TOTALS) {
      const counts = this.#totals[total];
      if (counts.delivered + counts.failed === 0) continue;
      addCounts(this.#getOrCreate(total), this.#totalsAtMs, counts);
    }
    this.#totals = createTotalCounts();
    this.#hasTotals = false;
  }

  #getOrCreate(webhookId: string): CountsByTime {
    const existing = this.#counts.get(webhookId);
    if (existing !== undefined) return existing;
    const counts: CountsByTime = new Map();
    this.#counts.set(webhookId, counts);
    return counts;
  }
}

function createTotalCounts(): TotalCounts {
  const create = (): TotalCounts[Total] => ({ delivered: 0, failed: 0, durationMs: 0 });
  return { requests: create(), rejections: create(), runs: create(), deliveries: create() };
}

/** The begins of the intervals of a window, the present one last. */
function listTimes(window: HistorySpan, nowMs: number): readonly number[] {
  const count = WINDOW_MS[window] / INTERVAL_MS;
  const lastMs = floorTo(nowMs, INTERVAL_MS);
  return Array.from({ length: count }, (_, index) => lastMs - (count - 1 - index) * INTERVAL_MS);
}

function describeTimes(window: HistorySpan, times: readonly number[]) {
  return { window, intervalSeconds: INTERVAL_MS / 1000, times: times.map(formatTimestamp) };
}

/** Stages the removal of the webhook's records that no window shows. */
function stageExpiry(transaction: Transaction, webhookId: string, nowMs: number): void {
  for (const id of listRecordIds(transaction, webhookId)) {
    const beginMs = parseTimestamp(`${id.slice(-BEGIN_LENGTH)}:00:00.000Z`);
    const isShown = beginMs > nowMs - WINDOW_MS['7d'] - RECORD_MS && beginMs <= nowMs;
    if (!isShown) transaction.delete(webhookStatisticsCollection.name, id);
  }
}

/** Stages the removal of a webhook's records, together with that of the webhook. */
export function stageStatisticsRemoval(transaction: Transaction, webhookId: string): void {
  for (const id of listRecordIds(transaction, webhookId)) {
    transaction.delete(webhookStatisticsCollection.name, id);
  }
}

/** Lists the records of a webhook, as the transaction sees them. */
function listRecordIds(transaction: Transaction, webhookId: string): readonly string[] {
  return transaction.listIds(webhookStatisticsCollection.name, `${webhookId}.`);
}

function formatId(webhookId: string, beginMs: number): string {
  return `${webhookId}.${formatTimestamp(beginMs).slice(0, BEGIN_LENGTH)}`;
}

function addCounts(
  counts: CountsByTime, atMs: number, { delivered, failed, durationMs }: AttemptCounts,
): void {
  const present = counts.get(atMs) ?? { delivered: 0, failed: 0, durationMs: 0 };
  counts.set(atMs, {
    delivered: present.delivered + delivered, failed: present.failed + failed,
    durationMs: present.durationMs + durationMs,
  });
}

function encodeCounts(identifier: string, counts: CountsByTime, beginMs: number): string {
  const values: number[] = [];
  let dueMs = beginMs;
  for (const [atMs, each] of [...counts].sort(([left], [right]) => left - right)) {
    values.push((atMs - dueMs) / INTERVAL_MS, each.delivered, each.failed,
      Math.round(each.durationMs));
    dueMs = atMs + INTERVAL_MS;
  }
  return JSON.stringify({ identifier, values } satisfies StatisticsRecord);
}

/** Throws `damaged` for a record that is not valid. */
function decodeCounts(bytes: Buffer, beginMs: number): CountsByTime {
  const { values } = decodeRecordAs<StatisticsRecord>(bytes, (record) => {
    const list = record['values'];
    return Array.isArray(list) && list.length % VALUES_EACH === 0 && list.every(isCount);
  }, JSON.parse);
  const counts: CountsByTime = new Map();
  let dueMs = beginMs;
  for (let at = 0; at < values.length; at += VALUES_EACH) {
    const atMs = dueMs + (values[at] ?? 0) * INTERVAL_MS;
    counts.set(atMs, {
      delivered: values[at + 1] ?? 0, failed: values[at + 2] ?? 0,
      durationMs: values[at + 3] ?? 0,
    });
    dueMs = atMs + INTERVAL_MS;
  }
  return counts;
}

function floorTo(timeMs: number, stepMs: number): number {
  return Math.floor(timeMs / stepMs) * stepMs;
}

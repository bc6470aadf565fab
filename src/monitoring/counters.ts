/** The counters of one interval: a table of numbers in one array, with a row for each webhook. */

/**
 * Requests are accepted, rejected or failed; runs of actions succeeded, failed or coalesced;
 * attempts of deliveries delivered or failed.
 */
export type OutcomeName =
  'accepted' | 'rejected' | 'failed' | 'succeeded' | 'delivered' | 'coalesced';

/** Upper bounds of durations in milliseconds. A p95 is rounded up to one of them. */
const BOUNDS_MS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000];
/** A row has a column for each outcome, then one for each bound, and one for longer durations. */
const OUTCOME_COLUMNS: Readonly<Record<OutcomeName, number>> =
  { accepted: 0, rejected: 1, failed: 2, succeeded: 3, delivered: 4, coalesced: 5 };
const DURATIONS_COLUMN = 6;
const COLUMNS = DURATIONS_COLUMN + BOUNDS_MS.length + 1;
/** The row of all webhooks together; the next rows have one each. */
export const ALL_ROW = 0;

/** The index of the first bound that the duration does not exceed. */
export function findBucket(durationMs: number): number {
  let bucket = 0;
  while (bucket < BOUNDS_MS.length && durationMs > (BOUNDS_MS[bucket] ?? 0)) bucket += 1;
  return bucket;
}

export class Counters {
  readonly rows = new Map<string, number>();
  #cells = new Uint32Array(COLUMNS);

  /** `bucket` is the bucket of the duration; null where none was measured. */
  add(row: number, outcome: OutcomeName, bucket: number | null): void {
    this.#increment(row * COLUMNS + OUTCOME_COLUMNS[outcome]);
    if (bucket !== null) this.#increment(row * COLUMNS + DURATIONS_COLUMN + bucket);
  }

  addRow(webhookId: string): number {
    const row = this.rows.size + 1;
    this.rows.set(webhookId, row);
    if (this.#cells.length < (row + 1) * COLUMNS) {
      const larger = new Uint32Array(2 * this.#cells.length);
      larger.set(this.#cells);
      this.#cells = larger;
    }
    return row;
  }

  /** `webhookIds` is null for all webhooks together. */
  read(webhookIds: readonly string[] | null, outcome: OutcomeName): number {
    return this.#sum(webhookIds, OUTCOME_COLUMNS[outcome]);
  }

  /** The 95th percentile of durations in milliseconds; null without any. */
  p95Ms(webhookIds: readonly string[] | null): number | null {
    const durations = Array.from({ length: COLUMNS - DURATIONS_COLUMN }, (_, index) =>
      this.#sum(webhookIds, DURATIONS_COLUMN + index));
    const total = durations.reduce((sum, value) => sum + value, 0);
    if (total === 0) return null;
    let bucket = 0;
    let count = durations[bucket] ?? 0;
    while (count < total * 0.95) {
      bucket += 1;
      count += durations[bucket] ?? 0;
    }
    // Durations beyond the last bound count as that bound.
    return BOUNDS_MS[bucket] ?? BOUNDS_MS.at(-1) ?? null;
  }

  #sum(webhookIds: readonly string[] | null, column: number): number {
    if (webhookIds === null) return this.#cells[ALL_ROW * COLUMNS + column] ?? 0;
    return webhookIds.reduce((sum, webhookId) => {
      const row = this.rows.get(webhookId);
      return row === undefined ? sum : sum + (this.#cells[row * COLUMNS + column] ?? 0);
    }, 0);
  }

  #increment(index: number): void {
    this.#cells[index] = (this.#cells[index] ?? 0) + 1;
  }
}

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

  /** `webhookId` is null for all webhooks together. */
  read(webhookId: string | null, outcome: OutcomeName): number {
    const row = this.#findRow(webhookId);
    return row === undefined ? 0 : this.#cells[row * COLUMNS + OUTCOME_COLUMNS[outcome]] ?? 0;
  }

  /** The 95th percentile of durations in milliseconds; null without any. */
  p95Ms(webhookId: string | null): number | null {
    const row = this.#findRow(webhookId);
    if (row === undefined) return null;
    const durations =
      this.#cells.subarray(row * COLUMNS + DURATIONS_COLUMN, (row + 1) * COLUMNS);
    const total = durations.reduce((sum, value) => sum + value, 0);
    if (total === 0) return null;
    let bucket = 0;
    let count = durations[bucket] ?? 0;
    while (count < total * 0.95) {
      bucket += 1;
      count += durations[bucket] ?? 0;
    }
    // Durations beyond the last bound count as that.
    return BOUNDS_MS[bucket] ?? BOUNDS_MS.at(-1) ?? null;
  }

  #findRow(webhookId: string | null): number | undefined {
    return webhookId === null ? ALL_ROW : this.rows.get(webhookId);
  }

  #increment(index: number): void {
    this.#cells[index] = (this.#cells[index] ?? 0) + 1;
  }
}

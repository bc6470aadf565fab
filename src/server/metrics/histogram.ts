/** Counts of observed values by upper bound, as Prometheus wants them. */

export class Histogram {
  /** Upper bounds in ascending order; a last bucket, `+Inf`, has none. */
  readonly bounds: readonly number[];
  /** Values in each bucket alone, `+Inf` last. */
  readonly counts: Float64Array;
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    let bucket = 0;
    while (bucket < this.bounds.length && value > (this.bounds[bucket] ?? 0)) bucket += 1;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.sum += value;
  }
}

/**
 * A metric that another part of the program provides, read at each request for the metrics; a
 * histogram is counts of observed values by upper bound, as Prometheus wants them.
 */

/** `labels` names those of its values. The manual's table of all metrics is made of these. */
export type MetricSource<Label extends string = string> = {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly Label[];
} & ({
  readonly type: 'counter' | 'gauge';
  readonly read: ReadNumbers<Label>;
} | {
  readonly type: 'histogram';
  readonly read: () => readonly LabelledValue<Histogram, Label>[];
});

export type LabelledValue<Value, Label extends string = string> = {
  readonly labels: Readonly<Record<Label, string>>;
  readonly value: Value;
};

/** Reads a number, or a number for each set of labels. */
type ReadNumbers<Label extends string> =
  () => number | readonly LabelledValue<number, Label>[];

/** `name` lacks the prefix that all metrics of ours have. */
export function counter<Label extends string = never>(
  name: string, help: string, read: ReadNumbers<NoInfer<Label>>, labels: readonly Label[] = [],
): MetricSource {
  return { name: `hookshelf_${name}`, type: 'counter', help, read, labels };
}

/** See `counter`. */
export function gauge<Label extends string = never>(
  name: string, help: string, read: ReadNumbers<NoInfer<Label>>, labels: readonly Label[] = [],
): MetricSource {
  return { name: `hookshelf_${name}`, type: 'gauge', help, read, labels };
}

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

/** A metric that another part of the program provides, read at each request for the metrics. */
import type { Histogram } from './histogram.ts';

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

/** Reads a number, or one for each set of labels. */
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

/** A metric that another part of the program provides, read at each request for the metrics. */
import type { Histogram } from './histogram.ts';

export type MetricSource = {
  readonly name: string;
  readonly help: string;
} & ({
  readonly type: 'counter' | 'gauge';
  /** A number, or one for each set of labels. */
  readonly read: () => number | readonly LabelledValue<number>[];
} | {
  readonly type: 'histogram';
  readonly read: () => readonly LabelledValue<Histogram>[];
});

export type LabelledValue<Value> = {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: Value;
};

type ReadNumbers = Extract<MetricSource, { type: 'gauge' | 'counter' }>['read'];

/** `name` lacks the prefix that all metrics of ours have. */
export function counter(name: string, help: string, read: ReadNumbers): MetricSource {
  return { name: `hookshelf_${name}`, type: 'counter', help, read };
}

/** See `counter`. */
export function gauge(name: string, help: string, read: ReadNumbers): MetricSource {
  return { name: `hookshelf_${name}`, type: 'gauge', help, read };
}

/**
 * The server's metrics in the Prometheus text exposition format 0.0.4. A request only adds to plain
 * numbers; everything else is done when the metrics are rendered.
 */
import { Histogram, type LabelledValue, type MetricSource } from './metric-source.ts';
import { EventLoopDelay, PROCESS_SOURCES } from './process-metrics.ts';

/** Upper bounds of the latency histogram, in seconds. */
const BUCKETS_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const STATUS_MIN = 100;
const STATUS_BOUND = 600;

/** Counts the requests of one route template, by method. */
export class Meter {
  readonly template: string;
  readonly figures = new Map<string, RequestFigures>();
  // Most requests of a route have one method, whose figures need no look-up.
  #lastMethod = '';
  #lastFigures: RequestFigures | null = null;

  constructor(template: string) {
    this.template = template;
  }

  /** `durationMs` is null where no duration is to be measured. */
  record(method: string, status: number, durationMs: number | null): void {
    const lastFigures = method === this.#lastMethod ? this.#lastFigures : null;
    const { byStatus, durations } = lastFigures ?? this.#select(method);
    const index = status - STATUS_MIN;
    byStatus[index] = (byStatus[index] ?? 0) + 1;
    if (durationMs !== null) durations.observe(durationMs / 1000);
  }

  // The first request makes them: figures of a method take 4 kB, and most routes are never called.
  #select(method: string): RequestFigures {
    const figures = this.figures.get(method) ?? {
      byStatus: new Float64Array(STATUS_BOUND - STATUS_MIN), durations: new Histogram(BUCKETS_S),
    };
    this.figures.set(method, figures);
    this.#lastMethod = method;
    this.#lastFigures = figures;
    return figures;
  }
}

type RequestFigures = { readonly byStatus: Float64Array; readonly durations: Histogram };

export class Metrics {
  readonly #meters = new Map<string, Meter>();
  readonly #sources: MetricSource[] = [];
  readonly #eventLoopDelay = new EventLoopDelay();

  meter(template: string): Meter {
    const meter = this.#meters.get(template) ?? new Meter(template);
    this.#meters.set(template, meter);
    return meter;
  }

  add(...sources: readonly MetricSource[]): void {
    this.#sources.push(...sources);
  }

  render(): string {
    const lines: string[] = [];
    for (const source of this.list()) renderSource(lines, source);
    return `${lines.join('\n')}\n`;
  }

  /** All metrics in the order of rendering. The metrics of the event loop are read now. */
  list(): readonly MetricSource[] {
    return [
      this.#requestsSource, this.#durationsSource, ...this.#sources, ...PROCESS_SOURCES,
      ...this.#eventLoopDelay.read(),
    ];
  }

  close(): void {
    this.#eventLoopDelay.close();
  }

  readonly #requestsSource: MetricSource = {
    name: 'hookshelf_http_requests_total',
    type: 'counter',
    help: 'Requests answered, by route template, method and status.',
    labels: ['route', 'method', 'status'],
    read: () => [...this.#listFigures()].flatMap(([labels, { byStatus }]) =>
      [...byStatus.entries()].filter(([, count]) => count > 0).map(([index, value]) =>
        ({ labels: { ...labels, status: String(index + STATUS_MIN) }, value }))),
  };

  readonly #durationsSource: MetricSource = {
    name: 'hookshelf_http_request_duration_seconds',
    type: 'histogram',
    help: "Time from a request's head to its answer.",
    labels: ['route', 'method'],
    read: () => [...this.#listFigures()]
      .map(([labels, { durations }]) => ({ labels, value: durations }))
      .filter(({ value }) => value.counts.some((count) => count > 0)),
  };

  *#listFigures(): Generator<[Record<string, string>, RequestFigures]> {
    for (const { template, figures } of this.#meters.values()) {
      for (const [method, figure] of figures) yield [{ route: template, method }, figure];
    }
  }
}

function renderSource(lines: string[], source: MetricSource): void {
  const { name, help, type } = source;
  lines.push(`# HELP ${name} ${escapeHelp(help)}`);
  lines.push(`# TYPE ${name} ${type}`);
  if (type === 'histogram') {
    for (const { labels, value } of source.read()) renderHistogram(lines, name, labels, value);
    return;
  }
  const read = source.read();
  const values = typeof read === 'number' ? [{ labels: {}, value: read }] : read;
  for (const { labels, value } of values) lines.push(formatSample(name, labels, value));
}

function renderHistogram(
  lines: string[], name: string, labels: LabelledValue<Histogram>['labels'], histogram: Histogram,
): void {
  let count = 0;
  for (const [index, bucketCount] of histogram.counts.entries()) {
    count += bucketCount;
    const le = String(histogram.bounds[index] ?? '+Inf');
    lines.push(formatSample(`${name}_bucket`, { ...labels, le }, count));
  }
  lines.push(formatSample(`${name}_sum`, labels, histogram.sum));
  lines.push(formatSample(`${name}_count`, labels, count));
}

function formatSample(
  name: string, labels: Readonly<Record<string, string>>, value: number,
): string {
  const pairs = Object.entries(labels).map(([key, text]) => `${key}="${escapeLabel(text)}"`);
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`;
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

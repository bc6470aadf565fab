/**
 * Figures of the server in the Prometheus text exposition format 0.0.4. Counting is adding to plain
 * numbers; everything else happens when somebody reads.
 */
import { getHeapStatistics } from 'node:v8';

/** Upper bounds of the latency histogram, in seconds. */
const BUCKETS_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const STATUS_MIN = 100;
const STATUS_BOUND = 600;

/** Other rooms' figures: read when somebody asks. */
export type MetricSource = {
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  readonly help: string;
  /** A number, or one for each set of labels. */
  readonly read: () => number | readonly LabelledValue[];
};

export type LabelledValue = {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
};

/** What one route template was asked, by method. */
export class Meter {
  readonly template: string;
  readonly figures = new Map<string, Figures>();
  #lastMethod = '';
  #last: Figures = new Figures();

  constructor(template: string) {
    this.template = template;
  }

  /** `durationMs` is null where there was no head to count from. */
  record(method: string, status: number, durationMs: number | null): void {
    if (method !== this.#lastMethod) this.#select(method);
    this.#last.record(status, durationMs);
  }

  #select(method: string): void {
    const figures = this.figures.get(method) ?? new Figures();
    this.figures.set(method, figures);
    this.#lastMethod = method;
    this.#last = figures;
  }
}

class Figures {
  readonly byStatus = new Float64Array(STATUS_BOUND - STATUS_MIN);
  readonly byDuration = new Float64Array(BUCKETS_S.length + 1);
  durationMs = 0;

  record(status: number, durationMs: number | null): void {
    const index = status - STATUS_MIN;
    this.byStatus[index] = (this.byStatus[index] ?? 0) + 1;
    if (durationMs === null) return;
    let bucket = 0;
    while (bucket < BUCKETS_S.length && durationMs > (BUCKETS_S[bucket] ?? 0) * 1000) bucket += 1;
    this.byDuration[bucket] = (this.byDuration[bucket] ?? 0) + 1;
    this.durationMs += durationMs;
  }
}

export class Metrics {
  readonly #meters = new Map<string, Meter>();
  readonly #sources: MetricSource[] = [];

  /** The meter of a route template, made at first need. */
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
    this.#renderRequests(lines);
    this.#renderDurations(lines);
    for (const source of [...this.#sources, ...PROCESS_SOURCES]) renderSource(lines, source);
    return `${lines.join('\n')}\n`;
  }

  #renderRequests(lines: string[]): void {
    const name = 'hookshelf_http_requests_total';
    lines.push(`# HELP ${name} Requests answered, by route template, method and status.`);
    lines.push(`# TYPE ${name} counter`);
    for (const [labels, figures] of this.#figures()) {
      for (const [index, count] of figures.byStatus.entries()) {
        if (count === 0) continue;
        lines.push(sample(name, { ...labels, status: String(index + STATUS_MIN) }, count));
      }
    }
  }

  #renderDurations(lines: string[]): void {
    const name = 'hookshelf_http_request_duration_seconds';
    lines.push(`# HELP ${name} Time from a request's head to its answer.`);
    lines.push(`# TYPE ${name} histogram`);
    for (const [labels, figures] of this.#figures()) {
      if (figures.byDuration.every((inBucket) => inBucket === 0)) continue;
      let count = 0;
      for (const [index, inBucket] of figures.byDuration.entries()) {
        count += inBucket;
        const bound = BUCKETS_S[index];
        const le = bound === undefined ? '+Inf' : String(bound);
        lines.push(sample(`${name}_bucket`, { ...labels, le }, count));
      }
      lines.push(sample(`${name}_sum`, labels, figures.durationMs / 1000));
      lines.push(sample(`${name}_count`, labels, count));
    }
  }

  *#figures(): Generator<[Record<string, string>, Figures]> {
    for (const { template, figures } of this.#meters.values()) {
      for (const [method, figure] of figures) yield [{ route: template, method }, figure];
    }
  }
}

const PROCESS_SOURCES: readonly MetricSource[] = [
  {
    name: 'process_resident_memory_bytes',
    type: 'gauge',
    help: 'Resident memory of the process.',
    read: () => process.memoryUsage.rss(),
  },
  {
    name: 'nodejs_heap_used_bytes',
    type: 'gauge',
    help: 'Memory in use on the JavaScript heap.',
    read: () => process.memoryUsage().heapUsed,
  },
  {
    name: 'nodejs_heap_size_limit_bytes',
    type: 'gauge',
    help: 'What the JavaScript heap may grow to.',
    read: () => getHeapStatistics().heap_size_limit,
  },
  {
    name: 'nodejs_external_memory_bytes',
    type: 'gauge',
    help: 'Memory of buffers outside the JavaScript heap.',
    read: () => process.memoryUsage().external,
  },
  {
    name: 'process_cpu_seconds_total',
    type: 'counter',
    help: 'User and system time of the process.',
    read: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    },
  },
  {
    name: 'process_uptime_seconds',
    type: 'gauge',
    help: 'Seconds since the process began.',
    read: () => process.uptime(),
  },
];

function renderSource(lines: string[], source: MetricSource): void {
  lines.push(`# HELP ${source.name} ${escapeHelp(source.help)}`);
  lines.push(`# TYPE ${source.name} ${source.type}`);
  const read = source.read();
  const values = typeof read === 'number' ? [{ labels: {}, value: read }] : read;
  for (const { labels, value } of values) lines.push(sample(source.name, labels, value));
}

function sample(name: string, labels: Readonly<Record<string, string>>, value: number): string {
  const pairs = Object.entries(labels).map(([key, text]) => `${key}="${escapeLabel(text)}"`);
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`;
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

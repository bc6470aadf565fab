/** Metrics of this process, under the names that dashboards for Node know. */
import type { IntervalHistogram } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { loadPerfHooks } from '../../base/node-modules.ts';
import type { MetricSource } from './metric-source.ts';

const RESOLUTION_MS = 20;
const NS_PER_S = 1e9;
const STARTED_S = Math.round(Date.now() - process.uptime() * 1000) / 1000;

export const PROCESS_SOURCES: readonly MetricSource[] = [
  gauge('process_start_time_seconds', 'When the process began, in seconds since 1970.',
    () => STARTED_S),
  gauge('process_uptime_seconds', 'Seconds since the process began.', () => process.uptime()),
  {
    name: 'process_cpu_seconds_total',
    type: 'counter',
    help: 'User and system time of the process.',
    labels: [],
    read: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    },
  },
  gauge('process_resident_memory_bytes', 'Resident memory of the process.',
    () => process.memoryUsage.rss()),
  gauge('nodejs_heap_used_bytes', 'Memory in use on the JavaScript heap.',
    () => process.memoryUsage().heapUsed),
  gauge('nodejs_heap_size_limit_bytes', 'What the JavaScript heap may grow to.',
    () => getHeapStatistics().heap_size_limit),
  gauge('nodejs_external_memory_bytes', 'Memory of buffers outside the JavaScript heap.',
    () => process.memoryUsage().external),
];

/**
 * The delay of the event loop between one reading and the next. It is measured from the first
 * reading on only, as measuring wakes the process fifty times a second.
 */
export class EventLoopDelay {
  #monitor: IntervalHistogram | null = null;

  /** Gauges in seconds, all 0 at the first reading. */
  read(): readonly MetricSource[] {
    const isFirst = this.#monitor === null;
    const monitor = this.#monitor
      ??= loadPerfHooks().monitorEventLoopDelay({ resolution: RESOLUTION_MS });
    if (isFirst) monitor.enable();
    // Node measures the time between two timers; their interval is no delay.
    const seconds = (ns: number): number => isFirst || monitor.count === 0
      ? 0 : Math.max(0, ns / NS_PER_S - RESOLUTION_MS / 1000);
    const values = {
      mean: seconds(monitor.mean), p50: seconds(monitor.percentile(50)),
      p99: seconds(monitor.percentile(99)), max: seconds(monitor.max),
    };
    monitor.reset();
    return Object.entries(values).map(([statistic, value]) => gauge(
      `nodejs_eventloop_lag_${statistic}_seconds`,
      `Delay of the event loop since the last reading, ${statistic}.`, () => value));
  }

  close(): void {
    this.#monitor?.disable();
  }
}

function gauge(name: string, help: string, read: () => number): MetricSource {
  return { name, type: 'gauge', help, read, labels: [] };
}

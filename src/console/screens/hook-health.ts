/** Webhooks that fail, since when, and those that answer their sender slowly. */
import { href } from '../base/address.ts';
import { h } from '../base/dom.ts';
import type { Child } from '../base/dom.ts';
import { count, duration, time } from '../base/format.ts';
import { presetOf } from '../base/hooks.ts';
import { badge } from '../parts/badge.ts';
import { hookLabelOf } from '../parts/hook-label.ts';
import { table } from '../parts/table.ts';
import type { StatisticsReport } from '../../monitoring/statistics.ts';

/** How long each sender waits for an answer, in milliseconds; null where it is not known. */
export type Limits = ReadonlyMap<string, number | null>;
type Hook = StatisticsReport['hooks'][number];

/** An answer is slow from this part of what its sender waits on. */
const SLOW_PART = 0.5;

export function hookHealth({ hooks, times }: StatisticsReport, limits: Limits): HTMLElement {
  const rows = hooks.flatMap((hook) => {
    const row = rowOf(hook, times, limits);
    return row === null ? [] : [row];
  });
  if (rows.length === 0) {
    return h('p', { class: 'hint' }, 'None: nothing failed, and no sender waits long.');
  }
  const titles = ['Webhook', 'State', 'Since', 'Failed', 'Rejected', 'Slowest 5 % of answers',
    'Sender waits'];
  return table(titles, rows, 'stacked');
}

/** null: all is well with it. */
function rowOf(
  { hook, requests, runs, deliveries }: Hook, times: readonly string[], limits: Limits,
): readonly Child[] | null {
  const preset = presetOf(hook);
  const failed = times.map((_, index) =>
    (runs.failed[index] ?? 0) + (deliveries.failed[index] ?? 0));
  const good = times.map((_, index) =>
    (runs.succeeded[index] ?? 0) + (deliveries.delivered[index] ?? 0));
  const bad = failed.map((value, index) => value + (requests.rejected[index] ?? 0));
  const p95Ms = Math.max(-1, ...requests.p95Ms.map(Number), ...deliveries.p95Ms.map(Number));
  const limitMs = limits.get(preset ?? '') ?? null;
  const isSlow = limitMs !== null && p95Ms >= limitMs * SLOW_PART;
  const lastBad = bad.findLastIndex((value) => value > 0);
  if (lastBad === -1 && !isSlow) return null;
  const lastWell = good.findLastIndex((value, index) => value > 0 && bad[index] === 0);
  const isFailing = lastBad > lastWell;
  const since = isFailing ? bad.findIndex((value, index) => value > 0 && index > lastWell)
    : lastBad;
  const state = isFailing ? 'failing' : isSlow ? 'slow' : 'works again';
  return [
    h('a', { href: href([preset === undefined ? 'outgoing' : 'incoming', hook]) },
      hookLabelOf(hook)),
    badge(state), time(times[since]), count(sumOf(failed)), count(sumOf(requests.rejected)),
    p95Ms > 0 ? `up to ${duration(p95Ms)}` : '–', limitMs === null ? '–' : duration(limitMs),
  ];
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

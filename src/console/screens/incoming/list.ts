/**
 * Incoming webhooks: whether each works, when it was last called, and how often it and its actions
 * succeed.
 */
import { get } from '../../base/api.ts';
import { h } from '../../base/dom.ts';
import { time } from '../../base/format.ts';
import { labelOfHook } from '../../base/hooks.ts';
import { sparkline } from '../../parts/chart.ts';
import { hookLabel } from '../../parts/hook-label.ts';
import { hookState, lastFailure } from '../../parts/hook-state.ts';
import { openHookList } from '../../parts/lists/hook-list.ts';
import type { RowColumn } from '../../parts/lists/rows.ts';
import type { Screen } from '../../parts/screen.ts';
import { openIncoming } from './one.ts';
import { openNewIncoming } from './new.ts';
import type { IncomingWebhook } from '../../../app/api-types.ts';
import type { StatisticsReport } from '../../../monitoring/statistics.ts';

type HookRow = {
  readonly hook: IncomingWebhook;
  readonly statistics: StatisticsReport['hooks'][number] | undefined;
  readonly lastAt: string | null;
  /** Since when calls are counted. */
  readonly since: string;
};

const COLUMNS: readonly RowColumn<HookRow>[] = [
  { title: 'Webhook', kind: 'wide', cell: ({ hook }) => hookLabel(labelOfHook(hook)) },
  { title: 'Sender', kind: 'extra', cell: ({ hook }) => hook.verification?.preset
    ?? (hook.hasSecret ? 'X-Signature' : 'anybody') },
  { title: 'State', cell: ({ hook }) => hookState(hook) },
  { title: 'Last failure', kind: 'extra', cell: ({ hook }) => lastFailure(hook) },
  { title: 'Last called', cell: ({ lastAt, since }) => lastAt === null
    ? h('span', {}, 'not since ', time(since)) : time(lastAt) },
  {
    title: 'Accepted', kind: 'number extra',
    cell: ({ statistics }) => acceptedShare(statistics),
  },
  {
    title: 'Runs succeeded', kind: 'number',
    cell: ({ statistics }) => succeededShare(statistics),
  },
  { title: '24 hours', kind: 'extra', cell: ({ statistics }) => statistics === undefined ? ''
    : sparkline(callsOf(statistics), 'Requests in the last 24 hours') },
];

export const incomingScreen: Screen = {
  name: 'incoming', title: 'Incoming', key: 'i',
  open(place, address) {
    const [, step] = address.path;
    if (step === 'new') return openNewIncoming(place);
    if (step !== undefined) return openIncoming(place, step, address);
    return openHookList<HookRow>(place, address, {
      title: 'Incoming webhooks', screen: 'incoming', idOf: ({ hook }) => hook.identifier,
      columns: COLUMNS, read: readRows,
      empty: ['There is none yet. One for GitHub takes two minutes. As commands:',
        'hookshelf manual first-webhook'],
    });
  },
};

async function readRows(path: string, signal: AbortSignal): Promise<readonly HookRow[]> {
  const [hooks, day, hour] = await Promise.all([
    get<readonly IncomingWebhook[]>(path, signal),
    get<StatisticsReport>('/api/statistics?window=24h', signal),
    get<StatisticsReport>('/api/statistics?window=1h', signal),
  ]);
  return hooks.map((hook) => rowOf(hook, day, hour));
}

function rowOf(hook: IncomingWebhook, day: StatisticsReport, hour: StatisticsReport): HookRow {
  const statistics = statisticsOf(hook, day);
  const [from = day.since] = day.times;
  return {
    hook, statistics, lastAt: lastCallOf(hook, hour) ?? lastCallOf(hook, day),
    since: day.since > from ? day.since : from,
  };
}

function statisticsOf(
  { identifier }: IncomingWebhook, { hooks }: StatisticsReport,
): HookRow['statistics'] {
  return hooks.find(({ hook }) => hook === identifier);
}

/** When the last slot with a call began. */
function lastCallOf(hook: IncomingWebhook, report: StatisticsReport): string | null {
  const statistics = statisticsOf(hook, report);
  if (statistics === undefined) return null;
  return report.times[callsOf(statistics).findLastIndex((value) => value > 0)] ?? null;
}

function callsOf({ requests }: StatisticsReport['hooks'][number]): number[] {
  return requests.accepted.map((value, index) =>
    value + (requests.rejected[index] ?? 0) + (requests.failed[index] ?? 0));
}

/** Of all requests, those that were let in, whatever became of them. */
function acceptedShare(statistics: HookRow['statistics']): string {
  if (statistics === undefined) return '–';
  const { accepted, failed } = statistics.requests;
  return percentage(sumOf(accepted) + sumOf(failed), sumOf(callsOf(statistics)));
}

function succeededShare(statistics: HookRow['statistics']): string {
  if (statistics === undefined) return '–';
  const { succeeded, failed } = statistics.runs;
  return percentage(sumOf(succeeded), sumOf(succeeded) + sumOf(failed));
}

function percentage(part: number, whole: number): string {
  return whole === 0 ? '–' : `${Math.floor(part / whole * 100)} %`;
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

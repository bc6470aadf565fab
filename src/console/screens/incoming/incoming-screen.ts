/**
 * The screen of incoming webhooks: the states, the last calls, and how often calls and actions
 * succeed.
 */
import { getJson } from '../../base/api-calls.ts';
import type { ScreenAddress } from '../../base/screen-address.ts';
import { h } from '../../base/dom.ts';
import { formatTimestamp, lastingElement, timeElement } from '../../base/format.ts';
import { createWebhookLabel } from '../../base/webhook-labels.ts';
import { sparkline, sum } from '../../parts/chart.ts';
import { lastFailure, webhookLabel, webhookState } from '../../parts/webhook-cells.ts';
import { openWebhookList } from '../../parts/lists/webhook-list.ts';
import type { RowColumn } from '../../parts/lists/virtual-rows.ts';
import { openForm } from '../../parts/screen.ts';
import { openActionsEditor, openIncomingEditor } from './incoming-forms.ts';
import { openIncoming } from './incoming-view.ts';
import { openNewIncoming } from './new-incoming.ts';
import type { IncomingWebhook } from '../../../app/api-types.ts';
import type { StatisticsReport } from '../../../monitoring/monitoring-schema.ts';

type IncomingRow = {
  readonly webhook: IncomingWebhook;
  readonly statistics: StatisticsReport['hooks'][number] | undefined;
  readonly lastAt: string | null;
  /** The time from which calls are counted. */
  readonly since: string;
  /** Whether that is the start of the server, which came later than 24 hours ago. */
  readonly isSinceStart: boolean;
};

const COLUMNS: readonly RowColumn<IncomingRow>[] = [
  {
    title: 'Webhook', kind: 'wide',
    cell: ({ webhook }) => webhookLabel(createWebhookLabel(webhook)),
  },
  { title: 'Sender', kind: 'extra', cell: ({ webhook }) => webhook.verification?.preset
    ?? (webhook.hasSecret ? 'X-Signature' : 'anybody') },
  { title: 'State', kind: 'middle', cell: ({ webhook }) => webhookState(webhook) },
  { title: 'Last failure', kind: 'middle extra', cell: ({ webhook }) => lastFailure(webhook) },
  { title: 'Last called', kind: 'short', cell: ({ lastAt, since }) => lastAt === null
    ? h('span', 'not ', lastingElement(since)) : timeElement(lastAt) },
  {
    title: 'Accepted', kind: 'number extra',
    cell: ({ statistics }) => formatAcceptedShare(statistics),
  },
  {
    title: 'Runs succeeded', kind: 'number',
    cell: ({ statistics }) => formatSucceededShare(statistics),
  },
  { title: '24 hours', kind: 'short extra', cell: ({ statistics }) => statistics === undefined ? ''
    : sparkline(sumCalls(statistics), 'Requests in the last 24 hours') },
];

/** The forms of a webhook, by the last step of their address. */
const FORMS: Readonly<Record<string, (container: HTMLElement, id: string) => () => void>> = {
  edit: openIncomingEditor, routes: openActionsEditor,
};

export function openIncomingScreen(container: HTMLElement, address: ScreenAddress): () => void {
  const [, step, form = ''] = address.path;
  if (step === 'new') return openForm(container, 'admin', 'add webhooks', openNewIncoming);
  if (step !== undefined) {
    const { [form]: open } = FORMS;
    return open === undefined ? openIncoming(container, step, address)
      : openForm(container, 'admin', 'change webhooks', () => open(container, step));
  }
  return openWebhookList<IncomingRow>(container, address, {
    title: 'Incoming webhooks', screen: 'incoming', getId: ({ webhook }) => webhook.identifier,
    columns: COLUMNS, fetchRows, describeFigures,
    empty: ['There is none yet. One for GitHub takes two minutes. As commands:',
      'hookshelf manual first-webhook'],
  });
}

async function fetchRows(path: string, signal: AbortSignal): Promise<readonly IncomingRow[]> {
  const [webhooks, day, hour] = await Promise.all([
    getJson<readonly IncomingWebhook[]>(path, signal),
    getJson<StatisticsReport>('/api/statistics?window=24h', signal),
    getJson<StatisticsReport>('/api/statistics?window=1h', signal),
  ]);
  return webhooks.map((webhook) => createRow(webhook, day, hour));
}

function createRow(
  webhook: IncomingWebhook, day: StatisticsReport, hour: StatisticsReport,
): IncomingRow {
  const statistics = findStatistics(webhook, day);
  const [from = day.since] = day.times;
  const isSinceStart = day.since > from;
  const { lastSuccessAt, lastFailure: failure } = webhook.health;
  // A restart forgets the statistics, and not the health.
  const [lastTry = null] = [lastSuccessAt, failure?.at ?? null].filter((at) => at !== null).sort()
    .slice(-1);
  return {
    webhook, statistics,
    lastAt: findLastCall(webhook, hour) ?? findLastCall(webhook, day) ?? lastTry,
    since: isSinceStart ? day.since : from, isSinceStart,
  };
}

/** Says that the figures do not reach back 24 hours, where they do not. */
function describeFigures([row]: readonly IncomingRow[]): string {
  return row?.isSinceStart !== true ? ''
    : `. The figures of 24 hours are counted since the server started, ${
      formatTimestamp(row.since)}.`;
}

function findStatistics(
  { identifier }: IncomingWebhook, { hooks }: StatisticsReport,
): IncomingRow['statistics'] {
  return hooks.find(({ hook }) => hook === identifier);
}

/** The beginning of the last time slot with a call. */
function findLastCall(webhook: IncomingWebhook, report: StatisticsReport): string | null {
  const statistics = findStatistics(webhook, report);
  if (statistics === undefined) return null;
  return report.times[sumCalls(statistics).findLastIndex((value) => value > 0)] ?? null;
}

function sumCalls({ requests }: StatisticsReport['hooks'][number]): number[] {
  return requests.accepted.map((value, index) =>
    value + (requests.rejected[index] ?? 0) + (requests.failed[index] ?? 0));
}

/** The share of requests that passed their checks, whatever became of them. */
function formatAcceptedShare(statistics: IncomingRow['statistics']): string {
  if (statistics === undefined) return '–';
  const { accepted, failed } = statistics.requests;
  return formatPercentage(sum(accepted) + sum(failed), sum(sumCalls(statistics)));
}

function formatSucceededShare(statistics: IncomingRow['statistics']): string {
  if (statistics === undefined) return '–';
  const { succeeded, failed } = statistics.runs;
  return formatPercentage(sum(succeeded), sum(succeeded) + sum(failed));
}

function formatPercentage(part: number, whole: number): string {
  return whole === 0 ? '–' : `${Math.floor(part / whole * 100)} %`;
}

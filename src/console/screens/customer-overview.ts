/** A customer's overview: whether his webhooks work, since when not and why, and what waits. */
import { countItems, getJson, getPage } from '../base/api-calls.ts';
import { callerSession } from '../base/caller-session.ts';
import { fill, h, type Child } from '../base/dom.ts';
import { formatCount, formatQuantity, formatTimestamp, timeElement } from '../base/format.ts';
import { href } from '../base/screen-address.ts';
import { createWebhookLabel } from '../base/webhook-labels.ts';
import { statusCard } from '../parts/badge.ts';
import { attemptsChart, createTimeFormat } from '../parts/chart.ts';
import { emptyState, loadingLine } from '../parts/notice.ts';
import { heading, keepCurrent } from '../parts/screen.ts';
import { factList, stackedTable } from '../parts/tables.ts';
import {
  detailedWebhookState, lastFailure, webhookLabel,
} from '../parts/webhook-cells.ts';
import type { OutgoingWebhook, PublicDelivery } from '../../app/api-types.ts';
import type { StatisticsReport } from '../../monitoring/monitoring-schema.ts';

/** At most so many webhooks are shown, the most urgent first; the list has them all. */
const SHOWN_MAX = 20;

type Overview = {
  readonly webhooks: readonly OutgoingWebhook[];
  readonly webhookCount: number;
  /** Also counts webhooks that a failure has switched off. */
  readonly failingCount: number;
  readonly offCount: number;
  /** By the identifiers of webhooks. */
  readonly waitingCounts: ReadonlyMap<string, number>;
  readonly waitingCount: number;
  /** null: none waits. */
  readonly oldestWaitsSince: string | null;
  readonly failedCount: number;
  readonly statistics: StatisticsReport;
};

export function openCustomerOverview(container: HTMLElement): () => void {
  const content = h('div', loadingLine());
  fill(container, heading('Overview'), content);
  return keepCurrent(content, async () => render(await fetchOverview())).close;
}

async function fetchOverview(): Promise<Overview> {
  const webhooksPath = '/api/outgoing-webhooks';
  const [webhooks, failingCount, offCount, waiting, failedCount, statistics] = await Promise.all([
    getPage<OutgoingWebhook>(`${webhooksPath}?sort=state&limit=${SHOWN_MAX}`),
    countItems(webhooksPath, { state: 'failing' }),
    countItems(webhooksPath, { state: 'off' }),
    getPage<PublicDelivery>('/api/deliveries?status=pending&limit=1'),
    countItems('/api/deliveries', { status: 'failed' }),
    getJson<StatisticsReport>('/api/statistics?window=1h'),
  ]);
  const waitingCount = waiting.total ?? 0;
  const counts = waitingCount === 0 ? []
    : await Promise.all(webhooks.items.map(async ({ identifier }) => [identifier,
      await countItems('/api/deliveries', { status: 'pending', hook: identifier })] as const));
  return {
    webhooks: webhooks.items, webhookCount: webhooks.total ?? webhooks.items.length,
    failingCount, offCount, waitingCounts: new Map(counts), waitingCount,
    oldestWaitsSince: waiting.items[0]?.createdAt ?? null, failedCount, statistics,
  };
}

function render(overview: Overview): HTMLElement[] {
  const { webhooks, webhookCount, waitingCount, oldestWaitsSince, failedCount } = overview;
  const { times, deliveries, since } = overview.statistics;
  const accessEnd = ['Your access ends', formatAccessEnd()] as const;
  if (webhookCount === 0) {
    return [
      emptyState('There is no webhook yet that this token is for.', null), factList([accessEnd]),
    ];
  }
  const link = (status: string, count: number): HTMLElement =>
    h('a', { href: href(['deliveries'], { status }) }, formatCount(count));
  return [
    banner(overview),
    factList([
      ['Deliveries that wait', link('pending', waitingCount)],
      ['The oldest of them came', timeElement(oldestWaitsSince, '–')],
      ['Deliveries that failed', link('failed', failedCount)],
      accessEnd,
    ]),
    h('h2', webhookCount === 1 ? 'Your webhook' : 'Your webhooks'),
    stackedTable(['Webhook', 'State', 'Last failure', 'Last success', 'Waiting'],
      webhooks.map((webhook) => renderRow(webhook, overview))),
    ...webhookCount > webhooks.length ? [h('p.hint', h('a', { href: href(['outgoing']) },
      `All ${formatCount(webhookCount)} webhooks`))] : [],
    h('h2', `In the last hour${formatSince(since, times)}`), attemptsChart(
      { times, minutesEach: 1 }, deliveries.delivered, deliveries.failed),
  ];
}

/** null: never by itself. */
function formatAccessEnd(): HTMLElement | null {
  const { expiresAt } = callerSession.access;
  return expiresAt === undefined ? null
    : h('span', `${formatTimestamp(expiresAt)}, `, timeElement(expiresAt));
}

/** A restart of the server begins the counts anew. */
function formatSince(since: string, times: readonly string[]): string {
  const isWhole = Date.parse(since) <= Date.parse(times[0] ?? since);
  return isWhole ? '' : `, counted since ${createTimeFormat(times)(since)}`;
}

function banner({ webhooks, webhookCount, failingCount, offCount }: Overview): HTMLElement {
  const alarm = (state: string, count: number, verb: string): HTMLElement =>
    statusCard(state, webhookCount === 1 ? `Your webhook ${verb}.`
      : `Of ${formatQuantity(webhookCount, 'webhook')} ${formatCount(count)} ${verb}.`);
  if (failingCount > 0) return alarm('failing', failingCount, failingCount > 1 ? 'fail' : 'fails');
  if (offCount > 0) return alarm('off', offCount, offCount > 1 ? 'are off' : 'is off');
  const justFailed = webhooks.filter(({ health }) => health.lastTryFailed).length;
  if (justFailed > 0) {
    return statusCard('warning', webhookCount === 1 ? 'The last try of your webhook failed.'
      : `The last try of ${formatQuantity(justFailed, 'webhook')} failed.`);
  }
  if (webhooks.some(({ health }) => health.lastSuccessAt === null)) {
    return statusCard('ready', webhookCount === 1 ? 'Nothing has arrived at your webhook yet.'
      : 'None of your webhooks fails; at some of them nothing has arrived yet.');
  }
  return statusCard('ready',
    webhookCount === 1 ? 'Your webhook works.' : 'All your webhooks work.');
}

function renderRow(webhook: OutgoingWebhook, { waitingCounts }: Overview): readonly Child[] {
  const { identifier, health } = webhook;
  const waitingCount = waitingCounts.get(identifier) ?? 0;
  return [
    h('a', { href: href(['outgoing', identifier]) }, webhookLabel(createWebhookLabel(webhook))),
    detailedWebhookState(webhook), lastFailure(webhook) ?? '–',
    timeElement(health.lastSuccessAt, 'none'),
    waitingCount === 0 ? '0' : h('a', {
      href: href(['deliveries'], { status: 'pending', hook: identifier }),
    }, formatCount(waitingCount)),
  ];
}

/** Plots of what one outgoing webhook has sent lately; what waits, and its last deliveries. */
import { countItems, getJson, getPage } from '../../base/api-calls.ts';
import { refreshOnChanges } from '../../base/change-stream.ts';
import { h, type Child } from '../../base/dom.ts';
import { formatDuration, formatQuantity, lastingElement, timeElement } from '../../base/format.ts';
import { apiPath, appendQuery, href } from '../../base/screen-address.ts';
import { resolveWebhookLabel } from '../../base/webhook-labels.ts';
import {
  attemptsChart, createHistoryReader, getBars, sum, sumBars, windowButtons,
} from '../../parts/chart.ts';
import {
  deliveryBadge, formatAttempt, formatEvent, formatWait,
} from '../../parts/delivery-text.ts';
import { lineChart } from '../../parts/line-chart.ts';
import { keepCurrent } from '../../parts/screen.ts';
import { stackedTable } from '../../parts/tables.ts';
import type { OutgoingWebhook, PublicDelivery } from '../../../app/api-types.ts';
import type { WebhookStatistics } from '../../../webhooks/health/webhook-statistics.ts';

const LAST_DELIVERIES = 10;

/** Shown beside the plots. `waiting.first` waits for longest. */
type Traffic = {
  readonly webhook: OutgoingWebhook;
  readonly latest: readonly PublicDelivery[];
  readonly waiting: { readonly first: PublicDelivery | undefined; readonly count: number };
  readonly failedCount: number;
};

/**
 * An element that is kept current until it is closed, and is read at once by `show`; each time
 * `onWebhook` gets the webhook.
 */
export function watchTraffic(
  identifier: string, onWebhook: (webhook: OutgoingWebhook) => void,
): { readonly element: HTMLElement; readonly show: () => void; close(): void } {
  const readStatistics = createHistoryReader<WebhookStatistics>(
    apiPath('outgoing-webhooks', identifier, 'statistics'));
  const content = h('div', { 'aria-busy': 'true' });
  const buttons = windowButtons('1h', () => current.show());
  const current = keepCurrent(content, async () => {
    const [statistics, traffic] = await Promise.all([
      readStatistics(buttons.chosen), fetchTraffic(identifier),
    ]);
    onWebhook(traffic.webhook);
    return statistics.window === buttons.chosen ? render(statistics, traffic) : null;
    // No notice every ten seconds, as of a webhook that somebody has deleted meanwhile.
  }, () => {});
  const stop = refreshOnChanges('deliveries', identifier, current.show);
  return {
    element: h('section', h('div.heading', h('h2', 'Lately'),
      h('div.actions', {}, ...buttons.elements)), content),
    show: current.show,
    close() {
      stop();
      current.close();
    },
  };
}

async function fetchTraffic(identifier: string): Promise<Traffic> {
  const list = (query: Readonly<Record<string, string>>): string =>
    appendQuery('/api/deliveries', { hook: identifier, ...query });
  const [webhook, latest, waiting, failedCount] = await Promise.all([
    getJson<OutgoingWebhook>(apiPath('outgoing-webhooks', identifier)),
    getJson<readonly PublicDelivery[]>(list({ order: 'newest', limit: String(LAST_DELIVERIES) })),
    getPage<PublicDelivery>(list({ status: 'pending', limit: '1' })),
    countItems('/api/deliveries', { hook: identifier, status: 'failed' }),
  ]);
  const { items: [first], total } = waiting;
  return { webhook, latest, waiting: { first, count: total ?? 0 }, failedCount };
}

function render(
  statistics: WebhookStatistics, { webhook, latest, waiting, failedCount }: Traffic,
): HTMLElement[] {
  const { identifier } = webhook;
  const listLink = (status: string, count: number): HTMLElement =>
    h('a', { href: href(['deliveries'], { hook: identifier, status }) },
      formatQuantity(count, 'delivery', 'deliveries'));
  return [
    h('div.charts', {}, ...charts(statistics, identifier)),
    h('h3', 'What waits'),
    waiting.first === undefined ? h('p', 'Nothing.') : h('p',
      listLink('pending', waiting.count), ', the oldest ',
      timeElement(waiting.first.createdAt), ': ', ...explainWait(webhook, waiting.first), '.'),
    ...failedCount === 0 ? [] : [h('h3', 'What failed'), h('p',
      listLink('failed', failedCount), ': tried no more, unless they are sent again from there.')],
    h('h3', 'Its last deliveries'),
    latest.length === 0 ? h('p.hint', 'It has none that are kept.')
      : stackedTable(['Created', 'Event', 'Status', 'Last answer', 'Attempts'],
        latest.map(renderDelivery)),
  ];
}

/** Why the oldest pending delivery is not sent yet. */
function explainWait(
  { enabled, health: { nextProbeAt, waitsFor } }: OutgoingWebhook,
  delivery: PublicDelivery,
): readonly Child[] {
  const { attempts, nextAttemptAt } = delivery;
  const last = attempts.at(-1);
  const failed = last === undefined ? ''
    : `the last attempt ended with ${formatAttempt(last)}, and `;
  if (nextProbeAt !== undefined) {
    return ['the webhook is off for failing, and is tried again ', timeElement(nextProbeAt)];
  }
  if (!enabled) return ['the webhook is off'];
  if (delivery.waitsFor === 'rate') return [failed, formatWait(delivery)];
  if (waitsFor !== null && waitsFor !== undefined) {
    const [other] = waitsFor.behind;
    const example = other === undefined ? '' : `, such as ${resolveWebhookLabel(other).title},`;
    return [`others${example} have the places at ${waitsFor.target} `,
      lastingElement(waitsFor.since)];
  }
  const isDue = nextAttemptAt === null || Date.parse(nextAttemptAt) <= Date.now();
  if (isDue) return [`${failed}it is under way, or waits for those before it`];
  return [`${failed}it is tried `, timeElement(nextAttemptAt)];
}

function renderDelivery(delivery: PublicDelivery): readonly Child[] {
  const { identifier, createdAt, attempts } = delivery;
  const last = attempts.at(-1);
  return [
    h('a', { href: href(['deliveries', identifier]) }, timeElement(createdAt)),
    formatEvent(delivery), deliveryBadge(delivery),
    last === undefined ? '–' : `${formatAttempt(last)} in ${formatDuration(last.durationMs)}`,
    String(attempts.length),
  ];
}

function charts(statistics: WebhookStatistics, hook: string): HTMLElement[] {
  const bars = getBars(statistics);
  const { times } = bars;
  const { delivered, failed, durationMs } = statistics.deliveries;
  const [good, bad] = [sumBars(statistics, delivered), sumBars(statistics, failed)];
  const counts = good.map((value, index) => value + (bad[index] ?? 0));
  const count = sum(counts);
  // The mean of an interval counts as often as it had attempts.
  const spentMs = sumBars(statistics, durationMs.map((meanMs, index) =>
    (meanMs ?? 0) * ((delivered[index] ?? 0) + (failed[index] ?? 0))));
  const divideByCounts = (values: readonly number[]): (number | null)[] =>
    values.map((value, index) => counts[index] === 0 ? null : value / (counts[index] ?? 1));
  return [
    attemptsChart(bars, good, bad, { hook }),
    lineChart({
      title: 'Success', unit: 'attempts that delivered', times, values: divideByCounts(good),
      top: 1, format: formatPercent,
      summary: count === 0 ? 'no attempt'
        : `${formatPercent(sum(good) / count)} of ${formatQuantity(count, 'attempt')}`,
    }),
    lineChart({
      title: 'Duration', unit: 'mean of an attempt', times, values: divideByCounts(spentMs),
      format: formatDuration,
      summary: count === 0 ? 'no attempt' : `${formatDuration(sum(spentMs) / count)} in the mean`,
    }),
  ];
}

function formatPercent(part: number): string {
  return `${Math.round(part * 100)} %`;
}

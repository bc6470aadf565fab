/** A table of webhooks that fail or reject, since when and why, or that answer too slowly. */
import { href } from '../base/screen-address.ts';
import { getJson } from '../base/api-calls.ts';
import { h } from '../base/dom.ts';
import type { Child } from '../base/dom.ts';
import { formatCount, formatDuration, timeElement } from '../base/format.ts';
import { createWebhookLabel, findPreset } from '../base/webhook-labels.ts';
import { badge } from '../parts/badge.ts';
import { webhookLabel, resolvedWebhookLabel } from '../parts/webhook-label.ts';
import { lastFailure } from '../parts/webhook-state.ts';
import { plainTable } from '../parts/plain-table.ts';
import type { IncomingWebhook, OutgoingWebhook } from '../../app/api-types.ts';
import type { ServiceStatus } from '../../monitoring/monitoring-routes.ts';
import type { StatisticsReport } from '../../monitoring/statistics.ts';

/** How long the sender of each preset waits for a response, in milliseconds; null: unknown. */
export type AnswerLimits = ReadonlyMap<string, number | null>;
type WebhookStatistics = StatisticsReport['hooks'][number];
type UnhealthyWebhook = (IncomingWebhook | OutgoingWebhook) & {
  readonly screen: 'incoming' | 'outgoing';
};

/** A response is slow when it takes this part of the time that the sender waits. */
const SLOW_PART = 0.5;
/** At most so many webhooks are shown of each kind and state; the lists have them all. */
const UNHEALTHY_MAX = 20;

/** Fetches the webhooks that fail or reject, if the status says that there are some. */
export async function fetchUnhealthy(
  { webhooks }: ServiceStatus,
): Promise<readonly UnhealthyWebhook[]> {
  const unhealthy: UnhealthyWebhook[] = [];
  for (const state of ['failing', 'rejecting'] as const) {
    if (webhooks[state] === 0) continue;
    const query = `?state=${state}&limit=${UNHEALTHY_MAX}`;
    const [incoming, outgoing] = await Promise.all([
      getJson<readonly IncomingWebhook[]>(`/api/incoming-webhooks${query}`),
      // An outgoing webhook has no requests to reject.
      state === 'rejecting' ? []
        : getJson<readonly OutgoingWebhook[]>(`/api/outgoing-webhooks${query}`),
    ]);
    unhealthy.push(...incoming.map((webhook) => ({ ...webhook, screen: 'incoming' as const })),
      ...outgoing.map((webhook) => ({ ...webhook, screen: 'outgoing' as const })));
  }
  return unhealthy;
}

export function webhookHealth(
  { webhooks }: ServiceStatus, unhealthy: readonly UnhealthyWebhook[], { hooks }: StatisticsReport,
  limits: AnswerLimits,
): HTMLElement {
  const statisticsById = new Map(hooks.map((hook) => [hook.hook, hook]));
  const unhealthyIds = new Set(unhealthy.map(({ identifier }) => identifier));
  const rows = [
    ...unhealthy.map((webhook) =>
      renderUnhealthyRow(webhook, statisticsById.get(webhook.identifier), limits)),
    ...hooks.filter((hook) => !unhealthyIds.has(hook.hook) && isSlow(hook, limits))
      .map((hook) => [
        webhookLink('incoming', hook.hook, resolvedWebhookLabel(hook.hook)), badge('slow'), '–',
        '–', ...renderFigures(hook, limits),
      ]),
  ];
  if (rows.length === 0) {
    return h('p', { class: 'hint' }, 'None: no webhook fails, and no sender waits long.');
  }
  const titles = ['Webhook', 'State', 'Since', 'Last failure', 'Failed', 'Rejected',
    'Slowest 5 % of answers', 'Sender waits'];
  const hiddenCount = webhooks.failing + webhooks.rejecting - unhealthy.length;
  return h('div', {}, plainTable(titles, rows, 'stacked'),
    hiddenCount > 0 ? h('p', { class: 'hint' },
      `${formatCount(hiddenCount)} more fail or reject: see `,
      h('a', { href: href(['incoming'], { state: 'failing' }) }, 'incoming'), ' and ',
      h('a', { href: href(['outgoing'], { state: 'failing' }) }, 'outgoing'), ' ones that fail.')
      : null);
}

function renderUnhealthyRow(
  webhook: UnhealthyWebhook, statistics: WebhookStatistics | undefined, limits: AnswerLimits,
): readonly Child[] {
  const { identifier, screen, health: { state, since } } = webhook;
  return [
    webhookLink(screen, identifier, webhookLabel(createWebhookLabel(webhook))), badge(state),
    timeElement(since),
    lastFailure(webhook) ?? '–',
    ...statistics === undefined ? ['0', '0', '–', '–'] : renderFigures(statistics, limits),
  ];
}

function webhookLink(screen: string, identifier: string, label: HTMLElement): HTMLElement {
  return h('a', { href: href([screen, identifier]) }, label);
}

/** The figures of a webhook in the chosen window. */
function renderFigures(hook: WebhookStatistics, limits: AnswerLimits): readonly Child[] {
  const { requests, runs, deliveries } = hook;
  const [p95Ms, limitMs] = [findSlowestMs(hook), findLimitMs(hook, limits)];
  return [
    formatCount(sum(runs.failed) + sum(deliveries.failed)), formatCount(sum(requests.rejected)),
    p95Ms > 0 ? `up to ${formatDuration(p95Ms)}` : '–',
    limitMs === null ? '–' : formatDuration(limitMs),
  ];
}

function isSlow(hook: WebhookStatistics, limits: AnswerLimits): boolean {
  const limitMs = findLimitMs(hook, limits);
  return limitMs !== null && findSlowestMs(hook) >= limitMs * SLOW_PART;
}

function findSlowestMs({ requests, deliveries }: WebhookStatistics): number {
  return Math.max(-1, ...requests.p95Ms.map(Number), ...deliveries.p95Ms.map(Number));
}

function findLimitMs({ hook }: WebhookStatistics, limits: AnswerLimits): number | null {
  return limits.get(findPreset(hook) ?? '') ?? null;
}

function sum(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/**
 * A table of webhooks that fail or reject, whose last try failed, or that a failure has switched
 * off, since when and why, or that answer too slowly.
 */
import { href } from '../base/screen-address.ts';
import { getJson } from '../base/api-calls.ts';
import { h, type Child } from '../base/dom.ts';
import { formatCount, formatDuration, timeElement } from '../base/format.ts';
import { createWebhookLabel, findPreset } from '../base/webhook-labels.ts';
import { badge } from '../parts/badge.ts';
import { sum } from '../parts/chart.ts';
import {
  isOffUnseen, lastFailure, resolvedWebhookLabel, webhookLabel, webhookState,
} from '../parts/webhook-cells.ts';
import { stackedTable } from '../parts/tables.ts';
import type { IncomingWebhook, OutgoingWebhook } from '../../app/api-types.ts';
import type { ServiceStatus, StatisticsReport } from '../../monitoring/monitoring-schema.ts';

/**
 * The milliseconds that the sender of each preset waits for a response, by the preset's name; null:
 * unknown.
 */
export type SenderTimeouts = ReadonlyMap<string, number | null>;
type HookStatistics = StatisticsReport['hooks'][number];
type WebhookOfScreen = (IncomingWebhook | OutgoingWebhook) & {
  readonly screen: 'incoming' | 'outgoing';
};

/** A response is slow when it takes this part of the time that the sender waits. */
const SLOW_PART = 0.5;
/** At most so many webhooks are shown of each kind and state; the lists have them all. */
const UNHEALTHY_MAX = 20;

/** Fetches the webhooks that somebody must look after, if the status has some. */
export async function fetchUnhealthy(
  { unhealthy, webhooks: counts }: ServiceStatus,
): Promise<readonly WebhookOfScreen[]> {
  const webhooks: WebhookOfScreen[] = [];
  // The list of those that fail has those that a failure has switched off, too.
  const isOffThere = unhealthy.some(({ state }) => state === 'off');
  for (const [state, isThere] of [
    ['failing', counts.failing > 0 || isOffThere], ['rejecting', counts.rejecting > 0],
    ['healthy', counts.lastTryFailed > 0],
  ] as const) {
    if (!isThere) continue;
    // In this order, webhooks whose last try failed come first among the healthy.
    const query = `?state=${state}&sort=state&limit=${UNHEALTHY_MAX}`;
    const [incoming, outgoing] = await Promise.all([
      getJson<readonly IncomingWebhook[]>(`/api/incoming-webhooks${query}`),
      // An outgoing webhook has no requests to reject.
      state === 'rejecting' ? []
        : getJson<readonly OutgoingWebhook[]>(`/api/outgoing-webhooks${query}`),
    ]);
    webhooks.push(...incoming.map((webhook) => ({ ...webhook, screen: 'incoming' as const })),
      ...outgoing.map((webhook) => ({ ...webhook, screen: 'outgoing' as const })));
  }
  return webhooks.filter(({ health: { state, lastTryFailed } }) =>
    state !== 'healthy' || lastTryFailed);
}

/** `unhealthy` comes from `fetchUnhealthy`; slow webhooks are found in the statistics. */
export function unhealthyWebhooks(
  status: ServiceStatus, unhealthy: readonly WebhookOfScreen[],
  { hooks: allStatistics, window, times, since }: StatisticsReport, timeouts: SenderTimeouts,
): HTMLElement {
  const statisticsById = new Map(allStatistics.map((each) => [each.hook, each]));
  const unhealthyIds = new Set(unhealthy.map(({ identifier }) => identifier));
  const rows = [
    ...unhealthy.map((webhook) =>
      renderUnhealthyRow(webhook, statisticsById.get(webhook.identifier), timeouts)),
    ...allStatistics.filter((each) => !unhealthyIds.has(each.hook) && isSlow(each, timeouts))
      .map((each) => renderSlowRow(each, timeouts)),
  ];
  if (rows.length === 0) {
    return h('p.hint', 'None: no webhook fails, and no sender waits long.');
  }
  const titles =
    ['Webhook', 'State', 'Last failure', 'Failed', 'Rejected', 'Slowest 5 % of answers'];
  const hiddenCount = status.unhealthy.length
    - unhealthy.filter(({ health }) => !health.lastTryFailed).length;
  return h('div', h('p.hint', 'The figures are counted ', ...since > (times[0] ?? since)
    ? ['since the server started, ', timeElement(since), ': it forgets those before.']
    : [`in the last ${window === '1h' ? 'hour' : '24 hours'}.`]),
  stackedTable(titles, rows),
    hiddenCount > 0 ? h('p.hint',
      `${formatCount(hiddenCount)} more need a look: see `,
      h('a', { href: href(['incoming'], { state: 'failing' }) }, 'incoming'), ' and ',
      h('a', { href: href(['outgoing'], { state: 'failing' }) }, 'outgoing'), ' ones that fail.')
      : null);
}

function renderUnhealthyRow(
  webhook: WebhookOfScreen, statistics: HookStatistics | undefined, timeouts: SenderTimeouts,
): readonly Child[] {
  const { identifier, screen, health: { reason } } = webhook;
  return [
    webhookLink(screen, identifier, webhookLabel(createWebhookLabel(webhook))),
    webhookState(webhook),
    isOffUnseen(webhook) && reason !== undefined ? reason : lastFailure(webhook) ?? '–',
    ...statistics === undefined ? ['0', '0', '–'] : renderFigures(statistics, timeouts),
  ];
}

/** Only incoming webhooks have a sender that waits. */
function renderSlowRow(statistics: HookStatistics, timeouts: SenderTimeouts): readonly Child[] {
  const { hook } = statistics;
  return [
    webhookLink('incoming', hook, resolvedWebhookLabel(hook)), badge('slow'), '–',
    ...renderFigures(statistics, timeouts),
  ];
}

function webhookLink(screen: string, identifier: string, label: HTMLElement): HTMLElement {
  return h('a', { href: href([screen, identifier]) }, label);
}

/** The last three cells of a row. */
function renderFigures(
  statistics: HookStatistics, timeouts: SenderTimeouts,
): readonly Child[] {
  const { requests, runs, deliveries } = statistics;
  const p95Ms = getHighestP95Ms(statistics);
  const timeoutMs = findTimeoutMs(statistics, timeouts);
  return [
    formatCount(sum(runs.failed) + sum(deliveries.failed)), formatCount(sum(requests.rejected)),
    (p95Ms > 0 ? `up to ${formatDuration(p95Ms)}` : '–')
      + (timeoutMs === null ? '' : `; its sender waits ${formatDuration(timeoutMs)}`),
  ];
}

function isSlow(statistics: HookStatistics, timeouts: SenderTimeouts): boolean {
  const timeoutMs = findTimeoutMs(statistics, timeouts);
  return timeoutMs !== null && getHighestP95Ms(statistics) >= timeoutMs * SLOW_PART;
}

/** The highest value of all time slots. A slot without requests has null, which counts as 0. */
function getHighestP95Ms({ requests, deliveries }: HookStatistics): number {
  return Math.max(0, ...requests.p95Ms.map(Number), ...deliveries.p95Ms.map(Number));
}

/** null: the sender is unknown, or nobody knows how long it waits. */
function findTimeoutMs({ hook }: HookStatistics, timeouts: SenderTimeouts): number | null {
  return timeouts.get(findPreset(hook) ?? '') ?? null;
}

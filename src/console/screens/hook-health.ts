/** Webhooks that fail or reject, since when and why, and those that answer their sender slowly. */
import { href } from '../base/address.ts';
import { get } from '../base/api.ts';
import { h } from '../base/dom.ts';
import type { Child } from '../base/dom.ts';
import { count, duration, time } from '../base/format.ts';
import { labelOfHook, presetOf } from '../base/hooks.ts';
import { badge } from '../parts/badge.ts';
import { hookLabel, hookLabelOf } from '../parts/hook-label.ts';
import { lastFailure } from '../parts/hook-state.ts';
import { table } from '../parts/table.ts';
import type { IncomingWebhook, OutgoingWebhook } from '../../app/api-types.ts';
import type { ServiceStatus } from '../../monitoring/monitoring-routes.ts';
import type { StatisticsReport } from '../../monitoring/statistics.ts';

/** How long each sender waits for an answer, in milliseconds; null where it is not known. */
export type Limits = ReadonlyMap<string, number | null>;
type Hook = StatisticsReport['hooks'][number];
type Unhealthy = (IncomingWebhook | OutgoingWebhook) & {
  readonly screen: 'incoming' | 'outgoing';
};

/** An answer is slow from this part of what its sender waits on. */
const SLOW_PART = 0.5;
/** Of each kind and state; the lists have them all. */
const SHOWN_MAX = 20;

/** Webhooks that fail or reject; asked for only when there are some. */
export async function readUnhealthy({ webhooks }: ServiceStatus): Promise<readonly Unhealthy[]> {
  const found: Unhealthy[] = [];
  for (const state of ['failing', 'rejecting'] as const) {
    if (webhooks[state] === 0) continue;
    const query = `?state=${state}&limit=${SHOWN_MAX}`;
    const [incoming, outgoing] = await Promise.all([
      get<readonly IncomingWebhook[]>(`/api/incoming-webhooks${query}`),
      // One that sends has no requests to reject.
      state === 'rejecting' ? []
        : get<readonly OutgoingWebhook[]>(`/api/outgoing-webhooks${query}`),
    ]);
    found.push(...incoming.map((hook) => ({ ...hook, screen: 'incoming' as const })),
      ...outgoing.map((hook) => ({ ...hook, screen: 'outgoing' as const })));
  }
  return found;
}

export function hookHealth(
  { webhooks }: ServiceStatus, unhealthy: readonly Unhealthy[], { hooks }: StatisticsReport,
  limits: Limits,
): HTMLElement {
  const known = new Map(hooks.map((hook) => [hook.hook, hook]));
  const shown = new Set(unhealthy.map(({ identifier }) => identifier));
  const rows = [
    ...unhealthy.map((hook) => unhealthyRow(hook, known.get(hook.identifier), limits)),
    ...hooks.filter((hook) => !shown.has(hook.hook) && isSlow(hook, limits))
      .map((hook) => [linkTo('incoming', hook.hook, hookLabelOf(hook.hook)), badge('slow'), '–',
        '–', ...figures(hook, limits)]),
  ];
  if (rows.length === 0) {
    return h('p', { class: 'hint' }, 'None: no webhook fails, and no sender waits long.');
  }
  const titles = ['Webhook', 'State', 'Since', 'Last failure', 'Failed', 'Rejected',
    'Slowest 5 % of answers', 'Sender waits'];
  const hiddenCount = webhooks.failing + webhooks.rejecting - unhealthy.length;
  return h('div', {}, table(titles, rows, 'stacked'),
    hiddenCount > 0 ? h('p', { class: 'hint' }, `${count(hiddenCount)} more fail or reject: see `,
      h('a', { href: href(['incoming'], { state: 'failing' }) }, 'incoming'), ' and ',
      h('a', { href: href(['outgoing'], { state: 'failing' }) }, 'outgoing'), ' ones that fail.')
      : null);
}

function unhealthyRow(
  webhook: Unhealthy, hook: Hook | undefined, limits: Limits,
): readonly Child[] {
  const { identifier, screen, health: { state, since } } = webhook;
  return [
    linkTo(screen, identifier, hookLabel(labelOfHook(webhook))), badge(state), time(since),
    lastFailure(webhook) ?? '–',
    ...hook === undefined ? ['0', '0', '–', '–'] : figures(hook, limits),
  ];
}

function linkTo(screen: string, identifier: string, label: HTMLElement): HTMLElement {
  return h('a', { href: href([screen, identifier]) }, label);
}

/** Of the window that is shown. */
function figures(hook: Hook, limits: Limits): readonly Child[] {
  const { requests, runs, deliveries } = hook;
  const [p95Ms, limitMs] = [slowestMs(hook), limitOf(hook, limits)];
  return [
    count(sumOf(runs.failed) + sumOf(deliveries.failed)), count(sumOf(requests.rejected)),
    p95Ms > 0 ? `up to ${duration(p95Ms)}` : '–', limitMs === null ? '–' : duration(limitMs),
  ];
}

function isSlow(hook: Hook, limits: Limits): boolean {
  const limitMs = limitOf(hook, limits);
  return limitMs !== null && slowestMs(hook) >= limitMs * SLOW_PART;
}

function slowestMs({ requests, deliveries }: Hook): number {
  return Math.max(-1, ...requests.p95Ms.map(Number), ...deliveries.p95Ms.map(Number));
}

function limitOf({ hook }: Hook, limits: Limits): number | null {
  return limits.get(presetOf(hook) ?? '') ?? null;
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** Is anything wrong, since when, and what waits. */
import { href, replaceQuery } from '../base/address.ts';
import { BASE, get } from '../base/api.ts';
import { fill, h, renew } from '../base/dom.ts';
import { bytes, count, counted, duration, exact, time } from '../base/format.ts';
import { readHookNames } from '../base/hooks.ts';
import { badge } from '../parts/badge.ts';
import { chart } from '../parts/chart.ts';
import { facts, heading } from '../parts/facts.ts';
import { HOOK_STATES } from '../parts/hook-state.ts';
import { showFailure, tellFailure } from '../parts/notice.ts';
import type { Screen } from '../parts/screen.ts';
import { hookHealth, readUnhealthy } from './hook-health.ts';
import type { Limits } from './hook-health.ts';
import { nodesPart } from './nodes.ts';
import type { ServiceStatus } from '../../monitoring/monitoring-routes.ts';
import type { StatisticsReport } from '../../monitoring/statistics.ts';
import type { NodeView } from '../../nodes/node-routes.ts';

const REFRESH_MS = 10_000;
type Preset = { readonly name: string; readonly answerWithinS: number | null };

export const overviewScreen: Screen = {
  name: 'overview', title: 'Overview', key: 'o',
  open(place, { query }) {
    let window = query.get('window') === '24h' ? '24h' : '1h';
    const parts = h('div', {}, h('p', { class: 'count', role: 'status' }, 'Loading…'));
    let limits: Limits | null = null;
    let shown = '';
    const choices = ['1h', '24h'].map((one) => h('button', { type: 'button', onclick: () => {
      window = one;
      replaceQuery(one === '1h' ? {} : { window });
      void show();
    } }, one === '1h' ? '1 hour' : '24 hours'));
    const show = async (): Promise<void> => {
      choices.forEach((choice, index) =>
        choice.setAttribute('aria-pressed', String(index === (window === '1h' ? 0 : 1))));
      try {
        limits ??= await readLimits();
        const [status, statistics, nodes] = await Promise.all([
          get<ServiceStatus>('/api/status'),
          get<StatisticsReport>(`/api/statistics?window=${window}`),
          get<readonly NodeView[]>('/api/nodes'),
        ]);
        if (statistics.window !== window) return;
        const health = hookHealth(status, await readUnhealthy(status), statistics, limits);
        shown = window;
        renew(parts, ...render(status, statistics, health, nodes));
      } catch (thrown) {
        if (shown === '') showFailure(parts, thrown, () => void show());
        else tellFailure(thrown);
      }
    };
    fill(place, heading('Overview', ...choices), parts);
    void show();
    const timer = setInterval(() => {
      if (!document.hidden) void show();
    }, REFRESH_MS);
    return () => clearInterval(timer);
  },
};

async function readLimits(): Promise<Limits> {
  const [presets] = await Promise.all([
    get<readonly Preset[]>('/api/verification-presets'), readHookNames(),
  ]);
  return new Map(presets.map(({ name, answerWithinS }) =>
    [name, answerWithinS === null ? null : answerWithinS * 1000]));
}

function render(
  status: ServiceStatus, statistics: StatisticsReport, health: HTMLElement,
  nodes: readonly NodeView[],
): HTMLElement[] {
  const { deliveries, requests, store } = status;
  const work = (screen: string, state: string, value: number): HTMLElement =>
    h('a', { href: href([screen], { status: state }) }, count(value));
  return [
    banner(status),
    facts([
      ['Deliveries that wait', work('deliveries', 'pending', deliveries.pending)],
      ['The oldest of them waits', deliveries.pending === 0 ? '–'
        : `for ${duration(deliveries.oldestPendingMs)}`],
      ['Requests that wait', work('requests', 'pending', requests.pending)],
      ['Requests that failed', work('requests', 'failed', requests.failed)],
      ['Webhooks', stateCounts(status)],
    ]),
    h('h2', {}, 'Webhooks to look after'), health,
    h('h2', {}, 'Lately'), ...charts(statistics),
    ...nodesPart(nodes),
    h('h2', {}, 'Store'),
    facts([
      ['Records', `${count(store.records)}, ${bytes(store.bytes)}`],
      ['Journal', `${bytes(store.journalBytes)}, generation ${store.generation}`],
      ['Last compaction', store.isCompacting ? 'running'
        : time(store.compactedAt, 'not since the start')],
      ['Last backup', time(store.backedUpAt, 'not since the start')],
      ['Version', `${status.version}, Node ${status.node}`], ['Started', time(status.startedAt)],
      ['Help', h('a', { href: `${BASE}/docs` }, 'API and manual')],
    ]),
  ];
}

function banner({ isReady, reason, webhooks: { failing, rejecting } }: ServiceStatus): HTMLElement {
  const alarm = (state: string, text: string): HTMLElement =>
    h('p', { class: 'card alarm', role: 'status' }, badge(state), ` ${text}`);
  if (!isReady) return alarm('failed', `Writes are refused: ${reason ?? ''}`);
  const troubles: string[] = [];
  if (failing > 0) troubles.push(`${counted(failing, 'webhook')} failing`);
  if (rejecting > 0) troubles.push(`${counted(rejecting, 'webhook')} rejecting most requests`);
  if (troubles.length > 0) {
    return alarm(failing > 0 ? 'failing' : 'rejecting',
      `Writes are taken; ${troubles.join(', ')}.`);
  }
  return h('p', { class: 'card', role: 'status' }, badge('ready'),
    ' All is well: writes are taken.');
}

/** How many webhooks are in each state, the worst first; states that none is in are left out. */
function stateCounts({ webhooks }: ServiceStatus): string {
  return HOOK_STATES.filter((state) => webhooks[state] > 0)
    .map((state) => `${count(webhooks[state])} ${state}`).join(', ') || 'none yet';
}

function charts(
  { window, times, requests, runs, deliveries, since }: StatisticsReport,
): HTMLElement[] {
  const unit = window === '1h' ? 'a minute' : 'in 15 minutes';
  return [
    h('div', { class: 'charts' },
      chart({
        title: 'Requests', unit: `requests ${unit}`, times, series: [
          { name: 'accepted', tone: 'good', values: requests.accepted },
          { name: 'rejected', tone: 'waiting', values: requests.rejected },
          { name: 'failed', tone: 'bad', values: requests.failed },
        ],
      }),
      chart({
        title: 'Runs of actions', unit: `runs ${unit}`, times, series: [
          { name: 'succeeded', tone: 'good', values: runs.succeeded },
          { name: 'failed', tone: 'bad', values: runs.failed },
        ],
      }),
      chart({
        title: 'Delivery attempts', unit: `attempts ${unit}`, times, series: [
          { name: 'delivered', tone: 'good', values: deliveries.delivered },
          { name: 'failed', tone: 'bad', values: deliveries.failed },
        ],
      })),
    h('p', { class: 'hint' }, `Counted since ${exact(since)}; a restart begins anew.`),
  ];
}

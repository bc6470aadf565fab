/** Is anything wrong, since when, and what waits. */
import { href } from '../base/address.ts';
import { get } from '../base/api.ts';
import { fill, h } from '../base/dom.ts';
import { bytes, count, duration, exact, time } from '../base/format.ts';
import { hookName, readHookNames } from '../base/hooks.ts';
import { badge } from '../parts/badge.ts';
import { chart } from '../parts/chart.ts';
import { facts, heading } from '../parts/facts.ts';
import { showFailure, tellFailure } from '../parts/notice.ts';
import type { Screen } from '../parts/screen.ts';
import { replaceQuery } from '../base/address.ts';
import type { Status } from '../../monitoring/routes.ts';
import type { StatisticsReport } from '../../monitoring/statistics.ts';

const REFRESH_MS = 10_000;

export const overviewScreen: Screen = {
  name: 'overview', title: 'Overview', key: 'o',
  open(place, { query }) {
    let window = query.get('window') === '24h' ? '24h' : '1h';
    const parts = h('div');
    const choose = h('button', { type: 'button', onclick: () => {
      window = window === '1h' ? '24h' : '1h';
      replaceQuery({ window });
      void show();
    } });
    const show = async (): Promise<void> => {
      choose.textContent = window === '1h' ? 'Show 24 hours' : 'Show 1 hour';
      try {
        await readHookNames();
        const [status, statistics] = await Promise.all([
          get<Status>('/api/status'), get<StatisticsReport>(`/api/statistics?window=${window}`),
        ]);
        fill(parts, ...render(status, statistics));
      } catch (thrown) {
        if (parts.childElementCount === 0) showFailure(parts, thrown, () => void show());
        else tellFailure(thrown);
      }
    };
    fill(place, heading('Overview', choose), parts);
    void show();
    const timer = setInterval(() => {
      if (!document.hidden) void show();
    }, REFRESH_MS);
    return () => clearInterval(timer);
  },
};

function render(status: Status, statistics: StatisticsReport): HTMLElement[] {
  const { deliveries, requests, store } = status;
  const unit = statistics.window === '1h' ? 'a minute' : 'in 15 minutes';
  return [
    h('p', { class: `card ${status.isReady ? '' : 'alarm'}`, role: 'status' },
      badge(status.isReady ? 'ready' : 'failed'), ' ',
      status.isReady ? 'All is well: writes are taken.' : status.reason ?? ''),
    facts([
      ['Deliveries that wait', h('a', { href: href(['deliveries'], { status: 'pending' }) },
        count(deliveries.pending))],
      ['Oldest of them', deliveries.pending === 0 ? '–' : duration(deliveries.oldestPendingMs)],
      ['Requests that wait', h('a', { href: href(['requests'], { status: 'pending' }) },
        count(requests.pending))],
      ['Requests that failed', h('a', { href: href(['requests'], { status: 'failed' }) },
        count(requests.failed))],
    ]),
    h('div', { class: 'charts' },
      chart({
        title: 'Requests', unit: `requests ${unit}`, times: statistics.times, series: [
          { name: 'accepted', tone: 'good', values: statistics.requests.accepted },
          { name: 'rejected', tone: 'waiting', values: statistics.requests.rejected },
          { name: 'failed', tone: 'bad', values: statistics.requests.failed },
        ],
      }),
      chart({
        title: 'Delivery attempts', unit: `attempts ${unit}`, times: statistics.times, series: [
          { name: 'delivered', tone: 'good', values: statistics.deliveries.delivered },
          { name: 'failed', tone: 'bad', values: statistics.deliveries.failed },
        ],
      })),
    h('p', { class: 'hint' }, `Counted since ${exact(statistics.since)}; a restart begins anew.`),
    h('h2', {}, 'Webhooks that fail'), failing(statistics),
    h('h2', {}, 'Store'),
    facts([
      ['Records', `${count(store.records)}, ${bytes(store.bytes)}`],
      ['Journal', `${bytes(store.journalBytes)}, generation ${store.generation}`],
      ['Last compaction', store.isCompacting ? 'running'
        : time(store.compactedAt, 'not since the start')],
      ['Last backup', time(store.backedUpAt, 'not since the start')],
      ['Version', `${status.version}, Node ${status.node}`], ['Started', time(status.startedAt)],
      ['Help', h('a', { href: 'docs' }, 'API and manual')],
    ]),
  ];
}

/** Since when each fails, and how long its answers take. */
function failing({ hooks, times }: StatisticsReport): HTMLElement {
  const rows = hooks.flatMap(({ hook, requests, deliveries }) => {
    const failed = requests.failed.map((value, index) =>
      value + (requests.rejected[index] ?? 0) + (deliveries.failed[index] ?? 0));
    const first = failed.findIndex((value) => value > 0);
    if (first === -1) return [];
    const p95 = [...requests.p95Ms, ...deliveries.p95Ms].filter((value) => value !== null);
    return [h('tr', {}, h('th', { scope: 'row' }, hookName(hook)),
      h('td', {}, count(failed.reduce((sum, value) => sum + value, 0))),
      h('td', {}, time(times[first])),
      h('td', {}, p95.length === 0 ? '–' : duration(Math.max(...p95.map(Number)))))];
  });
  if (rows.length === 0) return h('p', { class: 'hint' }, 'None in this time.');
  return h('table', { class: 'plain' }, h('thead', {}, h('tr', {}, ...['Webhook',
    'Failed or rejected', 'Since', 'Slowest 5 % of answers'].map((title) =>
    h('th', { scope: 'col' }, title)))), h('tbody', {}, ...rows));
}

/** The overview screen: whether anything is wrong, since when, and how much work waits. */
import { BASE, countItems, getJson } from '../base/api-calls.ts';
import { callerSession } from '../base/caller-session.ts';
import { fill, h } from '../base/dom.ts';
import {
  formatBytes, formatCount, formatDuration, formatQuantity, lastingElement, timeElement,
} from '../base/format.ts';
import { href, replaceQuery } from '../base/screen-address.ts';
import { loadWebhookLabels } from '../base/webhook-labels.ts';
import { actionState, badge, missingAction, statusCard } from '../parts/badge.ts';
import {
  attemptsChart, createHistoryReader, getBars, isHistoryWindow, requestsChart, runsChart, sumBars,
  windowButtons, type HistoryWindow,
} from '../parts/chart.ts';
import { emptyState, loadingLine } from '../parts/notice.ts';
import { heading, keepCurrent, linkButton, type Screen } from '../parts/screen.ts';
import { factList, tableSection } from '../parts/tables.ts';
import { WEBHOOK_STATES, resolvedWebhookLabel } from '../parts/webhook-cells.ts';
import type { ActionDescription, WebhookActionConfiguration } from '../../app/api-types.ts';
import type {
  ServiceStatus, StatisticsHistory, StatisticsReport,
} from '../../monitoring/monitoring-schema.ts';
import type { NodeView } from '../../nodes/node-routes.ts';
import type { PresetDescription } from '../../webhooks/senders/presets/preset-schema.ts';
import { fetchUnhealthy, unhealthyWebhooks, type SenderTimeouts } from './webhook-health.ts';

const DEFAULT_WINDOW: HistoryWindow = '1h';

export const overviewScreen: Screen = {
  name: 'overview', title: 'Overview', key: 'o',
  open(container, { query }) {
    const content = h('div', loadingLine());
    const readHistory = createHistoryReader<StatisticsHistory>('/api/statistics/history');
    let senderTimeouts: SenderTimeouts | null = null;
    const name = query.get('window');
    const initialWindow = isHistoryWindow(name) ? name : DEFAULT_WINDOW;
    const buttons = windowButtons(initialWindow, (window) => {
      replaceQuery(window === DEFAULT_WINDOW ? {} : { window });
      current.show();
    });
    fill(container, heading('Overview', ...buttons.elements), content);
    const current = keepCurrent(content, async () => {
      senderTimeouts ??= await fetchSenderTimeouts();
      const [status, statistics, history, nodes, actions, configurations] = await Promise.all([
        getJson<ServiceStatus>('/api/status'),
        // The figures of single webhooks go back a day at most.
        getJson<StatisticsReport>(
          `/api/statistics?window=${buttons.chosen === '1h' ? '1h' : '24h'}`),
        readHistory(buttons.chosen),
        getJson<readonly NodeView[]>('/api/nodes'),
        getJson<readonly ActionDescription[]>('/api/actions'),
        getJson<readonly WebhookActionConfiguration[]>('/api/action-configurations'),
      ]);
      if (history.window !== buttons.chosen) return null;
      const webhooks = await fetchUnhealthy(status);
      const sections = render(status, history,
        unhealthyWebhooks(status, webhooks, statistics, senderTimeouts), nodes,
        [...missingSection(configurations, actions), ...switchedOffSection(actions)]);
      return await isNew(status) ? [firstSteps(), ...sections] : sections;
    });
    return current.close;
  },
};

/** Whether there is neither a webhook nor a book yet. Throws ApiError. */
async function isNew({ webhooks }: ServiceStatus): Promise<boolean> {
  return Object.values(webhooks).every((count) => count === 0)
    && await countItems('/api/books', {}) === 0;
}

/** null: the token may take none of them. */
function firstSteps(): HTMLElement | null {
  const steps = [
    ['write', 'Add a book', 'books/new'], ['write', 'Import a file of books', 'books/import'],
    ['admin', 'Add an incoming webhook', 'incoming/new'],
    ['admin', 'Add an outgoing webhook', 'outgoing/new'],
  ] as const;
  const links = steps.filter(([scope]) => callerSession.may(scope))
    .map(([, text, path]) => linkButton(text, path.split('/')));
  return links.length === 0 ? null
    : emptyState('Nothing is here yet. A first step:', null, h('div.actions', {}, ...links));
}

/** Also loads the labels of webhooks, which the screen needs as well. */
async function fetchSenderTimeouts(): Promise<SenderTimeouts> {
  const [presets] = await Promise.all([
    getJson<readonly PresetDescription[]>('/api/verification-presets'), loadWebhookLabels(),
  ]);
  return new Map(presets.map(({ name, answerWithinS }) =>
    [name, answerWithinS === null ? null : answerWithinS * 1000]));
}

function render(
  status: ServiceStatus, history: StatisticsHistory, unhealthy: HTMLElement,
  nodes: readonly NodeView[], unusableActions: readonly HTMLElement[],
): HTMLElement[] {
  const { deliveries, requests, store } = status;
  const countLink = (screen: string, state: string, value: number): HTMLElement =>
    h('a', { href: href([screen], { status: state }) }, formatCount(value));
  return [
    statusBanner(status),
    factList([
      ['Deliveries that wait', h('span', countLink('deliveries', 'pending', deliveries.pending),
        deliveries.pending === 0 ? ''
          : `, the oldest for ${formatDuration(deliveries.oldestPendingMs)}`)],
      ['Requests that wait', countLink('requests', 'pending', requests.pending)],
      ['Requests that failed', countLink('requests', 'failed', requests.failed)],
      ['Webhooks', formatStateCounts(status)],
    ]),
    h('h2', 'Webhooks to look after'), unhealthy,
    ...unusableActions, ...heldBackSection(status),
    ...waitingSection(status),
    h('h2', 'Lately'), charts(history),
    ...nodesSection(nodes),
    h('h2', 'Store'),
    factList([
      ['Records', `${formatCount(store.records)} (${formatBytes(store.bytes)})`],
      ['Journal', `${formatBytes(store.journalBytes)}, generation ${store.generation}`],
      ['Last compaction', store.isCompacting ? 'running'
        : timeElement(store.compactedAt, 'not since the start')],
      ['Last backup', timeElement(store.backedUpAt, 'not since the start')],
      ['Backups by itself', status.backups !== null
        && describeBackups(status.backups, nodes.length > 1)],
      ['Version', `${status.version}, Node ${status.node}`],
      ['Started', timeElement(status.startedAt)],
      ['Help', h('a', { href: `${BASE}/docs` }, 'API and manual')],
    ]),
  ];
}

/** The backups that the server makes by itself; of several nodes one makes them. */
function describeBackups(
  { to, newestAt, failure }: NonNullable<ServiceStatus['backups']>, hasOtherNodes: boolean,
): HTMLElement {
  const none = hasOtherNodes ? 'none by this node' : 'none yet';
  const place = h('span', timeElement(newestAt, none), ', in ', h('code', to));
  if (failure === null) return place;
  return h('span', place, ' ', badge('failed'), ' ', timeElement(failure.at),
    `: ${failure.reason}`);
}

/** Webhooks that run one are told as healthy until a request comes. */
function missingSection(
  configurations: readonly WebhookActionConfiguration[], actions: readonly ActionDescription[],
): readonly HTMLElement[] {
  const rows = configurations
    .filter(({ actionType }) => actions.every(({ identifier }) => identifier !== actionType))
    .map(({ identifier, actionType }) => [
      h('a', { href: href(['actions', identifier]) }, identifier), h('code', actionType),
      missingAction(actionType),
    ]);
  return tableSection('Actions that are missing', 'What webhooks have them do fails.',
    ['Configuration', 'Action', 'State'], rows);
}

function switchedOffSection(actions: readonly ActionDescription[]): readonly HTMLElement[] {
  const rows = actions.flatMap((action) => {
    const state = actionState(action);
    return state === null ? []
      : [[action.label, h('code', action.module ?? action.identifier), state]];
  });
  return tableSection('Actions that are switched off',
    'Their module has stopped the worker of all modules three times in a minute. '
      + 'Callers are told to come back; requests that were accepted wait.',
    ['Action', 'Module', 'State'], rows);
}

/** The keys that hold back many of their webhook's deliveries. */
function heldBackSection({ heldBack }: ServiceStatus): readonly HTMLElement[] {
  const rows = heldBack.map(({ hook, key, waiting }) =>
    [resolvedWebhookLabel(hook), h('code', JSON.stringify(key)), formatCount(waiting)]);
  return tableSection('Held back',
    'The first of each key is tried or waits for its next attempt, and these wait behind it.',
    ['Webhook', 'Key', 'Waiting'], rows);
}

function waitingSection({ waiting }: ServiceStatus): readonly HTMLElement[] {
  const rows = waiting.map(({ hook, target, since, behind: [first = ''] }) => [
    resolvedWebhookLabel(hook), h('code', target), lastingElement(since),
    resolvedWebhookLabel(first),
  ]);
  return tableSection('Waiting for their host',
    'Others have attempts under way there, and these wait for their turn.',
    ['Webhook', 'Host', 'Waiting', 'Behind'], rows);
}

function statusBanner(
  {
    isReady, reason, isPaused, deliveries, requests, unhealthy, backups,
    webhooks: { failing, rejecting, lastTryFailed },
  }: ServiceStatus,
): HTMLElement {
  if (!isReady) return statusCard('failed', `Writes are refused: ${reason ?? ''}`);
  const problems: string[] = [];
  if (isPaused) problems.push('nothing is sent or run (server.paused)');
  if (deliveries.fullReason !== null) {
    problems.push(`not those that queue deliveries, as ${deliveries.fullReason}`);
  }
  const full = deliveries.fullWebhooks.map(({ webhook, pending }) => `${webhook} (${pending})`);
  if (full.length > 0) problems.push(`no events for those with most waiting: ${full.join(', ')}`);
  if (requests.fullReason !== null) {
    problems.push(`not requests that are to be kept, as ${requests.fullReason}`);
  }
  if (failing > 0) problems.push(`${formatQuantity(failing, 'webhook')} failing`);
  if (rejecting > 0) {
    problems.push(`${formatQuantity(rejecting, 'webhook')} rejecting most requests`);
  }
  const off = unhealthy.filter(({ state }) => state === 'off').length;
  if (off > 0) problems.push(`${formatQuantity(off, 'webhook')} switched off by a failure`);
  if (lastTryFailed > 0) {
    problems.push(`the last try of ${formatQuantity(lastTryFailed, 'webhook')} failed`);
  }
  if (backups !== null && backups.failure !== null) problems.push('the last backup failed');
  if (problems.length > 0) {
    const isMild = problems.length === 1 && (lastTryFailed > 0 || isPaused);
    const others = isMild ? 'warning' : 'failed';
    const [state = others] = WEBHOOK_STATES.filter((name) =>
      (name === 'failing' && failing > 0) || (name === 'rejecting' && rejecting > 0));
    return statusCard(state, `Writes are taken; ${problems.join(', ')}.`);
  }
  return statusCard('ready', 'All is well: writes are taken.');
}

/** The worst state first, without empty states. */
function formatStateCounts({ webhooks }: ServiceStatus): string {
  const { lastTryFailed } = webhooks;
  const counts = { ...webhooks, healthy: webhooks.healthy - lastTryFailed };
  const parts = WEBHOOK_STATES.filter((state) => counts[state] > 0)
    .map((state) => `${formatCount(counts[state])} ${state}`);
  if (lastTryFailed > 0) parts.push(`${formatCount(lastTryFailed)} whose last try failed`);
  return parts.join(', ') || 'none yet';
}

function charts(history: StatisticsHistory): HTMLElement {
  const bars = getBars(history);
  const { requests, runs, deliveries } = history;
  const count = (values: readonly number[]): number[] => sumBars(history, values);
  return h('div.charts',
    requestsChart(bars, {
      accepted: count(requests.accepted), rejected: count(requests.rejected),
      failed: count(requests.failed),
    }),
    runsChart(bars, count(runs.succeeded), count(runs.failed)),
    attemptsChart(bars, count(deliveries.delivered),
      count(deliveries.failed)));
}

/** The processes that share one log; no section where one process has the store alone. */
function nodesSection(nodes: readonly NodeView[]): readonly HTMLElement[] {
  const rows = nodes.map((node) => [
    h('code', { title: node.startedAt }, node.identifier + (node.isSelf ? ' (this one)' : '')),
    badge(node.isLive ? 'live' : 'silent'), node.address ?? '–', node.version,
    formatCount(node.position), formatCount(node.lag), `${node.shards.length} of 16`,
    timeElement(node.lastHeardAt),
  ]);
  return tableSection('Nodes', null,
    ['Node', 'State', 'Address', 'Version', 'Position', 'Lag', 'Shards', 'Last heard'], rows);
}

/**
 * The screen of requests: a live list with filters. What a webhook does not keep is not in the
 * list, and a note above it says so, lest it look as if nothing had come.
 */
import { getJson } from '../../base/api-calls.ts';
import { h, type Child } from '../../base/dom.ts';
import { formatQuantity, formatTimestamp, timeElement } from '../../base/format.ts';
import { href } from '../../base/screen-address.ts';
import {
  createWebhookLabel, formatIncomingName, isWebhookCalled, listIncomingPaths,
} from '../../base/webhook-labels.ts';
import { sum } from '../../parts/chart.ts';
import { describeRequest, formatAnswer, requestStatus } from '../../parts/request-text.ts';
import { resolvedWebhookLabel } from '../../parts/webhook-cells.ts';
import { SEARCH_FILTERS, TIME_FILTERS } from '../../parts/lists/filter-form.ts';
import { openLiveList } from '../../parts/lists/live-list.ts';
import { openOnDemand, type Screen } from '../../parts/screen.ts';
import { loadScript } from '../script-loader.ts';
import type { IncomingWebhook } from '../../../app/api-types.ts';
import type { StatisticsReport } from '../../../monitoring/monitoring-schema.ts';
import type { PublicRequest } from '../../../webhooks/inbox/request-schema.ts';

const STATUSES = ['pending', 'done', 'failed', 'rejected', 'filtered', 'duplicate'];

export const requestsScreen: Screen = {
  name: 'requests', title: 'Requests', key: 'r',
  open(container, address) {
    const [, id] = address.path;
    if (id !== undefined) {
      return openOnDemand(container,
        async () => (await loadScript('records')).openRequest, id, address);
    }
    return openLiveList<PublicRequest>(container, address.query, {
      title: 'Requests', name: 'requests', nouns: ['request', 'requests'],
      baseQuery: { limit: '100' },
      getKey: (request) => request.id,
      columns: [
        { title: 'Received', kind: 'short', cell: ({ receivedAt }) => timeElement(receivedAt) },
        {
          title: 'Webhook', kind: 'middle',
          cell: ({ hook, path }) => resolvedWebhookLabel(hook, path),
        },
        { title: 'What', kind: 'text', cell: contentCell },
        { title: 'Status', kind: 'middle', cell: requestStatus },
        { title: 'Answered', kind: 'extra', cell: formatAnswer },
        { title: 'From', kind: 'extra', cell: ({ client }) => client },
      ],
      filters: () => [
        ...SEARCH_FILTERS,
        { name: 'eventId', label: 'Event id' },
        {
          name: 'hook', label: 'Webhook', values: listIncomingPaths(),
          formatLabel: formatIncomingName,
        },
        {
          name: 'status', label: 'Status', values: STATUSES,
          formatLabel: (status) => status === 'pending' ? 'pending or failing' : status,
        },
        { name: 'event', label: 'Event' }, ...TIME_FILTERS,
      ],
      empty: ['Nothing came in yet that is kept. A webhook keeps what failed; to keep every '
        + 'request of one:', 'hookshelf incomingwebhook:update --identifier <webhook> --inbox all'],
      readNote: noteUnlisted,
      bulk: {
        path: '/api/requests/replay', command: 'request:replay', job: 'request-replay',
        loadDialog: async () => (await loadScript('records')).openBulkDialog,
        findObstacle({ status, eventId }) {
          if (status === 'rejected') return 'Of rejected requests, each is sent again by itself.';
          return eventId === undefined ? null
            : 'Many are chosen by the other filters: empty “Event id” first.';
        },
      },
    });
  },
};

function contentCell(request: PublicRequest): HTMLElement {
  const { name, body } = describeRequest(request);
  return h('span', { title: `${name} ${body}` }, name, ' ', h('span.place', body));
}

/** So many webhooks are named in the note. */
const NOTED_MAX = 3;

/** Says how many accepted requests the webhook of the filter, or any, has not kept. */
async function noteUnlisted(
  { hook, status }: Readonly<Record<string, string>>,
): Promise<Child> {
  if (status === 'rejected') {
    return h('p.note', 'The latest that were rejected, in memory: a restart forgets them. The '
      + 'figure on the overview has more: calls of no webhook, or of one that is off, and those '
      + 'with another method or too large a body. The log has them.');
  }
  const [webhooks, { hooks, since, times: [from = since] }] = await Promise.all([
    getJson<readonly IncomingWebhook[]>('/api/incoming-webhooks'),
    getJson<StatisticsReport>('/api/statistics?window=24h'),
  ]);
  const lines = webhooks.flatMap((webhook) => {
    const { identifier, inbox } = webhook;
    const statistics = hooks.find((each) => each.hook === identifier);
    const count = statistics === undefined ? 0 : sum(statistics.requests.accepted);
    const isShown = hook === undefined || isWebhookCalled(identifier, hook);
    if (inbox === 'all' || count === 0 || !isShown) return [];
    return [h('p.note', `${createWebhookLabel(webhook).title} keeps ${
      inbox === 'off' ? 'no requests' : 'failed requests only'}: ${
      formatQuantity(count, 'accepted one')} since ${
      formatTimestamp(since > from ? since : from)} ${count === 1 ? 'is' : 'are'} not listed. `,
    h('a', { href: href(['incoming', identifier]) }, 'Change what it keeps'))];
  });
  const hiddenCount = lines.length - NOTED_MAX;
  return h('div', {}, ...lines.slice(0, NOTED_MAX),
    hiddenCount > 0 && h('p.note', `So do ${formatQuantity(hiddenCount, 'other webhook')}.`));
}

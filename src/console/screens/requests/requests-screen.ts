/** The screen of requests: a live list with filters. */
import { h } from '../../base/dom.ts';
import { formatDuration, timeElement } from '../../base/format.ts';
import { listIncomingPaths, formatIncomingName } from '../../base/webhook-labels.ts';
import { badge } from '../../parts/badge.ts';
import { resolvedWebhookLabel } from '../../parts/webhook-cells.ts';
import { SEARCH_FILTERS, TIME_FILTERS } from '../../parts/lists/filter-form.ts';
import { matchesWorkFilters, openLiveList } from '../../parts/lists/live-list.ts';
import { openOnDemand, type Screen } from '../../parts/screen.ts';
import { loadScript } from '../script-loader.ts';
import { describeRequest } from './request-text.ts';
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
        { title: 'Received', cell: ({ receivedAt }) => timeElement(receivedAt) },
        { title: 'Webhook', cell: ({ hook }) => resolvedWebhookLabel(hook) },
        { title: 'What', kind: 'text', cell(request) {
          const text = describeRequest(request);
          return h('span', { title: text }, text);
        } },
        { title: 'Status', cell: ({ status }) => badge(status) },
        { title: 'Answered', kind: 'extra', cell: ({ answered }) => answered === null ? ''
          : `${answered.status} in ${formatDuration(answered.afterMs)}` },
        { title: 'From', kind: 'extra', cell: ({ client }) => client },
      ],
      filters: () => [
        ...SEARCH_FILTERS,
        { name: 'eventId', label: 'Event id' },
        {
          name: 'hook', label: 'Webhook', values: listIncomingPaths(),
          formatLabel: formatIncomingName,
        },
        { name: 'status', label: 'Status', values: STATUSES },
        { name: 'event', label: 'Event' }, ...TIME_FILTERS,
      ],
      empty: ['Nothing came in yet that is kept. A webhook keeps what failed; to keep every '
        + 'request of one:', 'hookshelf incomingwebhook:update --identifier <webhook> --inbox all'],
      matches: matchesWorkFilters,
      bulk: {
        path: '/api/requests/replay', command: 'request:replay', job: 'request-replay',
        isOffered: () => true,
      },
    });
  },
};

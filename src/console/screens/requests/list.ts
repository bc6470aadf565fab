/** What came in, as it comes: filtered, and many sent again at once. */
import { href } from '../../base/address.ts';
import { duration, time } from '../../base/format.ts';
import { incomingPaths, incomingName } from '../../base/hooks.ts';
import { badge } from '../../parts/badge.ts';
import { hookLabelOf } from '../../parts/hook-label.ts';
import { TIME_FILTERS } from '../../parts/lists/filters.ts';
import { openLiveList } from '../../parts/lists/live.ts';
import type { Screen } from '../../parts/screen.ts';
import { openRequest } from './one.ts';
import type { RequestRecord } from './record.ts';

const STATUSES = ['pending', 'done', 'failed', 'rejected', 'filtered', 'duplicate'];

export const requestsScreen: Screen = {
  name: 'requests', title: 'Requests', key: 'r',
  open(place, address) {
    const [, id] = address.path;
    if (id !== undefined) return openRequest(place, id, address);
    return openLiveList<RequestRecord>(place, address.query, {
      title: 'Requests', path: '/api/requests', topic: 'requests',
      nouns: ['request', 'requests'], always: { limit: '100' },
      keyOf: (request) => request.id,
      hrefOf: (request) => href(['requests', request.id]),
      columns: [
        { title: 'Received', cell: ({ receivedAt }) => time(receivedAt) },
        { title: 'Webhook', kind: 'main', cell: ({ hook }) => hookLabelOf(hook) },
        { title: 'Event', kind: 'extra', cell: ({ event }) => event ?? '' },
        { title: 'Status', cell: ({ status }) => badge(status) },
        { title: 'Answered', kind: 'extra', cell: ({ answered }) => answered === null ? ''
          : `${answered.status} in ${duration(answered.afterMs)}` },
        { title: 'From', kind: 'extra', cell: ({ client }) => client },
      ],
      filters: () => [
        { name: 'eventId', label: 'Event id' },
        { name: 'hook', label: 'Webhook', values: incomingPaths(), labelOf: incomingName },
        { name: 'status', label: 'Status', values: STATUSES },
        { name: 'event', label: 'Event' }, ...TIME_FILTERS,
      ],
      empty: ['Nothing came in yet that is kept. A webhook keeps what failed; to keep every '
        + 'request of one:', 'hookshelf incomingwebhook:update --identifier <webhook> --inbox all'],
      bulk: { path: '/api/requests/replay', command: 'request:replay', job: 'request-replay' },
    });
  },
};

/** What goes out: by status, one with its attempts, many sent again. */
import { href } from '../../base/address.ts';
import { time } from '../../base/format.ts';
import { outgoingIds, outgoingName } from '../../base/hooks.ts';
import { badge } from '../../parts/badge.ts';
import { hookLabel } from '../../parts/hook-label.ts';
import { TIME_FILTERS } from '../../parts/lists/filters.ts';
import { openLiveList } from '../../parts/lists/live.ts';
import type { Screen } from '../../parts/screen.ts';
import { openDelivery } from './one.ts';
import { formatWait, labelOfDelivery, type DeliveryRecord } from './record.ts';

const STATUSES = ['pending', 'delivered', 'failed', 'cancelled'];

export const deliveriesScreen: Screen = {
  name: 'deliveries', title: 'Deliveries', key: 'd',
  open(place, { path: [, id], query }) {
    if (id !== undefined) return openDelivery(place, id);
    return openLiveList<DeliveryRecord>(place, query, {
      title: 'Deliveries', path: '/api/deliveries', topic: 'deliveries',
      nouns: ['delivery', 'deliveries'], always: { order: 'newest', limit: '100' },
      keyOf: ({ identifier }) => identifier,
      hrefOf: ({ identifier }) => href(['deliveries', identifier]),
      columns: [
        { title: 'Created', cell: ({ createdAt }) => time(createdAt) },
        { title: 'Event', kind: 'wide', cell: ({ event }) => event ?? 'a forward' },
        { title: 'To', kind: 'wide', cell: (delivery) => hookLabel(labelOfDelivery(delivery)) },
        { title: 'Status', cell: ({ status }) => badge(status) },
        { title: 'Last answer', kind: 'extra', cell: ({ attempts }) => {
          const last = attempts.at(-1);
          return last === undefined ? '' : last.statusCode ?? last.error;
        } },
        { title: 'Attempts', kind: 'extra', cell: ({ attempts }) => attempts.length },
        { title: 'Next', kind: 'extra',
          cell: (delivery) => formatWait(delivery) ?? time(delivery.nextAttemptAt, '') },
      ],
      filters: () => [
        { name: 'event', label: 'Event' },
        { name: 'status', label: 'Status', values: STATUSES },
        { name: 'hook', label: 'Webhook', labelOf: outgoingName, values: outgoingIds() },
        ...TIME_FILTERS,
      ],
      empty: ['Nothing was sent yet. An event that a webhook hears makes a delivery:',
        'hookshelf event:emit --name order.created --payload \'{"id":1}\''],
      bulk: { path: '/api/deliveries/resend', command: 'delivery:resend', job: 'delivery-resend' },
    });
  },
};

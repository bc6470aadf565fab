/** The screen of deliveries: a live list with filters. */
import { countItems } from '../../base/api-calls.ts';
import { callerSession } from '../../base/caller-session.ts';
import { h, type Child } from '../../base/dom.ts';
import { formatQuantity, timeElement } from '../../base/format.ts';
import { href } from '../../base/screen-address.ts';
import { listWebhookIds, formatCalledName } from '../../base/webhook-labels.ts';
import { webhookLabel } from '../../parts/webhook-cells.ts';
import { SEARCH_FILTERS, TIME_FILTERS } from '../../parts/lists/filter-form.ts';
import { openLiveList } from '../../parts/lists/live-list.ts';
import { openOnDemand, type Screen } from '../../parts/screen.ts';
import {
  createTargetLabel, deliveryBadge, formatAttempt, formatEvent, formatWait,
} from '../../parts/delivery-text.ts';
import { loadScript } from '../script-loader.ts';
import type { PublicDelivery } from '../../../app/api-types.ts';

const STATUSES = ['pending', 'delivered', 'failed', 'cancelled'];
const STATUS_LABELS: Readonly<Record<string, string>> = {
  pending: 'pending or failing', coalesced: 'coalesced (a newer run did it)',
};
const KINDS = ['webhook', 'forward', 'route', 'all'];

export const deliveriesScreen: Screen = {
  name: 'deliveries', title: 'Deliveries', key: 'd',
  open(container, { path: [, id], query }) {
    if (id !== undefined) {
      return openOnDemand(container, async () => (await loadScript('records')).openDelivery, id);
    }
    return openLiveList<PublicDelivery>(container, query, {
      title: 'Deliveries', name: 'deliveries', nouns: ['delivery', 'deliveries'],
      baseQuery: { order: 'newest', limit: '100' },
      getKey: ({ identifier }) => identifier,
      columns: [
        { title: 'Created', kind: 'short', cell: ({ createdAt }) => timeElement(createdAt) },
        { title: 'Event', kind: 'wide event', cell: formatEvent },
        ...callerSession.isCustomer ? []
          : [{ title: 'Kind', kind: 'extra', cell: ({ kind }: PublicDelivery) => kind } as const],
        {
          title: 'To', kind: 'wide',
          cell: (delivery) => webhookLabel(createTargetLabel(delivery)),
        },
        { title: 'Key', kind: 'extra', cell: ({ key }) => key },
        { title: 'Status', kind: 'short', cell: deliveryBadge },
        { title: 'Last answer', kind: 'extra', cell: ({ attempts }) => {
          const last = attempts.at(-1);
          return last === undefined ? '' : formatAttempt(last);
        } },
        { title: 'Attempts', kind: 'extra', cell: ({ attempts }) => attempts.length },
        { title: 'Next', kind: 'short extra',
          cell: (delivery) => formatWait(delivery) ?? timeElement(delivery.nextAttemptAt, '') },
      ],
      filters: () => [
        ...SEARCH_FILTERS,
        { name: 'event', label: 'Event' },
        {
          name: 'status', label: 'Status',
          // Routes alone are coalesced, and a customer's deliveries are all of webhooks.
          values: callerSession.isCustomer ? STATUSES : [...STATUSES, 'coalesced'],
          formatLabel: (status) => STATUS_LABELS[status] ?? status,
        },
        {
          name: 'hook', label: 'Webhook', formatLabel: formatCalledName, values: listWebhookIds(),
        },
        ...callerSession.isCustomer ? []
          : [{ name: 'kind', label: 'Kind', values: KINDS, noneLabel: 'webhook or forward' }],
        ...TIME_FILTERS,
      ],
      empty: callerSession.isCustomer
        ? ['Nothing was sent to you yet. An event that a webhook hears makes a delivery.', null]
        : ['No outgoing webhook has sent anything yet. What the action of an incoming one sends at '
          + 'once is of the kind “route”. An event that a webhook hears makes a delivery:',
          'hookshelf event:emit --name order.created --payload \'{"id":1}\''],
      rules: {
        kind: (delivery, kind) => kind === 'all'
          || (kind === '' ? delivery.kind !== 'route' : delivery.kind === kind),
      },
      readNote: noteFailing,
      bulk: {
        path: '/api/deliveries/resend', command: 'delivery:resend', job: 'delivery-resend',
        loadDialog: async () => (await loadScript('records')).openBulkDialog,
        findObstacle: ({ kind }) => kind === undefined ? null
          : 'Those of webhooks and forwards are sent again together: choose no “Kind” first. A '
            + 'route runs again with its request.',
      },
    });
  },
};

/** A list of what has failed for good says how many are still tried. */
async function noteFailing(query: Readonly<Record<string, string>>): Promise<Child> {
  if (query['status'] !== 'failed') return null;
  const pendingQuery = { ...query, status: 'pending' };
  const count = await countItems('/api/deliveries', pendingQuery);
  return count === 0 ? null : h('p.note', 'Failed ones are tried no more. ',
    h('a', { href: href(['deliveries'], pendingQuery) },
      `${formatQuantity(count, 'delivery', 'deliveries')} pending or failing`),
    count === 1 ? ' is still tried.' : ' are still tried.');
}

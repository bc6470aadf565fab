/** What goes out: by status, one with its attempts, many sent again. */
import type { ScreenAddress } from '../../base/address.ts';
import { href } from '../../base/address.ts';
import { fill, h } from '../../base/dom.ts';
import { time } from '../../base/format.ts';
import { hookName, outgoingHooks, readHookNames } from '../../base/hooks.ts';
import { session } from '../../base/session.ts';
import { listen } from '../../base/stream.ts';
import { badge } from '../../parts/badge.ts';
import { runBulk } from '../../parts/lists/bulk.ts';
import { heading } from '../../parts/facts.ts';
import { Filters, pathWith } from '../../parts/lists/filters.ts';
import { emptyState, showFailure } from '../../parts/notice.ts';
import { PagedList } from '../../parts/lists/paged.ts';
import type { Screen } from '../../parts/screen.ts';
import { openDelivery } from './one.ts';
import type { DeliveryRecord } from './record.ts';

const PAGE = 200;
const STATUSES = ['pending', 'delivered', 'failed', 'cancelled'];

export const deliveriesScreen: Screen = {
  name: 'deliveries', title: 'Deliveries', key: 'd',
  open(place, address) {
    const [, id] = address.path;
    if (id !== undefined) return openDelivery(place, id);
    let close = (): void => {};
    let isClosed = false;
    const show = (): void => void readHookNames().then(() => {
      if (!isClosed) close = openList(place, address);
    }, (thrown: unknown) => showFailure(place, thrown, show));
    show();
    return () => {
      isClosed = true;
      close();
    };
  },
};

function openList(place: HTMLElement, { query }: ScreenAddress): () => void {
  const list = new PagedList<DeliveryRecord>({
    label: 'Deliveries, oldest first', nouns: ['delivery', 'deliveries'],
    keyOf: ({ identifier }) => identifier,
    hrefOf: ({ identifier }) => href(['deliveries', identifier]),
    columns: [
      { title: 'Created', cell: ({ createdAt }) => time(createdAt) },
      { title: 'Event', kind: 'main', cell: ({ event }) => event ?? 'a forward' },
      { title: 'To', cell: ({ hook }) => hookName(hook) },
      { title: 'Status', cell: ({ status }) => badge(status) },
      { title: 'Attempts', kind: 'number', cell: ({ attempts }) => attempts.length },
      { title: 'Next', kind: 'extra', cell: ({ nextAttemptAt }) => time(nextAttemptAt, '') },
    ],
    empty: () => filters.isSet ? emptyState('No delivery matches.', null)
      : emptyState('Nothing was sent yet. An event that a webhook hears makes a delivery:',
        'hookshelf event:emit --name order.created --payload \'{"id":1}\''),
  });
  const read = (): void =>
    void list.read(pathWith('/api/deliveries', { limit: String(PAGE), ...filters.query() }));
  const filters = new Filters([
    { name: 'event', label: 'Event' },
    { name: 'status', label: 'Status', values: STATUSES },
    { name: 'hook', label: 'Webhook', values: outgoingHooks().map(([identifier]) => identifier),
      labelOf: hookName },
  ], query, read);
  const stop = listen('deliveries', '', {
    onEvent({ change, record }) {
      const delivery = record as unknown as DeliveryRecord;
      const { status, hook, event } = filters.query();
      const isWanted = (status === undefined || delivery.status === status)
        && (hook === undefined || delivery.hook === hook)
        && (event === undefined || delivery.event === event);
      if (change === 'deleted' || !isWanted) list.remove(delivery.identifier);
      else list.put(delivery);
    },
    onGap: read,
  });
  const resend = h('button', { type: 'button', onclick: () => void runBulk({
    title: 'Send these deliveries again?', path: '/api/deliveries/resend', noun: 'delivery',
    plural: 'deliveries', filter: filters.query(), command: 'delivery:resend',
    action: 'Send again',
  }, read) }, 'Send again…');
  fill(place, heading('Deliveries', session.may('write') ? resend : null),
    filters.element, list.element);
  read();
  return () => {
    stop();
    list.close();
  };
}

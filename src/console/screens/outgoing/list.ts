/** Outgoing webhooks. */
import { href } from '../../base/address.ts';
import { get } from '../../base/api.ts';
import { fill, h } from '../../base/dom.ts';
import { counted, time } from '../../base/format.ts';
import { labelOfHook } from '../../base/hooks.ts';
import { session } from '../../base/session.ts';
import { badge } from '../../parts/badge.ts';
import { heading } from '../../parts/facts.ts';
import { emptyState, showFailure } from '../../parts/notice.ts';
import { hookLabel } from '../../parts/hook-label.ts';
import { Rows } from '../../parts/lists/rows.ts';
import type { Screen } from '../../parts/screen.ts';
import { openNewOutgoing } from './new.ts';
import { openOutgoing } from './one.ts';
import { eventsText } from './form.ts';
import type { OutgoingWebhook } from '../../../app/api.ts';

export const outgoingScreen: Screen = {
  name: 'outgoing', title: 'Outgoing', key: 'u',
  open(place, address) {
    const [, step] = address.path;
    if (step === 'new') return openNewOutgoing(place);
    return step === undefined ? openList(place) : openOutgoing(place, step);
  },
};

function openList(place: HTMLElement): () => void {
  const rows = new Rows<OutgoingWebhook>({
    label: 'Outgoing webhooks',
    keyOf: ({ identifier }) => identifier,
    hrefOf: ({ identifier }) => href(['outgoing', identifier]),
    columns: [
      { title: 'Webhook', kind: 'main', cell: (hook) => hookLabel(labelOfHook(hook)) },
      { title: 'Events', cell: (hook) => eventsText(hook) },
      { title: 'State', cell: ({ enabled }) => badge(enabled ? 'enabled' : 'off') },
      { title: 'Changed', kind: 'extra', cell: ({ updatedAt }) => time(updatedAt) },
    ],
  });
  const count = h('p', { class: 'count', role: 'status' });
  const table = h('div');
  const show = async (): Promise<void> => {
    try {
      const hooks = await get<readonly OutgoingWebhook[]>('/api/outgoing-webhooks');
      count.textContent = counted(hooks.length, 'webhook');
      if (hooks.length === 0) {
        return fill(table, emptyState('There is none yet. One that hears every change of a book:',
          'hookshelf outgoingwebhook:create --target-url https://… --trigger-event \'book.*\''));
      }
      fill(table, rows.element);
      rows.set(hooks);
    } catch (thrown) {
      showFailure(table, thrown, () => void show());
    }
  };
  fill(place, heading('Outgoing webhooks', session.may('admin')
    ? h('a', { href: href(['outgoing', 'new']), class: 'button primary' }, 'Add a webhook') : null),
  count, table);
  void show();
  return () => rows.close();
}

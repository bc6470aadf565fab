/** Outgoing webhooks: whether each works, and what it hears. */
import { get } from '../../base/api.ts';
import { time } from '../../base/format.ts';
import { labelOfHook } from '../../base/hooks.ts';
import { hookLabel } from '../../parts/hook-label.ts';
import { hookState, lastFailure } from '../../parts/hook-state.ts';
import { openHookList } from '../../parts/lists/hook-list.ts';
import type { Screen } from '../../parts/screen.ts';
import { eventsText } from './form.ts';
import { openNewOutgoing } from './new.ts';
import { openOutgoing } from './one.ts';
import type { OutgoingWebhook } from '../../../app/api-types.ts';

export const outgoingScreen: Screen = {
  name: 'outgoing', title: 'Outgoing', key: 'u',
  open(place, address) {
    const [, step] = address.path;
    if (step === 'new') return openNewOutgoing(place);
    if (step !== undefined) return openOutgoing(place, step);
    return openHookList<OutgoingWebhook>(place, address, {
      title: 'Outgoing webhooks', screen: 'outgoing', idOf: ({ identifier }) => identifier,
      columns: [
        { title: 'Webhook', kind: 'main', cell: (hook) => hookLabel(labelOfHook(hook)) },
        { title: 'State', cell: hookState }, { title: 'Events', cell: eventsText },
        { title: 'Last failure', kind: 'wide', cell: lastFailure },
        { title: 'Changed', kind: 'extra', cell: ({ updatedAt }) => time(updatedAt) },
      ],
      read: get<readonly OutgoingWebhook[]>,
      empty: ['There is none yet. One that hears every change of a book:',
        'hookshelf outgoingwebhook:create --target-url https://… --trigger-event \'book.*\''],
    });
  },
};

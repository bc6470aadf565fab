/** The screen of outgoing webhooks: the state of each, and its events. */
import { getJson } from '../../base/api-calls.ts';
import type { ScreenAddress } from '../../base/screen-address.ts';
import { timeElement } from '../../base/format.ts';
import { createWebhookLabel } from '../../base/webhook-labels.ts';
import { webhookLabel } from '../../parts/webhook-label.ts';
import { webhookState, lastFailure } from '../../parts/webhook-state.ts';
import { openWebhookList } from '../../parts/lists/webhook-list.ts';
import { formatTriggerEvents } from './outgoing-fields.ts';
import { openNewOutgoing } from './new-outgoing.ts';
import { openOutgoing } from './outgoing-view.ts';
import type { OutgoingWebhook } from '../../../app/api-types.ts';

export function openOutgoingScreen(container: HTMLElement, address: ScreenAddress): () => void {
  const [, step] = address.path;
  if (step === 'new') return openNewOutgoing(container);
  if (step !== undefined) return openOutgoing(container, step);
  return openWebhookList<OutgoingWebhook>(container, address, {
    title: 'Outgoing webhooks', screen: 'outgoing', getId: ({ identifier }) => identifier,
    columns: [
      {
        title: 'Webhook', kind: 'main',
        cell: (webhook) => webhookLabel(createWebhookLabel(webhook)),
      },
      { title: 'State', cell: webhookState }, { title: 'Events', cell: formatTriggerEvents },
      { title: 'Last failure', kind: 'wide', cell: lastFailure },
      { title: 'Changed', kind: 'extra', cell: ({ updatedAt }) => timeElement(updatedAt) },
    ],
    fetchRows: getJson<readonly OutgoingWebhook[]>,
    empty: ['There is none yet. One that hears every change of a book:',
      'hookshelf outgoingwebhook:create --target-url https://… --trigger-event \'book.*\''],
  });
}

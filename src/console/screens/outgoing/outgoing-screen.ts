/** The screen of outgoing webhooks: the state of each, and its events. */
import { getJson } from '../../base/api-calls.ts';
import { callerSession } from '../../base/caller-session.ts';
import { h, type Child } from '../../base/dom.ts';
import { timeElement } from '../../base/format.ts';
import type { ScreenAddress } from '../../base/screen-address.ts';
import { createWebhookLabel } from '../../base/webhook-labels.ts';
import { openWebhookList } from '../../parts/lists/webhook-list.ts';
import { formatCondition } from '../../parts/forms/condition-text.ts';
import { openForm, type Screen } from '../../parts/screen.ts';
import { lastFailure, webhookLabel, webhookState } from '../../parts/webhook-cells.ts';
import type { OutgoingWebhook } from '../../../app/api-types.ts';
import { formatTriggerEvents, openNewOutgoing } from './outgoing-forms.ts';
import { openOutgoing, openOutgoingEditor } from './outgoing-view.ts';

/** Resolves with the opener of the screen for a customer: one who has one webhook comes to it. */
export async function findOwnWebhookOpener(): Promise<Screen['open']> {
  const [webhook, ...others] =
    await getJson<readonly OutgoingWebhook[]>('/api/outgoing-webhooks?limit=2');
  const only = others.length === 0 ? webhook?.identifier : undefined;
  return (container, address) => {
    const [, step = only, form] = address.path;
    return only === undefined || step !== only || form !== undefined
      ? openOutgoingScreen(container, address)
      : openOutgoing(container, only, { isOnlyOne: true });
  };
}

export function openOutgoingScreen(container: HTMLElement, address: ScreenAddress): () => void {
  const [, step, form] = address.path;
  if (step === 'new' && !callerSession.isCustomer) {
    return openForm(container, 'admin', 'add webhooks', openNewOutgoing);
  }
  if (step !== undefined) {
    return form === 'edit' ? openOutgoingEditor(container, step) : openOutgoing(container, step);
  }
  return openWebhookList<OutgoingWebhook>(container, address, {
    title: callerSession.isCustomer ? 'Webhooks' : 'Outgoing webhooks',
    screen: 'outgoing', getId: ({ identifier }) => identifier,
    columns: [
      {
        title: 'Webhook', kind: 'main target',
        cell: (webhook) => webhookLabel(createWebhookLabel(webhook)),
      },
      { title: 'State', cell: webhookState }, { title: 'Events', kind: 'wide', cell: eventsCell },
      { title: 'Last failure', kind: 'wide', cell: lastFailure },
      { title: 'Changed', kind: 'short extra', cell: ({ updatedAt }) => timeElement(updatedAt) },
    ],
    fetchRows: getJson<readonly OutgoingWebhook[]>,
    empty: callerSession.isCustomer ? ['There is none yet that this token is for.', null] : [
      'There is none yet. One that hears every change of a book:',
      'hookshelf outgoingwebhook:create --target-url https://… --trigger-event \'book.*\''],
  });
}

const CONDITION_LENGTH_MAX = 60;

/** The events, and the beginning of the condition: without one a customer hears what all hear. */
function eventsCell(webhook: OutgoingWebhook): Child {
  const events = formatTriggerEvents(webhook);
  if (webhook.when === undefined) return events;
  const condition = formatCondition(webhook.when);
  const start = condition.length <= CONDITION_LENGTH_MAX ? condition
    : `${condition.slice(0, CONDITION_LENGTH_MAX)}…`;
  return h('span', { title: `${events} when ${condition}` }, events, ' ',
    h('span.place', `when ${start}`));
}

/** The view of one event: its members, its payload, its deliveries, and sending it to a webhook. */
import { callApi, getJson, sendRequest } from '../../base/api-calls.ts';
import { callerSession } from '../../base/caller-session.ts';
import { h, createSelect } from '../../base/dom.ts';
import { formatQuantity, optionalTime, timeElement } from '../../base/format.ts';
import { encodeJson } from '../../base/json-text.ts';
import { apiPath, href } from '../../base/screen-address.ts';
import { formatCalledName, listOutgoingIds } from '../../base/webhook-labels.ts';
import { asyncButton } from '../../parts/buttons.ts';
import { badge } from '../../parts/badge.ts';
import { bodySection } from '../../parts/body-view.ts';
import { openDialog } from '../../parts/dialog.ts';
import { showNotice } from '../../parts/notice.ts';
import { factList, stackedTable } from '../../parts/tables.ts';
import { openRecordView } from '../../parts/record-view.ts';
import { backLink, goIfStillHere, goToList, heading } from '../../parts/screen.ts';
import { resolvedWebhookLabel } from '../../parts/webhook-cells.ts';
import type { KeptEventWithDeliveries, PublicDelivery } from '../../../app/api-types.ts';
import { openBackfillDialog } from '../../parts/backfill.ts';
import { cancelEvent } from './cancel-event.ts';

export function openEvent(container: HTMLElement, id: string): () => void {
  return openRecordView<KeptEventWithDeliveries>(container, {
    // The event never changes, but its deliveries do.
    topic: 'deliveries', fetchRecord: () => getJson(apiPath('events', id)),
    matches: (delivery) => 'eventId' in delivery && delivery.eventId === id,
    renderHead: (event) => renderHead(container, event),
    renderBody: async ({ payloadBytes }) =>
      [bodySection(apiPath('events', id, 'payload'), payloadBytes)],
    getVersion: () => 0,
    onDeleted: () => goToList(container, 'events'),
  });
}

function renderHead(container: HTMLElement, event: KeptEventWithDeliveries): HTMLElement[] {
  const { id, name, source, key, createdAt, deliverAt, hops, deliveries } = event;
  return [
    backLink('events', 'Events'),
    heading(name, ...callerSession.may('write') ? actions(container, event) : []),
    factList([
      ['Created', timeElement(createdAt)],
      ['Begins', optionalTime(deliverAt)],
      ['Source', source ?? null], ['Key', key ?? null], ['Hops', String(hops)],
      ['Id', h('code', id)],
    ]),
    h('section', h('h2', 'Deliveries'), deliveries.length === 0
      ? h('p.hint', hasBegun(event) ? 'No webhook has heard it.'
        : 'Who hears it is decided when it begins.')
      : stackedTable(['Webhook', 'Status', 'Delivery'], deliveries.map(
        ({ identifier, hook, status }) => [
          resolvedWebhookLabel(hook), status === null ? 'not kept any more' : badge(status),
          status === null ? h('code', identifier)
            : h('a', { href: href(['deliveries', identifier]) }, identifier),
        ]))),
  ];
}

function actions(container: HTMLElement, event: KeptEventWithDeliveries): HTMLElement[] {
  const { id, createdAt } = event;
  const send = asyncButton('Send to…', async () => chooseWebhook('Send the event to a webhook?',
    'Its payload is sent to this webhook alone, whatever that listens to.', 'Send it',
    async (webhook) => {
      const { identifier } = await sendTo(webhook, event);
      showNotice('It will be sent.');
      goIfStillHere(container, ['deliveries', identifier]);
    }));
  const backfill = asyncButton('Send what was missed from here on…', async () => chooseWebhook(
    'Send a webhook what it has missed?', 'This event and those that came after it.', 'Go on',
    async (identifier) => {
      openBackfillDialog({ identifier, since: createdAt }, () =>
        goIfStillHere(container, ['outgoing', identifier]));
    }));
  if (hasBegun(event)) return [send, backfill];
  const cancel = async (): Promise<void> => {
    if (await cancelEvent(id)) goToList(container, 'events');
  };
  return [send, asyncButton('Cancel it', cancel, 'danger')];
}

/** Asks for an outgoing webhook, and does `go` with it. */
function chooseWebhook(
  title: string, text: string, action: string, go: (identifier: string) => Promise<void>,
): void {
  const ids = listOutgoingIds();
  if (ids.length === 0) return showNotice('There is no outgoing webhook yet.', 'bad');
  const select = createSelect(ids.map((identifier) => [identifier, formatCalledName(identifier)]));
  const dialog = openDialog(title, [
    h('p', text),
    h('label.filter', h('span', 'Webhook'), select),
  ], {
    close: 'Cancel', buttons: [asyncButton(action, async () => {
      dialog.close();
      await go(select.value);
    }, 'primary')],
  });
}

/** Sends the payload byte for byte, durably. Resolves with the delivery. */
async function sendTo(
  webhook: string, { id, name, key, payloadBytes }: KeptEventWithDeliveries,
): Promise<PublicDelivery> {
  const response = await sendRequest('GET', apiPath('events', id, 'payload'));
  if (!response.ok) throw new Error(`its ${formatQuantity(payloadBytes, 'byte')} are not kept`);
  const members = encodeJson({ event: name, ...key === null ? {} : { key } }).slice(1);
  const path = apiPath('outgoing-webhooks', webhook, 'deliveries');
  const { body } = await callApi<PublicDelivery>('POST', path, {
    raw: `{"payload":${await response.text()},${members}`,
    headers: { 'Content-Type': 'application/json' },
  });
  return body;
}

function hasBegun({ deliverAt, deliveries }: KeptEventWithDeliveries): boolean {
  return deliverAt === null || deliveries.length > 0 || Date.parse(deliverAt) <= Date.now();
}

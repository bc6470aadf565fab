/** The view of one delivery: its attempts, the request that was sent, and the responses. */
import { apiPath, href } from '../../base/screen-address.ts';
import { callApi, getJson, sendRequest } from '../../base/api-calls.ts';
import { h } from '../../base/dom.ts';
import { optionalTime, timeElement } from '../../base/format.ts';
import { callerSession } from '../../base/caller-session.ts';
import { bodySection } from '../../parts/body-view.ts';
import {
  createTargetLabel, deliveryBadge, formatAttempt, formatEvent, formatWait,
} from '../../parts/delivery-text.ts';
import { confirmAndCancel } from '../../parts/deletion.ts';
import { showNotice } from '../../parts/notice.ts';
import { openRecordView } from '../../parts/record-view.ts';
import { backLink, goIfStillHere, goToList, heading, linkButton } from '../../parts/screen.ts';
import { webhookLabel } from '../../parts/webhook-cells.ts';
import { formatResponse, runStep, timeline, type TimelineStep } from '../../parts/timeline.ts';
import { factList, headerTable } from '../../parts/tables.ts';
import { asyncButton } from '../../parts/buttons.ts';
import type { DeliveryWithRequest, PublicDelivery } from '../../../app/api-types.ts';
import type { Attempt } from '../../../webhooks/deliveries/delivery.ts';

/** A delivery, and whether a screen shows its event. */
type DeliveryToShow = DeliveryWithRequest & { readonly isEventKept: boolean };

export function openDelivery(container: HTMLElement, id: string): () => void {
  // A change of a route's delivery is told as one of its request.
  const [requestId, routeIndex] = id.split('.');
  const topic = routeIndex === undefined ? 'deliveries' : 'requests';
  return openRecordView<DeliveryToShow>(container, {
    topic, fetchRecord: () => fetchDelivery(id),
    matches: (record) => 'id' in record ? record.id === requestId : record.identifier === id,
    renderHead: (delivery, refresh) => renderHead(container, delivery, refresh),
    renderBody: async ({ sent }) => sent === null ? [] : [
      h('section', h('h2', 'What was sent last'),
        h('p', h('code', `${sent.method} ${sent.url}`)), headerTable(sent.headers)),
      bodySection(apiPath('deliveries', id, 'body'), sent.bodyBytes),
    ],
    getVersion: ({ attempts }) => attempts.length,
    onDeleted: () => goToList(container, 'deliveries'),
  });
}

async function fetchDelivery(id: string): Promise<DeliveryToShow> {
  const delivery = await getJson<DeliveryWithRequest>(apiPath('deliveries', id));
  const { eventId } = delivery;
  // A customer has no screen of events.
  const isEventKept = eventId !== null && !callerSession.isCustomer
    && (await sendRequest('HEAD', apiPath('events', eventId))).ok;
  return { ...delivery, isEventKept };
}

function renderHead(
  container: HTMLElement, delivery: DeliveryToShow, refresh: () => void,
): (HTMLElement | null)[] {
  const { identifier, kind, hook, createdAt, nextAttemptAt, resendOf, route } = delivery;
  const wait = formatWait(delivery);
  const label = webhookLabel(createTargetLabel(delivery));
  return [
    backLink('deliveries', 'Deliveries'),
    heading(formatEvent(delivery), ...actions(container, delivery, refresh)),
    factList([
      ['Status', deliveryBadge(delivery)], ['Created', timeElement(createdAt)],
      ['To', hook === null ? label
        : h('a', { href: href([kind === 'route' ? 'incoming' : 'outgoing', hook]) }, label)],
      ['Route', route],
      ['Event', eventLink(delivery)],
      ['Next attempt', wait ?? optionalTime(nextAttemptAt)],
      ['Sent again from', resendOf === null ? null
        : h('a', { href: href(['deliveries', resendOf]) }, resendOf)],
      ['Id', h('code', identifier)],
    ]),
    h('section', h('h2', 'Attempts'),
      timeline(delivery.attempts.map(createStep), nextAttemptAt, wait)),
  ];
}

/** null: it has no event. */
function eventLink({ eventId, isEventKept }: DeliveryToShow): HTMLElement | null {
  if (eventId === null) return null;
  return isEventKept ? h('a', { href: href(['events', eventId]) }, eventId)
    : h('span', h('code', eventId), callerSession.isCustomer ? null : ' is not kept any more');
}

function createStep(attempt: Attempt): TimelineStep {
  const { at, durationMs, statusCode, response, success } = attempt;
  if (success !== undefined) return runStep(attempt);
  return {
    at, durationMs, isGood: (statusCode ?? Infinity) < 300,
    text: `${typeof statusCode === 'number' ? 'answered ' : ''}${formatAttempt(attempt)}`,
    detail: formatResponse(response),
  };
}

function actions(
  container: HTMLElement, { identifier, request, status }: PublicDelivery, refresh: () => void,
): HTMLElement[] {
  // A route's delivery is run again, and ends, with its request alone.
  if (request !== null) {
    return [linkButton('To its request', ['requests', request])];
  }
  if (!callerSession.may('write', 'resend')) return [];
  const button = (name: string, path: string, body: object, notice: string): HTMLElement =>
    asyncButton(name, async () => {
      const { body: result } =
        await callApi<PublicDelivery>('POST', apiPath('deliveries', identifier, path), { body });
      showNotice(notice);
      if (result.identifier === identifier) refresh();
      else goIfStillHere(container, ['deliveries', result.identifier]);
    });
  const sendButtons = status === 'pending' ? [button('Try now', 'retry', {}, 'It is tried now.')]
    : [button('Send again', 'resend', {}, 'It is sent again, under the same id.'),
      button('Send as new', 'resend', { as: 'new' }, 'It is sent again, under a new id.')];
  if (status !== 'pending' && status !== 'failed') return sendButtons;
  return [...sendButtons, ...callerSession.may('write', 'write')
    ? [asyncButton('Cancel it', () => cancel(identifier, refresh), 'danger')] : []];
}

async function cancel(identifier: string, refresh: () => void): Promise<void> {
  await confirmAndCancel({
    title: 'Cancel the delivery?', text: 'It will not be sent any more.',
    command: `hookshelf delivery:cancel ${identifier}`,
  }, () => callApi('POST', apiPath('deliveries', identifier, 'cancel')).finally(refresh));
}

/** The view of one delivery: its attempts, the request that was sent, and the responses. */
import { apiPath, href } from '../../base/screen-address.ts';
import { callApi, getJson, hasStatus, sendRequest } from '../../base/api-calls.ts';
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
import { previewBody } from '../../parts/template-preview.ts';
import { webhookLabel } from '../../parts/webhook-cells.ts';
import { formatResponse, runStep, timeline, type TimelineStep } from '../../parts/timeline.ts';
import { factList, headerTable } from '../../parts/tables.ts';
import { asyncButton } from '../../parts/buttons.ts';
import type {
  DeliveryWithRequest, OutgoingWebhook, PublicDelivery,
} from '../../../app/api-types.ts';
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
    renderBody: async (delivery) => {
      const { sent } = delivery;
      return sent === null ? [] : [
        h('section', h('h2', 'What was sent last'),
          h('p', h('code', `${sent.method} ${sent.url}`)), headerTable(sent.headers)),
        bodySection(apiPath('deliveries', id, 'body'), sent.bodyBytes),
        await noteMissing(delivery),
      ];
    },
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

/**
 * Says which names of the webhook's template the event does not have. null: it has all, or nobody
 * can tell, as where an action changes the event before.
 */
async function noteMissing(
  { kind, hook, eventId, isEventKept, createdAt }: DeliveryToShow,
): Promise<HTMLElement | null> {
  if (kind !== 'webhook' || hook === null || eventId === null || !isEventKept) return null;
  const webhook = await getJson<OutgoingWebhook>(apiPath('outgoing-webhooks', hook))
    .catch(ignoreDeleted);
  if (webhook?.payloadTemplate === undefined || webhook.actionConfiguration !== undefined) {
    return null;
  }
  const payload = await getJson<unknown>(apiPath('events', eventId, 'payload'));
  const { missingPaths } = previewBody(webhook, payload);
  if (missingPaths.length === 0) return null;
  return h('p.note', 'The event does not have these names of the template, which stayed empty: ',
    ...missingPaths.flatMap((path, index) => [index === 0 ? '' : ', ', h('code', path)]), '.',
    webhook.updatedAt > createdAt
      && ' This is the template as it is now: the webhook was changed after the event.');
}

function ignoreDeleted(thrown: unknown): undefined {
  if (!hasStatus(thrown, 404)) throw thrown;
}

function renderHead(
  container: HTMLElement, delivery: DeliveryToShow, refresh: () => void,
): (HTMLElement | null)[] {
  const { identifier, kind, hook, createdAt, nextAttemptAt, resendOf, route } = delivery;
  const label = webhookLabel(createTargetLabel(delivery));
  return [
    backLink('deliveries', 'Deliveries'),
    heading(formatEvent(delivery), ...actions(container, delivery, refresh)),
    mayResend(delivery) ? resendHint() : tryHint(delivery),
    factList([
      ['Status', deliveryBadge(delivery)], ['Created', timeElement(createdAt)],
      ['To', hook === null ? label
        : h('a', { href: href([kind === 'route' ? 'incoming' : 'outgoing', hook]) }, label)],
      ['Route', route],
      ['Event', eventLink(delivery)], ['Key', delivery.key],
      ['Next attempt', formatWait(delivery) ?? optionalTime(nextAttemptAt)],
      ['Sent again from', resendOf === null ? null
        : h('a', { href: href(['deliveries', resendOf]) }, resendOf)],
      ['Id', h('code', identifier)],
    ]),
    h('section', h('h2', 'Attempts'),
      timeline(delivery.attempts.map(createStep), nextAttemptAt, formatWait(delivery))),
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

/** A route's delivery is run again with its request alone, and one that is pending is tried. */
function mayResend({ request, status }: PublicDelivery): boolean {
  return request === null && status !== 'pending' && callerSession.may('write', 'resend');
}

function resendHint(): HTMLElement {
  return h('p.hint', h('strong', 'Send again'), ' repeats it under its id: a receiver that has it '
    + 'already may drop it. ', h('strong', 'Send as new'), ' gives it another id, and a body that '
    + 'its webhook makes anew: a receiver takes it as one more.');
}

/** null where no body has been made yet, and where it cannot be tried. */
function tryHint({ request, status, attempts }: PublicDelivery): HTMLElement | null {
  const isTried = request === null && status === 'pending' && attempts.length > 0;
  if (!isTried || !callerSession.may('write', 'write')) return null;
  return h('p.hint', h('strong', 'Try now'), ' sends the same body. For one that its webhook makes '
    + 'anew, cancel it, and then send it as new.');
}

function actions(
  container: HTMLElement, delivery: PublicDelivery, refresh: () => void,
): HTMLElement[] {
  const { identifier, request, status } = delivery;
  // A route's delivery ends with its request alone.
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
  const sendButtons = mayResend(delivery) ? [
    button('Send again', 'resend', {}, 'It is sent again, under the same id.'),
    button('Send as new', 'resend', { as: 'new' }, 'It is sent again, under a new id.'),
  ] : [button('Try now', 'retry', {}, 'It is tried now.')];
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

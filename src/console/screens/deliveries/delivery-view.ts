/** The view of one delivery: its attempts, the request that was sent, and the responses. */
import { goToScreen, href } from '../../base/screen-address.ts';
import { callApi } from '../../base/api-calls.ts';
import { h } from '../../base/dom.ts';
import { timeElement } from '../../base/format.ts';
import { callerSession } from '../../base/caller-session.ts';
import { resolveWebhookLabel } from '../../base/webhook-labels.ts';
import type { WebhookLabel } from '../../base/webhook-labels.ts';
import { badge } from '../../parts/badge.ts';
import { bodySection } from '../../parts/body-view.ts';
import { askToConfirm } from '../../parts/dialog.ts';
import { backLink, factList, heading } from '../../parts/facts.ts';
import { showNotice } from '../../parts/notice.ts';
import { openRecordView } from '../../parts/record-view.ts';
import { goIfStillHere } from '../../parts/screen.ts';
import { webhookLabel } from '../../parts/webhook-label.ts';
import { timeline } from '../../parts/timeline.ts';
import { headerTable } from '../../parts/plain-table.ts';
import { asyncButton } from '../../parts/async-button.ts';
import type { Delivery, DeliveryWithRequest } from '../../../app/api-types.ts';

export function openDelivery(container: HTMLElement, id: string): () => void {
  return openRecordView<DeliveryWithRequest>(container, {
    topic: 'deliveries', path: deliveryPath(id), matches: ({ identifier }) => identifier === id,
    renderHead: (delivery, refresh) => renderHead(container, delivery, refresh),
    renderBody: async ({ sent }) => sent === null ? [] : [
      h('section', h('h2', 'What was sent last'),
        h('p', h('code', `${sent.method} ${sent.url}`)), headerTable(sent.headers)),
      bodySection(`${deliveryPath(id)}/body`, sent.bodyBytes),
    ],
    getVersion: ({ attempts }) => attempts.length,
    onDeleted: () => goToScreen(['deliveries']),
  });
}

function renderHead(
  container: HTMLElement, delivery: Delivery, refresh: () => void,
): (HTMLElement | null)[] {
  const { identifier, hook, event, status, createdAt, nextAttemptAt, resendOf } = delivery;
  const wait = formatWait(delivery);
  const label = webhookLabel(createTargetLabel(delivery));
  return [
    backLink('deliveries', 'Deliveries'),
    heading(event ?? 'A forward',
      ...callerSession.may('write') ? actions(container, delivery, refresh) : []),
    factList([
      ['Status', badge(status)], ['Created', timeElement(createdAt)],
      ['To', hook === null ? label : h('a', { href: href(['outgoing', hook]) }, label)],
      ['Next attempt', wait ?? (nextAttemptAt === null ? null : timeElement(nextAttemptAt))],
      ['Sent again from', resendOf === null ? null
        : h('a', { href: href(['deliveries', resendOf]) }, resendOf)],
      ['Id', h('code', identifier)],
    ]),
    h('section', h('h2', 'Attempts'), timeline(delivery.attempts.map((attempt) => ({
      at: attempt.at, durationMs: attempt.durationMs,
      isGood: (attempt.statusCode ?? Infinity) < 300,
      text: typeof attempt.statusCode === 'number' ? `answered ${attempt.statusCode}`
        : attempt.error ?? 'no answer',
      detail: attempt.response === undefined || attempt.response === '' ? null : attempt.response,
    })), nextAttemptAt, wait)),
  ];
}

function actions(
  container: HTMLElement, { identifier, status }: Delivery, refresh: () => void,
): HTMLElement[] {
  const button = (name: string, path: string, body: object, notice: string): HTMLElement =>
    asyncButton(name, async () => {
      const actionPath = `${deliveryPath(identifier)}/${path}`;
      const { body: result } = await callApi<Delivery>('POST', actionPath, { body });
      showNotice(notice);
      if (result.identifier === identifier) refresh();
      else goIfStillHere(container, ['deliveries', result.identifier]);
    });
  if (status !== 'pending') {
    return [button('Send again', 'resend', {}, 'It is sent again, under the same id.'),
      button('Send as new', 'resend', { as: 'new' }, 'It is sent again, under a new id.')];
  }
  return [button('Try now', 'retry', {}, 'It is tried now.'),
    asyncButton('Cancel it', () => cancel(identifier, refresh), 'danger')];
}

async function cancel(identifier: string, refresh: () => void): Promise<void> {
  const isSure = await askToConfirm({
    title: 'Cancel the delivery?', text: 'It will not be sent any more.', action: 'Cancel it',
    isDestructive: true, command: `hookshelf delivery:cancel ${identifier}`,
  });
  if (!isSure) return;
  try {
    await callApi('POST', `${deliveryPath(identifier)}/cancel`);
    showNotice('Cancelled.');
  } finally {
    refresh();
  }
}

function deliveryPath(identifier: string): string {
  return `/api/deliveries/${encodeURIComponent(identifier)}`;
}

/** Says what else the delivery waits for; null: only for the time of its next attempt. */
export function formatWait({ waitsFor }: Delivery): string | null {
  return waitsFor === null ? null : 'waits: its webhook is off';
}

/** A label of the target, also when the webhook was removed or there is none. */
export function createTargetLabel({ hook, hookName, target }: Delivery): WebhookLabel {
  const endpoint = target ?? resolveWebhookLabel(hook).endpoint;
  return { title: hookName ?? endpoint, endpoint };
}

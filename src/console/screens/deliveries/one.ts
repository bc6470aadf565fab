/** One delivery: its attempts, what was sent and what came back. */
import { go, href } from '../../base/address.ts';
import { call } from '../../base/api.ts';
import { h } from '../../base/dom.ts';
import { time } from '../../base/format.ts';
import { session } from '../../base/session.ts';
import { badge } from '../../parts/badge.ts';
import { bodySection } from '../../parts/body-view.ts';
import { confirm } from '../../parts/dialog.ts';
import { backTo, facts, heading } from '../../parts/facts.ts';
import { tell } from '../../parts/notice.ts';
import { openRecord } from '../../parts/record.ts';
import { goFrom } from '../../parts/screen.ts';
import { hookLabel } from '../../parts/hook-label.ts';
import { timeline } from '../../parts/timeline.ts';
import { headerTable } from '../../parts/header-table.ts';
import { workButton } from '../../parts/work-button.ts';
import { formatWait, labelOfDelivery, type DeliveryRecord } from './record.ts';

export function openDelivery(place: HTMLElement, id: string): () => void {
  return openRecord<DeliveryRecord>(place, {
    topic: 'deliveries', path: pathOf(id), isIt: ({ identifier }) => identifier === id,
    renderHead: (delivery, again) => renderHead(place, delivery, again),
    renderRest: async ({ sent }) => sent === null || sent === undefined ? [] : [
      h('section', {}, h('h2', {}, 'What was sent last'),
        h('p', {}, h('code', {}, `${sent.method} ${sent.url}`)), headerTable(sent.headers)),
      bodySection(`${pathOf(id)}/body`, sent.bodyBytes),
    ],
    versionOf: ({ attempts }) => attempts.length,
    onDeleted: () => go(['deliveries']),
  });
}

function renderHead(
  place: HTMLElement, delivery: DeliveryRecord, again: () => void,
): (HTMLElement | null)[] {
  const { identifier, hook, event, status, createdAt, nextAttemptAt, resendOf } = delivery;
  const wait = formatWait(delivery);
  const label = hookLabel(labelOfDelivery(delivery));
  return [
    backTo('deliveries', 'Deliveries'),
    heading(event ?? 'A forward',
      ...session.may('write') ? actions(place, delivery, again) : []),
    facts([
      ['Status', badge(status)], ['Created', time(createdAt)],
      ['To', hook === null ? label : h('a', { href: href(['outgoing', hook]) }, label)],
      ['Next attempt', wait ?? (nextAttemptAt === null ? null : time(nextAttemptAt))],
      ['Sent again from', resendOf === null ? null
        : h('a', { href: href(['deliveries', resendOf]) }, resendOf)],
      ['Id', h('code', {}, identifier)],
    ]),
    h('section', {}, h('h2', {}, 'Attempts'), timeline(delivery.attempts.map((attempt) => ({
      at: attempt.at, durationMs: attempt.durationMs,
      isGood: attempt.statusCode !== null && attempt.statusCode < 300,
      text: attempt.statusCode === null ? attempt.error ?? 'no answer'
        : `answered ${attempt.statusCode}`,
      detail: attempt.response === '' ? null : attempt.response,
    })), nextAttemptAt, wait)),
  ];
}

function actions(
  place: HTMLElement, { identifier, status }: DeliveryRecord, again: () => void,
): HTMLElement[] {
  const button = (name: string, path: string, body: object, said: string): HTMLElement =>
    workButton(name, async () => {
      const answer = await call<DeliveryRecord>('POST', `${pathOf(identifier)}/${path}`, { body });
      tell(said);
      if (answer.body.identifier === identifier) again();
      else goFrom(place, ['deliveries', answer.body.identifier]);
    });
  if (status !== 'pending') {
    return [button('Send again', 'resend', {}, 'It is sent again, under the same id.'),
      button('Send as new', 'resend', { as: 'new' }, 'It is sent again, under a new id.')];
  }
  return [button('Try now', 'retry', {}, 'It is tried now.'),
    workButton('Cancel it', () => cancel(identifier, again), 'danger')];
}

async function cancel(identifier: string, again: () => void): Promise<void> {
  const isSure = await confirm({
    title: 'Cancel the delivery?', text: 'It will not be sent any more.', action: 'Cancel it',
    isDestructive: true, command: `hookshelf delivery:cancel ${identifier}`,
  });
  if (!isSure) return;
  await call('POST', `${pathOf(identifier)}/cancel`).then(() => tell('Cancelled.')).finally(again);
}

function pathOf(identifier: string): string {
  return `/api/deliveries/${encodeURIComponent(identifier)}`;
}

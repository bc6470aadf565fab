/** One delivery: its attempts, what was sent and what came back. */
import { go, href } from '../../base/address.ts';
import { call, get, send } from '../../base/api.ts';
import { fill, h } from '../../base/dom.ts';
import { time } from '../../base/format.ts';
import { hookName, readHookNames } from '../../base/hooks.ts';
import { session } from '../../base/session.ts';
import { listen } from '../../base/stream.ts';
import { badge } from '../../parts/badge.ts';
import { bodyView } from '../../parts/body-view.ts';
import { confirm } from '../../parts/dialog.ts';
import { facts, heading } from '../../parts/facts.ts';
import { showFailure, tell, tellFailure } from '../../parts/notice.ts';
import { timeline } from '../../parts/timeline.ts';
import { headerTable } from '../../parts/header-table.ts';
import type { DeliveryRecord } from './record.ts';

export function openDelivery(place: HTMLElement, id: string): () => void {
  const show = async (): Promise<void> => {
    try {
      await readHookNames();
      const delivery = await get<DeliveryRecord>(pathOf(id));
      fill(place, ...render(delivery, () => void show()));
    } catch (thrown) {
      showFailure(place, thrown, () => void show());
    }
  };
  void show();
  return listen('deliveries', '', {
    onEvent({ change, record }) {
      if (record['identifier'] === id && change !== 'deleted') void show();
    },
    onGap: () => void show(),
  });
}

function render(delivery: DeliveryRecord, again: () => void): (HTMLElement | null)[] {
  const { identifier, hook, event, status, createdAt, nextAttemptAt, attempts, sent } = delivery;
  return [
    h('p', {}, h('a', { href: href(['deliveries']) }, '← Deliveries')),
    heading(event ?? 'A forward', ...session.may('write') ? actions(delivery, again) : []),
    facts([
      ['Status', badge(status)], ['Created', time(createdAt)],
      ['To', hook === null ? null : h('a', { href: href(['outgoing', hook]) }, hookName(hook))],
      ['Next attempt', nextAttemptAt === null ? null : time(nextAttemptAt)],
      ['Id', h('code', {}, identifier)],
    ]),
    h('section', {}, h('h2', {}, 'Attempts'), timeline(attempts.map((attempt) => ({
      at: attempt.at, durationMs: attempt.durationMs,
      isGood: attempt.statusCode !== null && attempt.statusCode < 300,
      text: attempt.statusCode === null ? attempt.error ?? 'no answer'
        : `answered ${attempt.statusCode}`,
      detail: attempt.response === '' ? null : attempt.response,
    })), nextAttemptAt)),
    sent === undefined || sent === null ? null : sentSection(delivery, sent),
  ];
}

function sentSection(
  { identifier }: DeliveryRecord, sent: NonNullable<DeliveryRecord['sent']>,
): HTMLElement {
  const pairs = Array.isArray(sent.headers) ? sent.headers : Object.entries(sent.headers);
  const section = h('section', {}, h('h2', {}, 'What is sent'),
    h('p', {}, h('code', {}, `${sent.method} ${sent.url}`)), headerTable(pairs));
  void send('GET', `${pathOf(identifier)}/body`).then(async (response) => {
    if (response.ok) section.append(bodyView(new Uint8Array(await response.arrayBuffer())));
  }).catch(tellFailure);
  return section;
}

function actions({ identifier, status }: DeliveryRecord, again: () => void): HTMLElement[] {
  const button = (name: string, path: string, body: object, said: string): HTMLElement =>
    h('button', { type: 'button', onclick: () => void run(path, body, said) }, name);
  const run = async (path: string, body: object, said: string): Promise<void> => {
    try {
      const answer = await call<DeliveryRecord>('POST', `${pathOf(identifier)}/${path}`, { body });
      tell(said);
      if (answer.body.identifier === identifier) again();
      else go(['deliveries', answer.body.identifier]);
    } catch (thrown) {
      tellFailure(thrown);
    }
  };
  if (status === 'failed') return [button('Try again', 'retry', {}, 'It is tried again now.')];
  if (status !== 'pending') {
    return [button('Send again', 'resend', {}, 'It is sent again, under the same id.'),
      button('Send as new', 'resend', { as: 'new' }, 'It is sent again, under a new id.')];
  }
  return [button('Try now', 'retry', {}, 'It is tried now.'), h('button', {
    type: 'button', class: 'danger', onclick: () => void cancel(identifier, again),
  }, 'Cancel it')];
}

async function cancel(identifier: string, again: () => void): Promise<void> {
  const isSure = await confirm({
    title: 'Cancel the delivery?', text: 'It will not be sent any more.', action: 'Cancel it',
    isDestructive: true, command: `hookshelf delivery:cancel --identifier ${identifier}`,
  });
  if (!isSure) return;
  await call('POST', `${pathOf(identifier)}/cancel`).then(() => tell('Cancelled.'), tellFailure);
  again();
}

function pathOf(identifier: string): string {
  return `/api/deliveries/${encodeURIComponent(identifier)}`;
}

/** Outgoing webhooks: the list, one with a test, a form with a preview of the template. */
import { go, href } from '../../base/address.ts';
import { call, get, messageOf } from '../../base/api.ts';
import { fill, h } from '../../base/dom.ts';
import { counted, time } from '../../base/format.ts';
import { model } from '../../base/schema.ts';
import { session } from '../../base/session.ts';
import { badge } from '../../parts/badge.ts';
import { confirm } from '../../parts/dialog.ts';
import { editRecord } from '../../parts/forms/edit.ts';
import { facts, heading } from '../../parts/facts.ts';
import { recordForm } from '../../parts/forms/form.ts';
import { emptyState, showFailure, tell, tellFailure } from '../../parts/notice.ts';
import { rotateSecret } from '../../parts/rotate.ts';
import { Rows } from '../../parts/lists/rows.ts';
import { nothing } from '../../parts/screen.ts';
import type { Screen } from '../../parts/screen.ts';
import { previewPart } from './template-preview.ts';
import type { OutgoingWebhook } from '../../../app/api.ts';

export const outgoingScreen: Screen = {
  name: 'outgoing', title: 'Outgoing', key: 'u',
  open(place, address) {
    const [, step] = address.path;
    if (step === 'new') return openNew(place);
    return step === undefined ? openList(place) : openOne(place, step);
  },
};

function openList(place: HTMLElement): () => void {
  const rows = new Rows<OutgoingWebhook>({
    label: 'Outgoing webhooks',
    keyOf: ({ identifier }) => identifier,
    hrefOf: ({ identifier }) => href(['outgoing', identifier]),
    columns: [
      { title: 'Target', kind: 'main', cell: ({ targetUrl }) => targetUrl },
      { title: 'Events', cell: (hook) => eventsOf(hook) },
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
  fill(place, heading('Outgoing webhooks', session.may('write')
    ? h('a', { href: href(['outgoing', 'new']), class: 'button primary' }, 'Add a webhook') : null),
  count, table);
  void show();
  return () => rows.close();
}

function eventsOf({ triggerEvent, triggerEvents = [] }: OutgoingWebhook): string {
  return triggerEvent ?? (triggerEvents.join(', ') || 'none: sent by hand');
}

function openNew(place: HTMLElement): () => void {
  void model('OutgoingWebhookBody').then((schema) => {
    const form = recordForm({
      schema, value: {}, action: 'Add the webhook', without: ['identifier'],
      save: async (value) => {
        const { body } = await call<OutgoingWebhook>('POST', '/api/outgoing-webhooks', {
          body: value,
        });
        tell('Added.');
        go(['outgoing', body.identifier]);
      },
    });
    fill(place, h('p', {}, h('a', { href: href(['outgoing']) }, '← Outgoing webhooks')),
      heading('A new outgoing webhook'), form.element, previewPart(form.read));
  }, tellFailure);
  return nothing;
}

function openOne(place: HTMLElement, id: string): () => void {
  const show = async (): Promise<void> => {
    try {
      const { body, headers } = await call<OutgoingWebhook>('GET', pathOf(id));
      render(place, body, headers.get('ETag') ?? '', () => void show());
    } catch (thrown) {
      showFailure(place, thrown, () => void show());
    }
  };
  void show();
  return nothing;
}

function render(place: HTMLElement, hook: OutgoingWebhook, etag: string, again: () => void): void {
  const { identifier, targetUrl, enabled, httpMethod, hasSecret, updatedAt } = hook;
  fill(place, h('p', {}, h('a', { href: href(['outgoing']) }, '← Outgoing webhooks')),
    heading(targetUrl, h('a', {
      href: href(['deliveries'], { hook: identifier }), class: 'button',
    }, 'Its deliveries'), ...session.may('write') ? actions(place, hook, etag, again) : []),
    facts([
      ['State', badge(enabled ? 'enabled' : 'off')], ['Events', eventsOf(hook)],
      ['Method', httpMethod], ['Signed', hasSecret ? 'yes' : 'no'], ['Changed', time(updatedAt)],
      ['Id', h('code', {}, identifier)],
    ]),
    session.may('write') ? sendSection(identifier) : null,
    h('details', {}, h('summary', {}, 'All members'), h('pre', {}, JSON.stringify(hook, null, 2))));
}

/** Sends one now, with a payload as typed, and shows what it was answered. */
function sendSection(identifier: string): HTMLElement {
  const payload = h('textarea', { id: 'payload', rows: 4, class: 'mono', spellcheck: 'false' });
  payload.value = '{}';
  const answer = h('div', { role: 'status' });
  const run = async (): Promise<void> => {
    try {
      const path = `${pathOf(identifier)}/send`;
      const { body } = await call<{ readonly success: boolean }>('POST', path, {
        body: { payload: JSON.parse(payload.value) },
      });
      fill(answer, badge(body.success ? 'delivered' : 'failed'),
        h('pre', {}, JSON.stringify(body, null, 2)));
    } catch (thrown) {
      fill(answer, h('p', { class: 'problem' }, messageOf(thrown)));
    }
  };
  return h('section', {}, h('h2', {}, 'Test'), h('div', { class: 'field' },
    h('label', { for: 'payload' }, 'Payload'), payload),
  h('button', { type: 'button', onclick: () => void run() }, 'Send it now'), answer);
}

function actions(
  place: HTMLElement, hook: OutgoingWebhook, etag: string, again: () => void,
): HTMLElement[] {
  const { identifier, targetUrl, enabled } = hook;
  const edit = async (): Promise<void> => {
    editRecord(place, {
      title: `Edit ${targetUrl}`, path: pathOf(identifier), record: hook, etag, done: again,
      schema: await model('OutgoingWebhookBody'), without: ['identifier'],
    });
  };
  const remove = async (): Promise<void> => {
    const isSure = await confirm({
      title: 'Delete the webhook?', isDestructive: true, action: 'Delete it',
      text: `Nothing will be sent to ${targetUrl} any more; its pending deliveries are cancelled.`,
      command: `hookshelf outgoingwebhook:delete --identifier ${identifier}`,
    });
    if (isSure) await call('DELETE', pathOf(identifier)).then(() => go(['outgoing']), tellFailure);
  };
  const turn = async (): Promise<void> => {
    await call('PATCH', pathOf(identifier), { body: { enabled: !enabled } }).catch(tellFailure);
    again();
  };
  return [
    h('button', { type: 'button', onclick: () => void edit().catch(tellFailure) }, 'Edit'),
    h('button', { type: 'button', onclick: () => void rotateSecret(pathOf(identifier),
      `hookshelf outgoingwebhook:rotate-secret --identifier ${identifier}`, again) },
    'Rotate the secret'),
    h('button', { type: 'button', onclick: () => void turn() }, enabled ? 'Turn off' : 'Turn on'),
    h('button', { type: 'button', class: 'danger', onclick: () => void remove() }, 'Delete'),
  ];
}

function pathOf(id: string): string {
  return `/api/outgoing-webhooks/${encodeURIComponent(id)}`;
}

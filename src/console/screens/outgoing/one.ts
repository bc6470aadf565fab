/** One outgoing webhook: what it sends, a test, its form, rotation. */
import { go, href } from '../../base/address.ts';
import { call, page } from '../../base/api.ts';
import { fill, h } from '../../base/dom.ts';
import { counted, time } from '../../base/format.ts';
import { model } from '../../base/schema.ts';
import { session } from '../../base/session.ts';
import { badge } from '../../parts/badge.ts';
import { confirm } from '../../parts/dialog.ts';
import { backTo, facts, heading } from '../../parts/facts.ts';
import { Actions } from '../../parts/forms/action-chooser.ts';
import { conditionWords } from '../../parts/forms/condition-text.ts';
import { editRecord } from '../../parts/forms/edit.ts';
import { showFailure, tell, tellFailure } from '../../parts/notice.ts';
import { rotateSecret } from '../../parts/rotate.ts';
import { nothing } from '../../parts/screen.ts';
import { eventsText, outgoingAsking } from './form.ts';
import { sampleSection } from './sample.ts';
import type { OutgoingWebhook } from '../../../app/api.ts';

type ShownOutgoing = {
  readonly hook: OutgoingWebhook; readonly path: string; readonly etag: string;
  readonly actions: Actions; readonly again: () => void;
};

export function openOutgoing(place: HTMLElement, id: string): () => void {
  const path = `/api/outgoing-webhooks/${encodeURIComponent(id)}`;
  const show = async (): Promise<void> => {
    try {
      const [{ body: hook, headers }, actions] = await Promise.all([
        call<OutgoingWebhook>('GET', path), Actions.read(),
      ]);
      const etag = headers.get('ETag') ?? '';
      render(place, { hook, path, etag, actions, again: () => void show() });
    } catch (thrown) {
      showFailure(place, thrown, () => void show());
    }
  };
  void show();
  return nothing;
}

function render(place: HTMLElement, shown: ShownOutgoing): void {
  const { hook, path, actions } = shown;
  const { identifier, targetUrl, actionConfiguration, when, previousSecret } = hook;
  fill(place, backTo('outgoing', 'Outgoing webhooks'),
    heading(targetUrl, h('a', {
      href: href(['deliveries'], { hook: identifier }), class: 'button',
    }, 'Its deliveries'), ...session.may('admin') ? buttons(place, shown) : []),
    facts([
      ['State', badge(hook.enabled ? 'enabled' : 'off')], ['Events', eventsText(hook)],
      ['Only when', when === undefined ? null : h('code', {}, conditionWords(when))],
      ['Action', actionConfiguration === undefined ? null : actions.describe(actionConfiguration)],
      ['Method', hook.httpMethod], ['Signed', hook.hasSecret ? 'yes' : 'no'],
      ['Signed with the old secret too until', previousSecret === undefined ? null
        : time(previousSecret.validUntil)],
      ['Changed', time(hook.updatedAt)], ['Id', h('code', {}, identifier)],
    ]),
    sampleSection(() => hook, session.may('write') ? path : null),
    h('details', {}, h('summary', {}, 'All members'), h('pre', {}, JSON.stringify(hook, null, 2))));
}

function buttons(place: HTMLElement, shown: ShownOutgoing): HTMLElement[] {
  const { hook: { identifier, enabled }, path, again } = shown;
  const button = (text: string, work: () => Promise<unknown>, style = ''): HTMLElement =>
    h('button', { type: 'button', class: style, onclick: () => void work().catch(tellFailure) },
      text);
  const turn = async (): Promise<void> => {
    await call('PATCH', path, { body: { enabled: !enabled } });
    tell(enabled ? 'Off: nothing is sent.' : 'On again.');
    again();
  };
  return [
    button('Edit', () => edit(place, shown)),
    button('Rotate the secret', () => rotateSecret(path,
      `hookshelf outgoingwebhook:rotate-secret --identifier ${identifier}`, again)),
    button(enabled ? 'Turn off' : 'Turn on', turn),
    button('Delete', () => remove(shown), 'danger'),
  ];
}

async function edit(
  place: HTMLElement, { hook, path, etag, actions, again }: ShownOutgoing,
): Promise<void> {
  const { triggerEvent, ...rest } = hook;
  const record = triggerEvent === undefined ? rest : { ...rest, triggerEvents: [triggerEvent] };
  editRecord(place, {
    ...outgoingAsking(actions), title: `Edit ${hook.targetUrl}`, path, record, etag, done: again,
    schema: await model('OutgoingWebhookBody'), below: (read) => sampleSection(read),
  });
}

async function remove({ hook: { identifier, targetUrl }, path }: ShownOutgoing): Promise<void> {
  const { total } = await page(`/api/deliveries?hook=${identifier}&status=pending&limit=1`);
  const pending = total === null || total === 0 ? ''
    : ` ${counted(total, 'delivery', 'deliveries')} that still ${total === 1 ? 'waits' : 'wait'} `
      + 'will be cancelled.';
  const isSure = await confirm({
    title: 'Delete the webhook?', isDestructive: true, action: 'Delete it',
    text: `Its secret and its settings will be lost, and nothing is sent to ${targetUrl} any `
      + `more.${pending}`,
    command: `hookshelf outgoingwebhook:delete --identifier ${identifier}`,
  });
  if (!isSure) return;
  await call('DELETE', path);
  go(['outgoing']);
}

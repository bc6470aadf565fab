/** One outgoing webhook: what it sends, a test, its form, rotation. */
import { href } from '../../base/address.ts';
import { call, page } from '../../base/api.ts';
import { fill, h } from '../../base/dom.ts';
import { counted, time } from '../../base/format.ts';
import { model } from '../../base/schema.ts';
import { session } from '../../base/session.ts';
import { confirm } from '../../parts/dialog.ts';
import { backTo, facts, heading } from '../../parts/facts.ts';
import { Actions } from '../../parts/forms/action-chooser.ts';
import { conditionWords } from '../../parts/forms/condition-text.ts';
import { editRecord } from '../../parts/forms/edit.ts';
import { tell } from '../../parts/notice.ts';
import { hookStateInFull, lastFailure } from '../../parts/hook-state.ts';
import { rotateSecret } from '../../parts/rotate.ts';
import { goFrom, openView } from '../../parts/screen.ts';
import { workButton } from '../../parts/work-button.ts';
import { eventsText, outgoingAsking } from './form.ts';
import { sampleSection } from './sample.ts';
import type { OutgoingWebhook } from '../../../app/api-types.ts';

type ShownOutgoing = {
  readonly hook: OutgoingWebhook; readonly path: string; readonly etag: string;
  readonly actions: Actions; readonly again: () => Promise<void>;
};

export function openOutgoing(place: HTMLElement, id: string): () => void {
  const path = `/api/outgoing-webhooks/${encodeURIComponent(id)}`;
  return openView(place, async (again) => {
    const [{ body: hook, headers }, actions] = await Promise.all([
      call<OutgoingWebhook>('GET', path), Actions.read(),
    ]);
    const etag = headers.get('ETag') ?? '';
    render(place, { hook, path, etag, actions, again });
  });
}

function render(place: HTMLElement, shown: ShownOutgoing): void {
  const { hook, path, actions } = shown;
  const { identifier, name, description, targetUrl, actionConfiguration, when } = hook;
  const { previousSecret } = hook;
  fill(place, backTo('outgoing', 'Outgoing webhooks'),
    heading(name ?? targetUrl, h('a', {
      href: href(['deliveries'], { hook: identifier }), class: 'button',
    }, 'Its deliveries'), ...session.may('admin') ? buttons(place, shown) : []),
    description === undefined ? null : h('p', {}, description),
    facts([
      ['State', hookStateInFull(hook)], ['Last failure', lastFailure(hook)],
      ['Last success', time(hook.health.lastSuccessAt, 'none')], ['Events', eventsText(hook)],
      ['Address', name === undefined ? null : targetUrl],
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
  const turn = async (): Promise<void> => {
    if (enabled && !await confirmTurningOff(place, shown)) return;
    await call('PATCH', path, { body: { enabled: !enabled } });
    tell(enabled ? 'Off: nothing is sent.' : 'On again.');
    await again();
  };
  return [
    workButton('Edit', () => edit(place, shown)),
    workButton('Rotate the secret', () => rotateSecret(path,
      `hookshelf outgoingwebhook:rotate-secret --identifier ${identifier}`, again)),
    workButton(enabled ? 'Turn off' : 'Turn on', turn),
    workButton('Delete', () => remove(place, shown), 'danger'),
  ];
}

/** False also for somebody who has gone elsewhere meanwhile. */
async function confirmTurningOff(
  place: HTMLElement, { hook: { identifier, targetUrl } }: ShownOutgoing,
): Promise<boolean> {
  const pending = await countPending(identifier);
  if (!place.isConnected) return false;
  const waiting = pending === 0 ? 'No delivery is pending.'
    : `${counted(pending, 'pending delivery', 'pending deliveries')} will wait.`;
  return confirm({
    title: 'Turn the webhook off?', isDestructive: true, action: 'Turn it off',
    text: `Nothing is sent to ${targetUrl} until it is on again. ${waiting} Events meanwhile make `
      + 'no delivery for it: they are not sent later either.',
    command: `hookshelf outgoingwebhook:disable --identifier ${identifier}`,
  });
}

async function countPending(identifier: string): Promise<number> {
  const { total } = await page(`/api/deliveries?hook=${identifier}&status=pending&limit=1`);
  return total ?? 0;
}

async function edit(
  place: HTMLElement, { hook, path, etag, actions, again }: ShownOutgoing,
): Promise<void> {
  const { triggerEvent, ...rest } = hook;
  const record = triggerEvent === undefined ? rest : { ...rest, triggerEvents: [triggerEvent] };
  editRecord(place, {
    ...outgoingAsking(actions), title: `Edit ${hook.name ?? hook.targetUrl}`,
    path, record, etag, done: again, schema: await model('OutgoingWebhookBody'),
    below: (read) => sampleSection(read),
  });
}

async function remove(
  place: HTMLElement, { hook: { identifier, targetUrl }, path }: ShownOutgoing,
): Promise<void> {
  const pending = await countPending(identifier);
  if (!place.isConnected) return;
  const cancelled = pending === 0 ? ''
    : ` ${counted(pending, 'delivery', 'deliveries')} that still ${
      pending === 1 ? 'waits' : 'wait'} will be cancelled.`;
  const isSure = await confirm({
    title: 'Delete the webhook?', isDestructive: true, action: 'Delete it',
    text: `Its secret and its settings will be lost, and nothing is sent to ${targetUrl} any `
      + `more.${cancelled}`,
    command: `hookshelf outgoingwebhook:delete --identifier ${identifier}`,
  });
  if (!isSure) return;
  await call('DELETE', path);
  goFrom(place, ['outgoing']);
}

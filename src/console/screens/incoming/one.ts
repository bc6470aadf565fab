/** One incoming webhook: what to paste at its sender, a test, what it does, rotation. */
import type { ScreenAddress } from '../../base/address.ts';
import { href } from '../../base/address.ts';
import { BASE, call, get, page } from '../../base/api.ts';
import { fill, h } from '../../base/dom.ts';
import { counted, time } from '../../base/format.ts';
import { labelOfHook } from '../../base/hooks.ts';
import { session } from '../../base/session.ts';
import { badge } from '../../parts/badge.ts';
import { codeBlock } from '../../parts/code.ts';
import { confirm } from '../../parts/dialog.ts';
import { backTo, facts, heading } from '../../parts/facts.ts';
import { Actions } from '../../parts/forms/action-chooser.ts';
import { tell } from '../../parts/notice.ts';
import { hookStateInFull, lastFailure } from '../../parts/hook-state.ts';
import { rotateSecret } from '../../parts/rotate.ts';
import { goFrom, openView } from '../../parts/screen.ts';
import { workButton } from '../../parts/work-button.ts';
import { editAction, editIncoming } from './edit.ts';
import type { ShownHook } from './edit.ts';
import { madeSecrets } from './made-secrets.ts';
import { actionSection } from './match.ts';
import { stepList } from './steps.ts';
import type { IncomingWebhook, IncomingWebhookExamples } from '../../../app/api-types.ts';

const KEEPS = {
  off: 'no request', failed: 'requests whose action failed', all: 'every request',
} as const;
const ANSWERS = { result: 'what the action said', accepted: 'at once, then the action runs' };

export function openIncoming(place: HTMLElement, id: string, { query }: ScreenAddress): () => void {
  const isNew = query.get('step') === 'test';
  const path = `/api/incoming-webhooks/${encodeURIComponent(id)}`;
  return openView(place, async (again) => {
    const [{ body: hook, headers }, examples, actions] = await Promise.all([
      call<IncomingWebhook>('GET', path), get<IncomingWebhookExamples>(`${path}/examples`),
      Actions.read(),
    ]);
    const shown = { hook, path, etag: headers.get('ETag') ?? '', actions, again };
    fill(place, ...isNew ? firstSight(shown, examples) : wholeView(place, shown, examples));
  });
}

function firstSight(shown: ShownHook, examples: IncomingWebhookExamples): HTMLElement[] {
  const { hook } = shown;
  return [
    heading(`Test ${labelOfHook(hook).title}`, h('a', {
      href: href(['incoming', hook.identifier]), class: 'button',
    }, 'Done')),
    stepList(3), setupSection(hook, examples), testSection(shown, examples),
  ];
}

function wholeView(
  place: HTMLElement, shown: ShownHook, examples: IncomingWebhookExamples,
): (HTMLElement | null)[] {
  const { hook, actions } = shown;
  const {
    identifier, name, description, pathSegment, verification, hasSecret, previousSecret,
  } = hook;
  return [
    backTo('incoming', 'Incoming webhooks'),
    heading(name ?? pathSegment, h('a', {
      href: href(['requests'], { hook: pathSegment }), class: 'button',
    }, 'Its requests'), ...session.may('admin') ? buttons(place, shown) : []),
    description === undefined ? null : h('p', {}, description),
    facts([
      ['State', hookStateInFull(hook)], ['Last failure', lastFailure(hook)],
      ['Last success', time(hook.health.lastSuccessAt, 'none')],
      ['Path', name === undefined ? null : pathSegment],
      ['Verified by', verification?.preset ?? (hasSecret ? 'X-Signature' : 'nobody')],
      ['Secret', hasSecret ? 'set' : verification === undefined ? 'none'
        : 'none: every request is refused'],
      ['Old secret counts until', previousSecret === undefined ? null
        : time(previousSecret.validUntil)],
      ['Keeps', KEEPS[hook.inbox]], ['Answers', ANSWERS[hook.answer]],
      ['Changed', time(hook.updatedAt)], ['Id', h('code', {}, identifier)],
    ]),
    setupSection(hook, examples),
    session.may('admin') ? testSection(shown, examples) : null,
    actionSection(hook, actions),
    h('details', {}, h('summary', {}, 'All members'), h('pre', {}, JSON.stringify(hook, null, 2))),
  ];
}

function setupSection(
  { identifier }: IncomingWebhook, { setup, url, curl }: IncomingWebhookExamples,
): HTMLElement {
  const secret = madeSecrets.get(identifier);
  return h('section', {}, h('h2', {}, setup === null ? 'Call it at' : `Set up at ${setup.sender}`),
    setup === null ? null : h('p', {}, `The address, for: ${setup.pasteUrl}.`),
    codeBlock(setup?.url ?? url),
    setup === null ? null : h('p', {}, `The secret, for: ${setup.pasteSecret}.`),
    secret === undefined ? null : h('div', {}, codeBlock(secret),
      h('p', { class: 'hint' }, 'It is shown this once.')),
    setup?.unconfirmed == null ? null : h('p', { class: 'hint' }, setup.unconfirmed),
    curl === null ? null : h('details', {}, h('summary', {}, 'A call to copy'), codeBlock(curl)));
}

type Sample = {
  readonly method: string; readonly path: string; readonly body: string | null;
  readonly headers: Readonly<Record<string, string>>;
};

/** A request signed as the sender would, sent from this browser; what it was answered. */
function testSection({ hook, path }: ShownHook, { setup }: IncomingWebhookExamples): HTMLElement {
  const answer = h('div', { role: 'status' });
  const run = async (): Promise<void> => {
    const { body: sample } = await call<Sample>('POST', `${path}/sample`, { body: {} });
    const response = await fetch(BASE + sample.path, {
      method: sample.method, headers: sample.headers, credentials: 'omit',
      body: sample.body === null ? null
        : Uint8Array.from(atob(sample.body), (letter) => letter.charCodeAt(0)),
    });
    fill(answer, h('p', {}, badge(response.ok ? 'accepted' : 'rejected'),
      ` It was answered ${response.status}. `,
      hook.inbox === 'all' ? h('a', { href: href(['requests'], { hook: hook.pathSegment }) },
        'See it among the requests') : null), h('pre', {}, await response.text()));
  };
  const canSign = setup?.canSign ?? true;
  return h('section', {}, h('h2', {}, 'Test'), h('p', { class: 'hint' }, canSign
    ? 'Sends a request signed as the sender would. The action runs.'
    : 'Only the sender can sign, so have it send a request.'),
  canSign ? workButton('Send a test request', run) : null, answer);
}

function buttons(place: HTMLElement, shown: ShownHook): HTMLElement[] {
  const { hook: { identifier, enabled }, path, again } = shown;
  const turn = async (): Promise<void> => {
    await call('PATCH', path, { body: { enabled: !enabled } });
    tell(enabled ? 'Off: its sender is answered 404.' : 'On again.');
    await again();
  };
  const forget = (): Promise<void> => {
    // It may have another by now.
    madeSecrets.delete(identifier);
    return again();
  };
  return [
    workButton('Edit', () => editIncoming(place, { ...shown, again: forget })),
    workButton('Action and routes', () => editAction(place, shown)),
    workButton('Rotate the secret', () => rotateSecret(path,
      `hookshelf incomingwebhook:rotate-secret --identifier ${identifier}`, forget)),
    workButton(enabled ? 'Turn off' : 'Turn on', turn),
    workButton('Delete', () => remove(place, shown), 'danger'),
  ];
}

async function remove(
  place: HTMLElement, { hook, path }: ShownHook,
): Promise<void> {
  const { identifier } = hook;
  const { total } = await page(`/api/requests?hook=${identifier}&status=pending&limit=1`);
  if (!place.isConnected) return;
  const pending = total === null || total === 0 ? ''
    : ` ${counted(total, 'request')} that still ${total === 1 ? 'waits' : 'wait'} will fail.`;
  const isSure = await confirm({
    title: `Delete ${labelOfHook(hook).title}?`, isDestructive: true, action: 'Delete it',
    text: 'Its secret and its settings will be lost, and its sender will be answered 404.'
      + pending,
    command: `hookshelf incomingwebhook:delete --identifier ${identifier}`,
  });
  if (!isSure) return;
  await call('DELETE', path);
  goFrom(place, ['incoming']);
}

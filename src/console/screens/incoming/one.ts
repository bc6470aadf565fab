/** One incoming webhook: what to paste at its sender, a test, its members, rotation. */
import type { ScreenAddress } from '../../base/address.ts';
import { go, href } from '../../base/address.ts';
import { BASE, call, get } from '../../base/api.ts';
import { fill, h } from '../../base/dom.ts';
import { time } from '../../base/format.ts';
import { model } from '../../base/schema.ts';
import { session } from '../../base/session.ts';
import { badge } from '../../parts/badge.ts';
import { codeBlock } from '../../parts/code.ts';
import { confirm } from '../../parts/dialog.ts';
import { editRecord } from '../../parts/forms/edit.ts';
import { facts, heading } from '../../parts/facts.ts';
import { showFailure, tell, tellFailure } from '../../parts/notice.ts';
import { nothing } from '../../parts/screen.ts';
import { rotateSecret } from '../../parts/rotate.ts';
import { matchView } from './match.ts';
import type { IncomingWebhook, IncomingWebhookExamples } from '../../../app/api.ts';

export function openIncoming(place: HTMLElement, id: string, { query }: ScreenAddress): () => void {
  const show = async (): Promise<void> => {
    try {
      const { body, headers } = await call<IncomingWebhook>('GET', pathOf(id));
      const examples = await get<IncomingWebhookExamples>(`${pathOf(id)}/examples`);
      const etag = headers.get('ETag') ?? '';
      render(place, { hook: body, etag, examples, again: () => void show() });
      if (query.get('step') === 'test') document.querySelector('#test')?.scrollIntoView();
    } catch (thrown) {
      showFailure(place, thrown, () => void show());
    }
  };
  void show();
  return nothing;
}

type Shown = {
  readonly hook: IncomingWebhook; readonly etag: string;
  readonly examples: IncomingWebhookExamples; readonly again: () => void;
};

function render(place: HTMLElement, shown: Shown): void {
  const { hook, examples } = shown;
  const requests = h('a', { href: href(['requests'], { hook: hook.pathSegment }), class: 'button' },
    'Its requests');
  fill(place,
    h('p', {}, h('a', { href: href(['incoming']) }, '← Incoming webhooks')),
    heading(hook.pathSegment, requests, ...session.may('write') ? actions(place, shown) : []),
    facts([
      ['State', badge(hook.enabled ? 'enabled' : 'off')],
      ['Verified by', hook.verification?.preset ?? (hook.hasSecret ? 'X-Signature' : 'nobody')],
      ['Secret', hook.hasSecret ? 'set' : 'none'],
      ['Old secret counts until', hook.previousSecret === undefined ? null
        : time(hook.previousSecret.validUntil)],
      ['Keeps', hook.inbox ?? 'failed'], ['Answers', hook.answer ?? 'result'],
      ['Changed', time(hook.updatedAt)], ['Id', h('code', {}, hook.identifier)],
    ]),
    ...setupOf(examples),
    session.may('write') ? testSection(hook) : null,
    hook.routes === undefined ? null : matchView(hook),
    h('details', {}, h('summary', {}, 'All members'), h('pre', {}, JSON.stringify(hook, null, 2))));
}

function setupOf({ setup, url, curl }: IncomingWebhookExamples): HTMLElement[] {
  return [
    h('section', {}, h('h2', {}, setup === null ? 'Call it at' : `At ${setup.sender}`),
      codeBlock(setup?.url ?? url),
      ...setup === null ? [] : [h('p', {}, setup.pasteUrl), h('p', {}, setup.pasteSecret),
        setup.unconfirmed === null ? h('span') : h('p', { class: 'hint' }, setup.unconfirmed)],
      curl === null ? h('span') : h('details', {}, h('summary', {}, 'A call to copy'),
        codeBlock(curl))),
  ];
}

type Sample = {
  readonly method: string; readonly path: string; readonly body: string | null;
  readonly headers: Readonly<Record<string, string>>;
};

/** A request signed as the sender would, sent from this browser; what it was answered. */
function testSection({ identifier }: IncomingWebhook): HTMLElement {
  const answer = h('div', { role: 'status' });
  const run = async (): Promise<void> => {
    try {
      const path = `${pathOf(identifier)}/sample`;
      const { body: sample } = await call<Sample>('POST', path, { body: {} });
      const response = await fetch(BASE + sample.path, {
        method: sample.method, headers: sample.headers, credentials: 'omit',
        body: sample.body === null ? null
          : Uint8Array.from(atob(sample.body), (letter) => letter.charCodeAt(0)),
      });
      fill(answer, h('p', {}, badge(response.ok ? 'accepted' : 'rejected'),
        ` answered ${response.status}`), h('pre', {}, await response.text()));
    } catch (thrown) {
      tellFailure(thrown);
    }
  };
  return h('section', { id: 'test' }, h('h2', {}, 'Test'),
    h('p', { class: 'hint' }, 'A request signed as the sender would is sent to it, and the action '
      + 'runs.'),
    h('button', { type: 'button', onclick: () => void run() }, 'Send a test request'), answer);
}

function actions(place: HTMLElement, { hook, etag, again }: Shown): HTMLElement[] {
  const { identifier, pathSegment, enabled } = hook;
  const patch = async (body: object, said: string): Promise<void> => {
    await call('PATCH', pathOf(identifier), { body }).then(() => tell(said), tellFailure);
    again();
  };
  const remove = async (): Promise<void> => {
    const isSure = await confirm({
      title: `Delete ${pathSegment}?`, isDestructive: true, action: 'Delete it',
      text: 'Its sender will be answered 404, and what waits for its action will fail.',
      command: `hookshelf incomingwebhook:delete --identifier ${identifier}`,
    });
    if (!isSure) return;
    await call('DELETE', pathOf(identifier)).then(() => go(['incoming']), tellFailure);
  };
  return [
    h('button', { type: 'button', onclick: () => void model('IncomingWebhookBody').then((schema) =>
      editRecord(place, {
        title: `Edit ${pathSegment}`, path: pathOf(identifier), schema, record: hook, etag,
        done: again, without: ['identifier'],
      }), tellFailure) }, 'Edit'),
    h('button', { type: 'button', onclick: () => void rotateSecret(
      pathOf(identifier), `hookshelf incomingwebhook:rotate-secret ${identifier}`, again),
    }, 'Rotate the secret'),
    h('button', { type: 'button', onclick: () => void patch({ enabled: !enabled },
      enabled ? 'Off: its sender is answered 404.' : 'On again.') },
    enabled ? 'Turn off' : 'Turn on'),
    h('button', { type: 'button', class: 'danger', onclick: () => void remove() }, 'Delete'),
  ];
}

function pathOf(id: string): string {
  return `/api/incoming-webhooks/${encodeURIComponent(id)}`;
}

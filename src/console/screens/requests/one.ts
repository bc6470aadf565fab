/** One request: why it was taken or not, what its routes did, what it held. */
import type { ScreenAddress } from '../../base/address.ts';
import { go, href } from '../../base/address.ts';
import { call, get, send } from '../../base/api.ts';
import { fill, h } from '../../base/dom.ts';
import { bytes, duration, exact, time } from '../../base/format.ts';
import { hookName, readHookNames } from '../../base/hooks.ts';
import { session } from '../../base/session.ts';
import { listen } from '../../base/stream.ts';
import { badge } from '../../parts/badge.ts';
import { headerTable } from '../../parts/header-table.ts';
import { bodyView } from '../../parts/body-view.ts';
import { copyButton } from '../../parts/code.ts';
import { confirm } from '../../parts/dialog.ts';
import { facts, heading } from '../../parts/facts.ts';
import { showFailure, tell, tellFailure } from '../../parts/notice.ts';
import { timeline } from '../../parts/timeline.ts';
import { curlOf } from './curl.ts';
import { diagnosisView } from './diagnosis.ts';
import type { RequestRecord, RouteState } from './record.ts';

const BODY_BYTES_SHOWN_MAX = 1 << 20;

export function openRequest(place: HTMLElement, id: string, address: ScreenAddress): () => void {
  const show = async (): Promise<void> => {
    try {
      await readHookNames();
      const request = await get<RequestRecord>(pathOf(id));
      const other = address.query.get('with');
      fill(place, ...render(request, () => void show()));
      if (other !== null) place.append(await comparison(request, other));
    } catch (thrown) {
      showFailure(place, thrown, () => void show());
    }
  };
  void show();
  return listen('requests', '', {
    onEvent({ change, record }) {
      if (record['id'] !== id) return;
      if (change === 'deleted') go(['requests']);
      else void show();
    },
    onGap: () => void show(),
  });
}

function render(request: RequestRecord, again: () => void): (HTMLElement | null)[] {
  const { id, method, path, query, verdict, answered, status } = request;
  return [
    h('p', {}, h('a', { href: href(['requests']) }, '← Requests')),
    heading(`${method} ${path}${query === '' ? '' : `?${query}`}`, ...actions(request, again)),
    facts([
      ['Status', badge(status)], ['Received', time(request.receivedAt)],
      ['Webhook', h('a', { href: href(['incoming', request.hook]) }, hookName(request.hook))],
      ['Event', request.event], ['Event id', request.eventId], ['From', request.client],
      ['Answered', answered === null ? null
        : `${answered.status} after ${duration(answered.afterMs)}`],
      ['Verified', verdict.accepted
        ? verdict.preset === null ? 'nobody vouches for it'
          : `by ${verdict.preset}, with the ${verdict.secret ?? 'current'} secret`
        : `no: ${verdict.failedCheck ?? 'not accepted'}`],
      ['Signed', verdict.signedAt === null ? null : time(verdict.signedAt)],
      ['Duplicate of', requestLink(request.duplicateOf)],
      ['Again after', requestLink(request.replayOf)],
      ['Body', bytes(request.bodyBytes)], ['Id', h('code', {}, id)],
    ]),
    request.routes.length === 0 ? null : h('section', {}, h('h2', {}, 'What was done'),
      ...request.routes.map(renderRoute)),
    diagnosisView(request),
    h('section', {}, h('h2', {}, 'Headers'), headerTable(request.headers)),
    bodySection(request),
  ];
}

function actions(request: RequestRecord, again: () => void): HTMLElement[] {
  const compare = h('button', { type: 'button', onclick: () => {
    const other = prompt('The id of the other request');
    if (other !== null && other !== '') go(['requests', request.id], { with: other.trim() });
  } }, 'Compare…');
  const curl = copyButton(curlOf(request), 'Copy as curl');
  curl.className = '';
  if (!session.may('write')) return [curl, compare];
  const isRejected = request.status === 'rejected';
  const pin = h('button', { type: 'button', 'aria-pressed': String(request.pinned), onclick: () =>
    void act(() => call('PATCH', pathOf(request.id), { body: { pinned: !request.pinned } }), again,
      request.pinned ? 'Not kept for good any more.' : 'Kept until you let it go.') },
  request.pinned ? 'Pinned' : 'Pin');
  const replay = h('button', { type: 'button', class: 'primary', onclick: () =>
    void act(() => call('POST', `${pathOf(request.id)}/replay`, { body: {} }), again,
      'It runs again.') }, 'Send again');
  const remove = h('button', { type: 'button', class: 'danger', onclick: () =>
    void removeRequest(request) }, 'Delete');
  return isRejected ? [replay, curl, compare] : [replay, pin, curl, compare, remove];
}

async function act(work: () => Promise<unknown>, again: () => void, said: string): Promise<void> {
  try {
    await work();
    tell(said);
    again();
  } catch (thrown) {
    tellFailure(thrown);
  }
}

async function removeRequest({ id }: RequestRecord): Promise<void> {
  const isSure = await confirm({
    title: 'Delete the request?', text: 'What came in, and what was done with it, will be gone.',
    action: 'Delete it', isDestructive: true,
    command: `hookshelf request:delete --identifier ${id}`,
  });
  if (isSure) await act(() => call('DELETE', pathOf(id)), () => go(['requests']), 'Deleted.');
}

function renderRoute({ name, status, attempts, nextAttemptAt }: RouteState): HTMLElement {
  return h('div', { class: 'card' },
    h('h3', {}, `${name} `, badge(status)),
    timeline(attempts.map(({ at, durationMs, success, message, data }) => ({
      at, durationMs, isGood: success, text: message ?? (success ? 'done' : 'failed'),
      detail: data === null || JSON.stringify(data) === '{}' ? null : JSON.stringify(data, null, 2),
    })), nextAttemptAt));
}

function bodySection(request: RequestRecord): HTMLElement {
  const section = h('section', {}, h('h2', {}, 'Body'));
  if (request.bodyBytes === 0) section.append(h('p', { class: 'hint' }, 'It had none.'));
  else if (request.bodyBytes <= BODY_BYTES_SHOWN_MAX) void showBody(request, section);
  else section.append(h('button', { type: 'button', onclick: (event) => {
    if (event.target instanceof HTMLElement) event.target.remove();
    void showBody(request, section);
  } }, `Show ${bytes(request.bodyBytes)}`));
  return section;
}

async function showBody(request: RequestRecord, section: HTMLElement): Promise<void> {
  try {
    const response = await send('GET', `${pathOf(request.id)}/body`);
    if (response.ok) section.append(bodyView(new Uint8Array(await response.arrayBuffer())));
    else section.append(h('p', { class: 'hint' }, 'It is not kept.'));
  } catch (thrown) {
    tellFailure(thrown);
  }
}

/** Members and headers in which two requests differ. */
async function comparison(request: RequestRecord, otherId: string): Promise<HTMLElement> {
  const other = await get<RequestRecord>(pathOf(otherId));
  const [left, right] = await Promise.all([request, other].map(comparable));
  const names = [...new Set([...Object.keys(left ?? {}), ...Object.keys(right ?? {})])]
    .filter((name) => left?.[name] !== right?.[name]);
  return h('section', {}, h('h2', {}, 'Compared with ', requestLink(otherId)),
    names.length === 0 ? h('p', {}, 'They are the same.') : h('table', { class: 'plain' },
      h('thead', {}, h('tr', {}, ...['', 'This one', exact(other.receivedAt)].map((title) =>
        h('th', { scope: 'col' }, title)))),
      h('tbody', {}, ...names.map((name) => h('tr', {}, h('th', { scope: 'row' }, name),
        h('td', {}, h('code', {}, left?.[name] ?? '–')),
        h('td', {}, h('code', {}, right?.[name] ?? '–')))))));
}

async function comparable(request: RequestRecord): Promise<Record<string, string>> {
  const flat: Record<string, string> = {
    method: request.method, path: request.path, query: request.query, client: request.client,
    event: request.event ?? '–', status: request.status, bodyBytes: String(request.bodyBytes),
  };
  for (const [name, value] of request.headers) flat[name.toLowerCase()] = value;
  if (request.bodyBytes <= BODY_BYTES_SHOWN_MAX && request.bodyBytes > 0) {
    const text = await (await send('GET', `${pathOf(request.id)}/body`)).text();
    flatten('body', parsed(text), flat);
  }
  return flat;
}

function flatten(name: string, value: unknown, flat: Record<string, string>): void {
  if (typeof value !== 'object' || value === null) {
    flat[name] = typeof value === 'string' ? value : JSON.stringify(value);
    return;
  }
  for (const [member, inner] of Object.entries(value)) flatten(`${name}.${member}`, inner, flat);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function requestLink(id: string | null): HTMLElement | null {
  return id === null ? null : h('a', { href: href(['requests', id]) }, id);
}

function pathOf(id: string): string {
  return `/api/requests/${encodeURIComponent(id)}`;
}

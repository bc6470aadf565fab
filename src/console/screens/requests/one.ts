/** One request: why it was taken or not, what its routes did, what it held. */
import type { ScreenAddress } from '../../base/address.ts';
import { go, href } from '../../base/address.ts';
import { call, messageOf } from '../../base/api.ts';
import { h } from '../../base/dom.ts';
import { bytes, duration, time } from '../../base/format.ts';
import { session } from '../../base/session.ts';
import { badge } from '../../parts/badge.ts';
import { headerTable } from '../../parts/header-table.ts';
import { bodySection } from '../../parts/body-view.ts';
import { copyButton } from '../../parts/code.ts';
import { confirm } from '../../parts/dialog.ts';
import { backTo, facts, heading } from '../../parts/facts.ts';
import { tell } from '../../parts/notice.ts';
import { openRecord } from '../../parts/record.ts';
import { hookLabelOf } from '../../parts/hook-label.ts';
import { goFrom } from '../../parts/screen.ts';
import { timeline } from '../../parts/timeline.ts';
import { workButton } from '../../parts/work-button.ts';
import { chooseOther, comparison } from './compare.ts';
import { curlOf } from './curl.ts';
import { diagnosisView } from './diagnosis.ts';
import { requestPath } from './record.ts';
import type { RequestRecord, RouteState } from './record.ts';
import { askForReplay } from './replay.ts';

export function openRequest(place: HTMLElement, id: string, { query }: ScreenAddress): () => void {
  return openRecord<RequestRecord>(place, {
    topic: 'requests', path: requestPath(id), isIt: (request) => request.id === id,
    renderHead: (request, again) => renderHead(place, request, again),
    async renderRest(request) {
      const other = query.get('with');
      return [
        other === null ? null : await comparison(request, other).catch(notCompared),
        diagnosisView(request),
        h('section', {}, h('h2', {}, 'Headers'), headerTable(request.headers)),
        bodySection(`${requestPath(id)}/body`, request.bodyBytes),
      ];
    },
    versionOf: () => 0,
    onDeleted: () => go(['requests']),
  });
}

/** The other one may be gone by now: this one is there. */
function notCompared(thrown: unknown): HTMLElement {
  return h('p', { class: 'hint' }, `It is compared with nothing: ${messageOf(thrown)}.`);
}

/** What changes while it is looked at. */
function renderHead(
  place: HTMLElement, request: RequestRecord, again: () => void,
): (HTMLElement | null)[] {
  const { id, method, path, query, verdict, answered, status } = request;
  return [
    backTo('requests', 'Requests'),
    heading(`${method} ${path}${query === '' ? '' : `?${query}`}`,
      ...actions(place, request, again)),
    facts([
      ['Status', badge(status)], ['Received', time(request.receivedAt)],
      ['Webhook', h('a', { href: href(['incoming', request.hook]) }, hookLabelOf(request.hook))],
      ['Event', request.event], ['Event id', request.eventId], ['From', request.client],
      ['Answered', answered === null ? null
        : `${answered.status} after ${duration(answered.afterMs)}`],
      ['Verified', verdict.accepted
        ? verdict.preset === null ? 'nobody vouches for it'
          : `by ${verdict.preset}, with the ${verdict.secret ?? 'current'} secret`
        : `no: ${verdict.failedCheck?.replaceAll('_', ' ') ?? 'not accepted'}`],
      ['Signed', verdict.signedAt === null ? null : time(verdict.signedAt)],
      ['Duplicate of', requestLink(request.duplicateOf)],
      ['Again after', requestLink(request.replayOf)],
      ['Body', bytes(request.bodyBytes)], ['Payload', formatUnparsed(request)],
      ['Id', h('code', {}, id)],
    ]),
    request.routes.length === 0 ? null : h('section', {}, h('h2', {}, 'What was done'),
      ...request.routes.map(renderRoute)),
  ];
}

function formatUnparsed({ unparsed, fittingBodyFormat }: RequestRecord): string | null {
  if (unparsed !== true) return null;
  return `none: actions got []. ${fittingBodyFormat === null ? 'No body format fits'
    : `The body format "${fittingBodyFormat}" would fit`}`;
}

function actions(place: HTMLElement, request: RequestRecord, again: () => void): HTMLElement[] {
  const { id, pinned, status } = request;
  const curl = copyButton(() => curlOf(request), 'Copy as curl');
  curl.className = '';
  const seen = [curl, workButton('Compare…', () => chooseOther(place, request))];
  if (!session.may('write')) return seen;
  const replay = workButton('Send again…', () => askForReplay(place, request, (made) => {
    if (made === id) again();
    else goFrom(place, ['requests', made]);
  }), 'primary');
  // Rejected ones are in memory alone.
  if (status === 'rejected') return [replay, ...seen];
  const pin = workButton(pinned ? 'Unpin' : 'Pin', async () => {
    await call('PATCH', requestPath(id), { body: { pinned: !pinned } });
    tell(pinned ? 'It goes when it is old.' : 'It is kept, however old it is.');
    again();
  });
  return [replay, pin, ...seen, workButton('Delete', () => removeRequest(place, id), 'danger')];
}

async function removeRequest(place: HTMLElement, id: string): Promise<void> {
  const isSure = await confirm({
    title: 'Delete the request?', text: 'What came in, and what was done with it, will be gone.',
    action: 'Delete it', isDestructive: true,
    command: `hookshelf request:delete ${id}`,
  });
  if (!isSure) return;
  await call('DELETE', requestPath(id));
  tell('Deleted.');
  goFrom(place, ['requests']);
}

function renderRoute({ name, status, attempts, nextAttemptAt }: RouteState): HTMLElement {
  return h('div', { class: 'card' },
    h('h3', {}, `${name} `, badge(status)),
    timeline(attempts.map(({ at, durationMs, success, message, data }) => ({
      at, durationMs, isGood: success, text: message ?? (success ? 'done' : 'failed'),
      detail: data === null || JSON.stringify(data) === '{}' ? null : JSON.stringify(data, null, 2),
    })), nextAttemptAt));
}

function requestLink(id: string | null): HTMLElement | null {
  return id === null ? null : h('a', { href: href(['requests', id]) }, id);
}

/** The view of one request: its verdict, the runs of its routes, headers and body. */
import { goToScreen, href, type ScreenAddress } from '../../base/screen-address.ts';
import { BASE, callApi, getJson, messageOf } from '../../base/api-calls.ts';
import { h } from '../../base/dom.ts';
import { formatBytes, formatDuration, timeElement } from '../../base/format.ts';
import { callerSession } from '../../base/caller-session.ts';
import { shellQuote } from '../../base/shell-quote.ts';
import { badge } from '../../parts/badge.ts';
import { headerTable } from '../../parts/plain-table.ts';
import { bodySection } from '../../parts/body-view.ts';
import { copyButton } from '../../parts/code-block.ts';
import { confirmAndDelete } from '../../parts/deletion.ts';
import { backLink, factList, heading } from '../../parts/facts.ts';
import { showNotice } from '../../parts/notice.ts';
import { openRecordView } from '../../parts/record-view.ts';
import { resolvedWebhookLabel } from '../../parts/webhook-label.ts';
import { goIfStillHere } from '../../parts/screen.ts';
import { runStep, timeline } from '../../parts/timeline.ts';
import { asyncButton } from '../../parts/async-button.ts';
import { openCompareDialog, compareRequests } from './compare-requests.ts';
import { diagnosisSection } from './diagnosis-view.ts';
import { requestPath } from './request-path.ts';
import type { PublicRequest } from '../../../webhooks/inbox/request-schema.ts';
import { openReplayDialog } from './replay-dialog.ts';

/** Headers that curl sets by itself. */
const OMITTED_HEADERS = ['host', 'content-length', 'connection', 'transfer-encoding', 'expect'];

export function openRequest(
  container: HTMLElement, id: string, { query }: ScreenAddress,
): () => void {
  return openRecordView<PublicRequest>(container, {
    topic: 'requests', fetchRecord: () => getJson(requestPath(id)),
    matches: (request) => request.id === id,
    renderHead: (request, refresh) => renderHead(container, request, refresh),
    async renderBody(request) {
      const other = query.get('with');
      return [
        other === null ? null : await compareRequests(request, other).catch(renderNotCompared),
        diagnosisSection(request),
        h('section', h('h2', 'Headers'), headerTable(request.headers)),
        bodySection(`${requestPath(id)}/body`, request.bodyBytes),
      ];
    },
    getVersion: () => 0,
    onDeleted: () => goToScreen(['requests']),
  });
}

/** The other request may have been deleted; this one is still shown. */
function renderNotCompared(thrown: unknown): HTMLElement {
  return h('p.hint', `It is compared with nothing: ${messageOf(thrown)}.`);
}

/** The part of the view that changes while the user looks at it. */
function renderHead(
  container: HTMLElement, request: PublicRequest, refresh: () => void,
): (HTMLElement | null)[] {
  const { id, method, path, query, verdict, answered, status } = request;
  return [
    backLink('requests', 'Requests'),
    heading(`${method} ${path}${query === '' ? '' : `?${query}`}`,
      ...actions(container, request, refresh)),
    factList([
      ['Status', badge(status)], ['Received', timeElement(request.receivedAt)],
      ['Webhook', h('a', { href: href(['incoming', request.hook]) },
        resolvedWebhookLabel(request.hook))],
      ['Event', request.event], ['Event id', request.eventId], ['From', request.client],
      ['Answered', answered === null ? null
        : `${answered.status} after ${formatDuration(answered.afterMs)}`],
      ['Verified', formatVerdict(verdict)],
      ['Signed', verdict.signedAt === null ? null : timeElement(verdict.signedAt)],
      ['Duplicate of', requestLink(request.duplicateOf)],
      ['Again after', requestLink(request.replayOf)],
      ['Body', formatBytes(request.bodyBytes)], ['Payload', formatUnparsed(request)],
      ['Id', h('code', id)],
    ]),
    request.routes.length === 0 ? null : h('section', h('h2', 'What was done'),
      ...request.routes.map((route, index) => renderRoute(route, `${id}.${index}`))),
  ];
}

function formatVerdict(
  { accepted, failedCheck, preset, secret }: PublicRequest['verdict'],
): string {
  if (!accepted) return `no: ${failedCheck?.replaceAll('_', ' ') ?? 'not accepted'}`;
  return preset === null ? 'nobody vouches for it'
    : `by ${preset}, with the ${secret ?? 'current'} secret`;
}

/** Says that the body gave no payload; null: it gave one. */
function formatUnparsed(
  { unparsed, fittingBodyFormat, unparsedReason }: PublicRequest,
): string | null {
  if (unparsed !== true) return null;
  if (unparsedReason !== undefined) return `none: actions got []. ${unparsedReason}`;
  return `none: actions got []. ${fittingBodyFormat === null ? 'No body format fits'
    : `The body format "${fittingBodyFormat}" would fit`}`;
}

function actions(
  container: HTMLElement, request: PublicRequest, refresh: () => void,
): HTMLElement[] {
  const { id, pinned, status } = request;
  const curl = copyButton(() => fetchCurl(request), 'Copy as curl');
  curl.className = '';
  const compare = asyncButton('Compare…', () => openCompareDialog(container, request));
  const readActions = [curl, compare];
  if (!callerSession.may('write')) return readActions;
  const onReplayed = (replayedId: string): void => {
    if (replayedId === id) refresh();
    else goIfStillHere(container, ['requests', replayedId]);
  };
  const replay = asyncButton('Send again…',
    () => openReplayDialog(container, request, onReplayed), 'primary');
  // Rejected requests are only in memory: they cannot be pinned or deleted.
  if (status === 'rejected') return [replay, ...readActions];
  const pin = asyncButton(pinned ? 'Unpin' : 'Pin', async () => {
    await callApi('PATCH', requestPath(id), { body: { pinned: !pinned } });
    showNotice(pinned ? 'It goes when it is old.' : 'It is kept, however old it is.');
    refresh();
  });
  const remove = asyncButton('Delete', () => removeRequest(container, id), 'danger');
  return [replay, pin, ...readActions, remove];
}

async function removeRequest(container: HTMLElement, id: string): Promise<void> {
  const deletion = { name: 'the request', path: requestPath(id), address: ['requests', id] };
  const isDeleted = await confirmAndDelete(deletion, {
    title: 'Delete the request?', text: 'What came in, and what was done with it, will be gone.',
    command: `hookshelf request:delete ${id}`,
  });
  if (isDeleted) goIfStillHere(container, ['requests']);
}

function renderRoute(
  { name, status, attempts, nextAttemptAt }: PublicRequest['routes'][number], deliveryId: string,
): HTMLElement {
  return h('div.card',
    h('h3', `${name} `, badge(status)),
    timeline(attempts.map(runStep), nextAttemptAt),
    h('p', h('a', { href: href(['deliveries', deliveryId]) }, `Delivery to ${name}`)));
}

function requestLink(id: string | null): HTMLElement | null {
  return id === null ? null : h('a', { href: href(['requests', id]) }, id);
}

/** A curl line that repeats the request; a value that is not stored stands as `***`. */
async function fetchCurl(request: PublicRequest): Promise<string> {
  const { method, path, id, bodyBytes } = request;
  // The scope write also shows the signatures, without which nothing is accepted.
  const { query, headers } = callerSession.may('write')
    ? await getJson<PublicRequest>(`${requestPath(id)}/headers`) : request;
  const url = `${location.origin}${BASE}${path}${query === '' ? '' : `?${query}`}`;
  // Without -g curl would read brackets in the query as a range, and send many requests.
  const lines = [`curl -g -X ${shellQuote(method)} ${shellQuote(url)}`];
  for (const [name, value] of headers) {
    if (OMITTED_HEADERS.includes(name.toLowerCase())) continue;
    lines.push(`-H ${shellQuote(`${name}: ${value}`)}`);
  }
  if (bodyBytes === 0) return lines.join(' \\\n  ');
  const body = `${location.origin}${BASE}/api/requests/${id}/body`;
  return `curl -s ${shellQuote(body)} -H "Authorization: Bearer $HOOKSHELF_API_TOKEN" \\\n  | `
    + [...lines, '--data-binary @-'].join(' \\\n  ');
}

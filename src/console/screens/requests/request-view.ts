/**
 * The view of one request: its verdict, the runs of its routes, a diagnosis, headers and body; its
 * comparison with another request, and sending it again.
 */
import { BASE, callApi, getJson, messageOf, sendRequest } from '../../base/api-calls.ts';
import { callerSession } from '../../base/caller-session.ts';
import { fill, h } from '../../base/dom.ts';
import {
  formatBytes, formatDuration, formatTimestamp, optionalTime, timeElement,
} from '../../base/format.ts';
import { isContainer, parseJsonOrText } from '../../base/json-text.ts';
import {
  apiPath, appendQuery, href, type ScreenAddress,
} from '../../base/screen-address.ts';
import { badge } from '../../parts/badge.ts';
import { bodySection } from '../../parts/body-view.ts';
import { asyncButton } from '../../parts/buttons.ts';
import { copyButton } from '../../parts/code-block.ts';
import { confirmAndDelete } from '../../parts/deletion.ts';
import { openDialog } from '../../parts/dialog.ts';
import { openResendDialog } from '../../parts/lists/bulk-dialog.ts';
import { showFailureNotice, showNotice } from '../../parts/notice.ts';
import { openRecordView } from '../../parts/record-view.ts';
import {
  describeRequest, formatRefusal, requestBadge, routeBadge,
} from '../../parts/request-text.ts';
import { backLink, goIfStillHere, goToList, heading } from '../../parts/screen.ts';
import { factList, headerTable, plainTable } from '../../parts/tables.ts';
import { runStep, timeline } from '../../parts/timeline.ts';
import { resolvedWebhookLabel } from '../../parts/webhook-cells.ts';
import { shellQuote } from '../../../base/text/shell-quote.ts';
import type { PublicRequest } from '../../../webhooks/inbox/request-schema.ts';
import type { Diagnosis } from '../../../webhooks/senders/diagnosis/diagnosis-report.ts';

/** Headers that curl sets by itself. */
const OMITTED_HEADERS = ['host', 'content-length', 'connection', 'transfer-encoding', 'expect'];
const CHOICES_MAX = 50;
/** Longer bodies are compared only by their hash. */
const BODY_BYTES_MAX = 1 << 20;
const VALUE_LENGTH_MAX = 1000;

export function openRequest(
  container: HTMLElement, id: string, { query }: ScreenAddress,
): () => void {
  return openRecordView<PublicRequest>(container, {
    topic: 'requests', fetchRecord: () => getJson(apiPath('requests', id)),
    matches: (request) => request.id === id,
    renderHead: (request, refresh) => renderHead(container, request, refresh),
    async renderBody(request) {
      const other = query.get('with');
      return [
        other === null ? null : await compareRequests(request, other).catch(renderNotCompared),
        diagnosisSection(request),
        h('section', h('h2', 'Headers'), headerTable(request.headers)),
        bodySection(apiPath('requests', id, 'body'), request.bodyBytes),
      ];
    },
    getVersion: () => 0,
    onDeleted: () => goToList(container, 'requests'),
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
  const { id, method, path, query, verdict, answered } = request;
  return [
    backLink('requests', 'Requests'),
    heading(`${method} ${path}${query === '' ? '' : `?${query}`}`,
      ...actions(container, request, refresh)),
    factList([
      ['Status', requestBadge(request)],
      ['Kept', request.status === 'rejected' ? 'in memory: a restart forgets it' : null],
      ['Received', timeElement(request.receivedAt)],
      ['Webhook', h('a', { href: href(['incoming', request.hook]) },
        resolvedWebhookLabel(request.hook, path))],
      ['Event', request.event], ['Event id', request.eventId], ['From', request.client],
      ['Answered', answered === null ? null
        : `${answered.status} after ${formatDuration(answered.afterMs)}`],
      ['Verified', formatVerdict(request)],
      ['Signed', optionalTime(verdict.signedAt)],
      ['Duplicate of', requestLink(request.duplicateOf)],
      ['Again after', requestLink(request.replayOf)],
      ['Body', formatBytes(request.bodyBytes)], ['Payload', formatUnparsed(request)],
      ['Id', h('code', id)],
    ]),
    request.routes.length === 0 ? null : h('section', h('h2', 'What was done'),
      ...request.routes.map((route, index) => renderRoute(route, `${id}.${index}`))),
  ];
}

function formatVerdict(request: PublicRequest): string {
  const refusal = formatRefusal(request);
  if (refusal !== null) return `no: ${refusal}`;
  const { preset, secret } = request.verdict;
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
  const replay = asyncButton('Send again…',
    () => openReplayDialog(container, request, refresh), 'primary');
  // Rejected requests are only in memory: they cannot be pinned or deleted.
  if (status === 'rejected') return [replay, ...readActions];
  const pin = asyncButton(pinned ? 'Unpin' : 'Pin', async () => {
    await callApi('PATCH', apiPath('requests', id), { body: { pinned: !pinned } });
    showNotice(pinned ? 'It goes when it is old.' : 'It is kept, however old it is.');
    refresh();
  });
  const remove = asyncButton('Delete', () => confirmAndDelete(container, {
    name: 'the request', path: apiPath('requests', id), address: ['requests', id],
  }, {
    title: 'Delete the request?', text: 'What came in, and what was done with it, will be gone.',
    command: `hookshelf request:delete ${id}`,
  }), 'danger');
  return [replay, pin, ...readActions, remove];
}

/** Asks through which routes, and in which mode, the request is sent again. */
async function openReplayDialog(
  container: HTMLElement, request: PublicRequest, refresh: () => void,
): Promise<void> {
  const { id, hook, routes } = request;
  const refusal = formatRefusal(request);
  const names = new Set(routes.map(({ name }) => name));
  const webhook = await getJson<{ readonly routes?: readonly { readonly name: string }[] }>(
    apiPath('incoming-webhooks', hook));
  if (!container.isConnected) return;
  for (const { name } of webhook.routes ?? [{ name: 'default' }]) names.add(name);
  const chosenRoutes = new Set<string>();
  openResendDialog({
    title: 'Send it again?', isCopied: refusal !== null,
    intro: refusal === null ? null : h('p', `It was refused: ${refusal}. Sent again, it becomes a `
      + 'new request whose action runs without that check. Do so only if you know who sent it.'),
    createChoices: (onChange) => names.size < 2 ? null : h('fieldset', h('legend', 'Routes'),
      ...[...names].map((name) => h('label.choice', h('input', {
        type: 'checkbox', onchange: () => {
          if (!chosenRoutes.delete(name)) chosenRoutes.add(name);
          onChange();
        },
      }), name)),
      h('p.hint', 'Without a choice: those that failed, or else all that match.')),
    formatLine: (mode) => `hookshelf request:replay ${id} --as ${mode}${
      chosenRoutes.size > 0 ? ` --routes ${[...chosenRoutes].join(',')}` : ''}`,
    send: async (mode) => {
      const { body } = await callApi<PublicRequest>('POST', apiPath('requests', id, 'replay'), {
        body: { as: mode, ...chosenRoutes.size > 0 ? { routes: [...chosenRoutes] } : {} },
      });
      showNotice(body.id === id ? 'It runs again.' : 'It runs again, as a new request.');
      if (body.id === id) refresh();
      else goIfStillHere(container, ['requests', body.id]);
    },
  });
}

function renderRoute(
  route: PublicRequest['routes'][number], deliveryId: string,
): HTMLElement {
  const { name, attempts, nextAttemptAt } = route;
  return h('div.card',
    h('h3', `${name} `, routeBadge(route)),
    timeline(attempts.map(runStep), nextAttemptAt),
    h('p', h('a', { href: href(['deliveries', deliveryId]) }, `The delivery of route ${name}`)));
}

/**
 * Shows the checks one after another, against the webhook as it is now: of a rejected or filtered
 * request at once, of any other when the user asks.
 */
function diagnosisSection(request: PublicRequest): HTMLElement | null {
  if (!callerSession.may('write')) return null;
  const container = h('div', { role: 'status' });
  const run = async (): Promise<void> => {
    try {
      const path = apiPath('incoming-webhooks', request.hook, 'diagnose');
      const { body } = await callApi<Diagnosis>('POST', path, { body: { request: request.id } });
      fill(container, renderDiagnosis(body, request.hook));
    } catch (thrown) {
      showFailureNotice(thrown);
    }
  };
  if (['rejected', 'filtered'].includes(request.status)) void run();
  return h('section', h('h2', 'Diagnosis'),
    h('button', { onclick: () => void run() }, 'Check it against the webhook as it is now'),
    container);
}

/** What to do about a failed check. The webhook's form has the fields in quotes. */
const REMEDIES: Partial<Record<NonNullable<Diagnosis['failedCheck']>, string>> = {
  configuration: 'The webhook takes no such request as it is: add to it what is missing.',
  secret: 'Give the webhook its secret anew, as the sender has it.',
  address: 'If you know who calls from there, add the address to “Allowed addresses”.',
  handshake: 'Have the sender ask again, and check that “Sender” is the one who asks.',
  signature_missing: 'If “Sender” is right, have it sign with the secret of the webhook; else '
    + 'choose the one who sends.',
  signature_form: 'Choose as “Sender” the one who sends: this one signs otherwise.',
  parts: 'Choose as “Sender” the one who sends. If it is, a proxy on the way may have taken a '
    + 'header away.',
  mismatch: 'Give the webhook the secret that the sender has. If it is the same, something on the '
    + 'way has changed the body.',
  stale: 'Set the clocks of both computers. A sender that takes long needs a greater “Clock '
    + 'difference”.',
};

function renderDiagnosis(diagnosis: Diagnosis, hook: string): HTMLElement {
  const remedy = findRemedy(diagnosis);
  return h('div.card',
    h('p', h('strong', formatOutcome(diagnosis))),
    remedy === undefined ? null : h('p', remedy, ' ', callerSession.may('admin')
      ? h('a', { href: href(['incoming', hook, 'edit']) }, 'Edit the webhook')
      : h('a', { href: href(['incoming', hook]) }, 'See the webhook')),
    h('ol.log', {}, ...diagnosis.checks.map(({ check, status, finding }) =>
      h('li', badge(status), h('span.message', formatCheck(check)),
        ` ${finding}`))));
}

/** undefined: nothing failed, or no change of the webhook helps. */
function findRemedy(diagnosis: Diagnosis): string | undefined {
  const { failedCheck } = diagnosis;
  if (failedCheck === null) return undefined;
  return findNearMiss(diagnosis) === undefined ? REMEDIES[failedCheck]
    : 'Change what that names, here, at the sender or on the way.';
}

/** The check that a signature is there has the name of its failure. */
function formatCheck(check: string): string {
  return check === 'signature_missing' ? 'signature' : check.replaceAll('_', ' ');
}

function formatOutcome(diagnosis: Diagnosis): string {
  const { accepted, failedCheck, checks } = diagnosis;
  if (accepted) {
    const filtered = checks.find(({ check, status }) => check === 'routes' && status === 'hint');
    return `It would be accepted${filtered === undefined ? '' : `, but ${filtered.finding}`}.`;
  }
  const nearMiss = findNearMiss(diagnosis);
  if (nearMiss !== undefined) return `It would be refused, but ${nearMiss.finding}.`;
  const why = checks.find(({ status }) => status === 'failed')?.finding ?? 'not accepted';
  // A duplicate is answered 200, as its sender has done all that it should.
  return failedCheck === 'duplicate' ? `It would not run: ${why}.` : `It would be refused: ${why}.`;
}

/** The usual mistake that explains a signature which does not match; undefined: none is found. */
function findNearMiss({ failedCheck, checks }: Diagnosis): Diagnosis['checks'][number] | undefined {
  // Another fault would stay when the mistake is mended.
  return failedCheck === 'configuration' || failedCheck === 'address' ? undefined
    : checks.find(({ check, status }) => check === 'near_miss' && status === 'hint');
}

function requestLink(id: string | null): HTMLElement | null {
  return id === null ? null : h('a', { href: href(['requests', id]) }, id);
}

/** A curl line that repeats the request; a value that is not stored stands as `***`. */
async function fetchCurl(request: PublicRequest): Promise<string> {
  const { method, path, id, bodyBytes } = request;
  // The scope write also shows the signatures, without which nothing is accepted.
  const { query, headers } = callerSession.may('write')
    ? await getJson<PublicRequest>(apiPath('requests', id, 'headers')) : request;
  const url = `${location.origin}${BASE}${path}${query === '' ? '' : `?${query}`}`;
  // Without -g curl would read brackets in the query as a range, and send many requests.
  const lines = [`curl -g -X ${shellQuote(method)} ${shellQuote(url)}`];
  for (const [name, value] of headers) {
    if (OMITTED_HEADERS.includes(name.toLowerCase())) continue;
    lines.push(`-H ${shellQuote(`${name}: ${value}`)}`);
  }
  if (bodyBytes === 0) return lines.join(' \\\n  ');
  const body = `${location.origin}${BASE}${apiPath('requests', id, 'body')}`;
  return `curl -s ${shellQuote(body)} -H "Authorization: Bearer $HOOKSHELF_API_TOKEN" \\\n  | `
    + [...lines, '--data-binary @-'].join(' \\\n  ');
}

/** Offers the latest requests of the same webhook. */
async function openCompareDialog(
  container: HTMLElement, { id, hook }: PublicRequest,
): Promise<void> {
  const latest = await getJson<readonly PublicRequest[]>(
    appendQuery('/api/requests', { hook, limit: String(CHOICES_MAX + 1) }));
  if (!container.isConnected) return;
  const others = latest.filter((request) => request.id !== id);
  const dialog = openDialog('Compare with which request?', [
    others.length === 0 ? h('p', 'No other request of this webhook is kept.')
      : h('ul.log', {}, ...others.map((other) => h('li',
        h('a', {
          href: href(['requests', id], { with: other.id }), onclick: () => dialog.close(),
        }, formatTimestamp(other.receivedAt)),
        ' ', badge(other.status), ` ${Object.values(describeRequest(other)).join(' ')}`,
        ` ${other.eventId ?? ''}`))),
  ], { close: 'Cancel' });
}

/** A table of the members, headers and members of the body that differ. */
async function compareRequests(
  request: PublicRequest, otherId: string,
): Promise<HTMLElement> {
  const other = await getJson<PublicRequest>(apiPath('requests', otherId));
  const [left = {}, right = {}] = await Promise.all([request, other].map(flattenRequest));
  const names = [...new Set([...Object.keys(left), ...Object.keys(right)])]
    .filter((name) => left[name] !== right[name]);
  const rows = names.map((name) => [name, ...[left, right].map((one) =>
    h('code', one[name]?.slice(0, VALUE_LENGTH_MAX) ?? '–'))]);
  return h('section',
    h('h2', 'Compared with ', h('a', { href: href(['requests', otherId]) },
      'the one of ', timeElement(other.receivedAt))),
    names.length === 0 ? h('p', 'They are the same.')
      : plainTable(['', 'This one', 'The other'], rows));
}

async function flattenRequest(request: PublicRequest): Promise<Record<string, string>> {
  const { method, path, query, client, status, bodySha256, verdict } = request;
  const flat: Record<string, string> = {
    method, path, query, client, status, bodySha256, event: request.event ?? '–',
    'failed check': verdict.failedCheck ?? '–',
  };
  for (const [name, value] of request.headers) flat[name.toLowerCase()] = value;
  if (request.bodyBytes <= BODY_BYTES_MAX && request.bodyBytes > 0) {
    const text = await (await sendRequest('GET', apiPath('requests', request.id, 'body'))).text();
    flattenValue('body', parseJsonOrText(text), flat);
  }
  return flat;
}

function flattenValue(name: string, value: unknown, flat: Record<string, string>): void {
  if (!isContainer(value)) flat[name] = String(value);
  else {
    for (const [member, inner] of Object.entries(value)) {
      flattenValue(`${name}.${member}`, inner, flat);
    }
  }
}

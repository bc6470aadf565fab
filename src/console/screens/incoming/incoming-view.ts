/** The view of one incoming webhook: what to paste at its sender, a test, its action, buttons. */
import { BASE, callApi, getJson } from '../../base/api-calls.ts';
import { callerSession } from '../../base/caller-session.ts';
import { refreshOnChanges } from '../../base/change-stream.ts';
import { fill, h, refill, type Child } from '../../base/dom.ts';
import { optionalTime, timeElement } from '../../base/format.ts';
import { encodeJson } from '../../base/json-text.ts';
import { loadModel, type ModelSchema } from '../../base/model-schema.ts';
import { apiPath, appendQuery, href, type ScreenAddress } from '../../base/screen-address.ts';
import { createWebhookLabel } from '../../base/webhook-labels.ts';
import { badge } from '../../parts/badge.ts';
import { asyncButton } from '../../parts/buttons.ts';
import { requestsChart, runsChart } from '../../parts/chart.ts';
import { codeBlock } from '../../parts/code-block.ts';
import { deleteWebhook } from '../../parts/deletion.ts';
import { ActionCatalog } from '../../parts/forms/action-fields.ts';
import { showNotice } from '../../parts/notice.ts';
import { describeRequest, formatAnswer, requestStatus } from '../../parts/request-text.ts';
import { rotateButton, showNewSecret } from '../../parts/rotate-secret.ts';
import { backLink, heading, linkButton, openView, repeatWhileSeen } from '../../parts/screen.ts';
import { factList, stackedTable } from '../../parts/tables.ts';
import { detailedWebhookState, lastFailure } from '../../parts/webhook-cells.ts';
import type { IncomingWebhook, IncomingWebhookExamples } from '../../../app/api-types.ts';
import type { SampleCall } from '../../../webhooks/diagnostics/diagnostic-schema.ts';
import type { StatisticsReport } from '../../../monitoring/monitoring-schema.ts';
import type { PublicRequest } from '../../../webhooks/inbox/request-schema.ts';
import type { PresetDescription } from '../../../webhooks/senders/presets/preset-schema.ts';
import { INCOMING_MODEL, actionSection } from './incoming-forms.ts';
import { secretForm, stepList } from './new-incoming.ts';

const INBOX_TEXTS = {
  off: 'no request', failed: 'requests whose action failed', all: 'every request',
} as const;
/** An address that nobody but this computer reaches. */
const LOOPBACK = /^https?:\/\/(localhost|127\.|\[::1\])/;
const LAST_REQUESTS = 10;
/** Of the statistics of 24 hours. */
const INTERVAL_MINUTES = 15;
const REQUEST_ID = 'x-request-id';
const ANSWER_TEXTS = { result: 'what the action said', accepted: 'at once, then the action runs' };

type IncomingTraffic = {
  /** Its last requests, the newest first. */
  readonly latest: readonly PublicRequest[];
  /** Of all webhooks, in the last 24 hours. */
  readonly statistics: StatisticsReport;
};

type IncomingView = {
  readonly webhook: IncomingWebhook; readonly path: string;
  readonly actions: ActionCatalog;
  readonly model: ModelSchema;
  /** The sender who alone can make the secret; null: one is made here. */
  readonly secretMaker: string | null;
  readonly traffic: IncomingTraffic;
  /** Fetches and shows the webhook again. */
  readonly refresh: () => Promise<void>;
};

export function openIncoming(
  container: HTMLElement, id: string, { query }: ScreenAddress,
): () => void {
  const isNew = query.get('step') === 'test';
  const path = apiPath('incoming-webhooks', id);
  const facts = h('div');
  const actionButtons = h('div.actions');
  let view: IncomingView | null = null;
  const showFacts = (next: IncomingView): void => {
    view = next;
    refill(facts, renderFacts(next), ...renderTraffic(next));
    if (callerSession.may('admin')) refill(actionButtons, ...buttons(container, next));
  };
  const readFacts = async (): Promise<void> => {
    // The test step has no facts.
    if (view === null || !facts.isConnected) return;
    const [webhook, traffic] = await Promise.all([
      getJson<IncomingWebhook>(path), fetchTraffic(id),
    ]);
    showFacts({ ...view, webhook, traffic });
  };
  // No notice every ten seconds, as of a webhook that somebody has deleted meanwhile.
  const refreshFacts = (): void => void readFacts().catch(() => {});
  const stops = [
    repeatWhileSeen(refreshFacts), refreshOnChanges('requests', id, refreshFacts),
  ];
  const close = openView(container, async (refresh) => {
    const [webhook, examples, actions, model, presets, traffic] = await Promise.all([
      getJson<IncomingWebhook>(path), getJson<IncomingWebhookExamples>(`${path}/examples`),
      ActionCatalog.load(), loadModel(INCOMING_MODEL),
      getJson<readonly PresetDescription[]>('/api/verification-presets'), fetchTraffic(id),
    ]);
    const secretMaker = findSecretMaker(webhook, presets);
    view = { webhook, path, actions, model, secretMaker, traffic, refresh };
    const test = testSection(view, examples, readFacts);
    if (!isNew) showFacts(view);
    const content = isNew ? renderTestStep(view, examples, test)
      : renderView(view, examples, facts, actionButtons, test);
    fill(container, ...content);
  });
  return () => {
    stops.forEach((stop) => stop());
    close();
  };
}

/** A scheme of one's own has the keys that it says. */
function findSecretMaker(
  { verification }: IncomingWebhook, presets: readonly PresetDescription[],
): string | null {
  const preset = verification?.scheme !== undefined ? undefined
    : presets.find(({ name }) => name === verification?.preset);
  return preset?.secretFrom === 'sender' ? preset.sender : null;
}

function renderTestStep(
  view: IncomingView, examples: IncomingWebhookExamples, test: HTMLElement,
): HTMLElement[] {
  const { webhook } = view;
  return [
    heading(`Test ${createWebhookLabel(webhook).title}`,
      linkButton('Done', ['incoming', webhook.identifier])),
    stepList(3), setupSection(view, examples, webhook.hasSecret
      ? [view.secretMaker === null ? rotateButton('incoming', webhook, view.refresh)
        : linkButton('Change the secret', ['incoming', webhook.identifier, 'edit'])] : []),
    test, h('p.hint', `It keeps ${INBOX_TEXTS[webhook.inbox]}; those that are rejected stand `,
      'among the requests until the server restarts. “Edit” changes what it keeps.'),
  ];
}

function renderView(
  view: IncomingView, examples: IncomingWebhookExamples, facts: HTMLElement,
  actionButtons: HTMLElement, test: HTMLElement,
): (HTMLElement | null)[] {
  const { webhook, actions } = view;
  const { name, description, pathSegment } = webhook;
  return [
    backLink('incoming', 'Incoming webhooks'),
    heading(name ?? pathSegment,
      linkButton('Its requests', ['requests'], { query: { hook: pathSegment } }), actionButtons),
    description === undefined ? null : h('p', description),
    facts,
    setupSection(view, examples, []),
    callerSession.may('admin') ? test : null,
    actionSection(webhook, actions),
    h('details', h('summary', 'All members'),
      h('pre', encodeJson(webhook, 2))),
  ];
}

function renderFacts({ webhook, actions }: IncomingView): HTMLElement {
  const { identifier, name, pathSegment, verification, hasSecret, previousSecret } = webhook;
  const { actionConfiguration = '', routes = [{ actionConfiguration }] } = webhook;
  const noSecretText = verification === undefined ? 'none' : 'none: every request is refused';
  return factList([
    ['State', detailedWebhookState(webhook)], ['Last failure', lastFailure(webhook)],
    ['Cannot run', actions.createMissingLinks(routes.map((route) => route.actionConfiguration))],
    ['Last success', timeElement(webhook.health.lastSuccessAt, 'none')],
    ['Path', name === undefined ? null : pathSegment],
    ['Verified by', verification?.preset ?? (hasSecret ? 'X-Signature' : 'nobody')],
    ['Secret', hasSecret ? 'set' : noSecretText],
    ['Takes the secret of a handshake until', optionalTime(webhook.secretAwaitedUntil)],
    ['Old secret counts until', optionalTime(previousSecret?.validUntil)],
    ['Keeps', INBOX_TEXTS[webhook.inbox]], ['Answers', ANSWER_TEXTS[webhook.answer]],
    ['Answers of its own', formatResponses(webhook.response)],
    ['Changed', timeElement(webhook.updatedAt)], ['Id', h('code', identifier)],
  ]);
}

async function fetchTraffic(identifier: string): Promise<IncomingTraffic> {
  const [latest, statistics] = await Promise.all([
    getJson<readonly PublicRequest[]>(
      appendQuery('/api/requests', { hook: identifier, limit: String(LAST_REQUESTS) })),
    getJson<StatisticsReport>('/api/statistics?window=24h'),
  ]);
  return { latest, statistics };
}

function renderTraffic({ webhook, traffic: { latest, statistics } }: IncomingView): HTMLElement[] {
  const { since, times } = statistics;
  return [
    h('section', h('h2', ...since > (times[0] ?? since)
      ? ['Since the server started, ', timeElement(since)] : ['In the last 24 hours']),
    ...renderCharts(webhook, statistics)),
    h('section', h('h2', 'Its last requests'), latest.length === 0
      ? h('p.hint', `None is there. It keeps ${INBOX_TEXTS[webhook.inbox]}.`)
      : stackedTable(['Received', 'What', 'Status', 'Answered'], latest.map((request) => {
        const { name, body } = describeRequest(request);
        return [
          h('a', { href: href(['requests', request.id]) }, timeElement(request.receivedAt)),
          h('span', name, ' ', h('span.place', body)), requestStatus(request),
          formatAnswer(request),
        ];
      }))),
  ];
}

function renderCharts(
  { identifier, pathSegment }: IncomingWebhook, { hooks, times }: StatisticsReport,
): HTMLElement[] {
  const counts = hooks.find(({ hook }) => hook === identifier);
  if (counts === undefined) return [h('p', 'No request came.')];
  const bars = { times, minutesEach: INTERVAL_MINUTES };
  const query = { hook: pathSegment };
  return [
    h('div.charts', requestsChart(bars, counts.requests, query),
      runsChart(bars, counts.runs.succeeded, counts.runs.failed, query)),
  ];
}

function formatResponses(responses: IncomingWebhook['response']): string | null {
  return responses === undefined ? null : Object.entries(responses)
    .map(([outcome, { status }]) => `${outcome} ${status}`).join(', ') || 'our JSON';
}

/** `secretButtons` stand by a secret that cannot be shown. */
function setupSection(
  view: IncomingView, { setup, url, curl }: IncomingWebhookExamples,
  secretButtons: readonly HTMLElement[],
): HTMLElement {
  const secret = showNewSecret(view.webhook.identifier);
  const address = setup?.url ?? url;
  return h('section', h('h2', setup === null ? 'Call it at' : `Set up at ${setup.sender}`),
    setup === null ? null : h('p', `The address, at ${setup.sender}: ${setup.pasteUrl}.`),
    codeBlock(address),
    LOOPBACK.test(address) ? h('p.hint', 'Only this computer can reach that address. For a sender '
      + 'elsewhere, set server.baseUri to the address by which others reach this service.') : null,
    setup === null ? null : h('p', `The secret, at ${setup.sender}: ${setup.pasteSecret}.`),
    secret ?? (setup !== null && h('div.record', {}, ...describeSecret(view),
      callerSession.may('admin') && h('div.actions', {}, ...secretButtons))),
    setup?.unconfirmed == null ? null
      : h('p.hint', `Not confirmed by ${setup.sender}: ${setup.unconfirmed}.`),
    curl === null ? null : h('details', h('summary', 'A call to copy'), codeBlock(curl)));
}

function describeSecret(
  { webhook: { hasSecret }, model, path, secretMaker, refresh }: IncomingView,
): Child[] {
  if (hasSecret) {
    return [h('p.hint', secretMaker === null
      ? 'It is set, and cannot be read again: one that is made here is shown once. If you have '
        + 'lost it, rotate the secret.'
      : `It is set, and cannot be read again. Only ${secretMaker} makes another.`)];
  }
  return [h('p.hint', 'It has none yet, and every request is refused.'),
    callerSession.may('admin') && secretForm(model, path, refresh)];
}

/**
 * Sends a request from this browser, signed as the sender would, and shows the response. `onSent`
 * is called afterwards.
 */
function testSection(
  { webhook, path }: IncomingView, { setup }: IncomingWebhookExamples,
  onSent: () => Promise<void>,
): HTMLElement {
  const result = h('div', { role: 'status' });
  const run = async (): Promise<void> => {
    const { body: sample } = await callApi<SampleCall>('POST', `${path}/sample`, { body: {} });
    // The kept request is found by this header.
    const requestId = `console-${Date.now()}`;
    const response = await fetch(BASE + sample.path, {
      method: sample.method, headers: { ...sample.headers, [REQUEST_ID]: requestId },
      credentials: 'omit',
      body: sample.body === null ? null
        : Uint8Array.from(atob(sample.body), (letter) => letter.charCodeAt(0)),
    });
    const answer = await response.text();
    const listed = await findRequest(webhook, requestId);
    fill(result, h('p', badge(response.ok ? 'accepted' : 'error'),
      ` It was answered ${response.status}. `, listed === undefined
        ? webhook.inbox !== 'all' && `It is not kept: the webhook keeps ${
          INBOX_TEXTS[webhook.inbox]}.`
        : h('a', { href: href(['requests', listed.id]) }, 'See this request')), h('pre', answer));
    await onSent();
  };
  const canSign = setup?.canSign ?? true;
  const manner = webhook.hasSecret ? 'signed as the sender would' : 'without a signature';
  return h('section', h('h2', 'Test'), h('p.hint', canSign
    ? `Sends a request ${manner}. The action runs.`
    : 'Only the sender can sign, so have it send a request.'),
  canSign ? asyncButton('Send a test request', run) : null, result);
}

/** undefined: the webhook does not keep such requests. */
async function findRequest(
  { identifier }: IncomingWebhook, requestId: string,
): Promise<PublicRequest | undefined> {
  const requests = await getJson<readonly PublicRequest[]>(
    appendQuery('/api/requests', { hook: identifier, limit: '20' }));
  return requests.find(({ headers }) => headers.some(([name, value]) =>
    name.toLowerCase() === REQUEST_ID && value === requestId));
}

function buttons(container: HTMLElement, view: IncomingView): HTMLElement[] {
  const { webhook, path, secretMaker, refresh } = view;
  const { identifier, enabled } = webhook;
  const toggleEnabled = async (): Promise<void> => {
    await callApi('PATCH', path, { body: { enabled: !enabled } });
    showNotice(enabled ? 'Off: its sender is answered 404.' : 'On again.');
    await refresh();
  };
  return [
    linkButton('Edit', ['incoming', identifier, 'edit']),
    linkButton('Action and routes', ['incoming', identifier, 'routes']),
    ...secretMaker === null ? [rotateButton('incoming', webhook, refresh)] : [],
    asyncButton(enabled ? 'Turn off' : 'Turn on', toggleEnabled),
    asyncButton('Delete', () => deleteWebhook(container, 'incoming', identifier,
      createWebhookLabel(webhook).title, 'its sender will be answered 404'), 'danger'),
  ];
}

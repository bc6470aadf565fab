/** The view of one outgoing webhook: its members, a test, buttons. */
import { callApi, countItems, getJson } from '../../base/api-calls.ts';
import { callerSession } from '../../base/caller-session.ts';
import { fill, h, refill, type Child } from '../../base/dom.ts';
import type { RecordMembers } from '../../base/dotted-members.ts';
import { formatQuantity, optionalTime, timeElement } from '../../base/format.ts';
import { encodeJson } from '../../base/json-text.ts';
import { loadModel, pickMembers } from '../../base/model-schema.ts';
import { apiPath } from '../../base/screen-address.ts';
import { createWebhookLabel } from '../../base/webhook-labels.ts';
import {
  addBackfill, chooseBacklog, openBackfillDialog, watchBackfill,
} from '../../parts/backfill.ts';
import { ChoiceButtons, asyncButton } from '../../parts/buttons.ts';
import { codeBlock } from '../../parts/code-block.ts';
import { deleteWebhook } from '../../parts/deletion.ts';
import { askToConfirm, formatCommand } from '../../parts/dialog.ts';
import { ActionCatalog } from '../../parts/forms/action-fields.ts';
import { formatCondition } from '../../parts/forms/condition-text.ts';
import { openEditor } from '../../parts/forms/edit-record.ts';
import { JobWatch } from '../../parts/lists/job-watch.ts';
import { showNotice } from '../../parts/notice.ts';
import { forgetNewSecret, rotateButton, showNewSecret } from '../../parts/rotate-secret.ts';
import { backLink, heading, linkButton, openForm, openView } from '../../parts/screen.ts';
import { factList } from '../../parts/tables.ts';
import {
  detailedWebhookState, isOffUnseen, lastFailure,
} from '../../parts/webhook-cells.ts';
import type { OutgoingWebhook } from '../../../app/api-types.ts';
import type { OutgoingWebhookExamples } from '../../../webhooks/diagnostics/diagnostic-schema.ts';
import { formatSigning, formatTriggerEvents, loadOutgoingFields } from './outgoing-forms.ts';
import { watchTraffic } from './outgoing-traffic.ts';
import { sampleSection } from './sample-section.ts';

/** The members that a customer may change: none that decides which events he hears. */
const CUSTOMER_MEMBERS = ['targetUrl', 'description', 'headers', 'rate', 'maxInFlight'];

/** The languages, as the API and people call them. */
const LANGUAGES = [['node', 'Node.js'], ['php', 'PHP'], ['python', 'Python']] as const;
type LanguageName = typeof LANGUAGES[number][0];

type OutgoingView = {
  readonly webhook: OutgoingWebhook; readonly path: string;
  /** null: the user is a customer, who sees none. */
  readonly actions: ActionCatalog | null; readonly refresh: () => Promise<void>;
  readonly backfill: JobWatch;
  readonly retry: JobWatch;
  /** What it has sent lately, and what is known of it: kept current apart from the rest. */
  readonly traffic: HTMLElement;
  readonly facts: HTMLElement;
  readonly actionButtons: HTMLElement;
  readonly examples: OutgoingWebhookExamples;
  readonly isOnlyOne: boolean;
};

/** A customer may have one webhook alone, so that there is no list to go back to. */
export function openOutgoing(
  container: HTMLElement, id: string, { isOnlyOne = false } = {},
): () => void {
  const path = apiPath('outgoing-webhooks', id);
  const facts = h('div');
  const actionButtons = h('div.actions');
  let view: OutgoingView | null = null;
  const showFacts = (next: OutgoingView): void => {
    view = next;
    refill(facts, renderFacts(next.webhook, next.actions));
    refill(actionButtons, ...buttons(container, next));
  };
  const traffic = watchTraffic(id, (webhook) => {
    if (view !== null) showFacts({ ...view, webhook });
  });
  const backfill = watchBackfill(id, traffic.show);
  // A job that sends again tells no webhook: one that runs already may be another's.
  const retry = new JobWatch({
    kind: null, verbs: ['Making due what waits', 'Due now'], onEnd: traffic.show,
  });
  const close = openView(container, async (redraw) => {
    const [webhook, examples, actions] = await Promise.all([
      getJson<OutgoingWebhook>(path), getJson<OutgoingWebhookExamples>(`${path}/examples`),
      callerSession.isCustomer ? null : ActionCatalog.load(),
    ]);
    const refresh = async (): Promise<void> => {
      await redraw();
      if (container.isConnected) traffic.show();
    };
    view = {
      webhook, path, actions, refresh, backfill, retry, traffic: traffic.element, facts,
      actionButtons, examples, isOnlyOne,
    };
    showFacts(view);
    render(container, view);
  });
  return () => {
    close();
    backfill.close();
    retry.close();
    traffic.close();
  };
}

function render(container: HTMLElement, view: OutgoingView): void {
  const {
    webhook, path, backfill, retry, traffic, facts, actionButtons, examples, isOnlyOne,
  } = view;
  const { identifier, name, description, targetUrl } = webhook;
  const newSecret = showNewSecret(identifier);
  fill(container, isOnlyOne ? null
    : backLink('outgoing', callerSession.isCustomer ? 'Webhooks' : 'Outgoing webhooks'),
    heading(name ?? targetUrl,
      linkButton('Its deliveries', ['deliveries'], { query: { hook: identifier } }),
      actionButtons),
    backfill.element, retry.element,
    description === undefined ? null : h('p', description),
    facts,
    newSecret === null ? null : h('section', h('h2', 'The new secret'), newSecret),
    traffic,
    // Without a path the section only previews: it has no button that sends.
    sampleSection(() => webhook, { path: mayTry(webhook) ? path : null }).element,
    verificationSection(examples),
    callerSession.isCustomer ? null
      : h('details', h('summary', 'All members'), h('pre', encodeJson(webhook, 2))));
}

/** `actions` is null for a customer, who sees none. */
function renderFacts(webhook: OutgoingWebhook, actions: ActionCatalog | null): HTMLElement {
  const { identifier, name, targetUrl, actionConfiguration, when } = webhook;
  const { previousSecret, oauth2, clientCertificate, publicKey } = webhook;
  return factList([
    ['State', detailedWebhookState(webhook)],
    ['Acknowledged', optionalTime(webhook.acknowledgedAt)],
    ['Last failure', lastFailure(webhook)],
    ['Last success', timeElement(webhook.health.lastSuccessAt, 'none')],
    ['Events', formatTriggerEvents(webhook)],
    // Without a name the heading is the address, so there is no fact of it.
    ['Address', name === undefined ? null : targetUrl],
    ['Only when', when === undefined ? null : h('code', formatCondition(when))],
    ['Action', actionConfiguration === undefined || actions === null ? null
      : actions.createLink(actionConfiguration)],
    ['Type of the body', webhook.contentType ?? null], ['Format', webhook.format ?? null],
    ['Method', webhook.httpMethod], ['Signed', formatSigning(webhook)],
    ['Public key', publicKey === undefined ? null : h('code', publicKey)],
    ['Access tokens from', oauth2?.tokenUrl ?? null],
    ['Client certificate', clientCertificate?.subject ?? null],
    ['Certificate valid until', optionalTime(clientCertificate?.notAfter)],
    ['Signed with the old secret too until', optionalTime(previousSecret?.validUntil)],
    ['Changed', timeElement(webhook.updatedAt)], ['Id', h('code', identifier)],
  ]);
}

/** How a receiver verifies what it sends: code in his language, and a call to try it. */
function verificationSection(examples: OutgoingWebhookExamples): HTMLElement {
  const { obstacle, curl } = examples;
  const code = h('div');
  const show = (name: LanguageName): void => fill(code, codeBlock(examples[name] ?? ''));
  const buttons = new ChoiceButtons(LANGUAGES, 'node', show);
  show(buttons.chosen);
  return h('section', h('h2', 'How to verify'),
    ...obstacle === null ? [
      h('p.hint', 'Whoever receives the requests calls this function with the headers, the query '
        + 'and the body as it came. The secret is in the environment of that program.'),
      h('div.actions', { role: 'group', 'aria-label': 'Language' }, ...buttons.elements), code,
    ] : [h('p', `There is no code to copy: ${obstacle}.`)],
    curl === null ? null : h('details', h('summary', 'A signed call, to try it with'),
      codeBlock(curl)));
}

/** The text of a customer does not reach an action. */
function mayTry({ actionConfiguration }: OutgoingWebhook): boolean {
  return callerSession.may('write', actionConfiguration === undefined ? 'resend' : null);
}

/** null: no failure has switched it off, or somebody has said to have seen it. */
function acknowledgeButton({ webhook, path, refresh }: OutgoingView): HTMLElement | null {
  if (!isOffUnseen(webhook)) return null;
  return asyncButton('Acknowledge', async () => {
    await callApi('POST', `${path}/acknowledge`);
    showNotice('The overview names it no more. It stays off.');
    await refresh();
  }, 'primary');
}

function backfillButton({ webhook, backfill }: OutgoingView): HTMLElement {
  return asyncButton('Send what it has missed…', async () =>
    openBackfillDialog({
      identifier: webhook.identifier,
      ...webhook.disabledAt === undefined ? {} : { since: webhook.disabledAt },
    }, (id) => backfill.watch(id)));
}

/** Counts what waits, asks, and adds a job. null: the webhook does not fail, or is off. */
function retryButton(
  container: HTMLElement, { webhook, retry }: OutgoingView,
): HTMLElement | null {
  const { identifier: hook, enabled, health } = webhook;
  if (!enabled || (health.state !== 'failing' && !health.lastTryFailed)) return null;
  const filter = { hook, status: 'pending' };
  const resend = async <Answer>(more: object): Promise<Answer> => (await callApi<Answer>('POST',
    '/api/deliveries/resend', { body: { ...filter, ...more } })).body;
  return asyncButton('Try what waits now…', async () => {
    const { count } = await resend<{ readonly count: number }>({ dryRun: true });
    if (!container.isConnected) return;
    if (count === 0) return showNotice('Nothing waits for it.');
    const isWanted = await askToConfirm({
      title: `Try ${formatQuantity(count, 'delivery', 'deliveries')} now?`, action: 'Try them now',
      text: 'They go out at once, under the same ids. What fails again waits as long as after a '
        + 'first attempt.',
      command: formatCommand('delivery:resend', filter),
    });
    if (isWanted) retry.watch((await resend<{ readonly id: string }>({})).id);
  });
}

function buttons(container: HTMLElement, view: OutgoingView): Child[] {
  const { webhook, path, refresh, backfill } = view;
  const { identifier, targetUrl, enabled, disabledAt } = webhook;
  const turnOff = async (): Promise<void> => {
    if (!await confirmTurningOff(container, view)) return;
    await callApi('PATCH', path, { body: { enabled: false } });
    showNotice('Off: nothing is sent.');
    await refresh();
  };
  const turnOn = async (): Promise<void> => {
    const backlog = await chooseBacklog(container, webhook);
    if (backlog === null) return;
    // On first: an event in between would be missed, too.
    await callApi('PATCH', path, { body: { enabled: true } });
    if (backlog === 'missed' && disabledAt !== undefined) {
      backfill.watch(await addBackfill(identifier, { since: disabledAt }));
    }
    showNotice('On again.');
    await refresh();
  };
  const maySwitch = callerSession.may('admin', 'resend');
  // One that is probed is off, and would go on by itself.
  const isTrying = enabled || webhook.health.nextProbeAt !== undefined;
  return [
    callerSession.may('write') ? acknowledgeButton(view) : null,
    callerSession.may('write', 'resend') ? retryButton(container, view) : null,
    callerSession.may('write', 'resend') ? backfillButton(view) : null,
    callerSession.may('admin', 'write')
      ? linkButton('Edit', ['outgoing', identifier, 'edit']) : null,
    callerSession.may('admin', 'write') ? rotateButton('outgoing', webhook, refresh) : null,
    maySwitch && !enabled ? asyncButton('Turn on', turnOn) : null,
    maySwitch && isTrying ? asyncButton('Turn off', turnOff) : null,
    callerSession.may('admin')
      ? asyncButton('Delete', () => deleteWebhook(container, 'outgoing', identifier,
        createWebhookLabel(webhook).title, `nothing is sent to ${targetUrl} any more`), 'danger')
      : null,
  ];
}

/** Resolves with false also when the user has left the screen meanwhile. */
async function confirmTurningOff(
  container: HTMLElement, { webhook: { identifier, targetUrl } }: OutgoingView,
): Promise<boolean> {
  const pendingCount =
    await countItems('/api/deliveries', { hook: identifier, status: 'pending' });
  if (!container.isConnected) return false;
  const consequence = pendingCount === 0 ? 'No delivery is pending.'
    : `${formatQuantity(pendingCount, 'pending delivery', 'pending deliveries')} will wait.`;
  return askToConfirm({
    title: 'Turn the webhook off?', isDestructive: true, action: 'Turn it off',
    text: `Nothing is sent to ${targetUrl} until it is on again. ${consequence} Events meanwhile `
      + 'make no delivery for it; when it is on again, they can be sent while they are kept.',
    command: `hookshelf outgoingwebhook:disable --identifier ${identifier}`,
  });
}

export function openOutgoingEditor(container: HTMLElement, id: string): () => void {
  return openForm(container, 'admin', 'change webhooks', () => openEditor(container, async () => {
    const path = apiPath('outgoing-webhooks', id);
    const [{ body: webhook, etag }, model] = await Promise.all([
      callApi<OutgoingWebhook>('GET', path), loadModel('OutgoingWebhookBody'),
    ]);
    let tellMissing = (): void => {};
    const options = {
      title: `Edit ${webhook.name ?? webhook.targetUrl}`, path, address: ['outgoing', id],
      record: webhook, etag,
      onSaved: () => {
        forgetNewSecret(id);
        tellMissing();
      },
    };
    if (callerSession.isCustomer) {
      return { ...options, schema: pickMembers(model, CUSTOMER_MEMBERS), isPartial: true };
    }
    return {
      ...options, toFormRecord, schema: model,
      factories: await ActionCatalog.load().then(loadOutgoingFields),
      renderBeside: (read, form) => {
        const sample = sampleSection(read, { form });
        ({ tellMissing } = sample);
        return sample.element;
      },
    };
  }), 'write');
}

/**
 * A webhook has `triggerEvent` or `triggerEvents`; the form knows the second alone. Saving the form
 * stores the webhook with that one.
 */
function toFormRecord({ triggerEvent, ...rest }: RecordMembers): RecordMembers {
  return triggerEvent === undefined ? rest : { ...rest, triggerEvents: [triggerEvent] };
}

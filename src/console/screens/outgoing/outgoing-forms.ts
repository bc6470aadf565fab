/**
 * The form of a new outgoing webhook, the fields of all its forms, and a sample event: a preview of
 * the request for it, and a button that sends it.
 */
import { callApi, getJson, messageOf } from '../../base/api-calls.ts';
import { callerSession } from '../../base/caller-session.ts';
import { createSelect, fill, h } from '../../base/dom.ts';
import { encodeJson, parseJson } from '../../base/json-text.ts';
import { loadModel, pickMembers } from '../../base/model-schema.ts';
import { badge } from '../../parts/badge.ts';
import { asyncButton } from '../../parts/buttons.ts';
import { ActionCatalog } from '../../parts/forms/action-fields.ts';
import {
  InputError, codeArea, inputField, type Field, type FieldFactories, type FieldOptions,
} from '../../parts/forms/input-field.ts';
import { modelField } from '../../parts/forms/model-field.ts';
import { SCHEME, presetField } from '../../parts/forms/preset-field.ts';
import { recordForm } from '../../parts/forms/record-form.ts';
import { showNotice } from '../../parts/notice.ts';
import { openSecretDialog } from '../../parts/rotate-secret.ts';
import { backLink, goIfStillHere, heading, openView } from '../../parts/screen.ts';
import type { OutgoingWebhook } from '../../../app/api-types.ts';
import type { SendResult } from '../../../webhooks/outgoing/send-options.ts';
import type { PresetDescription } from '../../../webhooks/senders/presets/preset-schema.ts';
import { previewBody, type PreviewedWebhook } from './template-preview.ts';

/** People come with an address, and know which events they want; the rest may wait. */
const FIRST_MEMBERS = ['targetUrl', 'triggerEvents'];
const SECRET_BYTES = 32;
const SECRET_CHOICES = [
  ['made', 'Make one, and show it once'], ['own', 'My own'],
  ['none', 'None: requests are not signed'],
] as const;

export function openNewOutgoing(container: HTMLElement): () => void {
  return openView(container, async () => {
    const [model, factories] = await Promise.all([
      loadModel('OutgoingWebhookBody'), ActionCatalog.load().then(loadOutgoingFields),
    ]);
    const schema = pickMembers(model,
      [...FIRST_MEMBERS, ...Object.keys(model.properties ?? {})]);
    let isSecretGenerated = (): boolean => false;
    const form = recordForm({
      schema, value: {}, action: 'Add the webhook',
      factories: {
        ...factories,
        triggerEvents: (options) => modelField({ ...options, value: [''] }),
        secret: (options) => {
          const secret = createSecretField(options);
          isSecretGenerated = secret.isGenerated;
          return secret.field;
        },
      },
      save: (value) => create(container, value, isSecretGenerated()),
    });
    fill(container, backLink('outgoing', 'Outgoing webhooks'),
      heading('A new outgoing webhook'), form.element, sampleSection(form.read));
  });
}

async function create(
  container: HTMLElement, value: Record<string, unknown>, isSecretGenerated: boolean,
): Promise<void> {
  const { body } = await callApi<OutgoingWebhook>('POST', '/api/outgoing-webhooks',
    { body: value });
  showNotice('Added.');
  if (isSecretGenerated) await openSecretDialog(body.identifier, String(value['secret']));
  goIfStillHere(container, ['outgoing', body.identifier]);
}

type SecretField = {
  readonly field: Field;
  /** Whether the secret was generated here and must be shown. */
  readonly isGenerated: () => boolean;
};

/** The secret of the new webhook: generated here, the user's own, or none. */
function createSecretField(options: FieldOptions): SecretField {
  const select = createSelect(SECRET_CHOICES);
  const input = h('input', {
    type: 'password', autocomplete: 'new-password', hidden: true,
    'aria-label': 'My own secret', placeholder: 'My own secret',
  });
  select.addEventListener('change', () => {
    input.hidden = select.value !== 'own';
  });
  const isGenerated = (): boolean => select.value === 'made';
  const schema = { description: 'Requests are signed with it.' };
  const field = inputField({ ...options, schema }, select, () => {
    if (isGenerated()) return generateSecret();
    return select.value === 'own' ? input.value : undefined;
  }, input);
  return { field, isGenerated };
}

/** A random secret in the form of Standard Webhooks. */
function generateSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}

export async function loadOutgoingFields(actions: ActionCatalog): Promise<FieldFactories> {
  const presets = await getJson<readonly PresetDescription[]>('/api/verification-presets');
  const signingPresets = presets.filter(({ signingObstacle }) => signingObstacle === null);
  return {
    action: (options) => actions.createField(options),
    signing: (options) => presetField(options, {
      choices: [['', 'Standard Webhooks, and X-Signature'],
        ...signingPresets.map(({ name, sender }) => [name, sender] as const),
        [SCHEME, 'A scheme of its own']],
      selectMembers: (model, choice) => pickMembers(model, choice === SCHEME ? ['scheme'] : []),
    }),
  };
}

type TriggerMembers = Pick<OutgoingWebhook, 'triggerEvent' | 'triggerEvents'>;

export function formatTriggerEvents({ triggerEvent, triggerEvents = [] }: TriggerMembers): string {
  return triggerEvent ?? (triggerEvents.join(', ') || 'none: sent by hand');
}

/** The dialect of its signatures, or that there are none. */
export function formatSigning({ hasSecret, signing }: OutgoingWebhook): string {
  if (!hasSecret) return 'no';
  if (signing === undefined) return 'yes';
  return signing.preset === undefined ? 'by a scheme of its own' : `as ${signing.preset}`;
}

/**
 * An event that the webhook hears, for people to change: its type is the first whole name, else
 * `invoice.created` for `invoice.*`.
 */
function createSample({ triggerEvent, triggerEvents = [] }: TriggerMembers): unknown {
  const triggers = triggerEvent === undefined ? triggerEvents : [triggerEvent];
  const [first = '*'] = triggers;
  const trigger = triggers.find((name) => !name.endsWith('*')) ?? first;
  // Customers do not hear of books.
  const anyType = callerSession.isCustomer ? 'example.created' : 'book.created';
  const type = trigger === '*' ? anyType : trigger.replace(/\*$/, 'created');
  const data = type.startsWith('book.') ? { book: { title: 'Emma' } } : { id: 1 };
  return { type, timestamp: '2026-01-02T03:04:05.678Z', data };
}

/**
 * `read` returns the current members of the webhook; without `path` nothing can be sent. The sample
 * begins as an event that `triggers` hear.
 */
export function sampleSection(
  read: () => PreviewedWebhook & { readonly actionConfiguration?: unknown },
  path: string | null = null, triggers: TriggerMembers = {},
): HTMLElement {
  const area = codeArea(8, encodeJson(createSample(triggers), 2));
  const sample = inputField({ name: 'sample', label: 'A sample event' }, area,
    () => parseJson(area.value));
  const result = h('div', { role: 'status' });
  const button = (text: string, action: () => void | Promise<void>): HTMLElement =>
    asyncButton(text, async () => {
      fill(result);
      sample.clearError();
      try {
        await action();
      } catch (thrown) {
        // An error in the form of the webhook is shown at its own field.
        if (!(thrown instanceof InputError)) sample.showError([], messageOf(thrown));
      }
    });
  const show = (): void => {
    const webhook = read();
    const body = previewBody(webhook, sample.read());
    fill(result, h('pre', body), webhook.actionConfiguration === undefined
      ? null : h('p.hint', 'The action would change the event before.'));
  };
  const send = async (): Promise<void> => {
    const { body } = await callApi<SendResult>('POST', `${path}/send`, {
      body: { payload: sample.read() },
    });
    const { success, statusCode, message = '', response } = body;
    fill(result, h('p', badge(success ? 'delivered' : 'failed'),
      statusCode === null ? ' ' : ` It was answered ${statusCode}. `, message),
    response === undefined || response === null ? null : h('pre',
      typeof response === 'string' ? response : encodeJson(response, 2)));
  };
  return h('section.record', h('h2', path === null ? 'Preview' : 'Test'),
    sample.element, h('div.actions', button('Show what would be sent', show),
      path === null ? null : button('Send it now', send)), result);
}

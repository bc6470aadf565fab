/** The form of a new outgoing webhook, and the fields of all its forms. */
import { callApi, getJson } from '../../base/api-calls.ts';
import { createSelect, fill, h } from '../../base/dom.ts';
import { loadModel, pickMembers } from '../../base/model-schema.ts';
import { ActionCatalog } from '../../parts/forms/action-fields.ts';
import {
  inputField, type Field, type FieldFactories, type FieldOptions,
} from '../../parts/forms/input-field.ts';
import { modelField } from '../../parts/forms/model-field.ts';
import { SCHEME, presetField } from '../../parts/forms/preset-field.ts';
import { recordForm } from '../../parts/forms/record-form.ts';
import { showNotice } from '../../parts/notice.ts';
import { openSecretDialog } from '../../parts/rotate-secret.ts';
import { backLink, goIfStillHere, heading, openView } from '../../parts/screen.ts';
import type { OutgoingWebhook } from '../../../app/api-types.ts';
import type { PresetDescription } from '../../../webhooks/senders/presets/preset-schema.ts';
import { sampleSection } from './sample-section.ts';

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
      save: async (value) => {
        await create(container, value, isSecretGenerated());
        sample.tellMissing();
      },
    });
    const sample = sampleSection(form.read, { form: form.element });
    fill(container, backLink('outgoing', 'Outgoing webhooks'),
      heading('A new outgoing webhook'), h('div.beside', form.element, sample.element));
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

export function formatTriggerEvents(
  { triggerEvent, triggerEvents = [] }: OutgoingWebhook,
): string {
  return triggerEvent ?? (triggerEvents.join(', ') || 'none: sent by hand');
}

/** The dialect of its signatures, or that there are none. */
export function formatSigning({ hasSecret, signing }: OutgoingWebhook): string {
  if (!hasSecret) return 'no';
  if (signing === undefined) return 'yes';
  return signing.preset === undefined ? 'by a scheme of its own' : `as ${signing.preset}`;
}

/** A new outgoing webhook, with a preview of what it would send. */
import { callApi } from '../../base/api-calls.ts';
import { fill, h, createSelect } from '../../base/dom.ts';
import { loadModel } from '../../base/model-schema.ts';
import { ActionCatalog } from '../../parts/forms/action-chooser.ts';
import { modelField } from '../../parts/forms/model-field.ts';
import { recordForm } from '../../parts/forms/record-form.ts';
import { showNotice } from '../../parts/notice.ts';
import { openSecretDialog } from '../../parts/rotate-secret.ts';
import { backLink, goIfStillHere, heading, openView } from '../../parts/screen.ts';
import { loadOutgoingFields } from './outgoing-fields.ts';
import { inputField, type Field, type FieldOptions } from '../../parts/forms/input-field.ts';
import { sampleSection } from './sample-event.ts';
import type { OutgoingWebhook } from '../../../app/api-types.ts';

const SECRET_BYTES = 32;
const SECRET_CHOICES = [
  ['made', 'Make one, and show it once'], ['own', 'My own'],
  ['none', 'None: requests are not signed'],
] as const;

export function openNewOutgoing(container: HTMLElement): () => void {
  return openView(container, async () => {
    const [schema, factories] = await Promise.all([
      loadModel('OutgoingWebhookBody'), ActionCatalog.load().then(loadOutgoingFields),
    ]);
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
  if (isSecretGenerated) await openSecretDialog(String(value['secret']));
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
  const field = inputField(options, select, () => {
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

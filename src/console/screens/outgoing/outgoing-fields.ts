/** Fields of the forms for outgoing webhooks, and how views tell of events and signatures. */
import { getJson } from '../../base/api-calls.ts';
import { pickMembers } from '../../base/model-schema.ts';
import type { ActionCatalog } from '../../parts/forms/action-chooser.ts';
import type { FieldFactories } from '../../parts/forms/input-field.ts';
import { SCHEME, presetField } from '../../parts/forms/preset-field.ts';
import type { PresetDescription } from '../../../webhooks/senders/presets/preset-schema.ts';
import type { OutgoingWebhook } from '../../../app/api-types.ts';

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

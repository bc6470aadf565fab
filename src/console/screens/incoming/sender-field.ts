/** The field for `verification`: a preset, and the members that it needs. */
import { fill, h } from '../../base/dom.ts';
import { modelField } from '../../parts/forms/model-field.ts';
import { inputField } from '../../parts/forms/input-field.ts';
import type { Field, FieldOptions } from '../../parts/forms/input-field.ts';
import type { PresetDescription } from '../../../webhooks/senders/presets/preset-schema.ts';

/** Labels and hints of the members that presets may need. */
const NEEDS: Readonly<Record<string, readonly [label: string, hint: string]>> = {
  url: ['Address', 'As it is registered with the sender, word by word'],
  webhookId: ['Webhook id', 'What the sender calls this webhook'],
  verifyToken: ['Verify token', 'What the sender shows when it asks who listens'],
  scheme: ['Scheme', 'How the sender signs, as JSON'],
};

/** `onChange` gets the chosen preset, also once at the beginning; null for none. */
export function createSenderField(
  presets: readonly PresetDescription[], onChange: (preset: PresetDescription | null) => void,
): (options: FieldOptions) => Field {
  return ({ value }) => {
    const verification: Readonly<Record<string, unknown>> = { ...value as object };
    const select = h('select',
      h('option', { value: '' }, 'Anybody, or X-Signature where there is a secret'),
      ...presets.map(({ name, sender }) => h('option', { value: name }, sender)));
    select.value = String(verification['preset'] ?? '');
    const choice = inputField({
      name: 'preset', label: 'Sender', value: '', isRequired: false, schema: {},
    }, select, () => select.value);
    const container = h('div.record');
    let fields = new Map<string, Field>();
    const show = (): void => {
      const preset = presets.find(({ name }) => name === select.value) ?? null;
      fields = new Map(preset?.needs.map((name) =>
        [name, createNeedField(name, verification[name])]));
      if (preset?.accepts.includes('origins') === true) {
        fields.set('origins', createOriginsField(verification['origins']));
      }
      if (preset !== null && preset.toleranceS !== null) {
        fields.set('toleranceS',
          createToleranceField(verification['toleranceS'], preset.toleranceS));
      }
      fill(container, ...[...fields.values()].map(({ element }) => element));
      onChange(preset);
    };
    select.addEventListener('change', show);
    show();
    return {
      element: h('div.record', choice.element, container),
      read: () => select.value === '' ? undefined : {
        preset: select.value,
        ...Object.fromEntries([...fields].map(([name, each]) => [name, each.read()])),
      },
      showError: ([step = '', ...rest], detail) =>
        (fields.get(step) ?? choice).showError(rest, detail),
      clearError() {
        for (const each of [choice, ...fields.values()]) each.clearError();
      },
    };
  };
}

function createNeedField(name: string, value: unknown): Field {
  const [label = name, description = ''] = NEEDS[name] ?? [];
  const type = name === 'scheme' ? 'object' : 'string';
  return modelField({ name, label, isRequired: true, value, schema: { type, description } });
}

function createOriginsField(value: unknown): Field {
  return modelField({
    name: 'origins', label: 'Origins', itemLabel: 'Origin', isRequired: false, value, schema: {
      type: 'array', items: { type: 'string' },
      description: 'Who may ask to send here, such as eventgrid.azure.net; * is anybody',
    },
  });
}

function createToleranceField(value: unknown, defaultS: number): Field {
  return modelField({
    name: 'toleranceS', label: 'Clock difference', isRequired: false, value, schema: {
      type: 'integer', default: defaultS,
      description: 'Seconds that the time of a request may be off',
    },
  });
}

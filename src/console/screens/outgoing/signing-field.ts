/** The field for `signing`: the sender in whose dialect requests are signed, or a scheme. */
import { h } from '../../base/dom.ts';
import { inputField, type Field, type FieldOptions } from '../../parts/forms/input-field.ts';
import { modelField } from '../../parts/forms/model-field.ts';
import type { Signing } from '../../../webhooks/outgoing/signing-member.ts';
import type { PresetDescription } from '../../../webhooks/senders/presets/preset-schema.ts';

/** The value of the choice that shows the field for a scheme; no preset has such a name. */
const SCHEME = '{}';

export function createSigningField(
  presets: readonly PresetDescription[],
): (options: FieldOptions) => Field {
  return (options) => {
    const { preset, scheme }: Signing = { ...options.value as Signing };
    const signingPresets = presets.filter(({ signingObstacle }) => signingObstacle === null);
    const select = h('select',
      h('option', { value: '' }, 'Standard Webhooks, and X-Signature'),
      ...signingPresets.map(({ name, sender }) => h('option', { value: name }, sender)),
      h('option', { value: SCHEME }, 'A scheme of its own'));
    select.value = scheme === undefined ? preset ?? '' : SCHEME;
    const choice = inputField(options, select, () => select.value);
    const schemeField = modelField({
      name: 'scheme', label: 'Scheme', isRequired: true, value: scheme, schema: {
        type: 'object', description: 'How to sign, as JSON',
      },
    });
    const show = (): void => {
      schemeField.element.hidden = select.value !== SCHEME;
    };
    select.addEventListener('change', show);
    show();
    return {
      element: h('div.record', choice.element, schemeField.element),
      read() {
        if (select.value === '') return undefined;
        return select.value === SCHEME ? { scheme: schemeField.read() } : { preset: select.value };
      },
      showError: ([step = '', ...rest], detail) =>
        (step === 'scheme' ? schemeField : choice).showError(rest, detail),
      clearError() {
        choice.clearError();
        schemeField.clearError();
      },
    };
  };
}

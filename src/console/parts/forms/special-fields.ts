/** The fields for members whose kind alone does not say how they are edited, by `x-form.field`. */
import { h } from '../../base/dom.ts';
import { choiceField } from './choice-field.ts';
import { inputField, type Field, type FieldFactories, type FieldOptions } from './input-field.ts';
import { createJsonField } from './model-field.ts';
import { createPairsField } from './pairs-field.ts';
import { retriesField } from './retries-field.ts';
import { statusListField } from './status-list-field.ts';

export const SPECIAL_FIELDS: FieldFactories = {
  choices: choiceField, json: createJsonField, lines: linesField, retries: retriesField,
  statuses: statusListField,
  pairs: createPairsField({ nameLabel: 'Name', valueLabel: 'Value' }),
  variables: createPairsField({ nameLabel: 'Variable', valueLabel: 'Value' }),
  files: createPairsField({
    nameLabel: 'Variable', valueLabel: 'Content', isLong: true,
    kinds: [['', 'Text'], ['base64', 'Decoded from Base64']],
  }),
};

/** PEM has several lines, which an input for passwords would lose. */
function linesField(options: FieldOptions): Field {
  const area = h('textarea', { rows: 3, class: 'mono', spellcheck: 'false', autocomplete: 'off' });
  return inputField(options, area, () => area.value.trim() === '' ? undefined : area.value);
}

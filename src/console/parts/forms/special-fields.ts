/**
 * The fields for members whose kind alone does not say how they are edited, by `x-form.field`; a
 * screen may have more of them.
 */
import { h, createSelect } from '../../base/dom.ts';
import {
  codeArea, inputField, type Field, type FieldFactories, type FieldOptions,
} from './input-field.ts';
import { createJsonField, modelField } from './model-field.ts';
import { createPairsField } from './pairs-field.ts';

/** What is typed for `[]`; an empty input is an absent member. */
const NONE = 'none';

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
  const area = codeArea(3);
  return inputField(options, area, () => area.value.trim() === '' ? undefined : area.value);
}

/**
 * A choice that has an `inputLabel` shows a text input beside it; its value is then an object
 * `{ [choice]: text }`. The default is not sent.
 */
function choiceField(options: FieldOptions): Field {
  const { value, schema: { 'x-form': { choices = [] } = {} } } = options;
  const [[defaultValue] = ['']] = choices;
  const [kind = defaultValue, text = ''] = typeof value !== 'object' || value === null
    ? [String(value ?? defaultValue)] : Object.entries(value)[0] ?? [];
  const select = createSelect(choices, kind);
  const input = h('input', { autocomplete: 'off', spellcheck: 'false', value: String(text) });
  const show = (): void => {
    const [, , inputLabel] = choices.find(([choice]) => choice === select.value) ?? [];
    input.hidden = inputLabel === undefined;
    input.placeholder = inputLabel ?? '';
    input.setAttribute('aria-label', inputLabel ?? '');
  };
  select.addEventListener('change', show);
  show();
  return inputField(options, select, () => {
    if (select.value === defaultValue) return undefined;
    return input.hidden ? select.value : { [select.value]: input.value };
  }, input);
}

/** `retrySchedule`: when it is absent the settings hold; an empty list is no second attempt. */
function retriesField(options: FieldOptions): Field {
  const list = modelField(options);
  const box = h('input', { type: 'checkbox', checked: options.value === undefined });
  const show = (): void => {
    list.element.hidden = box.checked;
  };
  box.addEventListener('change', show);
  show();
  const choice = inputField(
    { name: 'retries', label: 'Retry as the settings say' }, box, () => box.checked);
  return {
    ...list, element: h('div.record', choice.element, list.element),
    read: () => box.checked ? undefined : list.read() ?? [],
  };
}

/** Statuses and classes of them, such as `5xx, 429`; an empty input is an absent member. */
function statusListField(options: FieldOptions): Field {
  const { value } = options;
  const input = h('input', { autocomplete: 'off', spellcheck: 'false', placeholder: 'all' });
  if (Array.isArray(value)) input.value = value.length === 0 ? NONE : value.join(', ');
  return inputField(options, input, () => {
    const text = input.value.trim();
    if (text === '') return undefined;
    if (text === NONE) return [];
    return text.split(',').map((item) => item.trim())
      .map((item) => /^\d+$/.test(item) ? Number(item) : item);
  });
}

/**
 * The fields for members whose kind alone does not say how they are edited, by `x-form.field`; a
 * screen may have more of them.
 */
import { createSelect, h } from '../../base/dom.ts';
import { hasLineBreak } from './condition-text.ts';
import {
  InputError, codeArea, createJsonField, errorLine, findLabel, hintLine, inputField, type Field,
  type FieldFactories, type FieldOptions,
} from './input-field.ts';
import { modelField } from './model-field.ts';

/** Typed for `[]`; an empty input is an absent member. */
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

type PairRow = {
  readonly name: HTMLInputElement;
  readonly value: HTMLInputElement | HTMLTextAreaElement;
  /** null: all values are texts. */
  readonly kind: HTMLSelectElement | null;
};

type PairsOptions = {
  readonly nameLabel: string;
  readonly valueLabel: string;
  /**
   * The kinds of a value: '' stands for the text itself, any other for an object whose only member
   * has that name and holds the text. Without kinds each value is the text itself.
   */
  readonly kinds?: readonly (readonly [kind: string, label: string])[];
  /** Whether values have several lines. */
  readonly isLong?: boolean;
};

function createPairsField(pairs: PairsOptions): (options: FieldOptions) => Field {
  return (options) => {
    const { schema, value } = options;
    const label = findLabel(options);
    const rows = new Set<PairRow>();
    const container = h('div.items');
    const problem = errorLine();
    const addRow = (key: string, stored: unknown): PairRow => {
      const row = createRow(pairs, key, stored);
      const element = h('div.row',
        h('div.comparison', row.name, row.kind, row.value),
        h('button.quiet', { onclick: () => {
          rows.delete(row);
          element.remove();
          add.focus();
        } }, 'Remove'));
      rows.add(row);
      container.append(element);
      return row;
    };
    const add = h('button.quiet', {
      onclick: () => addRow('', '').name.focus(),
    }, `Add to ${label.toLowerCase()}`);
    for (const [key, stored] of Object.entries({ ...value as object })) addRow(key, stored);
    const listFilledRows = (): PairRow[] =>
      [...rows].filter((row) => row.name.value !== '' || row.value.value !== '');
    return {
      element: h('fieldset', h('legend', label), hintLine(schema), problem, container, add),
      read() {
        const names = listFilledRows().map((row) => row.name.value.trim());
        const duplicate = names.find((each, index) => names.indexOf(each) !== index);
        if (duplicate !== undefined) throw new InputError(`${label}: ${duplicate} stands twice.`);
        return names.length === 0 ? undefined
          : Object.fromEntries(listFilledRows()
            .map((row) => [row.name.value.trim(), readValue(row)]));
      },
      showError([step], detail) {
        const row = listFilledRows().find((one) => one.name.value.trim() === step);
        row?.value.setAttribute('aria-invalid', 'true');
        problem.textContent = row === undefined ? detail : `${step}: ${detail}`;
        return true;
      },
      clearError() {
        problem.textContent = '';
        for (const row of rows) row.value.removeAttribute('aria-invalid');
      },
    };
  };
}

function createRow(
  { nameLabel, valueLabel, kinds, isLong = false }: PairsOptions, key: string, stored: unknown,
): PairRow {
  const [kind, text] = typeof stored === 'object' && stored !== null && kinds !== undefined
    ? Object.entries(stored)[0] ?? ['', ''] : ['', stored];
  return {
    name: textInput(nameLabel, key), value: valueInput(valueLabel, text, isLong),
    kind: kinds === undefined ? null : createSelect(kinds, kind, { 'aria-label': 'Kind' }),
  };
}

function readValue({ value, kind }: PairRow): unknown {
  return kind === null || kind.value === '' ? value.value : { [kind.value]: value.value };
}

function textInput(label: string, value: string): HTMLInputElement {
  return h('input', {
    'aria-label': label, placeholder: label, autocomplete: 'off', spellcheck: 'false', value,
  });
}

function valueInput(label: string, text: unknown, isLong: boolean): PairRow['value'] {
  if (!isLong && !hasLineBreak(text)) return textInput(label, String(text));
  const area = h('textarea', {
    'aria-label': label, placeholder: label, rows: 2, spellcheck: 'false',
  });
  area.value = String(text);
  return area;
}

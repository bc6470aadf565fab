/** Edits an object of texts, such as headers, as rows of a name and a value. */
import { h, createSelect } from '../../base/dom.ts';
import { hasLineBreak } from './condition-text.ts';
import {
  InputError, findLabel, hintLine, errorLine, type Field, type FieldOptions,
} from './input-field.ts';

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
   * What a value may be: '' stands for the text itself, any other for an object whose only member
   * has that name and holds the text. Without kinds each value is the text itself.
   */
  readonly kinds?: readonly (readonly [kind: string, label: string])[];
  /** Whether values have several lines. */
  readonly isLong?: boolean;
};

export function createPairsField(pairs: PairsOptions): (options: FieldOptions) => Field {
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

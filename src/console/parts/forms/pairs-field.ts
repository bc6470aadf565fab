/** Edits an object of strings, such as headers, as rows of a name and a value. */
import { h } from '../../base/dom.ts';
import { InputError, hintLine, formatLabel, errorLine } from './input-field.ts';
import type { Field, FieldOptions } from './input-field.ts';

type PairRow = { readonly name: HTMLInputElement; readonly value: HTMLInputElement };

export function pairsField(
  { name, schema, value, label = formatLabel(name) }: FieldOptions,
): Field {
  const rows = new Set<PairRow>();
  const container = h('div.items');
  const problem = errorLine();
  const addRow = (key: string, text: string): PairRow => {
    const row = { name: textInput('Name', key), value: textInput('Value', text) };
    const element = h('div.row',
      h('div.comparison', row.name, row.value),
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
  for (const [key, text] of Object.entries({ ...value as object })) addRow(key, String(text));
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
          .map((row) => [row.name.value.trim(), row.value.value]));
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
}

function textInput(label: string, text: string): HTMLInputElement {
  const input = h('input', {
    'aria-label': label, placeholder: label, autocomplete: 'off', spellcheck: 'false',
  });
  input.value = text;
  return input;
}

/** An object of texts, such as headers, as rows of a name and a value. */
import { h } from '../../base/dom.ts';
import { FieldMistake, hintLine, labelOf, problemLine } from './leaf.ts';
import type { Field, FieldOptions } from './leaf.ts';

type Row = { readonly name: HTMLInputElement; readonly value: HTMLInputElement };

export function pairsField({ name, schema, value, label = labelOf(name) }: FieldOptions): Field {
  const rows = new Set<Row>();
  const place = h('div', { class: 'items' });
  const problem = problemLine();
  const put = (key: string, text: string): Row => {
    const row = { name: textInput('Name', key), value: textInput('Value', text) };
    const element = h('div', { class: 'row' },
      h('div', { class: 'comparison' }, row.name, row.value),
      h('button', { type: 'button', class: 'quiet', onclick: () => {
        rows.delete(row);
        element.remove();
        add.focus();
      } }, 'Remove'));
    rows.add(row);
    place.append(element);
    return row;
  };
  const add = h('button', {
    type: 'button', class: 'quiet', onclick: () => put('', '').name.focus(),
  }, `Add to ${label.toLowerCase()}`);
  for (const [key, text] of Object.entries({ ...value as object })) put(key, String(text));
  const filled = (): Row[] =>
    [...rows].filter((row) => row.name.value !== '' || row.value.value !== '');
  return {
    element: h('fieldset', {}, h('legend', {}, label), hintLine(schema), problem, place, add),
    read() {
      const names = filled().map((row) => row.name.value.trim());
      const twice = names.find((one, index) => names.indexOf(one) !== index);
      if (twice !== undefined) throw new FieldMistake(`${label}: ${twice} stands twice.`);
      return names.length === 0 ? undefined
        : Object.fromEntries(filled().map((row) => [row.name.value.trim(), row.value.value]));
    },
    blame([step], detail) {
      const row = filled().find((one) => one.name.value.trim() === step);
      row?.value.setAttribute('aria-invalid', 'true');
      problem.textContent = row === undefined ? detail : `${step}: ${detail}`;
      return true;
    },
    clear() {
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

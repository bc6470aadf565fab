/**
 * Fields for members whose value is one of several texts, or an object of one member whose name
 * says what its text means, as `{"header": <name>}` does.
 */
import { h } from '../../base/dom.ts';
import { inputField, type Field, type FieldOptions } from './input-field.ts';

/** A choice with an `inputLabel` has a text input beside it. */
type Choice = readonly [value: string, label: string, inputLabel?: string];

export const orderField = choiceField('none', [
  ['', 'None: what is retried is overtaken'], ['strict', 'Strict: one at a time'],
  ['key', 'One at a time of each key', 'Path of the key, such as payload.data.book.id'],
]);

/** The first choice, whose value is empty, stands for the default, which is not sent. */
export function choiceField(
  defaultValue: string, choices: readonly Choice[],
): (options: FieldOptions) => Field {
  return (options) => {
    const { value } = options;
    const [kind = '', text] = typeof value !== 'object' || value === null
      ? [value === defaultValue ? '' : String(value ?? '')] : Object.entries(value)[0] ?? [];
    const select = h('select', {}, ...choices.map(([choice, label]) =>
      h('option', { value: choice }, label)));
    const input = h('input', { autocomplete: 'off', spellcheck: 'false' });
    select.value = kind;
    input.value = String(text ?? '');
    const show = (): void => {
      const [, , inputLabel] = choices.find(([choice]) => choice === select.value) ?? [];
      input.hidden = inputLabel === undefined;
      input.placeholder = inputLabel ?? '';
      input.setAttribute('aria-label', inputLabel ?? '');
    };
    select.addEventListener('change', show);
    show();
    return inputField(options, select, () => {
      if (select.value === '') return undefined;
      return input.hidden ? select.value : { [select.value]: input.value };
    }, input);
  };
}

/**
 * Fields for members whose value is one of several texts, or an object of one member whose name
 * says what its text means, as `{"header": <name>}` does.
 */
import { h } from '../../base/dom.ts';
import { inputField, type Field, type FieldOptions } from './input-field.ts';

/** A choice with a label of an input has that input beside it. The default is not sent. */
export function choiceField(options: FieldOptions): Field {
  const { value, schema: { 'x-form': { choices = [] } = {} } } = options;
  const [[defaultValue] = ['']] = choices;
  const [kind = defaultValue, text = ''] = typeof value !== 'object' || value === null
    ? [String(value ?? defaultValue)] : Object.entries(value)[0] ?? [];
  const select = h('select', {}, ...choices.map(([choice, label]) =>
    h('option', { value: choice }, label)));
  const input = h('input', { autocomplete: 'off', spellcheck: 'false' });
  select.value = kind;
  input.value = String(text);
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

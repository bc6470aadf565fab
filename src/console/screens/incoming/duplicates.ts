/** What tells that a request came before: the member `deduplicate` as a choice. */
import { h } from '../../base/dom.ts';
import { leaf } from '../../parts/forms/leaf.ts';
import type { Field, FieldOptions } from '../../parts/forms/leaf.ts';

/** Those with a second word say what is typed beside them. */
const CHOICES: readonly (readonly [value: string, label: string, asked?: string])[] = [
  ['', "The sender's own id"], ['off', 'Nothing: each request is taken'],
  ['header', 'The id in a header', 'Name of the header'],
  ['json', 'The id in the body', 'Path of the member, such as event.id'],
];

export function duplicatesField(options: FieldOptions): Field {
  const { value } = options;
  const [kind = '', place] = typeof value !== 'object' || value === null
    ? [value === 'auto' ? '' : String(value ?? '')] : Object.entries(value)[0] ?? [];
  const select = h('select', {}, ...CHOICES.map(([one, text]) =>
    h('option', { value: one }, text)));
  const input = h('input', { autocomplete: 'off', spellcheck: 'false' });
  select.value = kind;
  input.value = String(place ?? '');
  const show = (): void => {
    const [, , asked] = CHOICES.find(([one]) => one === select.value) ?? [];
    input.hidden = asked === undefined;
    input.placeholder = asked ?? '';
    input.setAttribute('aria-label', asked ?? '');
  };
  select.addEventListener('change', show);
  show();
  return leaf(options, select, () => {
    if (select.value === '') return undefined;
    return input.hidden ? select.value : { [select.value]: input.value };
  }, input);
}

/** The field of `retryOn`: statuses and classes of them, as a text with commas. */
import { h } from '../../base/dom.ts';
import { inputField, type Field, type FieldOptions } from './input-field.ts';

/** The text of an empty list, which is another value than an absent one. */
const NONE = 'none';

export function statusListField(options: FieldOptions): Field {
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

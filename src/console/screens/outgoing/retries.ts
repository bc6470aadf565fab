/** The member `retrySchedule`: absent, the settings hold; an empty list is no second attempt. */
import { h } from '../../base/dom.ts';
import { field } from '../../parts/forms/field.ts';
import { leaf } from '../../parts/forms/leaf.ts';
import type { Field, FieldOptions } from '../../parts/forms/leaf.ts';

export function retriesField(options: FieldOptions): Field {
  const list = field(options);
  const show = (): void => {
    list.element.hidden = box.checked;
  };
  const box = h('input', { type: 'checkbox', onchange: show });
  box.checked = options.value === undefined;
  show();
  const choice = leaf({
    name: 'retries', label: 'Retry as the settings say', value: '', isRequired: false, schema: {},
  }, box, () => box.checked);
  return {
    ...list, element: h('div', { class: 'record' }, choice.element, list.element),
    read: () => box.checked ? undefined : list.read() ?? [],
  };
}

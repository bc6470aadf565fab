/** The field of a schedule of retries: that of the settings, or one of the webhook itself. */
import { h } from '../../base/dom.ts';
import { inputField, type Field, type FieldOptions } from './input-field.ts';
import { modelField } from './model-field.ts';

/** `retrySchedule`: when it is absent the settings hold; an empty list is no second attempt. */
export function retriesField(options: FieldOptions): Field {
  const list = modelField(options);
  const show = (): void => {
    list.element.hidden = box.checked;
  };
  const box = h('input', { type: 'checkbox', onchange: show });
  box.checked = options.value === undefined;
  show();
  const choice = inputField({
    name: 'retries', label: 'Retry as the settings say', value: '', isRequired: false, schema: {},
  }, box, () => box.checked);
  return {
    ...list, element: h('div.record', choice.element, list.element),
    read: () => box.checked ? undefined : list.read() ?? [],
  };
}

/** The field for the options of an action: a form of what the action says of each, or JSON. */
import { h, createSelect } from '../../base/dom.ts';
import { MemberFields, modelField } from './model-field.ts';
import { errorLine, inputField, type Field, type FieldOptions } from './input-field.ts';
import { foldElements } from './record-form.ts';
import { SPECIAL_FIELDS } from './special-fields.ts';
import type { ActionDescription } from '../../../app/api-types.ts';

/** The options that an action does not describe keep their values. */
export function createOptionsField(
  action: ActionDescription | undefined, options: FieldOptions,
): Field {
  // A module does not describe its options.
  if (action === undefined || action.options.length === 0 && !action.isBuiltIn) {
    return modelField({ ...options, schema: { description: 'JSON, as the action takes it' } });
  }
  const stored = { ...options.value as object };
  const schema = {
    properties: Object.fromEntries(action.options.map((one) => [one.name, one.schema])),
    required: action.options.filter(({ isRequired }) => isRequired === true)
      .map(({ name }) => name),
  };
  const members = new MemberFields(schema, stored,
    { ...SPECIAL_FIELDS, command: createCommandField });
  const others = Object.entries(stored).filter(([name]) => !members.fields.has(name));
  const problem = errorLine();
  return {
    element: h('div.record', {}, ...foldElements(schema, members, stored), problem),
    read: () => ({ ...Object.fromEntries(others), ...members.read() }),
    showError(steps, detail) {
      const error = steps.length > 0 ? { steps, detail } : parseSentence(detail, members);
      if (!members.showError(error.steps, error.detail)) problem.textContent = detail;
      return true;
    },
    clearError() {
      problem.textContent = '';
      members.clearErrors();
    },
  };
}

type OptionError = { readonly steps: readonly string[]; readonly detail: string };

/**
 * An action says what is wrong in a sentence that begins with an option, and perhaps an item of it:
 * `level must be …`, `arguments 2 must be …`.
 */
function parseSentence(sentence: string, { fields }: MemberFields): OptionError {
  const [name = ''] = sentence.split(' ', 1);
  const [item] = Object.keys({ ...Object(fields.get(name)?.read()) })
    .filter((key) => sentence.startsWith(`${name} ${key} `))
    .sort((left, right) => right.length - left.length);
  return item === undefined ? { steps: [name], detail: sentence }
    : { steps: [name, item], detail: sentence.slice(`${name} ${item} `.length) };
}

/** A list of the files that are there; a stored name that is not among them stays. */
function createCommandField(options: FieldOptions): Field {
  const choices = (options.schema.enum ?? []).map(String);
  const stored = typeof options.value === 'string' ? options.value : null;
  const isMissing = stored !== null && !choices.includes(stored);
  const select = createSelect([
    ...stored === null ? [['', 'Choose one'] as const] : [],
    ...isMissing ? [[stored, `${stored} (is not there)`] as const] : [],
    ...choices.map((choice) => [choice, choice] as const),
  ], stored ?? '');
  const none = choices.length > 0 ? null : h('p.problem', 'There is no executable file in that '
    + 'folder yet: put one there, and let it be executed (chmod +x).');
  return inputField(options, select, () => select.value === '' ? undefined : select.value, none);
}

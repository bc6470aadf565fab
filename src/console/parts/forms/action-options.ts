/** The field for the options of an action: a form of what the action says of each, or JSON. */
import { encodeJson, parseJson } from '../../base/json-text.ts';
import { h } from '../../base/dom.ts';
import { createMemberFields, modelField, readMembers } from './model-field.ts';
import { errorLine } from './input-field.ts';
import type { Field, FieldOptions } from './input-field.ts';
import type { ModelSchema } from '../../base/model-schema.ts';
import { pairsField } from './pairs-field.ts';
import { RUN_COMMAND, createRunCommandForm } from './run-command-form.ts';
import type { OptionDescription, OptionsForm } from './run-command-form.ts';
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
  const { schema, rare, ...customization } = action.identifier === RUN_COMMAND
    ? createRunCommandForm(action.options) : createPlainForm(action.options);
  const members = createMemberFields(schema, stored, customization);
  const others = Object.entries(stored).filter(([name]) => !members.has(name));
  const problem = errorLine();
  const listElements = (isRare: boolean): HTMLElement[] => [...members]
    .filter(([name]) => rare.includes(name) === isRare).map(([, { element }]) => element);
  const rareElements = listElements(true);
  return {
    element: h('div.record', ...listElements(false), rareElements.length === 0 ? null
      : h('details', { open: rare.some((name) => Object.hasOwn(stored, name)) },
        h('summary', 'More'), h('div.record', {}, ...rareElements)), problem),
    read: () => ({ ...Object.fromEntries(others), ...readMembers(members) }),
    showError(steps, detail) {
      const [name = '', ...rest] = steps;
      const error = name === '' ? parseSentence(detail, members) : { name, rest, detail };
      const isShown = members.get(error.name)?.showError(error.rest, error.detail) === true;
      if (!isShown) problem.textContent = detail;
      return true;
    },
    clearError() {
      problem.textContent = '';
      for (const member of members.values()) member.clearError();
    },
  };
}

type OptionError = {
  readonly name: string; readonly rest: readonly string[]; readonly detail: string;
};

/**
 * An action says what is wrong in a sentence that begins with an option, and perhaps an item of it:
 * `level must be …`, `arguments 2 must be …`.
 */
function parseSentence(sentence: string, members: ReadonlyMap<string, Field>): OptionError {
  const [name = ''] = sentence.split(' ', 1);
  const steps = Object.keys({ ...Object(members.get(name)?.read()) })
    .filter((step) => sentence.startsWith(`${name} ${step} `))
    .sort((left, right) => right.length - left.length);
  const [step] = steps;
  return step === undefined ? { name, rest: [], detail: sentence }
    : { name, rest: [step], detail: sentence.slice(`${name} ${step} `.length) };
}

function createPlainForm(descriptions: readonly OptionDescription[]): OptionsForm {
  const required = descriptions.filter(({ isRequired }) => isRequired === true);
  return {
    schema: {
      properties: Object.fromEntries(descriptions.map((one) => [one.name, describeOption(one)])),
      required: required.map(({ name }) => name),
    },
    rare: [],
    factories: Object.fromEntries(descriptions.map((one) => [one.name, findFactory(one)])),
  };
}

function describeOption(
  { description, default: defaultValue }: OptionDescription,
): ModelSchema {
  const type = typeof defaultValue === 'boolean' ? 'boolean' : 'string';
  return { type, description, default: defaultValue };
}

function findFactory(
  { name, default: defaultValue }: OptionDescription,
): (options: FieldOptions) => Field {
  if (name === 'headers') return pairsField;
  return typeof defaultValue === 'boolean' ? modelField : createTextField;
}

/** The user types objects and arrays as JSON; anything else is text. */
function createTextField(options: FieldOptions): Field {
  const { value } = options;
  const text = value === undefined || typeof value === 'string' ? value : encodeJson(value);
  const field = modelField({ ...options, value: text });
  return { ...field, read: () => parseOptionValue(field.read()) };
}

function parseOptionValue(text: unknown): unknown {
  if (typeof text !== 'string' || !/^\s*[[{]/.test(text)) return text;
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

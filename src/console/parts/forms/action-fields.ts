/**
 * Lets users choose an action configuration, or create one by a form of the action's options: what
 * the action says of each, or JSON.
 */
import { callApi, getJson, messageOf } from '../../base/api-calls.ts';
import { createSelect, fill, h } from '../../base/dom.ts';
import { isGeneratedId } from '../../base/generated-id.ts';
import { encodeJson } from '../../base/json-text.ts';
import { pickMembers, resolveSchema } from '../../base/model-schema.ts';
import { href } from '../../base/screen-address.ts';
import { missingAction } from '../badge.ts';
import { cancelDialog, openDialog } from '../dialog.ts';
import type { ActionDescription, WebhookActionConfiguration } from '../../../app/api-types.ts';
import {
  InputError, errorLine, findLabel, inputField, showFieldErrors, type Field, type FieldOptions,
} from './input-field.ts';
import { MemberFields, modelField } from './model-field.ts';
import { asyncForm, focusInvalidField, foldElements, submitButton } from './record-form.ts';
import { guardForm } from './unsaved-forms.ts';
import { SPECIAL_FIELDS } from './special-fields.ts';

export const CONFIGURATION_MODEL = 'WebhookActionConfigurationBody';
const DESCRIPTION_LENGTH_MAX = 90;
/** An identifier may have 64 characters: there is room for a number. */
const NAME_LENGTH_MAX = 60;
/** Marks an option of the select that creates a configuration of an action; ids have no space. */
const NEW_PREFIX = 'new ';

type ActionChooser = {
  readonly element: HTMLElement;
  /** Resolves with the chosen configuration's identifier, creating it first. Throws InputError. */
  readonly choose: () => Promise<string>;
};

/** The actions of the service, and their existing configurations. */
export class ActionCatalog {
  readonly actions: readonly ActionDescription[];
  readonly configurations: WebhookActionConfiguration[];

  private constructor(
    actions: readonly ActionDescription[], configurations: WebhookActionConfiguration[],
  ) {
    this.actions = actions;
    this.configurations = configurations;
  }

  static async load(): Promise<ActionCatalog> {
    return new ActionCatalog(...await Promise.all([
      getJson<readonly ActionDescription[]>('/api/actions'),
      getJson<WebhookActionConfiguration[]>('/api/action-configurations'),
    ]));
  }

  /** The action of a type; undefined where a stored configuration has outlived it. */
  findAction(type: string): ActionDescription | undefined {
    return this.actions.find(({ identifier }) => identifier === type);
  }

  /** Says what a configuration does. */
  describe(identifier: string): string {
    const configuration = this.configurations.find((each) => each.identifier === identifier);
    if (configuration === undefined) return identifier;
    const type = this.findAction(configuration.actionType);
    const options = Object.entries(configuration.options ?? {}).flatMap(([name, value]) => {
      const { schema = {} } = type?.options.find((option) => option.name === name) ?? {};
      return formatOption(findLabel({ name, schema }), value);
    });
    const action = [type?.label ?? configuration.actionType, options.join(', ')]
      .filter((text) => text !== '').join(': ');
    const { description } = configuration;
    return (description === undefined ? action : `${description} (${action})`)
      .slice(0, DESCRIPTION_LENGTH_MAX);
  }

  /** The name of a configuration; without one, it has an id of the server: what it does. */
  findTitle(identifier: string): string {
    return isGeneratedId(identifier) ? this.describe(identifier) : identifier;
  }

  /** The words of `describe`, which lead to the configuration; and that its action is missing. */
  createLink(identifier: string): HTMLElement {
    const link = h('a', { href: href(['actions', identifier]) }, this.describe(identifier));
    const missing = this.#explainMissing(identifier);
    return missing === null ? link : h('span', link, ' ', missing);
  }

  /** Links to those of the configurations whose action is not there; null: all are. */
  createMissingLinks(identifiers: readonly string[]): HTMLElement | null {
    const missing = identifiers.filter((identifier) => this.#explainMissing(identifier) !== null);
    return missing.length === 0 ? null : h('ul.plain-list', {},
      ...missing.map((identifier) => h('li', this.createLink(identifier))));
  }

  #explainMissing(identifier: string): HTMLElement | null {
    const type = this.configurations.find((each) => each.identifier === identifier)?.actionType;
    return type === undefined || this.findAction(type) !== undefined ? null : missingAction(type);
  }

  /** `readName` gives the name that a new configuration gets, which is by default its action's. */
  createChooser(readName?: () => string): ActionChooser {
    const existing = h('optgroup', { label: 'One that exists' }, ...this.#optionElements());
    const select = h('select', h('optgroup', { label: 'A new one' },
      ...this.actions.map(({ identifier, label }) =>
        h('option', { value: NEW_PREFIX + identifier }, label))), existing);
    const choice = inputField({ name: 'action', isRequired: true }, select, () => select.value);
    const container = h('div.record');
    let members = new MemberFields({}, {});
    const show = (): void => {
      const action =
        this.actions.find(({ identifier }) => NEW_PREFIX + identifier === select.value);
      // The models are loaded: the chooser belongs to a form.
      const model = resolveSchema({ $ref: CONFIGURATION_MODEL });
      members = new MemberFields(
        action === undefined ? {} : pickMembers(model, ['options', 'description']), {},
        { 'action-options': (field) => createOptionsField(action, field) });
      fill(container, ...members.elements);
    };
    select.addEventListener('change', show);
    show();
    const create = async (): Promise<string> => {
      members.clearErrors();
      const actionType = select.value.slice(NEW_PREFIX.length);
      const { body } = await callApi<WebhookActionConfiguration>('POST',
        '/api/action-configurations', { body: {
          ...members.read(), actionType,
          identifier: this.#findFreeName(readName?.() ?? actionType),
        } });
      this.configurations.push(body);
      fill(existing, ...this.#optionElements());
      select.value = body.identifier;
      show();
      return body.identifier;
    };
    return {
      element: h('div.record', choice.element, container),
      choose: async () => {
        if (!select.value.startsWith(NEW_PREFIX)) return select.value;
        try {
          return await create();
        } catch (thrown) {
          const message = showFieldErrors(members, thrown);
          focusInvalidField(container);
          throw new InputError(message);
        }
      },
    };
  }

  /** A field for a member that holds the identifier of a configuration. */
  createField(options: FieldOptions): Field {
    const select = h('select', options.isRequired ? null : h('option', { value: '' }, 'None'),
      ...this.#optionElements());
    if (typeof options.value === 'string') select.value = options.value;
    const add = h('button.quiet', { onclick: () => {
      this.#openNewDialog((identifier) => {
        select.append(...this.#optionElements().filter(({ value }) => value === identifier));
        select.value = identifier;
      });
    } }, 'New action…');
    return inputField(options, select, () => select.value || undefined, add);
  }

  /** The name, or else with a number behind it, in the letters that an identifier may have. */
  #findFreeName(wanted: string): string {
    const name = wanted.toLowerCase().replace(/[^a-z0-9._-]+/g, '-').replace(/^[^a-z0-9]+/, '')
      .slice(0, NAME_LENGTH_MAX) || 'action';
    const isTaken = (one: string): boolean =>
      this.configurations.some(({ identifier }) => identifier === one);
    let freeName = name;
    for (let number = 2; isTaken(freeName); number += 1) freeName = `${name}-${number}`;
    return freeName;
  }

  #openNewDialog(onChosen: (identifier: string) => void): void {
    const { element, choose } = this.createChooser();
    const problem = h('p.problem', { role: 'alert' });
    const use = submitButton('Use it');
    const create = (): Promise<void> => choose().then((identifier) => {
      if (dialog.open) onChosen(identifier);
      dialog.close();
    }, (thrown: unknown) => {
      problem.textContent = messageOf(thrown);
    });
    const form = asyncForm(use, create, element, problem,
      h('div.actions', h('button', { onclick: () => cancelDialog(dialog) }, 'Cancel'), use));
    guardForm(form);
    const dialog = openDialog('New action', [form]);
  }

  #optionElements(): HTMLOptionElement[] {
    return this.configurations.map(({ identifier }) => h('option', { value: identifier },
      [...new Set([this.findTitle(identifier), this.describe(identifier)])].join(': ')));
  }
}

/** A text says by itself what it is; of a yes or no its label is said, and of any other both. */
function formatOption(label: string, value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'boolean') return [`${label} ${encodeJson(value)}`];
  return value ? [label] : [];
}

/** The options that an action does not describe keep their values. */
export function createOptionsField(
  action: ActionDescription | undefined, options: FieldOptions,
): Field {
  // A module does not describe its options.
  if (action === undefined || action.options.length === 0 && !action.isBuiltIn) {
    return modelField({ ...options, schema: { description: 'JSON, as the action takes it' } });
  }
  const storedOptions = { ...options.value as object };
  const schema = {
    properties: Object.fromEntries(action.options.map((one) => [one.name, one.schema])),
    required: action.options.filter(({ isRequired }) => isRequired === true)
      .map(({ name }) => name),
  };
  const members = new MemberFields(schema, storedOptions,
    { ...SPECIAL_FIELDS, command: createCommandField });
  const others = Object.entries(storedOptions).filter(([name]) => !members.fields.has(name));
  const problem = errorLine();
  return {
    element: h('div.record', {}, ...foldElements(schema, members, storedOptions), problem),
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

/** A list of the files that are there; a storedOptions name that is not among them stays. */
function createCommandField(options: FieldOptions): Field {
  const choices = (options.schema.enum ?? []).map(String);
  const storedName = typeof options.value === 'string' ? options.value : null;
  const isMissing = storedName !== null && !choices.includes(storedName);
  const select = createSelect([
    ...storedName === null ? [['', 'Choose one'] as const] : [],
    ...isMissing ? [[storedName, `${storedName} (is not there)`] as const] : [],
    ...choices.map((choice) => [choice, choice] as const),
  ], storedName ?? '');
  const none = choices.length > 0 ? null : h('p.problem', 'There is no executable file in that '
    + 'folder yet: put one there, and let it be executed (chmod +x).');
  return inputField(options, select, () => select.value === '' ? undefined : select.value, none);
}

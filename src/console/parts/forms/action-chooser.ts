/** Lets users choose an action configuration, or create one by a form of the action's options. */
import { encodeJson } from '../../base/json-text.ts';
import { ApiError, callApi, getJson, messageOf } from '../../base/api-calls.ts';
import { fill, h } from '../../base/dom.ts';
import { parsePointer } from '../../base/json-places.ts';
import { pickMembers, resolveSchema } from '../../base/model-schema.ts';
import { href } from '../../base/screen-address.ts';
import { openDialog } from '../dialog.ts';
import { asyncForm, submitButton } from '../buttons.ts';
import { createOptionsField } from './action-options.ts';
import { MemberFields } from './model-field.ts';
import { inputField, type Field, type FieldOptions } from './input-field.ts';
import { focusInvalidField } from './record-form.ts';
import type { ActionDescription, WebhookActionConfiguration } from '../../../app/api-types.ts';

export const CONFIGURATION_MODEL = 'WebhookActionConfigurationBody';
const DESCRIPTION_LENGTH_MAX = 90;
/** Marks an option of the select that creates a configuration of an action; ids have no space. */
const NEW_PREFIX = 'new ';

type ActionChooser = {
  readonly element: HTMLElement;
  /** Resolves with the chosen configuration's identifier, creating it first. Throws ApiError. */
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

  /** Describes in words what a configuration does. */
  describe(identifier: string): string {
    const configuration = this.configurations.find((each) => each.identifier === identifier);
    if (configuration === undefined) return identifier;
    const label = this.findAction(configuration.actionType)?.label;
    const options = Object.values(configuration.options ?? {}).map((value) =>
      typeof value === 'string' ? value : encodeJson(value));
    const action = [label ?? configuration.actionType, options.join(', ')]
      .filter((text) => text !== '').join(': ');
    const { description } = configuration;
    return (description === undefined ? action : `${description} (${action})`)
      .slice(0, DESCRIPTION_LENGTH_MAX);
  }

  /** The words of `describe`, which lead to the configuration. */
  createLink(identifier: string): HTMLElement {
    return h('a', { href: href(['actions', identifier]) }, this.describe(identifier));
  }

  createChooser(): ActionChooser {
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
        '/api/action-configurations', { body: { ...members.read(), actionType } });
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
          const errors = thrown instanceof ApiError ? thrown.problem.errors ?? [] : [];
          for (const { pointer, detail } of errors) {
            members.showError(parsePointer(pointer), detail);
          }
          focusInvalidField(container);
          throw thrown;
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

  #openNewDialog(onChosen: (identifier: string) => void): void {
    const { element, choose } = this.createChooser();
    const problem = h('p.problem', { role: 'alert' });
    const use = submitButton('Use it');
    const create = (): Promise<void> => choose().then((identifier) => {
      onChosen(identifier);
      dialog.close();
    }, (thrown: unknown) => {
      problem.textContent = messageOf(thrown);
    });
    const dialog = openDialog('New action', [asyncForm(use, create, element, problem,
      h('div.actions', h('button', { onclick: () => dialog.close() }, 'Cancel'), use))]);
  }

  #optionElements(): HTMLOptionElement[] {
    return this.configurations.map(({ identifier }) =>
      h('option', { value: identifier }, this.describe(identifier)));
  }
}

/** Chooses an action configuration, or makes one by a form of the action's own options. */
import { ApiError, call, get, messageOf } from '../../base/api.ts';
import { fill, h } from '../../base/dom.ts';
import { openDialog } from '../dialog.ts';
import { doOnce } from '../work-button.ts';
import { field } from './field.ts';
import { leaf } from './leaf.ts';
import { pairsField } from './pairs.ts';
import type { Field, FieldOptions } from './leaf.ts';
import type { ActionDescription, WebhookActionConfiguration } from '../../../app/api-types.ts';

const DESCRIBED_LENGTH_MAX = 90;

type ActionChooser = {
  readonly element: HTMLElement;
  /** The identifier of the configuration that was chosen, or made now. Throws ApiError. */
  readonly choose: () => Promise<string>;
};

/** What the service can do, and the configurations of it that exist. */
export class Actions {
  readonly #actions: readonly ActionDescription[];
  readonly #configurations: WebhookActionConfiguration[];

  private constructor(
    actions: readonly ActionDescription[], configurations: WebhookActionConfiguration[],
  ) {
    this.#actions = actions;
    this.#configurations = configurations;
  }

  static async read(): Promise<Actions> {
    return new Actions(...await Promise.all([
      get<readonly ActionDescription[]>('/api/actions'),
      get<WebhookActionConfiguration[]>('/api/action-configurations'),
    ]));
  }

  /** What a configuration does, in words. */
  describe(identifier: string): string {
    const one = this.#configurations.find((each) => each.identifier === identifier);
    if (one === undefined) return identifier;
    const label = this.#actions.find((each) => each.identifier === one.actionType)?.label;
    const options = Object.values(one.options ?? {}).map((value) =>
      typeof value === 'string' ? value : JSON.stringify(value));
    const what = [label ?? one.actionType, options.join(', ')].filter((text) => text !== '')
      .join(': ');
    return (one.description === undefined ? what : `${one.description} (${what})`)
      .slice(0, DESCRIBED_LENGTH_MAX);
  }

  chooser(): ActionChooser {
    const existing = h('optgroup', { label: 'One that exists' }, ...this.#options());
    const select = h('select', {}, h('optgroup', { label: 'A new one' },
      ...this.#actions.map(({ identifier, label }) =>
        h('option', { value: `new ${identifier}` }, label))), existing);
    const choice = leaf({
      name: 'action', schema: {}, value: '', isRequired: true,
    }, select, () => select.value);
    const place = h('div', { class: 'record' });
    let fields = new Map<string, Field>();
    const description = field({
      name: 'description', isRequired: false, value: undefined, schema: {
        type: 'string', description: 'What it is for. It stands wherever the action is chosen',
      },
    });
    const show = (): void => {
      const action = this.#actions.find(({ identifier }) => `new ${identifier}` === select.value);
      fields = new Map(action?.options.map((option) => [option.name, optionField(option)]));
      const shown = action === undefined ? [] : [...fields.values(), description];
      fill(place, ...shown.map(({ element }) => element));
    };
    select.addEventListener('change', show);
    show();
    const make = async (): Promise<string> => {
      for (const one of [...fields.values(), description]) one.clear();
      const options = [...fields].map(([name, { read }]) => [name, read()] as const)
        .filter(([, value]) => value !== undefined);
      const { body } = await call<WebhookActionConfiguration>('POST',
        '/api/action-configurations', {
          body: {
            actionType: select.value.slice(4), options: Object.fromEntries(options),
            description: description.read(),
          },
        });
      this.#configurations.push(body);
      fill(existing, ...this.#options());
      select.value = body.identifier;
      show();
      return body.identifier;
    };
    return {
      element: h('div', { class: 'record' }, choice.element, place),
      choose: async () => {
        if (!select.value.startsWith('new ')) return select.value;
        try {
          return await make();
        } catch (thrown) {
          blame(thrown, fields, description);
          throw thrown;
        }
      },
    };
  }

  /** A member that names a configuration. */
  field(options: FieldOptions): Field {
    const select = h('select', {}, options.isRequired ? null : h('option', { value: '' }, 'None'),
      ...this.#options());
    if (typeof options.value === 'string') select.value = options.value;
    const add = h('button', { type: 'button', class: 'quiet', onclick: () => {
      this.#openNew((identifier) => {
        select.append(...this.#options().filter(({ value }) => value === identifier));
        select.value = identifier;
      });
    } }, 'New action…');
    return leaf(options, select, () => select.value || undefined, add);
  }

  #openNew(done: (identifier: string) => void): void {
    const { element, choose } = this.chooser();
    const problem = h('p', { class: 'problem', role: 'alert' });
    const use = h('button', { type: 'submit', class: 'primary' }, 'Use it');
    const make = (): Promise<void> => choose().then((identifier) => {
      done(identifier);
      dialog.close();
    }, (thrown: unknown) => {
      problem.textContent = messageOf(thrown);
    });
    const dialog = openDialog('New action', [h('form', { novalidate: true, onsubmit: (event) => {
      event.preventDefault();
      void doOnce([use], make);
    } }, element, problem, h('div', { class: 'actions' },
      h('button', { type: 'button', onclick: () => dialog.close() }, 'Cancel'), use))]);
  }

  #options(): HTMLOptionElement[] {
    return this.#configurations.map(({ identifier }) =>
      h('option', { value: identifier }, this.describe(identifier)));
  }
}

function blame(
  thrown: unknown, fields: ReadonlyMap<string, Field>, description: Field,
): void {
  if (!(thrown instanceof ApiError)) return;
  for (const { pointer, detail } of thrown.problem.errors ?? []) {
    const [, member, option = ''] = pointer.split('/');
    (member === 'description' ? description : fields.get(option))?.blame([], detail);
  }
}

function optionField(
  { name, description, isRequired = false, default: standard }:
  ActionDescription['options'][number],
): Field {
  if (name === 'headers') {
    return pairsField({ name, isRequired, value: undefined, schema: { description } });
  }
  const isSwitch = typeof standard === 'boolean';
  const made = field({
    name, isRequired, value: undefined,
    schema: { type: isSwitch ? 'boolean' : 'string', description, default: standard },
  });
  return { ...made, read: () => isSwitch ? made.read() : valueOf(made.read()) };
}

/** Objects and arrays are typed as JSON; everything else is text. */
function valueOf(text: unknown): unknown {
  if (typeof text !== 'string' || !/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

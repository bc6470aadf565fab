/** Chooses an action configuration, or makes one by a form of the action's own options. */
import { call, get } from '../../base/api.ts';
import { fill, h } from '../../base/dom.ts';
import { field } from './field.ts';
import type { Field } from './field.ts';
import type { ActionDescription, WebhookActionConfiguration } from '../../../app/api.ts';

export interface ActionChooser {
  readonly element: HTMLElement;
  /** The identifier of the configuration that was chosen, or made now. Throws ApiError. */
  choose(): Promise<string>;
}

export async function actionChooser(chosen = ''): Promise<ActionChooser> {
  const [actions, configurations] = await Promise.all([
    get<readonly ActionDescription[]>('/api/actions'),
    get<readonly WebhookActionConfiguration[]>('/api/action-configurations'),
  ]);
  const select = h('select', { id: 'action' },
    h('optgroup', { label: 'A new configuration' }, ...actions.map(({ identifier, label }) =>
      h('option', { value: `new ${identifier}` }, label))),
    h('optgroup', { label: 'One that exists' }, ...configurations.map((one) =>
      h('option', { value: one.identifier }, `${one.actionType} ${summaryOf(one.options)}`))));
  if (chosen !== '') select.value = chosen;
  const place = h('div', { class: 'record' });
  let fields = new Map<string, Field>();
  const show = (): void => {
    const action = actions.find(({ identifier }) => `new ${identifier}` === select.value);
    fields = new Map(action?.options.map((option) => [option.name, optionField(option)]));
    fill(place, ...[...fields.values()].map(({ element }) => element));
  };
  select.addEventListener('change', show);
  show();
  return {
    element: h('div', { class: 'record' },
      h('div', { class: 'field' }, h('label', { for: 'action' }, 'Action'), select), place),
    async choose() {
      if (!select.value.startsWith('new ')) return select.value;
      const options = [...fields].map(([name, { read }]) => [name, read()] as const)
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => [name, valueOf(String(value))]);
      const path = '/api/action-configurations';
      const { body } = await call<WebhookActionConfiguration>('POST', path, {
        body: { actionType: select.value.slice(4), options: Object.fromEntries(options) },
      });
      return body.identifier;
    },
  };
}

function optionField(
  { name, description, isRequired = false }: ActionDescription['options'][number],
): Field {
  return field({
    name, isRequired, value: undefined, schema: { type: 'string', description, maxLength: 100 },
  });
}

/** Options are any JSON; what is none is text. */
function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function summaryOf(options: WebhookActionConfiguration['options']): string {
  const text = JSON.stringify(options ?? {});
  return text === '{}' ? '' : text.slice(0, 60);
}

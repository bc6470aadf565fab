/** A new action configuration: what it does is chosen first, and has a form of its own. */
import { href } from '../../base/screen-address.ts';
import { callApi } from '../../base/api-calls.ts';
import { fill, h } from '../../base/dom.ts';
import { loadModel, pickMembers, type ModelSchema } from '../../base/model-schema.ts';
import { backLink, heading } from '../../parts/facts.ts';
import { ActionCatalog, CONFIGURATION_MODEL } from '../../parts/forms/action-chooser.ts';
import { createOptionsField } from '../../parts/forms/action-options.ts';
import { inputField } from '../../parts/forms/input-field.ts';
import { recordForm } from '../../parts/forms/record-form.ts';
import { showNotice } from '../../parts/notice.ts';
import { goIfStillHere, openView } from '../../parts/screen.ts';
import type { WebhookActionConfiguration } from '../../../app/api-types.ts';

/** `initialType` is the action that is chosen at first. */
export function openNewAction(container: HTMLElement, initialType: string | null): () => void {
  return openView(container, async () => {
    const [model, catalog] = await Promise.all([
      loadModel(CONFIGURATION_MODEL), ActionCatalog.load(),
    ]);
    const schema = pickMembers(model, ['options', 'identifier', 'description']);
    render(container, schema, catalog, initialType);
  });
}

function render(
  container: HTMLElement, schema: ModelSchema, catalog: ActionCatalog, initialType: string | null,
): void {
  const select = h('select', {}, ...catalog.actions.map(({ identifier, label }) =>
    h('option', { value: identifier }, label)));
  if (initialType !== null) select.value = initialType;
  const { element } = inputField({
    name: 'actionType', label: 'What it does', schema: {}, value: '', isRequired: true,
  }, select, () => select.value);
  const form = h('div');
  const show = (): void => {
    const actionType = select.value;
    fill(form, recordForm({
      schema, value: {}, action: 'Add the action',
      factories: {
        'action-options': (field) => createOptionsField(catalog.findAction(actionType), field),
      },
      save: async (value) => {
        const { body } = await callApi<WebhookActionConfiguration>('POST',
          '/api/action-configurations', { body: { ...value, actionType } });
        showNotice(`${body.identifier} is there.`);
        goIfStillHere(container, ['actions', body.identifier]);
      },
    }).element);
  };
  select.addEventListener('change', show);
  show();
  fill(container, backLink('actions', 'Actions'),
    heading('A new action', h('a', { href: href(['actions']), class: 'button' }, 'Cancel')),
    h('div.record', element, form));
}

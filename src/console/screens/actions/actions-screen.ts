/** The screen of actions: their configurations, which actions there are, and new configurations. */
import { callApi } from '../../base/api-calls.ts';
import { callerSession } from '../../base/caller-session.ts';
import { createSelect, fill, h, type Child } from '../../base/dom.ts';
import { timeElement } from '../../base/format.ts';
import { loadModel, pickMembers, type ModelSchema } from '../../base/model-schema.ts';
import { href, replaceQuery, type ScreenAddress } from '../../base/screen-address.ts';
import { actionState } from '../../parts/badge.ts';
import {
  ActionCatalog, CONFIGURATION_MODEL, createOptionsField,
} from '../../parts/forms/action-fields.ts';
import { inputField } from '../../parts/forms/input-field.ts';
import { recordForm } from '../../parts/forms/record-form.ts';
import { emptyState, loadingLine, showNotice } from '../../parts/notice.ts';
import {
  backLink, goIfStillHere, heading, keepCurrent, linkButton, openForm, openView,
} from '../../parts/screen.ts';
import { stackedTable } from '../../parts/tables.ts';
import type { ActionDescription, WebhookActionConfiguration } from '../../../app/api-types.ts';
import { openAction, openActionEditor } from './action-view.ts';

export function openActionsScreen(
  container: HTMLElement, { path: [, step, form], query }: ScreenAddress,
): () => void {
  if (step === 'new') {
    return openForm(container, 'admin', 'add actions',
      () => openNewAction(container, query.get('action')));
  }
  if (step !== undefined) {
    return form === 'edit' ? openActionEditor(container, step) : openAction(container, step);
  }
  const content = h('div', loadingLine());
  fill(container, heading('Actions', callerSession.may('admin')
    ? linkButton('Add an action', ['actions', 'new'], { style: 'primary' }) : null),
  content);
  // An action may be switched off, and runs again by itself.
  return keepCurrent(content, async () => renderLists(await ActionCatalog.load())).close;
}

function renderLists(catalog: ActionCatalog): HTMLElement[] {
  const { configurations, actions } = catalog;
  return [
    configurations.length === 0 ? emptyState('None is set up yet. One that writes to the log:',
      'hookshelf actionconfig:create --action log --identifier note-it')
      : stackedTable(['Name', 'What it does', 'Changed'], configurations.map((configuration) =>
        renderConfiguration(catalog, configuration))),
    h('h2', 'What actions can do'),
    stackedTable(['Action', 'Name', 'From', 'State'], actions.map(renderAction)),
  ];
}

function renderConfiguration(
  catalog: ActionCatalog, { identifier, actionType, updatedAt }: WebhookActionConfiguration,
): Child[] {
  const title = catalog.findTitle(identifier);
  const description = catalog.describe(identifier);
  return [
    h('a', { href: href(['actions', identifier]) }, title),
    h('span', title === description ? null : description, ' ',
      actionState(catalog.findAction(actionType))),
    timeElement(updatedAt),
  ];
}

function renderAction(action: ActionDescription): Child[] {
  const { identifier, label, isBuiltIn, module } = action;
  return [
    label, h('code', identifier), isBuiltIn ? 'built in' : h('code', module ?? 'this program'),
    actionState(action) ?? 'ready',
  ];
}

function openNewAction(container: HTMLElement, initialType: string | null): () => void {
  return openView(container, async () => {
    const [model, catalog] = await Promise.all([
      loadModel(CONFIGURATION_MODEL), ActionCatalog.load(),
    ]);
    const schema = pickMembers(model, ['options', 'identifier', 'description']);
    renderNew(container, schema, catalog, initialType);
  });
}

/** The action is chosen first, and has a form of its own. */
function renderNew(
  container: HTMLElement, schema: ModelSchema, catalog: ActionCatalog, initialType: string | null,
): void {
  const select = createSelect(catalog.actions.map(({ identifier, label }) => [identifier, label]),
    initialType ?? undefined);
  const { element } = inputField({
    name: 'actionType', label: 'What it does', isRequired: true,
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
  select.addEventListener('change', () => {
    replaceQuery({ action: select.value });
    show();
  });
  show();
  fill(container, backLink('actions', 'Actions'),
    heading('A new action', linkButton('Cancel', ['actions'])),
    h('div.record', element, form));
}

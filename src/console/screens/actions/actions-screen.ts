/** The screen of actions: their configurations, and which actions there are, with their state. */
import { href, type ScreenAddress } from '../../base/screen-address.ts';
import { fill, h, refill, type Child } from '../../base/dom.ts';
import { timeElement } from '../../base/format.ts';
import { callerSession } from '../../base/caller-session.ts';
import { actionState } from '../../parts/action-state.ts';
import { repeatWhileSeen } from '../../parts/current-content.ts';
import { heading } from '../../parts/facts.ts';
import { ActionCatalog } from '../../parts/forms/action-chooser.ts';
import type { ActionDescription, WebhookActionConfiguration } from '../../../app/api-types.ts';
import { emptyState, showFailureNotice } from '../../parts/notice.ts';
import { stackedTable } from '../../parts/plain-table.ts';
import { openView } from '../../parts/screen.ts';
import { openAction } from './action-view.ts';
import { openNewAction } from './new-action.ts';

export function openActionsScreen(
  container: HTMLElement, { path: [, step], query }: ScreenAddress,
): () => void {
  if (step === 'new') return openNewAction(container, query.get('action'));
  if (step !== undefined) return openAction(container, step);
  const content = h('div');
  const show = async (): Promise<void> => {
    const catalog = await ActionCatalog.load();
    // Content that is there already is not replaced: the user may be using it.
    refill(content, ...renderLists(catalog));
    if (content.parentElement === null) fill(container, renderHeading(), content);
  };
  const close = openView(container, show);
  // An action may be switched off, and runs again by itself.
  const endRefresh = repeatWhileSeen(() => {
    if (content.isConnected) void show().catch(showFailureNotice);
  });
  return () => {
    endRefresh();
    close();
  };
}

function renderHeading(): HTMLElement {
  return heading('Actions', callerSession.may('admin')
    ? h('a', { href: href(['actions', 'new']), class: 'button primary' }, 'Add an action') : null);
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
  return [
    h('a', { href: href(['actions', identifier]) }, identifier),
    h('span', catalog.describe(identifier), ' ', actionState(catalog.findAction(actionType))),
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

/** The view of one action configuration: its options, who uses it, and its form. */
import { callApi, getJson } from '../../base/api-calls.ts';
import { callerSession } from '../../base/caller-session.ts';
import { fill, h, type Child } from '../../base/dom.ts';
import { formatValue, timeElement } from '../../base/format.ts';
import { loadModel, pickMembers } from '../../base/model-schema.ts';
import { apiPath, href } from '../../base/screen-address.ts';
import { createWebhookLabel } from '../../base/webhook-labels.ts';
import { actionState, missingAction } from '../../parts/badge.ts';
import { asyncButton } from '../../parts/buttons.ts';
import { confirmAndDelete } from '../../parts/deletion.ts';
import {
  ActionCatalog, CONFIGURATION_MODEL, createOptionsField,
} from '../../parts/forms/action-fields.ts';
import { openEditor } from '../../parts/forms/edit-record.ts';
import { backLink, heading, linkButton, openForm, openView } from '../../parts/screen.ts';
import { factList, plainTable } from '../../parts/tables.ts';
import type {
  ActionDescription, IncomingWebhook, OutgoingWebhook, WebhookActionConfiguration,
} from '../../../app/api-types.ts';

type ActionView = {
  readonly title: string;
  readonly configuration: WebhookActionConfiguration; readonly path: string;
  /** undefined: there is no such action any more. */
  readonly action: ActionDescription | undefined;
};

export function openAction(container: HTMLElement, id: string): () => void {
  const path = apiPath('action-configurations', id);
  return openView(container, async () => {
    const [configuration, catalog, incoming, outgoing] = await Promise.all([
      getJson<WebhookActionConfiguration>(path), ActionCatalog.load(),
      getJson<readonly IncomingWebhook[]>('/api/incoming-webhooks'),
      getJson<readonly OutgoingWebhook[]>('/api/outgoing-webhooks'),
    ]);
    const view = {
      title: catalog.findTitle(id), configuration, path,
      action: catalog.findAction(configuration.actionType),
    };
    const users = [
      ...incoming.filter((webhook) => usesAction(webhook, id))
        .map((webhook) => renderUser('incoming', webhook)),
      ...outgoing.filter(({ actionConfiguration }) => actionConfiguration === id)
        .map((webhook) => renderUser('outgoing', webhook)),
    ];
    render(container, view, users);
  });
}

export function openActionEditor(container: HTMLElement, id: string): () => void {
  const path = apiPath('action-configurations', id);
  return openForm(container, 'admin', 'change actions', () => openEditor(container, async () => {
    const [{ body: configuration, etag }, catalog, model] = await Promise.all([
      callApi<WebhookActionConfiguration>('GET', path), ActionCatalog.load(),
      loadModel(CONFIGURATION_MODEL),
    ]);
    const action = catalog.findAction(configuration.actionType);
    return {
      title: `Edit ${catalog.findTitle(id)}`, path, address: ['actions', id],
      record: configuration, etag, schema: pickMembers(model, ['options', 'description']),
      factories: { 'action-options': (field) => createOptionsField(action, field) },
    };
  }));
}

function usesAction({ actionConfiguration, routes = [] }: IncomingWebhook, id: string): boolean {
  return actionConfiguration === id || routes.some((route) => route.actionConfiguration === id);
}

function renderUser(
  screen: 'incoming' | 'outgoing', webhook: IncomingWebhook | OutgoingWebhook,
): HTMLElement {
  return h('li', h('a', { href: href([screen, webhook.identifier]) },
    createWebhookLabel(webhook).title), ` (${screen})`);
}

function render(
  container: HTMLElement, view: ActionView, users: readonly HTMLElement[],
): void {
  const { title, configuration, action } = view;
  const { identifier, description, actionType, options, createdAt, updatedAt } = configuration;
  const rows = Object.entries(options)
    .map(([name, value]): Child[] => [name, h('code', formatValue(value))]);
  fill(container, backLink('actions', 'Actions'),
    heading(title,
      ...callerSession.may('admin') ? buttons(container, view, users.length) : []),
    description === undefined ? null : h('p', description),
    factList([
      ['Id', title === identifier ? null : h('code', identifier)],
      ['Action', action?.label ?? `${actionType}, which is not there any more`],
      ['Module', action?.module ?? null],
      ['State', action === undefined ? missingAction(actionType) : actionState(action)],
      ['Used by', users.length === 0 ? 'no webhook' : h('ul.plain-list', {}, ...users)],
      ['Added', timeElement(createdAt)], ['Changed', timeElement(updatedAt)],
    ]),
    h('h2', 'Options'),
    rows.length === 0 ? h('p.hint', 'All as they are by default.')
      : plainTable(['Option', 'Value'], rows));
}

function buttons(
  container: HTMLElement, view: ActionView, userCount: number,
): (HTMLElement | null)[] {
  const { title, configuration: { identifier }, path } = view;
  return [
    linkButton('Edit', ['actions', identifier, 'edit']),
    // The server deletes none that a webhook uses.
    userCount > 0 ? null : asyncButton('Delete', () => confirmAndDelete(container, {
      name: title, path, address: ['actions', identifier],
    }, {
      title: `Delete ${title}?`,
      text: 'Its options will be lost. One that a webhook uses is not deleted.',
      command: `hookshelf actionconfig:delete --identifier ${identifier}`,
    }), 'danger'),
  ];
}

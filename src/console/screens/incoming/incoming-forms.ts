/**
 * Forms that edit an incoming webhook: one for its sender, one for its action and routes, which can
 * be tried with a stored request.
 */
import { callApi, getJson } from '../../base/api-calls.ts';
import { callerSession } from '../../base/caller-session.ts';
import { createSelect, fill, h } from '../../base/dom.ts';
import { formatTimestamp } from '../../base/format.ts';
import {
  filterMembers, loadModel, pickMembers, type ModelSchema,
} from '../../base/model-schema.ts';
import { apiPath, appendQuery } from '../../base/screen-address.ts';
import { createWebhookLabel } from '../../base/webhook-labels.ts';
import { badge } from '../../parts/badge.ts';
import { asyncButton } from '../../parts/buttons.ts';
import { ActionCatalog } from '../../parts/forms/action-fields.ts';
import { formatCondition } from '../../parts/forms/condition-text.ts';
import { openEditor } from '../../parts/forms/edit-record.ts';
import { inputField, type FieldFactories } from '../../parts/forms/input-field.ts';
import { presetField } from '../../parts/forms/preset-field.ts';
import { showFailureNotice } from '../../parts/notice.ts';
import { forgetNewSecret } from '../../parts/rotate-secret.ts';
import type { IncomingWebhook, ResponseBodyOf } from '../../../app/api-types.ts';
import type { PublicRequest } from '../../../webhooks/inbox/request-schema.ts';
import type { PresetDescription } from '../../../webhooks/senders/presets/preset-schema.ts';

export const INCOMING_MODEL = 'IncomingWebhookBody';

const isOfAction = (member: ModelSchema): boolean => member['x-form']?.group === 'action';

/** The form for all but what `openActionsEditor` edits. */
export function openIncomingEditor(container: HTMLElement, id: string): () => void {
  return openEditor(container, async () => {
    const path = apiPath('incoming-webhooks', id);
    const [{ body: webhook, etag }, model, presets] = await Promise.all([
      callApi<IncomingWebhook>('GET', path), loadModel(INCOMING_MODEL),
      getJson<readonly PresetDescription[]>('/api/verification-presets'),
    ]);
    return {
      title: `Edit ${createWebhookLabel(webhook).title}`, path, address: ['incoming', id],
      record: webhook, etag, schema: filterMembers(model, (member) => !isOfAction(member)),
      onSaved: () => forgetNewSecret(id),
      factories: createSenderFields(presets, () => {}),
    };
  });
}

/** The form for the action and the routes. */
export function openActionsEditor(container: HTMLElement, id: string): () => void {
  return openEditor(container, async () => {
    const path = apiPath('incoming-webhooks', id);
    const [{ body: webhook, etag }, model, actions] = await Promise.all([
      callApi<IncomingWebhook>('GET', path), loadModel(INCOMING_MODEL), ActionCatalog.load(),
    ]);
    return {
      title: `What ${createWebhookLabel(webhook).title} does`, path, address: ['incoming', id],
      record: webhook, etag, schema: filterMembers(model, isOfAction),
      factories: { action: (options) => actions.createField(options) },
      renderBeside: (read) => trySection(webhook, () => read()['routes']),
    };
  });
}

/** `onChange` gets the chosen preset, also once at the beginning; null for none. */
export function createSenderFields(
  presets: readonly PresetDescription[], onChange: (preset: PresetDescription | null) => void,
): FieldFactories {
  const find = (name: string): PresetDescription | null =>
    presets.find((preset) => preset.name === name) ?? null;
  return {
    sender: (options) => presetField(options, {
      choices: [['', 'Anybody, or X-Signature where there is a secret'],
        [TOKEN, 'A token in a header or in the address'],
        ...presets.map(({ name, sender }) => [name, sender] as const)],
      selectMembers: (model, name) =>
        name === TOKEN ? TOKEN_MODEL : selectMembers(model, find(name)),
      toValue: (preset, members) =>
        preset === TOKEN ? createTokenVerification(members) : { preset, ...members },
      onChange: (name) => onChange(name === TOKEN ? describeToken(find('custom')) : find(name)),
    }),
  };
}

/** The choice of a scheme with a token; no preset has such a name. */
const TOKEN = '{token}';
/** Errors of the scheme are shown beside the place of its token. */
const TOKEN_MODEL: ModelSchema = {
  properties: {
    scheme: {
      title: 'Where the token stands', 'x-form': {
        choices: [
          ['', 'Choose…'], ['header', 'In the header', 'Such as X-Token'],
          ['query', 'In the parameter of the address', 'Such as token'],
        ],
      },
    },
  },
  required: ['scheme'],
};

function createTokenVerification({ scheme: from }: Readonly<Record<string, unknown>>): unknown {
  return {
    preset: 'custom', scheme: {
      algorithm: 'token', key: 'utf8', content: '', signature: { from, encoding: 'utf8' },
    },
  };
}

/** The token may be made here, and its sender has no name to begin a path with. */
function describeToken(custom: PresetDescription | null): PresetDescription | null {
  return custom === null ? null
    : { ...custom, name: '', sender: 'the sender', secretFrom: 'here' };
}

/** The members that a preset needs, or takes. */
function selectMembers(model: ModelSchema, preset: PresetDescription | null): ModelSchema {
  if (preset === null) return {};
  const { needs, accepts, toleranceS } = preset;
  const { properties } = pickMembers(model, [
    ...needs, ...accepts.filter((name) => name === 'origins'),
    ...toleranceS === null ? [] : ['toleranceS'],
  ]);
  const tolerance = toleranceS === null ? {}
    : { toleranceS: { ...properties?.['toleranceS'], default: toleranceS } };
  return { properties: { ...properties, ...tolerance }, required: needs };
}

/** Which routes a request would run, and for the others why not. */
type RouteMatches = ResponseBodyOf<'POST', '/api/incoming-webhooks/{identifier}/match'>;
const CHOICES_MAX = 20;

export function actionSection(webhook: IncomingWebhook, actions: ActionCatalog): HTMLElement {
  const { routes, actionConfiguration = '' } = webhook;
  const tryRoutes = routes === undefined ? null : trySection(webhook, () => undefined);
  return h('section', h('h2', 'What is done'), routes === undefined
    ? h('p', actions.createLink(actionConfiguration), ', for every request.')
    : h('ul.log', {}, ...routes.map((route) => h('li',
      h('strong', route.name), ' ', actions.createLink(route.actionConfiguration), ', ',
      route.when === undefined ? 'for every request'
        : h('span', 'when ', h('code', formatCondition(route.when)))))), tryRoutes);
}

/**
 * Lets the user choose one of the webhook's last requests, and shows which routes it would run: of
 * those that `readRoutes` returns, else of those that are stored.
 */
function trySection(
  webhook: IncomingWebhook, readRoutes: () => unknown,
): HTMLElement | null {
  if (!callerSession.may('write')) return null;
  const container = h('div.record');
  void showRecentRequests(webhook, readRoutes, container);
  return container;
}

async function showRecentRequests(
  { identifier }: IncomingWebhook, readRoutes: () => unknown, container: HTMLElement,
): Promise<void> {
  try {
    const requests = await getJson<readonly PublicRequest[]>(
      appendQuery('/api/requests', { hook: identifier, limit: String(CHOICES_MAX) }));
    if (requests.length === 0) {
      return fill(container, h('p.hint',
        'Once a request is kept, you can see here which routes it would run.'));
    }
    const select = createSelect(requests.map(({ id, receivedAt, event, status }) =>
      [id, `${formatTimestamp(receivedAt)}, ${event ?? 'no event'}, ${status}`]));
    const result = h('div', { role: 'status' });
    const run = async (): Promise<void> => {
      const path = apiPath('incoming-webhooks', identifier, 'match');
      const { body } = await callApi<RouteMatches>('POST', path, {
        body: { request: select.value, routes: readRoutes() },
      });
      fill(result, h('ul.log', {}, ...body.routes.map(({ name, matches, failed }) =>
        h('li', h('strong', name), ' ', badge(matches ? 'would run' : 'left out'), ' ',
          failed.map(({ detail }) => detail).join('; ')))));
    };
    const { element } = inputField({
      name: 'request', label: 'Try the routes with a request',
    }, select, () => select.value, h('div.actions', asyncButton('Try it', run)));
    fill(container, element, result);
  } catch (thrown) {
    showFailureNotice(thrown);
  }
}

/** Shows the action or the routes of a webhook, and tries routes with a stored request. */
import { apiPath, appendQuery } from '../../base/screen-address.ts';
import { callApi, getJson } from '../../base/api-calls.ts';
import { fill, h, createSelect } from '../../base/dom.ts';
import { formatTimestamp } from '../../base/format.ts';
import { callerSession } from '../../base/caller-session.ts';
import { badge } from '../../parts/badge.ts';
import { asyncButton } from '../../parts/buttons.ts';
import type { ActionCatalog } from '../../parts/forms/action-chooser.ts';
import { formatCondition } from '../../parts/forms/condition-text.ts';
import { inputField } from '../../parts/forms/input-field.ts';
import { showFailureNotice } from '../../parts/notice.ts';
import type { PublicRequest } from '../../../webhooks/inbox/request-schema.ts';
import type { IncomingWebhook, ResponseBodyOf } from '../../../app/api-types.ts';

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
export function trySection(
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

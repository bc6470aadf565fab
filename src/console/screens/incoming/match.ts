/** What a webhook does: its action, or its routes, tried against a request that was kept. */
import { call, get } from '../../base/api.ts';
import { fill, h } from '../../base/dom.ts';
import { exact } from '../../base/format.ts';
import { session } from '../../base/session.ts';
import { badge } from '../../parts/badge.ts';
import type { Actions } from '../../parts/forms/action-chooser.ts';
import { conditionWords } from '../../parts/forms/condition-text.ts';
import { leaf } from '../../parts/forms/leaf.ts';
import { tellFailure } from '../../parts/notice.ts';
import type { IncomingWebhook } from '../../../app/api-types.ts';

type Match = {
  readonly routes: readonly {
    readonly name: string; readonly matches: boolean;
    readonly failed: readonly { readonly detail: string }[];
  }[];
};
type Kept = {
  readonly id: string; readonly receivedAt: string; readonly event: string | null;
  readonly status: string;
};

const CHOICES = 20;

export function actionSection(hook: IncomingWebhook, actions: Actions): HTMLElement {
  const { routes, actionConfiguration = '' } = hook;
  const tried = routes === undefined ? null : trySection(hook, () => undefined);
  return h('section', {}, h('h2', {}, 'What is done'), routes === undefined
    ? h('p', {}, `${actions.describe(actionConfiguration)}, for every request.`)
    : h('ul', { class: 'log' }, ...routes.map((route) => h('li', {},
      h('strong', {}, route.name), ` ${actions.describe(route.actionConfiguration)}, `,
      route.when === undefined ? 'for every request'
        : h('span', {}, 'when ', h('code', {}, conditionWords(route.when)))))), tried);
}

/**
 * Offers the last requests of the webhook to choose from, to try its routes with, or those that
 * `readRoutes` gives.
 */
export function trySection(hook: IncomingWebhook, readRoutes: () => unknown): HTMLElement | null {
  if (!session.may('write')) return null;
  const place = h('div', { class: 'record' });
  void offerTry(hook, readRoutes, place);
  return place;
}

async function offerTry(
  { identifier }: IncomingWebhook, readRoutes: () => unknown, place: HTMLElement,
): Promise<void> {
  try {
    const kept = await get<readonly Kept[]>(`/api/requests?hook=${identifier}&limit=${CHOICES}`);
    if (kept.length === 0) {
      return fill(place, h('p', { class: 'hint' }, 'Once a request is kept, you can see here which '
        + 'routes it would run.'));
    }
    const select = h('select', {}, ...kept.map(({ id, receivedAt, event, status }) =>
      h('option', { value: id }, `${exact(receivedAt)}, ${event ?? 'no event'}, ${status}`)));
    const answer = h('div', { role: 'status' });
    const run = async (): Promise<void> => {
      const path = `/api/incoming-webhooks/${identifier}/match`;
      const { body } = await call<Match>('POST', path, {
        body: { request: select.value, routes: readRoutes() },
      });
      fill(answer, h('ul', { class: 'log' }, ...body.routes.map(({ name, matches, failed }) =>
        h('li', {}, h('strong', {}, name), ' ', badge(matches ? 'would run' : 'left out'), ' ',
          failed.map(({ detail }) => detail).join('; ')))));
    };
    const { element } = leaf({
      name: 'request', label: 'Try the routes with a request', value: '', isRequired: false,
      schema: {},
    }, select, () => select.value, h('div', { class: 'actions' }, h('button', {
      type: 'button', onclick: () => void run().catch(tellFailure),
    }, 'Try it')));
    fill(place, element, answer);
  } catch (thrown) {
    tellFailure(thrown);
  }
}

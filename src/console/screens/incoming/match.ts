/** The routes of a webhook tried against a request that was kept. */
import { call } from '../../base/api.ts';
import { fill, h } from '../../base/dom.ts';
import { badge } from '../../parts/badge.ts';
import { tellFailure } from '../../parts/notice.ts';
import type { IncomingWebhook } from '../../../app/api.ts';

type Match = {
  readonly routes: readonly {
    readonly name: string; readonly matches: boolean;
    readonly failed: readonly { readonly pointer: string }[];
  }[];
};

export function matchView({ identifier, routes = [] }: IncomingWebhook): HTMLElement {
  const input = h('input', { type: 'text', id: 'request', placeholder: 'id of a kept request' });
  const place = h('div', { role: 'status' });
  const run = async (): Promise<void> => {
    try {
      const { body } = await call<Match>('POST', `/api/incoming-webhooks/${identifier}/match`, {
        body: { request: input.value.trim() },
      });
      fill(place, h('ul', { class: 'log' }, ...body.routes.map(({ name, matches, failed }) =>
        h('li', {}, badge(matches ? 'done' : 'filtered'), h('span', { class: 'message' }, name),
          matches ? ' runs' : ` is left out: ${failed.map(({ pointer }) => pointer).join(' ')}`))));
    } catch (thrown) {
      tellFailure(thrown);
    }
  };
  return h('section', {}, h('h2', {}, 'Routes'),
    ...routes.map(({ name, when }) => h('div', { class: 'card' }, h('h3', {}, name),
      when === undefined ? h('p', { class: 'hint' }, 'runs for every request')
        : h('pre', {}, JSON.stringify(when, null, 2)))),
    h('form', { class: 'filters', onsubmit: (event) => {
      event.preventDefault();
      void run();
    } }, h('label', { class: 'filter', for: 'request' }, 'Which run for', input),
    h('button', { type: 'submit' }, 'Try')), place);
}

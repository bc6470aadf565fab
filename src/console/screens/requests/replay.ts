/** One request sent again: through which routes, and as which request. */
import { call, get } from '../../base/api.ts';
import { fill, h } from '../../base/dom.ts';
import { codeBlock } from '../../parts/code.ts';
import { openDialog } from '../../parts/dialog.ts';
import { mannerChoice } from '../../parts/lists/bulk.ts';
import { tell, tellFailure } from '../../parts/notice.ts';
import { requestPath } from './record.ts';
import type { RequestRecord } from './record.ts';

/** `onDone` is told the id of the request that runs, which may be another one. */
export async function askForReplay(
  place: HTMLElement, { id, hook, routes }: RequestRecord, onDone: (id: string) => void,
): Promise<void> {
  const names = new Set(routes.map(({ name }) => name));
  const now = await get<{ readonly routes?: readonly { readonly name: string }[] }>(
    `/api/incoming-webhooks/${encodeURIComponent(hook)}`);
  if (!place.isConnected) return;
  for (const { name } of now.routes ?? [{ name: 'default' }]) names.add(name);
  const chosen = new Set<string>();
  let manner = 'retry';
  const line = h('div');
  const show = (): void => {
    const only = chosen.size > 0 ? ` --routes ${[...chosen].join(',')}` : '';
    fill(line, codeBlock(`hookshelf request:replay ${id} --as ${manner}${only}`));
  };
  show();
  const boxes = [...names].map((name) => h('label', { class: 'choice' }, h('input', {
    type: 'checkbox', onchange: () => {
      if (!chosen.delete(name)) chosen.add(name);
      show();
    },
  }), name));
  const start = async (): Promise<void> => {
    dialog.close();
    try {
      const { body } = await call<RequestRecord>('POST', `${requestPath(id)}/replay`, {
        body: { as: manner, ...chosen.size > 0 ? { routes: [...chosen] } : {} },
      });
      tell(body.id === id ? 'It runs again.' : 'It runs again, as a new request.');
      onDone(body.id);
    } catch (thrown) {
      tellFailure(thrown);
    }
  };
  const dialog = openDialog('Send it again?', [
    mannerChoice((value) => {
      manner = value;
      show();
    }),
    boxes.length < 2 ? null : h('fieldset', {}, h('legend', {}, 'Routes'), ...boxes,
      h('p', { class: 'hint' }, 'Without a choice: those that failed, or else all that match.')),
    h('details', {}, h('summary', {}, 'As a command'), line),
    h('div', { class: 'actions' },
      h('button', { type: 'button', onclick: () => dialog.close() }, 'Cancel'),
      h('button', { type: 'button', class: 'primary', onclick: () => void start() },
        'Send again')),
  ]);
}

/** Asks how to send one request again: through which routes, and in which mode. */
import { callApi, getJson } from '../../base/api-calls.ts';
import { fill, h } from '../../base/dom.ts';
import { codeBlock } from '../../parts/code-block.ts';
import { commandDetails, openDialog } from '../../parts/dialog.ts';
import { sendModeChoice } from '../../parts/lists/bulk-dialog.ts';
import { showNotice, showFailureNotice } from '../../parts/notice.ts';
import { requestPath } from './request-path.ts';
import type { PublicRequest } from '../../../webhooks/inbox/request-schema.ts';

/** `onDone` gets the id of the request that runs, which may be a new one. */
export async function openReplayDialog(
  container: HTMLElement, { id, hook, routes }: PublicRequest, onDone: (id: string) => void,
): Promise<void> {
  const names = new Set(routes.map(({ name }) => name));
  const webhook = await getJson<{ readonly routes?: readonly { readonly name: string }[] }>(
    `/api/incoming-webhooks/${encodeURIComponent(hook)}`);
  if (!container.isConnected) return;
  for (const { name } of webhook.routes ?? [{ name: 'default' }]) names.add(name);
  const chosenRoutes = new Set<string>();
  let mode = 'retry';
  const line = h('div');
  const show = (): void => {
    const only = chosenRoutes.size > 0 ? ` --routes ${[...chosenRoutes].join(',')}` : '';
    fill(line, codeBlock(`hookshelf request:replay ${id} --as ${mode}${only}`));
  };
  show();
  const boxes = [...names].map((name) => h('label.choice', h('input', {
    type: 'checkbox', onchange: () => {
      if (!chosenRoutes.delete(name)) chosenRoutes.add(name);
      show();
    },
  }), name));
  const start = async (): Promise<void> => {
    dialog.close();
    try {
      const { body } = await callApi<PublicRequest>('POST', `${requestPath(id)}/replay`, {
        body: { as: mode, ...chosenRoutes.size > 0 ? { routes: [...chosenRoutes] } : {} },
      });
      showNotice(body.id === id ? 'It runs again.' : 'It runs again, as a new request.');
      onDone(body.id);
    } catch (thrown) {
      showFailureNotice(thrown);
    }
  };
  const dialog = openDialog('Send it again?', [
    sendModeChoice((value) => {
      mode = value;
      show();
    }),
    boxes.length < 2 ? null : h('fieldset', h('legend', 'Routes'), ...boxes,
      h('p.hint', 'Without a choice: those that failed, or else all that match.')),
    commandDetails(line),
    h('div.actions',
      h('button', { onclick: () => dialog.close() }, 'Cancel'),
      h('button.primary', { onclick: () => void start() },
        'Send again')),
  ]);
}

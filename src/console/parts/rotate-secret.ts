/** Rotates a webhook's secret: a new one is generated, and the old one counts for one more day. */
import { callApi } from '../base/api-calls.ts';
import { h } from '../base/dom.ts';
import { codeBlock } from './code-block.ts';
import { askToConfirm, openDialog } from './dialog.ts';
import { showNotice } from './notice.ts';

export async function rotateSecret(
  path: string, command: string, onDone: () => Promise<void>,
): Promise<void> {
  const isSure = await askToConfirm({
    title: 'Rotate the secret?', action: 'Make a new secret', command,
    text: 'A new secret is made and shown once. Both count until the old one ends, in 24 hours.',
  });
  if (!isSure) return;
  const { body: { secret } } = await callApi<{ readonly secret?: string }>('POST',
    `${path}/rotate-secret`, { body: {} });
  if (secret === undefined) showNotice('Rotated.');
  else await openSecretDialog(secret);
  await onDone();
}

/** Shows the secret this once. Resolves when the dialog is closed. */
export function openSecretDialog(secret: string): Promise<void> {
  return new Promise((resolve) => {
    const dialog = openDialog('The new secret', [
      h('p', 'It is shown this once. Paste it at the other side.'), codeBlock(secret),
      h('div.actions', h('button.primary', {
        onclick: () => dialog.close(),
      }, 'I have it')),
    ], { stays: true });
    dialog.addEventListener('close', () => resolve());
  });
}

/** A new secret beside the old one, which counts for a day longer. */
import { call } from '../base/api.ts';
import { h } from '../base/dom.ts';
import { codeBlock } from './code.ts';
import { confirm, openDialog } from './dialog.ts';
import { tell } from './notice.ts';

export async function rotateSecret(
  path: string, command: string, done: () => Promise<void>,
): Promise<void> {
  const isSure = await confirm({
    title: 'Rotate the secret?', action: 'Make a new secret', command,
    text: 'A new secret is made and shown once. Both count until the old one ends, in 24 hours.',
  });
  if (!isSure) return;
  const { body: { secret } } = await call<{ readonly secret?: string }>('POST',
    `${path}/rotate-secret`, { body: {} });
  if (secret === undefined) tell('Rotated.');
  else await showSecret(secret);
  await done();
}

/** Resolves once it is closed. */
export function showSecret(secret: string): Promise<void> {
  return new Promise((resolve) => {
    const dialog = openDialog('The new secret', [
      h('p', {}, 'It is shown this once. Paste it at the other side.'), codeBlock(secret),
      h('div', { class: 'actions' }, h('button', {
        type: 'button', class: 'primary', onclick: () => dialog.close(),
      }, 'I have it')),
    ], { stays: true });
    dialog.addEventListener('close', () => resolve());
  });
}

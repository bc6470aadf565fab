/** A new secret beside the old one, which counts for a day longer. */
import { call } from '../base/api.ts';
import { h } from '../base/dom.ts';
import { codeBlock } from './code.ts';
import { confirm, openDialog } from './dialog.ts';
import { tell, tellFailure } from './notice.ts';

export async function rotateSecret(path: string, command: string, done: () => void): Promise<void> {
  const isSure = await confirm({
    title: 'Rotate the secret?', action: 'Make a new secret', command,
    text: 'A new secret is made and shown once. Both count until the old one ends, in 24 hours.',
  });
  if (!isSure) return;
  try {
    const { body } = await call<{ readonly secret?: string }>('POST', `${path}/rotate-secret`, {
      body: {},
    });
    done();
    if (body.secret === undefined) return tell('Rotated.');
    const dialog = openDialog('The new secret', [
      h('p', {}, 'It is shown this once. Paste it at the other side.'), codeBlock(body.secret),
      h('div', { class: 'actions' }, h('button', {
        type: 'button', class: 'primary', onclick: () => dialog.close(),
      }, 'I have it')),
    ]);
  } catch (thrown) {
    tellFailure(thrown);
  }
}

/**
 * Rotates a webhook's secret: the server makes a new secret, and the old secret counts for one more
 * day where requests can hold the signatures of both.
 */
import { callApi } from '../base/api-calls.ts';
import { h } from '../base/dom.ts';
import { formatTimestamp } from '../base/format.ts';
import { codeBlock } from './code-block.ts';
import { askToConfirm, openDialog } from './dialog.ts';

type RotatedWebhook = {
  readonly secret: string;
  /** Absent without a secret before, and where requests cannot hold the signatures of two. */
  readonly previousSecret?: { readonly validUntil: string };
};

export async function rotateSecret(
  path: string, command: string, onDone: () => Promise<void>,
): Promise<void> {
  const isSure = await askToConfirm({
    title: 'Rotate the secret?', action: 'Make a new secret', command,
    text: 'A new secret is made and shown once. Both count until the old one ends, in 24 hours, '
      + 'where requests can hold the signatures of two.',
  });
  if (!isSure) return;
  const { body: { secret, previousSecret } } = await callApi<RotatedWebhook>('POST',
    `${path}/rotate-secret`, { body: {} });
  await openSecretDialog(secret, previousSecret === undefined ? 'The old one counts no more.'
    : `The old one counts, too, until ${formatTimestamp(previousSecret.validUntil)}.`);
  await onDone();
}

/**
 * Shows the secret this once, with what is to be said of the old one. Resolves when the dialog is
 * closed.
 */
export function openSecretDialog(secret: string, note: string | null = null): Promise<void> {
  return new Promise((resolve) => {
    const dialog = openDialog('The new secret', [
      h('p', 'It is shown this once. Paste it at the other side.'), codeBlock(secret),
      note === null ? null : h('p', note),
    ], {
      stays: true, buttons: [h('button.primary', { onclick: () => dialog.close() }, 'I have it')],
    });
    dialog.addEventListener('close', () => resolve());
  });
}

/**
 * Rotates a webhook's secret: the server makes a new secret, and the old secret counts for one more
 * day where requests can hold the signatures of both. A rotation in that day ends the secret before
 * the old one at once.
 */
import type { OutgoingWebhook } from '../../app/api-types.ts';
import { callApi } from '../base/api-calls.ts';
import { h } from '../base/dom.ts';
import { formatTimestamp } from '../base/format.ts';
import { apiPath } from '../base/screen-address.ts';
import { asyncButton } from './buttons.ts';
import { codeBlock } from './code-block.ts';
import { ask, askToConfirm } from './dialog.ts';

/** What is asked of a webhook that has no secret yet. */
const FIRST_TEXTS = {
  incoming: 'A secret is made and shown once. What is not signed with it is refused from then on.',
  outgoing: 'A secret is made and shown once. What is sent is signed with it from then on.',
};

/** Secrets that were made just now, by webhook id: shown until the page is loaded again. */
const newSecrets = new Map<string, string>();

type RotatableWebhook = Pick<OutgoingWebhook, 'identifier' | 'hasSecret' | 'previousSecret'>;

type RotatedWebhook = {
  readonly secret: string;
  /** Absent without a secret before, and where requests cannot hold the signatures of two. */
  readonly previousSecret?: { readonly validUntil: string };
};

/** The button that asks, and rotates; `refresh` is called afterwards. */
export function rotateButton(
  kind: 'incoming' | 'outgoing', webhook: RotatableWebhook, refresh: () => Promise<void>,
): HTMLButtonElement {
  const { identifier, hasSecret, previousSecret: before } = webhook;
  const title = hasSecret ? 'Rotate the secret' : 'Make a secret';
  return asyncButton(title, async () => {
    const command = `hookshelf ${kind}webhook:rotate-secret --identifier ${identifier}`;
    const isSure = await askToConfirm({
      title: `${title}?`, action: 'Make a new secret', isDestructive: before !== undefined,
      text: hasSecret ? describeRotation(before?.validUntil) : FIRST_TEXTS[kind],
      command: before === undefined ? command : `${command} --force`,
    });
    if (!isSure) return;
    const { body: { secret, previousSecret } } = await callApi<RotatedWebhook>('POST',
      apiPath(`${kind}-webhooks`, identifier, 'rotate-secret'),
      { body: { force: before !== undefined } });
    const fate = previousSecret === undefined ? 'The old one counts no more.'
      : `The old one counts, too, until ${formatTimestamp(previousSecret.validUntil)}.`;
    await openSecretDialog(identifier, secret, hasSecret ? fate : null);
    await refresh();
  });
}

/** `overlapEnd`: until when the secret before this one counts, which ends now. */
function describeRotation(overlapEnd: string | undefined): string {
  const loss = overlapEnd === undefined ? ''
    : ` The one before that still counts, until ${formatTimestamp(overlapEnd)}, and ends at once.`;
  return 'A new secret is made and shown once. Both count until the old one ends, in 24 hours, '
    + `where requests can hold the signatures of two.${loss}`;
}

/**
 * Shows the secret that was made for a webhook, with `note`, and keeps it for `showNewSecret`:
 * whoever closes the dialog too early has not lost it. Resolves when the dialog is closed.
 */
export async function openSecretDialog(
  identifier: string, secret: string, note: string | null = null,
): Promise<void> {
  keepNewSecret(identifier, secret);
  await ask('The new secret', [
    h('p', 'It is shown this once. Paste it at the other side.'), codeBlock(secret),
    note === null ? null : h('p', note),
  ], [[true, 'I have it', 'primary']], { stays: true });
}

export function keepNewSecret(identifier: string, secret: string): void {
  newSecrets.set(identifier, secret);
}

/** The webhook may have another secret by now. */
export function forgetNewSecret(identifier: string): void {
  newSecrets.delete(identifier);
}

/** The secret that this page has made for the webhook; null: none, or another may count by now. */
export function showNewSecret(identifier: string): HTMLElement | null {
  const secret = newSecrets.get(identifier);
  return secret === undefined ? null : h('div', codeBlock(secret),
    h('p.hint', 'It is shown this once. It stands here until the page is loaded again.'));
}

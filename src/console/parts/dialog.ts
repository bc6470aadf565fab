/** Modal dialogs, and the question before something is lost. */
import { h } from '../base/dom.ts';
import type { Child } from '../base/dom.ts';
import { codeBlock } from './code-block.ts';

type ConfirmOptions = {
  readonly title: string;
  /** Says what will be lost or done. */
  readonly text: string;
  /** The label of the button that does it. */
  readonly action: string;
  /** The command that does the same, to copy. */
  readonly command?: string;
  readonly isDestructive?: boolean;
};

export function askToConfirm(question: ConfirmOptions): Promise<boolean> {
  const { title, text, action, command, isDestructive = false } = question;
  return new Promise((resolve) => {
    const answer = (isYes: boolean): void => {
      resolve(isYes);
      dialog.close();
    };
    const dialog = openDialog(title, [
      h('p', text),
      command === undefined ? null
        : h('details', h('summary', 'As a command'), codeBlock(command)),
      h('div.actions',
        h('button', { onclick: () => answer(false) }, 'Keep things as they are'),
        h('button', {
          class: isDestructive ? 'danger' : 'primary', onclick: () => answer(true),
        }, action)),
    ]);
    dialog.addEventListener('close', () => resolve(false));
  });
}

/**
 * Esc and `close()` close the dialog; the focus returns to where it was, or to the title of the
 * screen when that was redrawn meanwhile. A new screen closes the dialog, unless it `stays`.
 */
export function openDialog(
  title: string, children: readonly Child[], { stays = false } = {},
): HTMLDialogElement {
  const dialog = h('dialog', { 'aria-label': title, 'data-stays': stays },
    h('h2', title), ...children);
  dialog.addEventListener('close', () => {
    dialog.remove();
    if (document.activeElement === document.body) {
      document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
    }
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Modal dialogs, and the question before something is lost. */
import { callerSession } from '../base/caller-session.ts';
import { h, type Child } from '../base/dom.ts';
import { shellQuote } from '../../base/text/shell-quote.ts';
import { codeBlock } from './code-block.ts';

type ConfirmOptions = {
  readonly title: string;
  /** Says what will be lost or done. */
  readonly text: string;
  /** The label of the button. */
  readonly action: string;
  /** The command that does the same, to copy. */
  readonly command?: string;
  readonly isDestructive?: boolean;
};

export async function askToConfirm(question: ConfirmOptions): Promise<boolean> {
  const { title, text, action, command, isDestructive = false } = question;
  const answer = await ask(title, [
    h('p', text), command === undefined ? null : commandDetails(command),
  ], [
    [false, 'Keep things as they are'], [true, action, isDestructive ? 'danger' : 'primary'],
  ]);
  return answer === true;
}

/** Resolves with the value of the button that is pressed; null: the dialog was closed. */
export function ask<Answer>(
  title: string, children: readonly Child[],
  answers: readonly (readonly [value: Answer, text: string, style?: string])[],
  options: DialogOptions = { asks: true },
): Promise<Answer | null> {
  return new Promise((resolve) => {
    const dialog = openDialog(title, children, {
      ...options, buttons: answers.map(([value, text, style = '']) =>
        h('button', { class: style, onclick: () => {
          resolve(value);
          dialog.close();
        } }, text)),
    });
    dialog.addEventListener('close', () => resolve(null));
  });
}

export function isQuestionOpen(): boolean {
  return document.querySelector('dialog[data-asks]') !== null;
}

/** The line that runs a command of hookshelf with options: `formatCommand('log', { level })`. */
export function formatCommand(command: string, options: Readonly<Record<string, string>>): string {
  const words = Object.entries(options).map(([name, value]) => ` --${name} ${shellQuote(value)}`);
  return `hookshelf ${command}${words.join('')}`;
}

/** The command that does the same, folded. Customers have no command line. */
export function commandDetails(command: string | HTMLElement): HTMLElement | null {
  return callerSession.isCustomer ? null : h('details', h('summary', 'As a command'),
    typeof command === 'string' ? codeBlock(command) : command);
}

type DialogOptions = {
  /** Whether a new screen leaves it open. */
  readonly stays?: boolean;
  /** Whether it is a question, such as a save may ask. */
  readonly asks?: boolean;
  /** The label of a button that closes it, before the others. */
  readonly close?: string;
  readonly buttons?: readonly HTMLElement[];
};

/** Closes the dialog, unless a listener of its event `cancel` keeps it, as with Esc. */
export function cancelDialog(dialog: HTMLDialogElement): void {
  if (mayClose(dialog)) dialog.close();
}

function mayClose(dialog: HTMLDialogElement): boolean {
  return dialog.dispatchEvent(new Event('cancel', { cancelable: true }));
}

/**
 * Esc and `close()` close the dialog; the focus returns to where it was, or to the title of the
 * screen when that was redrawn meanwhile.
 */
export function openDialog(
  title: string, children: readonly Child[],
  { stays = false, asks = false, close, buttons = [] }: DialogOptions = {},
): HTMLDialogElement {
  const closing = close === undefined ? []
    : [h('button', { onclick: () => cancelDialog(dialog) }, close)];
  const lastRow = [...closing, ...buttons];
  const dialog = h('dialog', { 'aria-label': title, 'data-stays': stays, 'data-asks': asks },
    h('h2', title), ...children,
    lastRow.length === 0 ? null : h('div.actions', {}, ...lastRow));
  dialog.addEventListener('close', () => {
    dialog.remove();
    if (document.activeElement === document.body) {
      document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
    }
  });
  dialog.addEventListener('keydown', (event) => {
    // After a second Esc the browser would close the dialog without the event `cancel`.
    if (event.key === 'Escape' && !mayClose(dialog)) event.preventDefault();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Buttons that do one thing at a time. */
import { h } from '../base/dom.ts';
import { showFailureNotice } from './notice.ts';

/** Until its work has settled, it and the buttons beside it do nothing. */
export function asyncButton(
  text: string, action: () => Promise<unknown>, style = '',
): HTMLButtonElement {
  const button = h('button', { type: 'button', class: style, onclick: () => {
    const beside = button.parentElement?.querySelectorAll('button') ?? [];
    void runExclusively([...beside], action).catch(showFailureNotice);
  } }, text);
  return button;
}

/** Does nothing while one of these is at work. Throws what `work` throws. */
export async function runExclusively(
  buttons: readonly HTMLButtonElement[], action: () => Promise<unknown>,
): Promise<void> {
  if (buttons.some(({ ariaDisabled }) => ariaDisabled !== null)) return;
  // Not `disabled`: that would take the focus away.
  for (const button of buttons) button.ariaDisabled = 'true';
  try {
    await action();
  } finally {
    for (const button of buttons) button.ariaDisabled = null;
  }
}

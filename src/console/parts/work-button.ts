/** Buttons that do one thing at a time. */
import { h } from '../base/dom.ts';
import { tellFailure } from './notice.ts';

/** Until its work has settled, it and the buttons beside it do nothing. */
export function workButton(
  text: string, work: () => Promise<unknown>, style = '',
): HTMLButtonElement {
  const button = h('button', { type: 'button', class: style, onclick: () => {
    const beside = button.parentElement?.querySelectorAll('button') ?? [];
    void doOnce([...beside], work).catch(tellFailure);
  } }, text);
  return button;
}

/** Does nothing while one of these is at work. Throws what `work` throws. */
export async function doOnce(
  buttons: readonly HTMLButtonElement[], work: () => Promise<unknown>,
): Promise<void> {
  if (buttons.some(({ ariaDisabled }) => ariaDisabled !== null)) return;
  // Not `disabled`: that would take the focus away.
  for (const button of buttons) button.ariaDisabled = 'true';
  try {
    await work();
  } finally {
    for (const button of buttons) button.ariaDisabled = null;
  }
}

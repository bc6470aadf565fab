/** Shows code with a button that copies it. */
import { h } from '../base/dom.ts';

const COPIED_MS = 1500;

export function codeBlock(text: string): HTMLElement {
  return h('div.code', copyButton(text), h('pre', { tabindex: 0 }, h('code', text)));
}

/** A function for `text` is called when the button is pressed. */
export function copyButton(
  text: string | (() => Promise<string>), label = 'Copy',
): HTMLElement {
  const button = h('button.copy', { onclick: () => void copy() }, label);
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : await text());
      button.textContent = 'Copied';
    } catch {
      button.textContent = 'Select and copy it';
    }
    setTimeout(() => {
      button.textContent = label;
    }, COPIED_MS);
  }
  return button;
}
